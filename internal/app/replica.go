package app

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"watchmark/internal/catalog/entries"
	"watchmark/internal/platform/hold"
	"watchmark/internal/platform/replica"
	"watchmark/internal/platform/settings"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/tell/notify"
	"watchmark/internal/upkeep/movedb"
	"watchmark/internal/upkeep/replicas"
)

// leaveTime is how long leaving may take: others would find out by themselves.
const leaveTime = 2 * time.Second

// join makes this process a replica. What its former incarnation had in hand is free then.
func (a *App) join(ctx context.Context) error {
	name := "this"
	if !a.db.Alone() {
		var err error
		if name, err = replica.NameIn(a.folder); err != nil {
			return err
		}
	}
	var err error
	a.self, err = replica.Join(ctx, replica.Config{
		DB: a.db, Name: name, Program: Version(), Log: a.log,
		About: func() replica.About {
			return replica.About{Egress: a.Settings.Current().Catalog.Egress, SettingsDigest: a.Settings.Digest(), Reachable: a.catalog.Reachability().Reachable}
		},
		Free: free, Told: a.tellLost,
	})
	if err != nil || a.db.Alone() {
		return err
	}
	return movedb.Refusal(ctx, a.db) // who moves it looks for replicas when it says so
}

// tellLost adds a notice of each replica that was evicted.
func (a *App) tellLost(ctx context.Context, tx *sql.Tx, names []string) error {
	var notices []notify.Notice
	for _, name := range names {
		notices = append(notices, notify.Notice{Kind: notify.ReplicaLost, About: name, Facts: map[string]string{"replica": name}})
	}
	return a.Notices.AddTx(ctx, tx, notices...)
}

// free give back what dead incarnations have in hand.
var free = []func(ctx context.Context, tx *sql.Tx, dead []int64) error{record.FreeTx, entries.FreeTx, hold.FreeTx, task.FreeTx, notify.FreeTx}

// hasOthers reports whether another replica lives, that requests can go to.
func (a *App) hasOthers() bool {
	if a.db.Alone() {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
	defer cancel()
	all, err := replica.List(ctx, a.db)
	return err == nil && slices.ContainsFunc(all, func(r replica.Replica) bool { return r.Heard && r.Incarnation != a.self.Incarnation() })
}

// leave gives back what this process has in hand.
func (a *App) leave() error {
	ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
	defer cancel()
	return a.self.Leave(ctx)
}

// overview tells how database, replicas and budgets stand.
func (a *App) overview() replicas.Source {
	return replicas.Source{DB: a.db, Self: a.self, Budget: a.budget}
}

// Incarnation is the number of this process among the replicas; 0 before it has joined, and for a command.
func (d *Data) Incarnation() int64 {
	if d.self == nil {
		return 0
	}
	return d.self.Incarnation()
}

// Live reports whether no other replica may take this one for dead.
func (d *Data) Live() bool { return d.self == nil || d.self.Live() }

// live is how many replicas share the work.
func (d *Data) live(ctx context.Context) (n int, err error) {
	all, err := replica.List(ctx, d.db)
	for _, one := range all {
		if one.Heard {
			n++
		}
	}
	return n, err
}

// replica is the name of this process among the replicas.
func (d *Data) replica() string { return d.self.Name }

// replicaName is what this replica is called; empty where it is the only one there can be.
func (a *App) replicaName() string {
	if a.db.Alone() {
		return ""
	}
	return a.self.Name
}

// differing are the keys of file and environment that the live replicas do not set alike.
func (a *App) differing(ctx context.Context) ([]string, error) {
	if a.db.Alone() {
		return nil, nil
	}
	all, err := replica.List(ctx, a.db)
	if err != nil {
		return nil, err
	}
	var digests []string
	for _, r := range all {
		if r.Live {
			digests = append(digests, r.SettingsDigest)
		}
	}
	return settings.Differ(digests), nil
}

// compareEvery is how often replicas look whether they are set up alike.
const compareEvery = time.Minute

// compare writes into the log when the live replicas begin to be set up in different ways, until ctx ends.
func (a *App) compare(ctx context.Context) {
	if a.db.Alone() {
		return
	}
	told := ""
	for look := time.NewTicker(compareEvery); ctx.Err() == nil; {
		keys, err := a.differing(ctx)
		if now := strings.Join(keys, ", "); err == nil && now != told {
			if told = now; told != "" {
				a.log.WarnContext(ctx, "file or environment of the replicas do not agree: set these keys alike at all of them, and restart", "keys", told)
			}
		}
		select {
		case <-ctx.Done():
		case <-look.C:
		}
	}
}
