package engine_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/catalog/entries"
	"watchmark/internal/engine"
	"watchmark/internal/match"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/replica"
	"watchmark/internal/platform/secret"
	"watchmark/internal/record"
	"watchmark/internal/record/webhooklog"
	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/testkit/postgrestest"
	"watchmark/internal/testkit/proxytest"
	"watchmark/internal/watch"
)

// The town: houses, each a replica, on one database and one catalog. Everybody has three shows, each under two titles.
type town struct {
	*testing.T
	list    *catalogtest.Server
	address string // of the database
	box     *secret.Box
	houses  []*neighbour

	mu    sync.Mutex
	taken map[int64]watch.Event // by the id of the record
}

// neighbour is one replica.
type neighbour struct {
	*house
	db   *db.DB
	self *replica.Self
	// before sees each request of this replica first; nil sees none.
	before atomic.Pointer[func(r *http.Request)]
}

const (
	firstShow, lastShow = 8, 10
	episodesOfAShow     = 12
)

var (
	townsfolk = []string{"mira", "alex", "bench"}
	titles    = []string{"show", "剧"}
)

func newTown(t *testing.T) *town {
	t.Helper()
	w := &town{T: t, address: postgrestest.Schema(t, postgrestest.Shared(t).URL()), taken: map[int64]watch.Event{}}
	var people []catalogtest.User
	for _, name := range townsfolk {
		people = append(people, catalogtest.User{Username: name, Nickname: name, Token: "token-of-" + name})
	}
	w.list = catalogtest.New(catalogtest.Config{Users: people})
	for show := firstShow; show <= lastShow; show++ {
		w.list.AddSubject(catalogtest.Subject{ID: catalog.SubjectID(show), Type: catalog.Anime, Name: fmt.Sprint("show ", show), Eps: 2 * episodesOfAShow})
		for n := range 2 * episodesOfAShow {
			w.list.AddEpisodes(catalog.SubjectID(show), catalogtest.Episode{ID: catalog.EpisodeID(100*show + n + 1), Type: catalog.Main, Sort: float64(n + 1)})
		}
	}
	var err error
	w.box, err = secret.OpenBox(t.TempDir(), "", false)
	must(t, err)
	return w
}

// join adds a replica, whose way to the database is through address; it runs when told.
func (w *town) join(address string) *neighbour {
	w.Helper()
	d, err := db.OpenServer(w.Context(), address)
	must(w, err)
	w.Cleanup(func() { must(w, d.Close()) })
	n := &neighbour{db: d, house: houseOn(w.T, d, w.box, fmt.Sprint("house ", len(w.houses)))}
	n.self = n.Replica
	front := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if before := n.before.Load(); before != nil {
			(*before)(r)
		}
		w.list.ServeHTTP(rw, r)
	}))
	w.Cleanup(front.Close)
	masker, quiet := &secret.Masker{}, slog.New(slog.DiscardHandler)
	out, err := httpx.New(httpx.Config{PerMinute: 1e6, Burst: 1e6}, masker, quiet)
	must(w, err)
	w.Cleanup(out.Close)
	client, err := catalog.New(catalog.Config{APIURL: front.URL, WebURL: front.URL, UserAgent: catalog.UserAgent("test")}, out, quiet)
	must(w, err)
	n.Lists = account.NewClient(account.ClientConfig{
		Store: n.accounts, Catalog: client, Subjects: catalog.NewCached(client), Marker: catalog.NewMarker(), Known: n.records.Knows, Left: n.records.Left, Rewatching: func(context.Context, account.Account, catalog.SubjectID) (bool, error) { return false, nil }, Masker: masker, Log: quiet,
		App: func() catalog.App { return catalog.App{} },
	})
	n.matcher.lead(func(e watch.Event) *match.Result {
		_, number, _ := strings.Cut(e.Title, " ")
		show := catalog.SubjectID(0)
		_, err := fmt.Sscan(number, &show)
		must(w, err)
		return &match.Result{Status: match.Matched, SubjectID: show, EpisodeID: 100*catalog.EpisodeID(show) + catalog.EpisodeID(*e.Episode), EpisodeSort: e.Episode, Method: "api", Confidence: 1}
	})
	if len(w.houses) == 0 {
		for _, name := range townsfolk {
			_, err := n.accounts.Create(w.Context(), account.Draft{Username: name, Method: account.ByToken, Tokens: account.Tokens{Access: secret.Text("token-of-" + name)}, MediaUserNames: []string{name}, Enabled: true})
			must(w, err)
		}
	}
	w.houses = append(w.houses, n)
	return n
}

