package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/testkit/llmtest"
	"watchmark/internal/testkit/mediaservertest"
	"watchmark/internal/testkit/trackertest"
)

type simulateCommand struct {
	Listen string   `help:"Address to listen on; 127.0.0.1:8788 when not given." placeholder:"HOST:PORT"`
	Dump   string   `help:"Weekly dump to load; the embedded sample when not given." type:"existingfile" placeholder:"FILE.zip"`
	Token  []string `help:"An access token and its user; may be given several times. simulated-token:mira when not given." placeholder:"TOKEN:USERNAME"`

	Entries int `help:"Entries on the list of each user, with twenty marks for each; none when not given." placeholder:"NUMBER"`

	Tracker     string   `help:"Address for a simulated Trakt to listen on; it does not run when not given." placeholder:"HOST:PORT"`
	TrackerUser []string `help:"A user of the simulated Trakt; may be given several times." default:"mira@home.example:mira" placeholder:"EMAIL:NAME"`

	Jellyfin        string   `help:"Address for a simulated Jellyfin to listen on; it does not run when not given." placeholder:"HOST:PORT"`
	JellyfinVersion string   `help:"Version of it, such as 10.8.13 or 12.0.0." default:"10.11.8" placeholder:"VERSION"`
	Emby            string   `help:"Address for a simulated Emby to listen on." placeholder:"HOST:PORT"`
	EmbyVersion     string   `help:"Version of it, such as 4.7.14.0." default:"4.9.1.0" placeholder:"VERSION"`
	Plex            string   `help:"Address for a simulated Plex to listen on: plex.tv and a media server, which the first user owns." placeholder:"HOST:PORT"`
	Ugreen          string   `help:"Address for a simulated media server of UGREEN to listen on." placeholder:"HOST:PORT"`
	ZSpace          string   `name:"zspace" help:"Address for a simulated media server of ZSpace to listen on." placeholder:"HOST:PORT"`
	FnOS            string   `name:"fnos" help:"Address for a simulated media server of fnOS to listen on." placeholder:"HOST:PORT"`
	MediaUser       []string `help:"A user of the simulated media servers; may be given several times." default:"mira:mira" placeholder:"NAME:PASSWORD"`

	LLM string `name:"llm" help:"Address for a simulated language model to listen on; it does not run when not given." placeholder:"HOST:PORT"`
}

// Where the simulated catalog listens, and whom it knows, unless something else is asked for.
const (
	catalogAddress = "127.0.0.1:8788"
	catalogToken   = "simulated-token"
	catalogUser    = "mira"
	// largeSeed makes --entries the same each time.
	largeSeed = 26
)

// What the simulated tracker knows: a web client with the default tracker.redirect_uri, and an
// application whose redirect address is that of a service with the default address.
const (
	trackerClient    = "simulated-client"
	trackerApp       = "simulated-app"
	trackerAppSecret = "simulated-secret"
	trackerAppBack   = "http://127.0.0.1:8787/api/tracker/oauth/callback"
)

