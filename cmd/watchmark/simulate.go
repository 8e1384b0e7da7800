package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/testkit/llmtest"
	"watchmark/internal/testkit/trackertest"
)

type simulateCommand struct {
	Listen string   `help:"Address to listen on." default:"127.0.0.1:8788" placeholder:"HOST:PORT"`
	Dump   string   `help:"Weekly dump to load; the embedded sample when not given." type:"existingfile" placeholder:"FILE.zip"`
	Token  []string `help:"An access token and its user; may be given several times." required:"" placeholder:"TOKEN:USERNAME"`

	Tracker     string   `help:"Address for a simulated Trakt to listen on; it does not run when not given." placeholder:"HOST:PORT"`
	TrackerUser []string `help:"A user of the simulated Trakt; may be given several times." default:"mira@home.example:mira" placeholder:"EMAIL:NAME"`

	LLM string `name:"llm" help:"Address for a simulated language model to listen on; it does not run when not given." placeholder:"HOST:PORT"`
}

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
	users, err := parseTokens(c.Token)
	if err != nil {
		return err
	}
	server := catalogtest.New(catalogtest.Config{Users: users})
	if c.Dump != "" {
		err = server.LoadDump(c.Dump)
	} else {
		err = server.LoadSample()
	}
	if err != nil {
		return err
	}
	url, stop, err := server.Listen(ctx, c.Listen)
	if err != nil {
		return err
	}
	defer stop()
	_, _ = fmt.Fprintf(std.out, "simulated catalog on %s (marks: GET /_sim/marks, faults: POST /_sim/fault)\n", url)
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
	<-ctx.Done()
	return nil
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