// start has a replica beat and work until the test ends, or it is told to stop.
func (n *neighbour) start(w *town) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() { n.self.Run(ctx) })
	ended.Go(func() { n.Run(ctx, 5*time.Second) })
	stop = sync.OnceFunc(func() { cancel(); ended.Wait() })
	w.Cleanup(stop)
	return stop
}

// watchAll has everybody watch all episodes of all shows, in order; each event goes to any house, again until that takes it.
func (w *town) watchAll(pause time.Duration) {
	w.Helper()
	var watching sync.WaitGroup
	for _, user := range townsfolk {
		for show := firstShow; show <= lastShow; show++ {
			for part, title := range titles {
				watching.Go(func() {
					for n := range episodesOfAShow {
						e := episode(fmt.Sprint(title, " ", show), user, float64(part*episodesOfAShow+n+1))
						w.accept(w.houses[rand.N(len(w.houses))], e)
						time.Sleep(rand.N(pause + 1))
					}
				})
			}
		}
	}
	watching.Wait()
}

// accept has a house take an event.
func (w *town) accept(n *neighbour, e watch.Event) {
	for {
		got, err := n.Accept(w.Context(), engine.Arrival{Events: []watch.Event{e}, Entry: webhooklog.Entry{Source: watch.Plex, Status: 202}})
		if err == nil {
			w.mu.Lock()
			w.taken[got.IDs[0]] = e
			w.mu.Unlock()
			return
		}
		if w.Context().Err() != nil {
			w.Error(err)
			return
		}
		time.Sleep(20 * time.Millisecond) // answered 503
	}
}

// settled waits until nothing is on its way any more.
func (w *town) settled() {
	w.Helper()
	var n int
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		var err error
		if n, err = record.CountOnTheWay(w.Context(), w.houses[0].db.Read(), "true"); err == nil && n == 0 {
			return
		}
		if time.Now().After(deadline) {
			w.Fatalf("%d records are still on their way (%v)", n, err)
		}
	}
}

// close compares what was taken with what the catalog has: nothing lost, nothing doubled, each show of each title in order.
func (w *town) close() {
	w.Helper()
	marked := map[string]bool{}
	for _, m := range w.list.Marks() {
		marked[fmt.Sprint(m.Username, " ", m.EpisodeID)] = true
	}
	lost := 0
	for id, e := range w.taken {
		r, err := w.houses[0].records.Get(w.Context(), id)
		must(w, err)
		if key := fmt.Sprint(e.UserName, " ", r.EpisodeID); r.Status != record.Success || !marked[key] {
			lost++
			w.Errorf("lost: record %d, %s of %s %v: %s %q", id, key, e.Title, *e.Episode, r.Status, r.Message.Text)
		}
	}
	written, entries, last := map[string]bool{}, map[string]bool{}, map[string]catalog.EpisodeID{}
	doubled := 0
	for _, write := range w.list.Writes() {
		if write.Episodes == nil {
			key := fmt.Sprint(write.Username, " ", write.SubjectID)
			if entries[key] {
				doubled++
				w.Errorf("the entry %s was written twice", key)
			}
			entries[key] = true
			continue
		}
		for _, id := range slices.Sorted(slices.Values(write.Episodes)) {
			key := fmt.Sprint(write.Username, " ", id)
			if written[key] {
				doubled++
				w.Errorf("doubled: %s", key)
			}
			written[key] = true
			order := fmt.Sprint(write.Username, " ", write.SubjectID, " ", (int(id)%100-1)/episodesOfAShow)
			if id < last[order] {
				w.Errorf("%s: %d was marked after %d", order, id, last[order])
			}
			last[order] = id
		}
	}
	w.Logf("accepted %d, lost %d, doubled %d, writes %d", len(w.taken), lost, doubled, len(w.list.Writes()))
	for _, n := range w.houses {
		var rows int
		must(w, n.db.Read().QueryRowContext(w.Context(), `SELECT COUNT(*) FROM entries WHERE owner <> 0`).Scan(&rows))
		if rows != 0 {
			w.Errorf("%d list entries are taken still", rows)
		}
	}
}

