package watcher

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
	"watchmark/internal/source/mediaserver"
)

// codePoll is how often it is asked whether a sign-in by code was confirmed (upstreams/watchers.md sections 2.1 and 4.1).
const codePoll = 5 * time.Second

// Add connects a login. By password it is signed in when it returns; without a user name it waits for a person to confirm a code.
// Errors are *reason.FieldError and ErrOff; then nothing was stored.
func (s *Service) Add(ctx context.Context, n NewLogin) (Login, error) {
	if !s.Enabled() {
		return Login{}, ErrOff
	}
	if !slices.Contains(mediaserver.Kinds, n.Kind) {
		return Login{}, reason.At("kind", kindUnknown)
	}
	name, err := checkName(n.MediaUserName)
	if err != nil {
		return Login{}, err
	}
	l := Login{Kind: n.Kind, URL: strings.TrimSpace(n.URL), pin: strings.TrimSpace(n.Pin), MediaUserName: name, State: SignedOut, Enabled: true, quirks: mediaserver.Quirks{}}
	if l.URL != "" && (n.Kind == mediaserver.Plex || !strings.Contains(l.URL, "://")) { // a sign-in checks the address by itself
		if l, err = s.moved(ctx, l); err != nil {
			return Login{}, err
		}
	}
	k, err := s.admit(ctx, known{Login: l}, n.Credentials)
	if err != nil {
		return Login{}, err
	}
	return s.kept(ctx, k)
}

// SignIn signs in again, at the same server as the same person. Errors are ErrNotFound, ErrOff and *reason.FieldError.
func (s *Service) SignIn(ctx context.Context, id int64, c Credentials) (Login, error) {
	if !s.Enabled() {
		return Login{}, ErrOff
	}
	k, err := s.store.get(ctx, id)
	if err != nil {
		return Login{}, err
	}
	before := k
	if k, err = s.admit(ctx, k, c); err != nil {
		return Login{}, err
	}
	if k.token != "" && before.userID != "" && k.userID != before.userID {
		return Login{}, reason.At("username", otherPerson.With(k.UserName))
	}
	return s.kept(ctx, k)
}

// admit signs in by password, or begins a sign-in by code. The sign-in that was there before holds until a new one is.
func (s *Service) admit(ctx context.Context, k known, c Credentials) (known, error) {
	username := strings.TrimSpace(c.Username)
	switch {
	case k.Kind == mediaserver.Plex && username != "":
		return k, reason.At("username", notForPlex)
	case k.Kind != mediaserver.Plex && k.URL == "":
		return k, reason.At("url", needsURL)
	case k.Kind != mediaserver.Plex && k.Kind != mediaserver.Jellyfin && username == "":
		return k, reason.At("username", needsPassword)
	case username != "":
		got, err := s.Dialer.SignIn(ctx, k.server(), username, c.Password)
		if err != nil {
			return k, err
		}
		return k.signedIn(got), nil
	}
	code, err := s.Dialer.StartCode(ctx, k.server())
	if err != nil {
		return k, err
	}
	k.code, k.Choices = &code, nil
	if k.token == "" {
		k.State, k.Problem = SignedOut, waitsForCode.With(code.Text)
	}
	return k, nil
}

// signedIn is a login with what a sign-in gave.
func (k known) signedIn(got mediaserver.Login) known {
	k.URL, k.pin, k.ServerID, k.userID = cmp.Or(got.Server.URL, k.URL), cmp.Or(got.Server.Pin, k.pin), cmp.Or(got.Server.ID, k.ServerID), got.Server.UserID
	k.device, k.token, k.quirks = cmp.Or(got.Server.Device, k.device), got.Server.Token, got.Server.Quirks
	k.account = cmp.Or(got.Server.Account, k.account)
	k.ServerName, k.Version, k.UserName = cmp.Or(got.Name, k.ServerName), cmp.Or(got.Version, k.Version), got.UserName
	k.MediaUserName = cmp.Or(k.MediaUserName, got.UserName)
	k.code, k.Choices, k.State, k.Problem = nil, nil, Connected, reason.Reason{}
	return k
}

// kept is the login that has a sign-in now, once what was played before is known.
func (s *Service) kept(ctx context.Context, k known) (Login, error) {
	id, err := s.keep(ctx, k)
	if err != nil {
		return Login{}, err
	}
	s.awaitFirst(ctx, id)
	return s.Login(ctx, id)
}

// keep stores a sign-in and answers the login that has it: where the same person is connected at the same server, that one takes
// it over, with what is known of their plays.
func (s *Service) keep(ctx context.Context, k known) (id int64, err error) {
	defer s.wake.Raise()
	id, tookOver, err := s.store.keep(ctx, k)
	if err == nil && !tookOver && k.token != "" && k.ComparedAt == nil && k.Enabled {
		s.expectFirst(id)
	}
	return id, err
}

