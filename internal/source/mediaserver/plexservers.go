package mediaserver

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"watchmark/internal/platform/lan"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
	"watchmark/internal/source/payload"
)

// mostConnections bounds how many addresses of one server are tried.
const mostConnections = 20

// addresses are where the server may be reached, the best first: at home, then from outside, then by the relay of Plex, and of
// each https first. What is at home for the owner of somebody else's server is not at home here, unless both are behind the
// same public address. A name of plex.direct leads to an address at home, which many routers do not resolve: where the server
// takes http, its plain address stands behind it, but never one that would carry the token through the world unencrypted.
func (r plexResource) addresses() []string {
	type candidate struct {
		address string
		rank    int
	}
	var list []candidate
	add := func(text string, place int) {
		base, u := plexURL(text)
		rank := 2 * place
		switch {
		case u == nil || slices.ContainsFunc(list, func(c candidate) bool { return c.address == base }):
			return
		case u.Scheme == "https":
		case r.tlsOnly || !lan.IsHome(u.Hostname()):
			return
		default:
			rank++
		}
		list = append(list, candidate{base, rank})
	}
	for _, c := range r.connections[:min(len(r.connections), mostConnections)] {
		local, _ := c.Bool("local")
		relay, _ := c.Bool("relay")
		if local && !r.owned && !r.near {
			continue
		}
		place := 1
		switch {
		case relay:
			place = 2
		case local:
			place = 0
		}
		add(c.Text("uri"), place)
		if !relay {
			add("http://"+net.JoinHostPort(c.Text("address"), c.Text("port")), place)
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(a.rank, b.rank) })
	addresses := make([]string, len(list))
	for i, c := range list {
		addresses[i] = c.address
	}
	return addresses[:min(len(addresses), mostConnections)]
}

// plexURL is the base address of a server that plex.tv lists; nil when it is none. Whoever shares a server can have any address
// listed: only the root of a host is taken, and CheckURL refuses those where nothing may be connected to.
func plexURL(text string) (string, *url.URL) {
	base, err := CheckURL(text)
	if err != nil {
		return "", nil
	}
	u, err := url.Parse(base)
	if err != nil || u.Path != "" || u.Port() == "" && u.Scheme == "http" {
		return "", nil
	}
	return base, u
}

// plexIdentity asks who is at an address, without a token.
func plexIdentity(ctx context.Context, w *wire, header http.Header) (id, version string, err error) {
	header = header.Clone()
	header.Del("X-Plex-Token")
	resp, err := w.send(ctx, ask{path: "/identity"}, header)
	if err != nil {
		return "", "", err
	}
	var answer payload.Object
	if err := w.decode(resp, &answer); err != nil {
		return "", "", err
	}
	o := answer.Object("MediaContainer")
	if id = o.Line("machineIdentifier"); id == "" {
		return "", "", unreachable(notThat.With(w.product))
	}
	return id, o.Line("version"), nil
}

// plexPatience is how long a better address may answer later than a worse one.
const plexPatience = 2 * time.Second

