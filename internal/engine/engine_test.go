package engine_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/engine"
	"watchmark/internal/engine/queue"
	"watchmark/internal/match"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/record"
	"watchmark/internal/record/webhooklog"
	"watchmark/internal/source/preview"
	"watchmark/internal/tell/notify"
	"watchmark/internal/testkit/logtest"
	"watchmark/internal/watch"
)

func TestEventEndsAsAMarkOfTheAccountThatNamesTheUser(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.account(t, "two", true, "alex")
	h.run(t)
	r := h.settled(t, h.accept(t, episode("a", "mira", 3))[0])
	if r.Status != record.Success || r.Message.Text != "marked as watched" || r.AccountName != "one" || r.EpisodeID != 803 || r.Method != "api" {
		t.Errorf("record is %+v", r)
	}
	if marks, _ := h.list.marks(); !slices.Equal(marks, []string{"one/8/803"}) {
		t.Errorf("marks %v", marks)
	}
	trace, err := h.records.Trace(t.Context(), r.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{`"name":"route"`, `"name":"api"`, `"name":"mark"`} {
		if !strings.Contains(string(trace), step) {
			t.Errorf("the trace lacks %s: %s", step, trace)
		}
	}
}

func TestRoutingSaysWhyNobodyIsMarked(t *testing.T) {
	h := newHouse(t)
	h.account(t, "on", true, "mira")
	h.account(t, "off", false, "alex")
	h.run(t)
	for name, c := range map[string]struct {
		user    string
		kind    record.ErrorKind
		message string
	}{
		"empty":       {"", record.UserNameMissing, "user name missing"},
		"only spaces": {"  ", record.UserNameMissing, "user name missing"},
		"unknown":     {"guest", record.NoAccount, "account not found"},
		"other case":  {"Mira", record.NoAccount, "account not found"},
		"space added": {"mira ", record.NoAccount, "account not found"},
		"disabled":    {"alex", record.NoAccount, "account not found: the account off has"},
	} {
		r := h.settled(t, h.accept(t, episode("a", c.user, 1))[0])
		if r.Status != record.Failed || r.ErrorKind != c.kind || !strings.HasPrefix(r.Message.Text, c.message) {
			t.Errorf("%s: %s %s %q", name, r.Status, r.ErrorKind, r.Message.Text)
		}
	}
	if _, calls := h.list.marks(); calls != 0 {
		t.Errorf("%d marks were asked for", calls)
	}
}

// What nobody wants marked fails for nobody: it needs neither an account nor a name.
func TestABlockedTitleNeedsNoAccount(t *testing.T) {
	h := newHouse(t)
	h.account(t, "on", true, "mira")
	h.account(t, "off", false, "alex")
	if _, err := h.mappings.Block(t.Context(), mapping.Blocked{Keyword: "trailer", Kind: mapping.Contains, Source: mapping.ByPerson}); err != nil {
		t.Fatal(err)
	}
	h.run(t)
	for name, user := range map[string]string{"empty": "", "only spaces": "  ", "unknown": "guest", "disabled": "alex"} {
		event := episode("a trailer", user, 1)
		id := h.accept(t, event)[0]
		if r := h.settled(t, id); r.Status != record.Ignored || r.ErrorKind != "" || r.Message.Text != "because" {
			t.Errorf("%s: %s %s %q", name, r.Status, r.ErrorKind, r.Message.Text)
		}
		if trace, err := h.records.Trace(t.Context(), id); err != nil || strings.Contains(string(trace), "route") || !strings.Contains(string(trace), `"blocked"`) {
			t.Errorf("%s: the trace is %s (%v)", name, trace, err)
		}
		if told := h.told(t, id); !slices.Equal(told, []notify.Kind{notify.RequestReceived, notify.Ignored}) {
			t.Errorf("%s: told %v", name, told)
		}
		if trace, err := h.Preview(t.Context(), event); err != nil || trace.Result.Status != match.Blocked {
			t.Errorf("%s: the preview says %+v (%v)", name, trace.Result, err)
		}
		if verdicts, err := h.Forecast()(t.Context(), event); err != nil || len(verdicts) != 1 || verdicts[0].Status != preview.Blocked || verdicts[0].Reason.Text != "because" {
			t.Errorf("%s: the forecast says %+v (%v)", name, verdicts, err)
		}
	}
}

func TestEveryAccountThatNamesTheUserGetsItsOwnRecord(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.account(t, "two", true, "mira")
	h.account(t, "off", false, "mira")
	h.run(t)
	first := h.settled(t, h.accept(t, episode("a", "mira", 1))[0])
	second := h.settled(t, first.ID+1)
	if first.AccountName != "one" || second.AccountName != "two" || second.Status != record.Success {
		t.Errorf("records of %q and %q (%s)", first.AccountName, second.AccountName, second.Status)
	}
	if marks, _ := h.list.marks(); len(marks) != 2 {
		t.Errorf("marks %v, want one for each account", marks)
	}
	// A retry keeps to its own account.
	h.retry(t, first.ID)
	if again := h.settled(t, first.ID); again.AccountName != "one" || again.Message.Text != "already watched: nothing to do" {
		t.Errorf("retried record is %+v", again)
	}
	if all, _, err := h.records.List(t.Context(), record.Filter{}); err != nil || len(all) != 2 {
		t.Errorf("%d records (%v), want 2 still", len(all), err)
	}
}

func TestBurstOnOneSubjectIsOneWrite(t *testing.T) {
	h := newHouse(t)
	h.set(func(o *engine.Options) { o.Coalesce = 500 * time.Millisecond })
	h.account(t, "one", true, "mira")
	var events []watch.Event
	for number := range 12 {
		events = append(events, episode("a", "mira", float64(number+1)))
	}
	events = append(events, episode("a", "mira", 1)) // once more
	h.run(t)
	ids := h.accept(t, events...)
	already := 0
	for _, id := range ids {
		r := h.settled(t, id)
		if r.Status != record.Success {
			t.Errorf("record %d is %s: %s", id, r.Status, r.Message.Text)
		}
		if strings.HasPrefix(r.Message.Text, "already watched") {
			already++
		}
	}
	if marks, calls := h.list.marks(); len(marks) != 12 || calls != 1 || already != 1 {
		t.Errorf("%d marks in %d calls, %d already watched; want 12 in 1, 1", len(marks), calls, already)
	}
}

func TestOutcomesOfMatching(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	want := map[match.Status]struct {
		status record.Status
		kind   record.ErrorKind
		adds   string
	}{
		match.Review:          {record.Review, "", ""},
		match.NotFound:        {record.Failed, record.NotMatched, ""},
		match.EpisodeNotFound: {record.Failed, record.EpisodeNotFound, ""},
		match.Blocked:         {record.Ignored, "", ""},
		match.Unreachable:     {record.Queued, record.Unreachable, ": this waits in the queue and is sent again by itself"},
	}
	for status := range want {
		h.matcher.answers[string(status)] = match.Trace{Result: match.Result{Status: status, Reason: reason.Text("because")}, Steps: []match.Step{}}
	}
	h.run(t)
	for status, c := range want {
		r := h.settled(t, h.accept(t, episode(string(status), "mira", 1))[0])
		if r.Status != c.status || r.ErrorKind != c.kind || r.Message.Text != "because"+c.adds {
			t.Errorf("%s: %s %s %q, want %s %s", status, r.Status, r.ErrorKind, r.Message.Text, c.status, c.kind)
		}
	}
	if counts, err := h.queue.Counts(t.Context()); err != nil || counts[queue.Pending] != 1 {
		t.Errorf("queue %v (%v), want the unreachable one", counts, err)
	}
}

func TestRefusalsTellWhatToDoAndDoNotQueue(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.run(t)
	for kind, c := range map[record.ErrorKind]struct {
		err     error
		message string
	}{
		record.Unauthorized: {&catalog.Error{Kind: catalog.ErrUnauthorized, Status: 401}, "enter a new one"},
		record.Forbidden:    {&catalog.Error{Kind: catalog.ErrForbidden, Status: 403, Description: reason.Text("insufficient token scope")}, "insufficient token scope"},
		record.Refused:      {&catalog.Error{Kind: catalog.ErrRefused, Status: 400}, "add a mapping"},
		record.Internal:     {errors.New("a bug"), "internal error"},
	} {
		h.list.fail(c.err)
		r := h.settled(t, h.accept(t, episode("a", "mira", 1))[0])
		if r.Status != record.Failed || r.ErrorKind != kind || !strings.Contains(r.Message.Text, c.message) {
			t.Errorf("%s: %s %s %q", kind, r.Status, r.ErrorKind, r.Message.Text)
		}
	}
	banned := &catalog.Error{Kind: catalog.ErrForbidden, Status: 403, Description: reason.Text("you are not allowed to do this")}
	h.list.fail(banned)
	if r := h.settled(t, h.accept(t, episode("a", "mira", 1))[0]); r.ErrorKind != record.Forbidden || !strings.Contains(r.Message.Text, "may be banned") || strings.Contains(r.Message.Text, "create a new token") {
		t.Errorf("banned: %s %q", r.ErrorKind, r.Message.Text)
	}
	h.list.fail(account.ErrNoToken)
	if r := h.settled(t, h.accept(t, episode("a", "mira", 1))[0]); r.ErrorKind != record.Unauthorized || !strings.Contains(r.Message.Text, "no access token") {
		t.Errorf("no token: %s %q", r.ErrorKind, r.Message.Text)
	}
	if counts, err := h.queue.Counts(t.Context()); err != nil || counts[queue.Pending] != 0 {
		t.Errorf("queue %v (%v), want nothing", counts, err)
	}
}

func TestWhatNobodyForesawIsInTheLog(t *testing.T) {
	h := newHouse(t)
	log := new(logtest.Buffer)
	h.Log = slog.New(slog.NewTextHandler(log, nil))
	h.account(t, "one", true, "mira")
	h.list.fail(errors.New("a bug of the marker"))
	h.run(t)
	h.seen(t, episode("a", "mira", 1))
	if !strings.Contains(log.String(), "a bug of the marker") {
		t.Errorf("the log does not say why:\n%s", log)
	}
}

func TestOutageQueuesAndTheReplayMarks(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	outage := error(&catalog.Error{Kind: catalog.ErrUnreachable, Status: 503})
	h.list.fail(outage)
	h.run(t)
	ids := h.accept(t, episode("a", "mira", 1), episode("a", "mira", 2))
	for _, id := range ids {
		if r := h.settled(t, id); r.Status != record.Queued || r.SubjectID != 8 || r.Message.Text != "Bangumi is out of order (HTTP 503): this waits in the queue and is sent again by itself" {
			t.Fatalf("record is %s %q", r.Status, r.Message.Text)
		}
	}
	answer := outage
	scheduler := queue.New(queue.Config{
		Queue: h.queue, Log: slog.New(slog.DiscardHandler),
		Reachability: func() catalog.Reachability { return catalog.Reachability{} },
		Probe:        func(context.Context) error { return answer },
		Released:     func([]int64) { h.Wake() },
	})
	if ids, err := scheduler.Replay(t.Context(), 10); !errors.Is(err, catalog.ErrUnreachable) || len(ids) != 0 {
		t.Errorf("replayed %v (%v) while the catalog does not answer", ids, err)
	}
	h.list.fail(nil)
	answer = nil
	if released, err := scheduler.Replay(t.Context(), 10); err != nil || !slices.Equal(released, ids) {
		t.Fatalf("replayed %v (%v), want %v", released, err, ids)
	}
	for _, id := range ids {
		if r := h.settled(t, id); r.Status != record.Success {
			t.Errorf("replayed record is %s %q", r.Status, r.Message.Text)
		}
	}
	if counts, err := h.queue.Counts(t.Context()); err != nil || counts[queue.Pending] != 0 || counts[queue.Synced] != 2 {
		t.Errorf("queue %v (%v), want both synced", counts, err)
	}
}

// A test run is claimed when it is stored; that counts as its first, so its task is closed by the second.
func TestATestRunThatWaitedIsDone(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.list.fail(&catalog.Error{Kind: catalog.ErrUnreachable, Status: 503})
	h.run(t)
	r, err := h.Test(t.Context(), episode("a", "mira", 1))
	if err != nil || r.Status != record.Queued || r.Attempts != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	h.list.fail(nil)
	h.retry(t, r.ID)
	if r := h.settled(t, r.ID); r.Status != record.Success {
		t.Errorf("record is %s", r.Status)
	}
	if counts, err := h.queue.Counts(t.Context()); err != nil || counts[queue.Pending] != 0 || counts[queue.Synced] != 1 {
		t.Errorf("queue %v (%v)", counts, err)
	}
}

func TestTooManyRetriesGiveUpAndSaySo(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.list.fail(&catalog.Error{Kind: catalog.ErrUnreachable})
	h.run(t)
	id := h.accept(t, episode("a", "mira", 1))[0]
	for range h.options.Load().MaxRetries - 1 {
		if r := h.settled(t, id); r.Status != record.Queued {
			t.Fatalf("record is %s", r.Status)
		}
		h.retry(t, id)
	}
	if r := h.settled(t, id); r.Status != record.Queued {
		t.Fatalf("record is %s after one retry less than is allowed", r.Status)
	}
	h.retry(t, id)
	if r := h.settled(t, id); r.ErrorKind != record.Abandoned || !strings.Contains(r.Message.Text, "given up after 2 retries") {
		t.Errorf("record is %s %s %q", r.Status, r.ErrorKind, r.Message.Text)
	}
	h.list.fail(nil)
	h.retry(t, id)
	if r := h.settled(t, id); r.Status != record.Success {
		t.Errorf("revived record is %s %q", r.Status, r.Message.Text)
	}
	runs := map[string]float64{}
	for _, s := range h.Runs.Samples() {
		runs[s.Labels[1]] = s.Value
	}
	if runs["queued"] != 2 || runs["error"] != 1 {
		t.Errorf("counted are %v, want two runs that were queued and one that was given up", runs)
	}
}

func TestTheMarkOfAnAccountThatIsDeletedMeanwhileWaits(t *testing.T) {
	h := newHouse(t)
	a := h.account(t, "one", true, "mira")
	h.list.fail(&catalog.Error{Kind: catalog.ErrUnreachable})
	h.run(t)
	id := h.seen(t, episode("a", "mira", 1))[0]
	h.matcher.hold(func(watch.Event) {
		if err := h.accounts.Delete(t.Context(), a.ID); err != nil {
			t.Error(err)
		}
	})
	h.retry(t, id)
	if r := h.settled(t, id); r.Status != record.Queued || r.AccountID != 0 {
		t.Errorf("record is %s %s %q", r.Status, r.ErrorKind, r.Message.Text)
	}
	h.matcher.hold(nil)
	h.list.fail(nil)
	h.retry(t, id)
	if r := h.settled(t, id); r.Status != record.Queued || r.ErrorKind != record.NoAccount || r.Message.Code != queue.AccountGone.Code() {
		t.Errorf("retried without an account the record is %s %s %q", r.Status, r.ErrorKind, r.Message.Text)
	}
	if counts, err := h.queue.Counts(t.Context()); err != nil || counts[queue.Pending] != 1 {
		t.Errorf("queue %v (%v), want one that waits", counts, err)
	}
	h.account(t, "two", true, "mira")
	h.retry(t, id)
	if r := h.settled(t, id); r.Status != record.Success || r.AccountName != "two" {
		t.Errorf("with an account the record is %s %q of %s", r.Status, r.Message.Text, r.AccountName)
	}
}

func TestTheMarkOfADisabledAccountWaits(t *testing.T) {
	h := newHouse(t)
	a := h.account(t, "one", true, "mira")
	h.account(t, "two", true, "mira")
	h.list.fail(&catalog.Error{Kind: catalog.ErrUnreachable})
	h.run(t)
	id := h.seen(t, episode("a", "mira", 1))[0]
	h.enable(t, a.ID, false)
	h.list.fail(nil)
	h.retry(t, id)
	r := h.settled(t, id)
	if r.Status != record.Queued || r.ErrorKind != record.NoAccount || !strings.Contains(r.Message.Text, "the account one is disabled: this waits") || r.SubjectID == 0 {
		t.Errorf("record is %+v", r)
	}
	h.enable(t, a.ID, true)
	h.retry(t, id)
	if r := h.settled(t, id); r.Status != record.Success || r.AccountID != a.ID {
		t.Errorf("with the account back the record is %s %q", r.Status, r.Message.Text)
	}
}

func TestPanicCostsOneRecordOnly(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.matcher.panics = "bad"
	h.run(t)
	ids := h.accept(t, episode("bad", "mira", 1), episode("good", "mira", 2))
	if r := h.settled(t, ids[0]); r.ErrorKind != record.Internal {
		t.Errorf("record is %s %q", r.Status, r.Message.Text)
	}
	if r := h.settled(t, ids[1]); r.Status != record.Success {
		t.Errorf("the other record is %s %q", r.Status, r.Message.Text)
	}
}

func TestPanicOfAMarkCostsItsRecordsOnly(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.run(t)
	h.list.panicking(true)
	if r := h.settled(t, h.accept(t, episode("a", "mira", 1))[0]); r.ErrorKind != record.Internal {
		t.Errorf("record is %s %s", r.Status, r.ErrorKind)
	}
	h.list.panicking(false)
	if r := h.settled(t, h.accept(t, episode("a", "mira", 2))[0]); r.Status != record.Success {
		t.Errorf("the next record is %s %q", r.Status, r.Message.Text)
	}
}

func TestStopGivesBackWhatIsNotDoneAndTheNextStartDoesIt(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.list.block = make(chan struct{})
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan struct{})
	go func() { h.Run(ctx, 10*time.Millisecond); close(stopped) }()
	id := h.accept(t, episode("a", "mira", 1))[0]
	changes, cancel := h.records.Feed.Subscribe()
	for r, err := h.records.Get(t.Context(), id); err == nil && r.Status == record.Received; r, err = h.records.Get(t.Context(), id) {
		select {
		case <-changes:
		case <-time.After(100 * time.Millisecond):
		}
	}
	cancel()
	stop()
	<-stopped
	if r, err := h.records.Get(t.Context(), id); err != nil || r.Status != record.Received {
		t.Fatalf("record is %s (%v), want received for the next start", r.Status, err)
	}
	h.list.block = nil
	h.run(t)
	if r := h.settled(t, id); r.Status != record.Success {
		t.Errorf("record is %s %q", r.Status, r.Message.Text)
	}
}