// await asks whether the sign-in by code of a login was confirmed, until it is or has expired. It returns when the row has changed.
func (s *Service) await(ctx context.Context, k known) error {
	for failures := 0; ; {
		got, done, err := s.Dialer.FinishCode(ctx, k.server(), *k.code)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && done:
			return s.confirmed(ctx, k, got)
		case err != nil && failures < 5 && is(err, mediaserver.ErrUnreachable) && time.Now().Before(k.code.ExpiresAt):
			failures++
		case err != nil, !time.Now().Before(k.code.ExpiresAt):
			if err == nil {
				err = codeExpired
			}
			return s.giveUp(ctx, k, err)
		default:
			failures = 0
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(codePoll):
		}
	}
}

// giveUp ends a sign-in by code that came to nothing. What was signed in before still is.
func (s *Service) giveUp(ctx context.Context, k known, why error) error {
	k.code = nil
	if k.token == "" {
		k.State, k.Problem = SignedOut, reason.Of(why)
	}
	s.Log.InfoContext(ctx, "a sign-in at a media server was not confirmed", "kind", string(k.Kind), "error", why)
	return s.store.sign(ctx, k.Login, k.keys)
}

// confirmed stores a sign-in that a person confirmed. At Plex it is that of an account, which may have several servers and people.
func (s *Service) confirmed(ctx context.Context, k known, got mediaserver.Login) error {
	var err error
	if k.Kind != mediaserver.Plex {
		before := k
		if k = k.signedIn(got); before.userID != "" && before.userID != k.userID {
			return s.giveUp(ctx, before, otherPerson.With(k.UserName))
		}
		_, err = s.keep(ctx, k)
		return err
	}
	k.account, k.code, k.token = got.Server.Token, nil, ""
	if k, err = s.chooseAlone(ctx, k); err != nil {
		return s.giveUp(ctx, k, err)
	}
	_, err = s.keep(ctx, k)
	return err
}

// chooseAlone chooses where there is nothing to choose: the only server of an account that is in no Plex Home, or what was chosen
// before. Else the login has Choices.
func (s *Service) chooseAlone(ctx context.Context, k known) (known, error) {
	servers, people, err := s.Dialer.PlexChoices(ctx, k.account)
	if err != nil {
		return k, err
	}
	if len(servers) == 0 {
		return k, noServers
	}
	server := ""
	switch {
	case slices.ContainsFunc(servers, func(p mediaserver.PlexServer) bool { return p.ID == k.ServerID }):
		server = k.ServerID
	case len(servers) == 1:
		server = servers[0].ID
	}
	at := slices.IndexFunc(people, func(p mediaserver.PlexPerson) bool { return p.ID == k.person })
	if server != "" && (len(people) <= 1 || at >= 0 && !people[at].PIN || k.userID != "" && k.person == "") {
		return s.choose(ctx, k, server, k.person, "")
	}
	k.State, k.Problem = SignedOut, choose.With()
	k.Choices = &Choices{Servers: []Choice{}, People: []Choice{}}
	for _, one := range servers {
		k.Choices.Servers = append(k.Choices.Servers, Choice{ID: one.ID, Name: one.Name, Owner: one.Owner})
	}
	for _, one := range people {
		k.Choices.People = append(k.Choices.People, Choice{ID: one.ID, Name: one.Name, PIN: one.PIN})
	}
	return k, nil
}

// choose is a login at a server of Plex as a person of its Home.
func (s *Service) choose(ctx context.Context, k known, server, person, pin string) (known, error) {
	got, err := s.Dialer.PlexChoose(ctx, k.account, mediaserver.PlexChoice{Server: server, Person: person, PIN: pin, URL: k.URL, Certificate: k.pin})
	if err != nil {
		return k, err
	}
	if k.userID != "" && (got.Server.UserID != k.userID || got.Server.ID != k.ServerID) {
		return k, reason.At("person", otherPerson.With(got.UserName))
	}
	account := k.account
	k = k.signedIn(got)
	k.account, k.person, k.pin = cmp.Or(got.Server.Account, account), person, got.Server.Pin
	return k, nil
}

// Choose completes a login at Plex. person is empty for the owner of the account. Errors are ErrNotFound, ErrNoChoice and
// *reason.FieldError.
func (s *Service) Choose(ctx context.Context, id int64, server, person, pin string) (Login, error) {
	k, err := s.store.get(ctx, id)
	if err != nil {
		return Login{}, err
	}
	if k.Choices == nil || k.account == secret.Text("") {
		return Login{}, ErrNoChoice
	}
	if server == "" && len(k.Choices.Servers) == 1 {
		server = k.Choices.Servers[0].ID
	}
	if !slices.ContainsFunc(k.Choices.Servers, func(c Choice) bool { return c.ID == server }) {
		return Login{}, reason.At("server", choose)
	}
	if person != "" && !slices.ContainsFunc(k.Choices.People, func(c Choice) bool { return c.ID == person }) {
		return Login{}, reason.At("person", choosePerson)
	}
	if k, err = s.choose(ctx, k, server, person, pin); err != nil {
		var field *reason.FieldError
		if !errors.As(err, &field) {
			err = reason.At("server", err)
		}
		return Login{}, err
	}
	return s.kept(ctx, k)
}