// evict takes a replica for dead, as another one does.
func (w *town) evict(n *neighbour) {
	w.Helper()
	dead := []int64{n.self.Incarnation()}
	must(w, w.houses[0].db.Write(w.Context(), func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE replicas SET state = 'dead' WHERE incarnation = ?`, dead[0]); err != nil {
			return err
		}
		if err := record.FreeTx(ctx, tx, dead); err != nil {
			return err
		}
		return entries.FreeTx(ctx, tx, dead)
	}))
}

func TestReplicasMarkEachEpisodeOnceAndInOrder(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	for range 3 {
		w.join(w.address).start(w)
	}
	w.watchAll(5 * time.Millisecond)
	w.settled()
	w.close()
	worked := 0
	for _, n := range w.houses {
		worked += min(1, len(n.Runs.Samples()))
	}
	t.Logf("%d replicas had work", worked) // who is quick may leave the others none
}

// A replica sleeps while it reads a list, is taken for dead, and wakes up: it writes nothing more as what it was, and goes on as another one.
func TestAReplicaThatSleptTooLongWritesNothing(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	for range 3 {
		w.join(w.address)
	}
	asleep := w.houses[2]
	sleeping := make(chan struct{}, 100)
	awake := make(chan struct{})
	sleep := func(r *http.Request) {
		if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/collections/") {
			sleeping <- struct{}{}
			<-awake
		}
	}
	asleep.before.Store(&sleep)
	former := asleep.self.Incarnation()
	stop := asleep.start(w)
	var watching sync.WaitGroup
	watching.Go(func() { w.watchAll(20 * time.Millisecond) })
	<-sleeping
	w.evict(asleep)
	var free int
	must(t, w.houses[0].db.Read().QueryRowContext(t.Context(), `SELECT COUNT(*) FROM entries WHERE owner = 0 AND free_at > now_ms() + 20000`).Scan(&free))
	if free == 0 {
		t.Error("what the sleeping one had does not rest")
	}
	w.houses[0].start(w)
	w.houses[1].start(w)
	must(t, w.houses[0].db.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error { // which would take 30 s
		_, err := tx.ExecContext(ctx, `UPDATE entries SET free_at = 0 WHERE owner = 0`)
		return err
	}))
	close(awake)
	asleep.before.Store(nil)
	watching.Wait()
	w.settled()
	if asleep.self.Incarnation() == former {
		t.Error("the replica has not joined anew")
	}
	w.close()
	stop()
}

// A replica sleeps while it looks a title up, without a beat, so it does not know yet that it was taken for dead: nothing of it is stored.
func TestWhatAnEvictedReplicaFoundIsNotStored(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	asleep, other := w.join(w.address), w.join(w.address)
	sleeping, awake := make(chan struct{}), make(chan struct{})
	asleep.matcher.hold(func(watch.Event) {
		sleeping <- struct{}{}
		<-awake
	})
	w.store(other, episode("show 8", "mira", 1))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { asleep.Run(ctx, 5*time.Second); close(ended) }()
	<-sleeping
	w.evict(asleep)
	other.start(w)
	before := other.settled(t, 1)
	close(awake)
	for asleep.InHand() > 0 {
		time.Sleep(5 * time.Millisecond)
	}
	stop()
	<-ended
	if after := other.settled(t, 1); before.Message.Text != "marked as watched" || !after.UpdatedAt.Equal(before.UpdatedAt) || len(asleep.Runs.Samples()) != 0 {
		t.Errorf("the record was %s %q at %v and is %s %q at %v; counted are %v",
			before.Status, before.Message.Text, before.UpdatedAt, after.Status, after.Message.Text, after.UpdatedAt, asleep.Runs.Samples())
	}
	if writes := w.list.Writes(); len(writes) != 2 {
		t.Errorf("written were %+v", writes)
	}
}

// What a replica has claimed and knows nothing of is done again: the answer to its claim was lost.
func TestWhatIsInHandAndForgottenIsDoneAgain(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	var id int64
	err := h.DB.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) (err error) {
		id, err = record.Insert(ctx, tx, episode("a", "mira", 1), false, time.Now())
		return err
	})
	must(t, err)
	works, _, err := h.records.Claim(t.Context(), h.Replica.Incarnation(), record.Room{Background: 1})
	if err != nil || len(works) != 1 {
		t.Fatal(works, err)
	}
	h.run(t)
	if r := h.settled(t, id); r.Status != record.Success || r.Attempts != 1 {
		t.Errorf("the record is %s after %d attempts", r.Status, r.Attempts)
	}
}

// The line between a replica and the database is cut again and again, while answers are on their way: whether what it committed is there is not known then.
func TestAnswersLostAtCommit(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	server, err := url.Parse(w.address)
	must(t, err)
	line := proxytest.Start(t, server.Host)
	server.Host = line.Address()
	w.join(w.address).start(w)
	w.join(server.String()).start(w)
	w.join(w.address).start(w)
	var watching sync.WaitGroup
	watching.Go(func() { w.watchAll(60 * time.Millisecond) })
	for range 8 {
		time.Sleep(50*time.Millisecond + rand.N(100*time.Millisecond)) // at any moment
		line.Cut()
		time.Sleep(10 * time.Millisecond)
		line.Restore()
	}
	watching.Wait()
	w.settled()
	w.close()
}

// An entry that two take is one's at a time, and one that was taken and forgotten is its owner's still.
func TestAnEntryIsOnesAtATime(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	a, b := w.join(w.address), w.join(w.address)
	taken, err := a.Entries.Take(t.Context(), 1, 8)
	must(t, err)
	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := b.Entries.Take(short, 1, 8); err == nil {
		t.Fatal("another replica has taken it, too")
	}
	other, err := b.Entries.Take(t.Context(), 1, 9)
	must(t, err)
	must(t, other.Give(t.Context(), 0))
	taken.Done() // its row stays, as after a commit that failed
	again, err := a.Entries.Take(t.Context(), 1, 8)
	must(t, err)
	again.Done()
	for range 2 {
		must(t, a.Entries.GiveForgotten(t.Context()))
	}
	other, err = b.Entries.Take(t.Context(), 1, 8)
	must(t, err)
	must(t, other.Give(t.Context(), 200*time.Millisecond))
	began := time.Now()
	rested, err := a.Entries.Take(t.Context(), 1, 8)
	must(t, err)
	if took := time.Since(began); took < 200*time.Millisecond {
		t.Errorf("it rested for %v", took)
	}
	must(t, rested.Give(t.Context(), 0))
	var count atomic.Int64
	var all sync.WaitGroup
	for _, of := range []*neighbour{a, b} {
		for range 20 {
			all.Go(func() {
				entry, err := of.Entries.Take(t.Context(), 2, 8)
				if err != nil {
					t.Error(err)
					return
				}
				if count.Add(1) != 1 {
					t.Error("two have it")
				}
				time.Sleep(time.Millisecond)
				count.Add(-1)
				if err := entry.Give(t.Context(), 0); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
}

func TestTwoClaimsTakeNothingTwice(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	a, b := w.join(w.address), w.join(w.address)
	for n := range 200 {
		w.store(a, episode(fmt.Sprint("show ", n), "mira", 1))
	}
	var mu sync.Mutex
	claimed := map[int64]int{}
	var both sync.WaitGroup
	for _, of := range []*neighbour{a, b, a, b} {
		both.Go(func() {
			for {
				works, _, err := of.records.Claim(t.Context(), of.self.Incarnation(), record.Room{Background: 7})
				if err != nil || len(works) == 0 {
					if err != nil {
						t.Error(err)
					}
					return
				}
				mu.Lock()
				for _, w := range works {
					claimed[w.ID]++
				}
				mu.Unlock()
			}
		})
	}
	both.Wait()
	for id, times := range claimed {
		if times != 1 {
			t.Errorf("record %d was claimed %d times", id, times)
		}
	}
	if len(claimed) != 200 {
		t.Errorf("%d were claimed", len(claimed))
	}
}

// store stores an event as a house that does not run would find it.
func (w *town) store(n *neighbour, e watch.Event) {
	w.Helper()
	must(w, n.db.Write(w.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := record.Insert(ctx, tx, e, false, time.Now())
		return err
	}))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