func TestStartOfAFilmMovesItToTheListOnly(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.run(t)
	r := h.settled(t, h.accept(t, watch.Event{Source: watch.Plex, Action: watch.Started, Media: watch.Movie, Title: "film", UserName: "mira"})[0])
	if r.Status != record.Success || !strings.Contains(r.Message.Text, "being watched") {
		t.Errorf("record is %s %q", r.Status, r.Message.Text)
	}
	if marks, _ := h.list.marks(); len(marks) != 0 || len(h.list.doing) != 1 {
		t.Errorf("marks %v, doing %v", marks, h.list.doing)
	}
}

func TestTestRunMayFallBackToThePreferredAccountWebhooksNever(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.set(func(o *engine.Options) { o.AnyAccountForTests = true })
	h.run(t)
	r, err := h.Test(t.Context(), episode("a", "stranger", 1))
	if err != nil || r.Status != record.Success || r.AccountName != "one" || !r.Test {
		t.Errorf("test run: %+v (%v)", r, err)
	}
	if trace, err := h.Preview(t.Context(), episode("a", "stranger", 1)); err != nil || trace.Result.Status != match.Matched {
		t.Errorf("preview is %s (%v)", trace.Result.Status, err)
	}
	if r := h.settled(t, h.accept(t, episode("a", "stranger", 2))[0]); r.ErrorKind != record.NoAccount {
		t.Errorf("webhook: %s %q", r.Status, r.Message.Text)
	}
	h.set(func(o *engine.Options) { o.AnyAccountForTests = false })
	if trace, err := h.Preview(t.Context(), episode("a", "stranger", 1)); err != nil || trace.Result.Status != match.NoAccount || len(trace.Steps) != 1 {
		t.Errorf("preview without the permission is %+v (%v)", trace.Result, err)
	}
}