// reach is the best of the addresses at which the server answers. All are asked at once, since those of another network
// answer nothing; no token is sent.
func (d *Dialer) reach(ctx context.Context, r plexResource) (string, error) {
	addresses := r.addresses()
	if len(addresses) == 0 {
		return "", unreachable(plexUnlisted.With(r.Name))
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type answer struct {
		rank int
		err  error
	}
	answers := make(chan answer, len(addresses))
	for rank, address := range addresses {
		go func() { answers <- answer{rank, d.isAt(ctx, address, "", r.ID)} }()
	}
	best, failed := len(addresses), make([]error, len(addresses))
	late := make(<-chan time.Time)
	for range addresses {
		select {
		case a := <-answers:
			if failed[a.rank] = a.err; a.err == nil && a.rank < best {
				best, late = a.rank, time.After(plexPatience)
			}
			if best < len(addresses) && !slices.Contains(failed[:best], nil) {
				return addresses[best], nil
			}
		case <-late:
			return addresses[best], nil
		}
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	return "", unreachable(plexUnfound.With(r.Name, requestFailure(failed[0])))
}

// isAt makes sure that the server with an id answers at an address. No token is sent.
func (d *Dialer) isAt(ctx context.Context, base, pin, id string) error {
	client, brief, err := d.client(base, pin, probeBody)
	if err != nil {
		return err
	}
	defer client.Close()
	found, _, err := plexIdentity(ctx, newWire(client, Plex.Product(), base, min(brief, probeTime)), d.plexHeader(""))
	if err == nil && found != id {
		return ErrOther
	}
	return err
}

// PlexChoices are the servers that an account may use, and the members of its Home; a Home of one person has none.
func (d *Dialer) PlexChoices(ctx context.Context, account secret.Text) (servers []PlexServer, people []PlexPerson, err error) {
	tv, err := d.plexTV(account)
	if err != nil {
		return nil, nil, err
	}
	defer tv.close()
	user, err := tv.user(ctx)
	if err != nil {
		return nil, nil, err
	}
	listed, err := tv.servers(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range listed {
		servers = append(servers, r.PlexServer)
	}
	if user.home {
		if people, err = tv.people(ctx); err != nil {
			return nil, nil, err
		}
	}
	if len(people) == 1 {
		people = nil
	}
	return servers, people, nil
}

// PlexChoice is which server a person takes, and who of the account's Home it is for.
type PlexChoice struct {
	Server string // its id
	// Person is a member of the Home, with the PIN of that member if there is one; empty is whose account it is.
	Person, PIN string
	// URL is where a person says that the server is, with the certificate that they confirmed, as in Server; it may be empty.
	URL, Certificate string
}

// PlexChoose completes a sign-in. The server is asked at the address that a person entered, else at the best one that Plex lists.
// Server.Account of the Login is the token of the member. The error is a *reason.FieldError for server, person, pin, url or
// certificate_sha256, one of those named at Client, or that of ctx.
func (d *Dialer) PlexChoose(ctx context.Context, account secret.Text, choice PlexChoice) (Login, error) {
	tv, err := d.plexTV(account)
	if err != nil {
		return Login{}, err
	}
	defer tv.close()
	user, err := tv.user(ctx)
	if err != nil {
		return Login{}, err
	}
	if choice.Person != "" && choice.Person != user.uuid {
		if account, err = tv.switchTo(ctx, choice.Person, choice.PIN); err != nil {
			return Login{}, err
		}
		if user, err = tv.user(ctx); err != nil {
			return Login{}, err
		}
	}
	listed, err := tv.servers(ctx)
	if err != nil {
		return Login{}, err
	}
	i := slices.IndexFunc(listed, func(r plexResource) bool { return r.ID == choice.Server })
	if i < 0 {
		return Login{}, reason.At("server", noPlexServer)
	}
	r := listed[i]
	at, err := d.plexAt(ctx, r, choice)
	if err != nil {
		return Login{}, err
	}
	at.Kind, at.ID, at.Token, at.UserID, at.Account = Plex, r.ID, r.token, r.userID(user), account
	return Login{
		Server:   at,
		UserName: user.name, Name: r.Name, Version: r.Version,
	}, nil
}

// plexAt is where the server is reached: at the address that a person entered, if there is one and it is the server's.
func (d *Dialer) plexAt(ctx context.Context, r plexResource, choice PlexChoice) (Server, error) {
	var failed error
	if address := strings.TrimSpace(choice.URL); address != "" {
		base, err := CheckURL(address)
		if err != nil {
			return Server{}, err
		}
		if failed = d.isAt(ctx, base, choice.Certificate, r.ID); failed == nil {
			return Server{URL: base, Pin: choice.Certificate}, nil
		}
	}
	base, err := d.reach(ctx, r)
	if err != nil {
		return Server{}, atURL(cmp.Or(failed, err))
	}
	return Server{URL: base}, nil
}

// KeepAlive keeps the token of a Plex account, or of a member of its Home, from being forgotten: once a day is enough.
func (d *Dialer) KeepAlive(ctx context.Context, account secret.Text) error {
	tv, err := d.plexTV(account)
	if err != nil {
		return err
	}
	defer tv.close()
	return tv.ping(ctx)
}
