package main

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"watchmark/internal/app"
)

type apiKeyCommand struct {
	Create apiKeyCreate `cmd:"" help:"Make a key and print it, once."`
	List   apiKeyList   `cmd:"" help:"List the keys."`
	Delete apiKeyDelete `cmd:"" help:"Remove a key; it stops working at once."`
}

type apiKeyCreate struct {
	dataFlags
	Name string `arg:"" help:"What the key is for, such as the script's name."`
}

// Run prints the new key alone on standard output.
func (c apiKeyCreate) Run(ctx context.Context, std standard) error {
	return withData(ctx, c.options(std.err), func(data *app.Data) error {
		plain, _, err := data.Auth.CreateKey(ctx, c.Name)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(std.out, plain)
		return err
	})
}

type apiKeyList struct{ dataFlags }

// Run prints a table of the keys.
func (c apiKeyList) Run(ctx context.Context, std standard) error {
	return withData(ctx, c.options(std.err), func(data *app.Data) error {
		keys, err := data.Auth.ListKeys(ctx)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(table, "ID\tNAME\tENDS IN\tMADE\tLAST USED")
		for _, k := range keys {
			used := "never"
			if k.UsedAt != nil {
				used = k.UsedAt.Format(time.DateTime)
			}
			_, _ = fmt.Fprintf(table, "%d\t%s\t…%s\t%s\t%s\n", k.ID, k.Name, k.Hint, k.CreatedAt.Format(time.DateTime), used)
		}
		return table.Flush()
	})
}

type apiKeyDelete struct {
	dataFlags
	ID int64 `arg:"" help:"The key's id, as the list shows it."`
}

// Run removes the key.
func (c apiKeyDelete) Run(ctx context.Context, std standard) error {
	return withData(ctx, c.options(std.err), func(data *app.Data) error { return data.Auth.DeleteKey(ctx, c.ID) })
}
