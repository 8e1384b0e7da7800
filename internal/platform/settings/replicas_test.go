package settings_test

import (
	"strings"
	"sync"
	"testing"

	"watchmark/internal/platform/changes"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/settings"
	"watchmark/internal/testkit/dbtest"
)

// replica is one of several processes on a database.
type replica struct {
	*settings.Manager
	board *changes.Board
	told  []settings.Settings
}

func newReplica(t *testing.T, d *db.DB, box *secret.Box, environ ...string) *replica {
	t.Helper()
	r := &replica{board: changes.New(d)}
	var err error
	r.Manager, err = settings.Load(t.Context(), settings.Options{Environ: environ, Overrides: settings.NewStore(d, r.board), Sealer: box})
	if err != nil {
		t.Fatal(err)
	}
	r.OnChange(func(_, after settings.Settings) { r.told = append(r.told, after) })
	return r
}

func (r *replica) refresh(t *testing.T) {
	t.Helper()
	if err := r.board.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func boxOf(t *testing.T) *secret.Box {
	t.Helper()
	box, err := secret.OpenBox(t.TempDir(), "", false)
	if err != nil {
		t.Fatal(err)
	}
	return box
}

func TestAnotherReplicaTakesAChangeOver(t *testing.T) {
	d, box := dbtest.Open(t), boxOf(t)
	mine, other := newReplica(t, d, box), newReplica(t, d, box)
	if err := mine.Patch(t.Context(), fromJSON(t, `{"log":{"level":"debug"},"auth":{"webhook_key":"0123456789ab"},"sync":{"workers":5}}`)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		other.refresh(t)
	}
	now := other.Current()
	if now.Log.Level.String() != "DEBUG" || now.Auth.WebhookKey.Reveal() != "0123456789ab" || now.Sync.Workers == 5 || len(other.told) != 1 || len(mine.told) != 1 {
		t.Errorf("the other has %+v, and told %d times, who changed it %d times", now, len(other.told), len(mine.told))
	}
	if !keyOf(t, other.Schema(), "sync.workers").PendingRestart {
		t.Error("the key that needs a restart does not say so at the other")
	}
	if changes, err := other.Try(one("log.level", "debug")); changes || err != nil {
		t.Errorf("what is stored would change something: %v", err)
	}
}

// TestChangesOfTwoReplicasAreBothChecked holds that no value goes by what another replica has replaced meanwhile.
func TestChangesOfTwoReplicasAreBothChecked(t *testing.T) {
	d, box := dbtest.Open(t), boxOf(t)
	for range 10 {
		mine, other := newReplica(t, d, box), newReplica(t, d, box)
		if err := mine.Patch(t.Context(), fromJSON(t, `{"matching":{"accept_score":0.8,"review_score":0.4},"log":{"level":null}}`)); err != nil {
			t.Fatal(err)
		}
		var both sync.WaitGroup
		var errs [2]error
		both.Go(func() { errs[0] = mine.Patch(t.Context(), fromJSON(t, `{"matching":{"accept_score":0.5}}`)) })
		both.Go(func() { errs[1] = other.Patch(t.Context(), fromJSON(t, `{"matching":{"review_score":0.7}}`)) })
		both.Wait()
		if (errs[0] == nil) == (errs[1] == nil) {
			t.Fatalf("together they do not fit: %v, %v", errs[0], errs[1])
		}
		mine.refresh(t)
		other.refresh(t)
		if a, b := mine.Current().Matching, other.Current().Matching; a != b || a.ReviewScore > a.AcceptScore {
			t.Fatalf("they have %+v and %+v", a, b)
		}
	}
}

func TestWhatCannotHoldHereIsRefusedAndTold(t *testing.T) {
	d, box := dbtest.Open(t), boxOf(t)
	mine, other := newReplica(t, d, box), newReplica(t, d, box, "WATCHMARK_MATCHING_REVIEW_SCORE=0.7")
	var refused settings.Errors
	other.OnRefused(func(errs settings.Errors) { refused = errs })
	if err := mine.Patch(t.Context(), one("matching.accept_score", 0.6)); err != nil {
		t.Fatal(err)
	}
	other.refresh(t)
	if len(refused) != 1 || !strings.Contains(refused.Error(), "matching.review_score") || other.Current().Matching.AcceptScore == 0.6 {
		t.Errorf("refused is %v, in force %+v", refused, other.Current().Matching)
	}
	if err := mine.Patch(t.Context(), one("matching.accept_score", 0.9)); err != nil {
		t.Fatal(err)
	}
	other.refresh(t)
	if other.Current().Matching.AcceptScore != 0.9 {
		t.Error("what can hold again does not")
	}
}

func TestOneReplicaProvidesAValue(t *testing.T) {
	d, box := dbtest.Open(t), boxOf(t)
	replicas := []*replica{newReplica(t, d, box), newReplica(t, d, box), newReplica(t, d, box)}
	var all sync.WaitGroup
	for _, r := range replicas {
		all.Go(func() {
			if err := r.Provide(t.Context(), "auth.webhook_key", settings.NewWebhookKey()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	want := replicas[0].Current().Auth.WebhookKey
	for _, r := range replicas {
		r.refresh(t)
		if got := r.Current().Auth.WebhookKey; got == "" || got != want {
			t.Errorf("the keys are %q and %q", got.Reveal(), want.Reveal())
		}
	}
}

func TestReplicasThatAreSetUpInDifferentWaysAreTold(t *testing.T) {
	d, box := dbtest.Open(t), boxOf(t)
	same := []string{"WATCHMARK_SYNC_WORKERS=5", "WATCHMARK_AUTH_WEBHOOK_KEY=0123456789ab"}
	digest := func(environ ...string) string { return newReplica(t, d, box, environ...).Digest() }
	for name, c := range map[string]struct {
		other  []string
		differ string
	}{
		"alike":              {same, ""},
		"what is its own":    {append([]string{"WATCHMARK_SERVER_LISTEN=127.0.0.1:1", "WATCHMARK_LOG_LEVEL=debug"}, same...), ""},
		"another value":      {[]string{"WATCHMARK_SYNC_WORKERS=6", same[1]}, "sync.workers"},
		"another secret":     {[]string{same[0], "WATCHMARK_AUTH_WEBHOOK_KEY=ba9876543210"}, "auth.webhook_key"},
		"set at one of them": {[]string{same[0]}, "auth.webhook_key"},
		"nothing is set":     {nil, "auth.webhook_key sync.workers"},
	} {
		if got := strings.Join(settings.Differ([]string{digest(same...), digest(c.other...), digest(same...)}), " "); got != c.differ {
			t.Errorf("%s: %q", name, got)
		}
	}
	if text := digest(same...); strings.Contains(text, "0123456789ab") {
		t.Errorf("the digest is %s", text)
	}
	if digest(same...) == newReplica(t, d, boxOf(t), same...).Digest() {
		t.Error("who has another key can compare")
	}
}