// A play that a login at the same server has taken becomes no second record, and the webhook log says so.
func TestWhatALoginHasTakenIsIgnored(t *testing.T) {
	h := newHouse(t)
	h.run(t)
	h.taken.Store(new("seen"))
	e := watch.Event{Source: watch.Plex, Action: watch.Watched, Media: watch.Episode, Title: "Star", Season: new(1), Episode: new(1.0), EpisodeTitle: "seen", UserName: "mira"}
	other := e
	other.EpisodeTitle, other.Episode = "not seen", new(2.0)
	for name, c := range map[string]struct {
		events  []watch.Event
		records int
	}{
		"one":           {[]watch.Event{e}, 0},
		"one of two":    {[]watch.Event{e, other}, 1},
		"another alone": {[]watch.Event{other}, 1},
	} {
		got, err := h.Accept(t.Context(), engine.Arrival{Events: c.events, Entry: webhooklog.Entry{Source: watch.Plex, Status: 202}})
		if err != nil || len(got.IDs) != c.records || got.Ignored.IsZero() != (c.records > 0) {
			t.Errorf("%s: accepted as %+v (%v)", name, got, err)
		}
		entries, _, err := h.log.List(t.Context(), webhooklog.Filter{})
		if err != nil || len(entries) == 0 || len(entries[0].RecordIDs) != c.records || (entries[0].Status == 200) != (c.records == 0) || entries[0].Reason.Code != got.Ignored.Code {
			t.Errorf("%s: log %+v (%v)", name, entries, err)
		}
	}
}

