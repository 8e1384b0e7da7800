package notify_test

import (
	"context"
	"database/sql"
	"log/slog"
	"testing"

	"watchmark/internal/db"
	"watchmark/internal/notify"
	"watchmark/internal/notify/channel"
	"watchmark/internal/secret"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// rig is a notifier on a real database.
type rig struct {
	*notify.Notifier
	t   testing.TB
	dir string
}

func newRig(t testing.TB, dir string) *rig {
	t.Helper()
	d, err := db.Open(t.Context(), dir)
	must(t, err)
	t.Cleanup(func() { must(t, d.Close()) })
	box, err := secret.OpenBox(dir, "", false)
	must(t, err)
	n, err := notify.New(t.Context(), notify.Config{DB: d, Box: box, Masker: &secret.Masker{}, Log: slog.New(slog.DiscardHandler),
		Open:     func(notify.Channel) (channel.Sender, error) { return nil, nil },
		Secrets:  func(notify.Channel) []string { return nil },
		Language: func() notify.Language { return notify.English }, Base: func() string { return "http://house" }})
	must(t, err)
	return &rig{Notifier: n, t: t, dir: dir}
}

func (r *rig) add(notices ...notify.Notice) {
	r.t.Helper()
	must(r.t, r.DB.Write(r.t.Context(), func(ctx context.Context, tx *sql.Tx) error { return r.AddTx(ctx, tx, notices...) }))
}

func TestAddIsKeptAndRouted(t *testing.T) {
	r := newRig(t, t.TempDir())
	c, err := r.CreateChannel(t.Context(), notify.Channel{Type: notify.Webhook, Name: "phone", Enabled: true, Config: `{"url":"http://x"}`})
	must(t, err)
	r.add(notify.Notice{Kind: notify.MarkFailed, User: "mira", Account: "alex", About: "frieren", Facts: map[string]string{"title": "Frieren", "season": "1", "episode": "5"}})
	entries, _, err := r.List(t.Context(), notify.Filter{})
	must(t, err)
	if len(entries) != 1 {
		t.Fatal(entries)
	}
	title, _ := entries[0].Words(notify.English)
	deliveries, err := r.Deliveries(t.Context(), entries[0].ID)
	must(t, err)
	if title != "Frieren S1E5 not marked · alex" || len(deliveries) != 1 || deliveries[0].ChannelID != c.ID {
		t.Error(title, deliveries)
	}
}
