package watcher

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"watchmark/internal/platform/hold"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/task"
	"watchmark/internal/source/mediaserver"
	"watchmark/internal/testkit/dbtest"
)

func TestSignInsOfAPersonAtTwoReplicasBecomeOneLogin(t *testing.T) {
	dir := dbtest.Folder(t)
	box, err := secret.OpenBox(t.TempDir(), "", false)
	must(t, err)
	stores := []store{{db: dbtest.OpenIn(t, dir), box: box}, {db: dbtest.OpenIn(t, dir), box: box}}
	for n := range 10 {
		var both sync.WaitGroup
		ids := make([]int64, len(stores))
		for i, s := range stores {
			both.Go(func() {
				l := Login{Kind: mediaserver.Jellyfin, URL: "http://attic:8096", ServerID: "attic", MediaUserName: "mira", State: Connected, Enabled: true}
				l.userID = fmt.Sprint("mira-", n)
				var err error
				if ids[i], _, err = s.keep(t.Context(), known{Login: l, keys: keys{token: secret.Text("token-" + time.Now().String())}}); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		if ids[0] != ids[1] || ids[0] == 0 {
			t.Fatalf("the logins are %v", ids)
		}
	}
}

// freed is what becomes of what a replica has when it leaves or is evicted.
func (r *rig) freed(replica int64) {
	r.t.Helper()
	must(r.t, r.db.Write(r.t.Context(), func(ctx context.Context, tx *sql.Tx) error { return hold.FreeTx(ctx, tx, []int64{replica}) }))
}

// followedBy holds which replica follows a login, and that its server has that one connection.
func (r *rig) followedBy(what string, l Login, want int64) {
	r.t.Helper()
	owner, err := r.service.Holds.Owner(r.t.Context(), loginName(l.ID))
	r.fake.mu.Lock()
	connections := len(r.fake.listeners)
	r.fake.mu.Unlock()
	if err != nil || owner != want || connections != 1 {
		r.t.Errorf("%s: followed by %d by %d connections, not by %d (%v)", what, owner, connections, want, err)
	}
}

// A login is followed by one replica. When that is drained another one follows it at once, when it dies once it is evicted; what was
// played meanwhile is taken once.
func TestALoginIsTakenOverByAnotherReplica(t *testing.T) {
	for name, killed := range map[string]bool{"drained": false, "killed": true} {
		t.Run(name, func(t *testing.T) {
			dir := dbtest.Folder(t)
			synctest.Test(t, func(t *testing.T) {
				fake := newFake()
				for n, id := range []string{"a", "b", "c"} {
					fake.episode(id, "Star", 1, float64(n+1))
				}
				one, two := newReplica(t, dir, fake, 1, 2), newReplica(t, dir, fake, 2, 2)
				defer one.end()
				defer two.end()
				l := one.signIn()
				one.run()
				two.run()
				one.followedBy("at the start", l, 1)
				fake.play("a")
				rest()
				two.expect("while one follows", "Star S1 E1")
				one.stop()
				if killed {
					fake.play("b")
					time.Sleep(10 * lookEvery)
					two.expect("before it is evicted", "Star S1 E1")
				}
				two.freed(1)
				if !killed {
					fake.play("b")
				}
				time.Sleep(2 * lookEvery)
				rest()
				two.followedBy("then", l, 2)
				two.expect("of what was played meanwhile", "Star S1 E1", "Star S1 E2")
				fake.play("c")
				rest()
				two.expect("at the other one", "Star S1 E1", "Star S1 E2", "Star S1 E3")
			})
		})
	}
}

// Who wants something of a server at one replica gets it, whichever follows the login.
func TestALoginGoesToTheReplicaThatIsAsked(t *testing.T) {
	if !dbtest.OnServer() {
		t.Skip("replicas share a server; run with " + dbtest.Env + "=postgres")
	}
	dir := dbtest.Folder(t)
	synctest.Test(t, func(t *testing.T) {
		fake := newFake()
		fake.episode("a", "Star", 1, 1)
		one, two := newReplica(t, dir, fake, 1, 2), newReplica(t, dir, fake, 2, 2)
		defer one.end()
		defer two.end()
		l := one.signIn()
		one.run()
		two.run()
		run, err := two.service.Sync(t.Context(), l.ID)
		must(t, err)
		if _, err := one.service.Sync(t.Context(), l.ID); err == nil {
			t.Error("both ask the server at once")
		}
		time.Sleep(3 * lookEvery)
		rest()
		if s := run.Status(); s.State != task.Done {
			t.Errorf("it ends as %+v", s)
		}
		two.followedBy("then", l, 2)
		fake.play("a")
		rest()
		one.expect("afterwards", "Star S1 E1")
	})
}
