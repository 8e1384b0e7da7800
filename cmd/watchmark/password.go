package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"watchmark/internal/app"
)

type passwordCommand struct {
	dataFlags
	Name string `arg:"" help:"Name of the person."`
}

// Run asks for the new password, without showing it on a terminal, and sets it.
func (c passwordCommand) Run(ctx context.Context, std standard) error {
	password, err := readPassword(std)
	if err != nil {
		return err
	}
	return withData(ctx, c.options(std.err), func(data *app.Data) error {
		if err := data.Auth.SetPassword(ctx, c.Name, password); err != nil {
			return err
		}
		_, err := fmt.Fprintln(std.out, "The password is changed and all sessions are ended.")
		return err
	})
}

// readPassword asks twice on a terminal, and reads one line otherwise.
func readPassword(std standard) (string, error) {
	file, isFile := std.in.(*os.File)
	if !isFile || !term.IsTerminal(int(file.Fd())) {
		line, err := bufio.NewReader(std.in).ReadString('\n')
		line = strings.TrimRight(line, "\r\n")
		if line == "" && err != nil {
			return "", fmt.Errorf("read the password from standard input: %w", err)
		}
		return line, nil
	}
	first, err := askHidden(std, file, "New password: ")
	if err != nil {
		return "", err
	}
	second, err := askHidden(std, file, "Again: ")
	if err != nil {
		return "", err
	}
	if first != second {
		return "", errors.New("the two passwords differ")
	}
	return first, nil
}

func askHidden(std standard, terminal *os.File, prompt string) (string, error) {
	_, _ = fmt.Fprint(std.err, prompt)
	text, err := term.ReadPassword(int(terminal.Fd()))
	_, _ = fmt.Fprintln(std.err)
	if err != nil {
		return "", fmt.Errorf("read the password: %w", err)
	}
	return string(text), nil
}
