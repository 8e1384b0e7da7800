package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"watchmark/internal/catalog/catalogtest"
)

type simulateCommand struct {
	Listen string   `help:"Address to listen on." default:"127.0.0.1:8788" placeholder:"HOST:PORT"`
	Dump   string   `help:"Weekly dump to load; the embedded sample when not given." type:"existingfile" placeholder:"FILE.zip"`
	Token  []string `help:"An access token and whose it is; may be given several times." required:"" placeholder:"TOKEN:USERNAME"`
}

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
	running, err := server.Listen(ctx, c.Listen)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(std.out, "simulated catalog on %s (marks: GET /_sim/marks, faults: POST /_sim/fault)\n", running.URL)
	<-ctx.Done()
	return running.Close()
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