// Run serves the simulated catalog until the process is told to stop.
func (c simulateCommand) Run(ctx context.Context, std standard) error {
	stopCatalog, err := c.catalog(ctx, std)
	if err != nil {
		return err
	}
	defer stopCatalog()
	if c.Tracker != "" {
		stop, err := c.track(ctx, std)
		if err != nil {
			return err
		}
		defer stop()
	}
	if c.LLM != "" {
		url, stop, err := llmtest.New(llmtest.Config{}).Listen(ctx, c.LLM)
		if err != nil {
			return err
		}
		defer stop()
		_, _ = fmt.Fprintf(std.out, "simulated language model on %s/v1 (model: m-1, no key)\n", url)
	}
	stopMedia, err := c.media(ctx, std)
	defer stopMedia()
	if err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// catalog serves the simulated catalog. Where only other services were asked for, they run without it when its usual address is taken.
func (c simulateCommand) catalog(ctx context.Context, std standard) (stop func(), err error) {
	tokens, known := c.Token, ""
	if len(tokens) == 0 {
		tokens, known = []string{catalogToken + ":" + catalogUser}, "token of "+catalogUser+": "+catalogToken+", "
	}
	users, err := parseTokens(tokens)
	if err != nil {
		return nil, err
	}
	server := catalogtest.New(catalogtest.Config{Users: users})
	if c.Dump != "" {
		err = server.LoadDump(c.Dump)
	} else {
		err = server.LoadSample()
	}
	if err != nil {
		return nil, err
	}
	for _, u := range users {
		if err := server.AddLarge(u.Username, largeSeed, c.Entries, c.Entries*20); err != nil {
			return nil, err
		}
	}
	url, stop, err := server.Listen(ctx, cmp.Or(c.Listen, catalogAddress))
	if err != nil && c.Listen+c.Dump == "" && len(c.Token) == 0 && cmp.Or(c.Tracker, c.Jellyfin, c.Emby, c.Plex, c.Ugreen, c.ZSpace, c.FnOS, c.LLM) != "" {
		_, _ = fmt.Fprintf(std.out, "no simulated catalog: %v\n", err)
		return func() {}, nil
	}
	if err != nil {
		return nil, err
	}
	_, _ = fmt.Fprintf(std.out, "simulated catalog on %s (%smarks: GET /_sim/marks, faults: POST /_sim/fault)\n", url, known)
	return stop, nil
}

// media serves the simulated media servers that were asked for.
func (c simulateCommand) media(ctx context.Context, std standard) (stop func(), err error) {
	var stops []func()
	stop = func() {
		for _, one := range stops {
			one()
		}
	}
	var users []mediaservertest.User
	var names []string
	for _, pair := range c.MediaUser {
		name, password, found := strings.Cut(pair, ":")
		if !found || name == "" {
			return stop, errors.New("--media-user: give NAME:PASSWORD")
		}
		users, names = append(users, mediaservertest.User{Name: name, Password: password}), append(names, name)
	}
	for _, one := range []struct {
		kind          mediaservertest.Kind
		addr, version string
	}{
		{mediaservertest.Jellyfin, c.Jellyfin, c.JellyfinVersion}, {mediaservertest.Emby, c.Emby, c.EmbyVersion},
		{mediaservertest.Plex, c.Plex, ""}, {mediaservertest.Ugreen, c.Ugreen, ""}, {mediaservertest.ZSpace, c.ZSpace, ""}, {mediaservertest.FnOS, c.FnOS, ""},
	} {
		if one.addr == "" {
			continue
		}
		cfg := mediaservertest.Sample(one.kind, users...)
		cfg.Version = one.version
		url, end, err := mediaservertest.New(cfg).Listen(ctx, one.addr)
		if err != nil {
			return stop, err
		}
		stops = append(stops, end)
		_, _ = fmt.Fprintf(std.out, "simulated %[1]s on %[2]s (users: %[3]s; watch: POST /_sim/%[1]s/play, played: GET /_sim/%[1]s/played, titles: GET /_sim/%[1]s/library)\n",
			one.kind, url, strings.Join(names, ", "))
		if one.kind == mediaservertest.Plex {
			_, _ = fmt.Fprintf(std.out, "for the service: WATCHMARK_WATCHER_PLEX_URL=%[1]s WATCHMARK_WATCHER_PLEX_CLIENTS_URL=%[1]s WATCHMARK_WATCHER_PLEX_AUTH_URL=%[1]s/auth\n", url)
		}
	}
	return stop, nil
}

// track serves the simulated tracker beside the catalog.
func (c simulateCommand) track(ctx context.Context, std standard) (stop func(), err error) {
	cfg := trackertest.Config{Clients: []trackertest.Client{
		{ID: trackerClient, RedirectURI: "https://app.trakt.tv/callback"},
		{ID: trackerApp, Secret: trackerAppSecret, RedirectURI: trackerAppBack},
	}}
	for _, pair := range c.TrackerUser {
		email, name, found := strings.Cut(pair, ":")
		if !found || email == "" || name == "" {
			return nil, errors.New("--tracker-user: give EMAIL:NAME")
		}
		cfg.Users = append(cfg.Users, trackertest.User{Email: email, Name: name, UUID: "uuid-of-" + name})
	}
	url, stop, err := trackertest.New(cfg).Listen(ctx, c.Tracker)
	if err != nil {
		return nil, err
	}
	_, _ = fmt.Fprintf(std.out, "simulated tracker on %s (client id: %s, application: %s with the secret %s, codes: GET /_sim/mail?email=, plays: POST /_sim/plays, faults: POST /_sim/fault)\n",
		url, trackerClient, trackerApp, trackerAppSecret)
	return stop, nil
}

// parseTokens reads TOKEN:USERNAME pairs.
func parseTokens(pairs []string) ([]catalogtest.User, error) {
	var users []catalogtest.User
	for _, pair := range pairs {
		token, name, found := strings.Cut(pair, ":")
		if !found || token == "" || name == "" {
			return nil, errors.New("--token: give TOKEN:USERNAME")
		}
		users = append(users, catalogtest.User{Token: token, Username: name, Nickname: name})
	}
	return users, nil
}