func TestIgnoredRequestIsLoggedWithoutARecord(t *testing.T) {
	h := newHouse(t)
	h.run(t)
	got, err := h.Accept(t.Context(), engine.Arrival{Entry: webhooklog.Entry{Source: watch.Plex, Status: 200, Reason: reason.Text("a pause")}})
	if err != nil || len(got.IDs) != 0 {
		t.Fatalf("accepted as %+v (%v)", got, err)
	}
	entries, _, err := h.log.List(t.Context(), webhooklog.Filter{})
	if err != nil || len(entries) != 1 || entries[0].Reason.Text != "a pause" {
		t.Errorf("log %+v (%v)", entries, err)
	}
}

func TestManyWebhooksAtOnceLoseNothing(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.run(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var ids []int64
	for number := range 300 {
		wg.Go(func() {
			got := h.accept(t, episode("a", "mira", float64(number+1)))
			mu.Lock()
			ids = append(ids, got...)
			mu.Unlock()
		})
	}
	wg.Wait()
	for _, id := range ids {
		if r := h.settled(t, id); r.Status != record.Success {
			t.Fatalf("record %d is %s %q", id, r.Status, r.Message.Text)
		}
	}
	if marks, calls := h.list.marks(); len(marks) != 300 || calls > 100 {
		t.Errorf("%d marks in %d calls, want 300 in few", len(marks), calls)
	}
}

func TestEpisodesOfOneShowAreMatchedInOrder(t *testing.T) {
	h := newHouse(t)
	h.set(func(o *engine.Options) { o.Coalesce = 0 })
	h.account(t, "one", true, "mira")
	h.account(t, "two", true, "alex")
	var events []watch.Event
	for number := range 100 {
		events = append(events, episode("a", "mira", float64(number+1)), episode("b", "alex", float64(number+1)))
	}
	h.run(t)
	for _, id := range h.accept(t, events...) {
		h.settled(t, id)
	}
	h.matcher.mu.Lock()
	defer h.matcher.mu.Unlock()
	last := map[string]float64{}
	for _, e := range h.matcher.seen {
		if *e.Episode < last[e.Title] {
			t.Errorf("%s %g was matched after %g", e.Title, *e.Episode, last[e.Title])
		}
		last[e.Title] = *e.Episode
	}
}

// TestWhatIsGivenBackInHandIsMarkedBeforeWhatCameLater has a record lose its claim while it is written, and come back to be claimed after a
// later episode was matched.
func TestWhatIsGivenBackInHandIsMarkedBeforeWhatCameLater(t *testing.T) {
	h := newHouse(t)
	h.set(func(o *engine.Options) { o.Coalesce = 0 })
	h.account(t, "one", true, "mira")
	h.list.block, h.list.begun = make(chan struct{}), make(chan struct{}, 100)
	h.run(t)
	first := h.accept(t, episode("a", "mira", 1))[0]
	<-h.list.begun
	change := func(statement string) {
		t.Helper()
		if err := h.DB.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, statement, first)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	change(`UPDATE records SET status = 'received', owner = 0, lease_until = now_ms() + 30000 WHERE id = ?`)
	close(h.list.block)
	second := h.accept(t, episode("a", "mira", 2))[0]
	<-h.list.begun // another try
	change(`UPDATE records SET lease_until = 0 WHERE id = ?`)
	h.Wake()
	for _, id := range []int64{first, second} {
		if r := h.settled(t, id); r.Status != record.Success {
			t.Errorf("record %d is %s: %s", id, r.Status, r.Message.Text)
		}
	}
	h.list.mu.Lock()
	defer h.list.mu.Unlock()
	if want := h.list.marked; !slices.IsSorted(want) || len(want) != 2 {
		t.Errorf("marked in the order %v", want)
	}
}

func TestLaterEpisodeWaitsForTheOnesInTheQueue(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.run(t)
	h.list.fail(&catalog.Error{Kind: catalog.ErrUnreachable, Status: 500})
	first := h.settled(t, h.accept(t, episode("a", "mira", 1))[0])
	h.list.fail(nil)
	second := h.settled(t, h.accept(t, episode("a", "mira", 2))[0])
	if first.Status != record.Queued || second.Status != record.Queued || !strings.Contains(second.Message.Text, "earlier episodes") {
		t.Errorf("the first is %s, the second %s: %s", first.Status, second.Status, second.Message.Text)
	}
	if marks, _ := h.list.marks(); len(marks) != 0 {
		t.Errorf("marked %v before the first", marks)
	}
	if err := h.queue.Delete(t.Context(), first.ID); err != nil {
		t.Fatal(err)
	}
	h.retry(t, second.ID)
	if r := h.settled(t, second.ID); r.Status != record.Success {
		t.Errorf("with nothing before it: %s %s", r.Status, r.Message.Text)
	}
}

func TestFullDiskFailsNoRecord(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.list.fail(fmt.Errorf("store the token: %w", db.ErrStorage))
	h.run(t)
	id := h.accept(t, episode("a", "mira", 1))[0]
	for deadline := time.Now().Add(2 * time.Minute); ; <-time.After(10 * time.Millisecond) {
		if _, calls := h.list.marks(); calls > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("nothing was marked")
		}
	}
	h.stop()
	<-h.stopped
	if r, err := h.records.Get(t.Context(), id); err != nil || r.Status == record.Failed {
		t.Fatalf("record is %s %s (%v)", r.Status, r.Message.Text, err)
	}
	h.list.fail(nil)
	err := h.DB.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error { // as the next start does
		return record.FreeTx(ctx, tx, []int64{h.Replica.Incarnation()})
	})
	if err != nil {
		t.Fatal(err)
	}
	h.run(t)
	if r := h.settled(t, id); r.Status != record.Success {
		t.Errorf("record is %s %s", r.Status, r.Message.Text)
	}
}

func TestAPanicAfterARecordIsStoredLeavesItAsItIs(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.list.fail(&catalog.Error{Kind: catalog.ErrUnreachable, Status: 503})
	h.queued = func() { panic("a bug") }
	h.run(t)
	id := h.accept(t, episode("a", "mira", 1))[0]
	if r := h.settled(t, id); r.Status != record.Queued {
		t.Errorf("the record is %s: %s", r.Status, r.Message.Text)
	}
	if _, err := h.Settled(t.Context(), id); err != nil { // let go
		t.Error(err)
	}
	if r := h.settled(t, id); r.Status != record.Queued {
		t.Errorf("then the record is %s: %s", r.Status, r.Message.Text)
	}
}
