//go:build unix

package faults

import (
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/testkit/proxytest"
)

// trouble is one way in which a service of several replicas goes wrong.
type trouble struct {
	name  string
	fault string // what the table calls it
	play  func(g *trio, round int)
	// catalog and settings are what a scenario needs beside the usual; waits is as of a scenario.
	settings []string
	waits    bool
	clocks   []time.Duration // how wrong those of the replicas are
}

const (
	// trioMarks is how many different marks a round has.
	trioMarks = 60
	// trios is how many of them run at once.
	trios = 6
	// quick is a fault that is over before anybody takes a replica for dead.
	quick = 3 * time.Second
)

// troubles is what goes wrong with replicas, with their database, on the way to it, with their clocks, and with the catalog.
func troubles() []trouble {
	all := []trouble{
		{name: "EachIsKilledInTurn", fault: "`kill -9` of each in turn", play: killed(1)},
		{name: "TwoAreKilled", fault: "`kill -9` of two at once", play: killed(2)},
		{name: "AllAreKilled", fault: "`kill -9` of all at once", play: killed(3)},
		{name: "OneIsStoppedBeyondItsLife", fault: "SIGSTOP beyond the life, then SIGCONT", play: stopped},
		{name: "PostgreSQLIsKilled", fault: "PostgreSQL stopped as by a crash, and back", play: databaseAway("immediate", 0)},
		{name: "PostgreSQLIsRestarted", fault: "PostgreSQL restarted", play: databaseAway("fast", 0)},
		{name: "PostgreSQLIsAway", fault: "PostgreSQL away for 20 s", play: databaseAway("fast", 20*time.Second)},
		{name: "ALineIsCut", fault: "connections of one replica to PostgreSQL cut, and back", play: lineBroken((*proxytest.Proxy).Cut)},
		{name: "ALineIsSilent", fault: "the same silent, and back", play: lineBroken((*proxytest.Proxy).Silence)},
		{name: "ALineBringsNoAnswers", fault: "only its questions arrive, and back", play: lineBroken((*proxytest.Proxy).OnlyToServer)},
		{name: "ALineBringsNoQuestions", fault: "only answers arrive, and back", play: lineBroken((*proxytest.Proxy).OnlyToClient)},
		{name: "ClocksAreWrong", fault: "clocks five minutes apart, steps, and `kill -9`", play: clocksWrong,
			clocks: []time.Duration{-5 * time.Minute, 0, 5 * time.Minute}},
	}
	for _, broken := range breakdowns {
		all = append(all, trouble{name: "Catalog" + broken.name[len("Nothing"):], fault: "with three replicas: " + broken.called, waits: true, play: func(g *trio, _ int) { g.catalogBroken(broken.fault) }})
	}
	return all
}

// usual are the troubles that are played where no rounds are asked for.
var usual = []string{"EachIsKilledInTurn", "PostgreSQLIsKilled", "ALineIsCut"}

// TestReplicas plays every trouble on three replicas of its own, and prints the table at the end.
func TestReplicas(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	if underRace {
		t.Skip("three replicas under the race detector take longer than the run of all tests may")
	}
	rounds, seed := number(t, "WATCHMARK_FAULT_ROUNDS", 1), seed(t)
	all := troubles()
	if os.Getenv("WATCHMARK_FAULT_ROUNDS") == "" { // the others take long, and wait for most of that
		all = slices.DeleteFunc(all, func(tr trouble) bool { return !slices.Contains(usual, tr.name) })
	}
	t.Logf("WATCHMARK_FAULT_SEED=%d", seed)
	episodes := certain(t)
	results := &table{}
	defer func() { t.Log(results) }()
	var running sync.WaitGroup
	defer running.Wait()
	room := make(chan struct{}, trios) // most of their time is waiting, so that as many as there are processors would be few
	for _, tr := range all {
		running.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			t.Run(tr.name, func(t *testing.T) { tr.run(t, episodes, rounds, seed, results) })
		})
	}
}

// run plays a trouble.
func (tr trouble) run(t *testing.T, episodes []episode, rounds int, seed uint64, results *table) {
	random := randomOf(seed, tr.name)
	p := plan{settings: tr.settings}
	p.events, p.users = shared(random, episodes, rounds*trioMarks)
	for _, wrong := range tr.clocks {
		p.clocks = append(p.clocks, newClock(t, wrong))
	}
	if !tr.waits { // the time after which a client gives up is no part of these faults
		p.settings = append(p.settings, "WATCHMARK_NETWORK_TIMEOUT_SECONDS=10")
		p.catalog.WriteTime = func() time.Duration { return 20 * time.Millisecond }
		p.catalog.Linger = func() time.Duration { return lingering }
	}
	g := newTrio(t, random, p)
	defer func() { // a scenario that fails has its line as well
		r := g.books.close(t, g.catalog, g.members[0], !tr.waits)
		r.fault, r.rounds = tr.fault, rounds
		results.add(r)
	}()
	for round := range rounds {
		tr.play(g, round)
	}
	g.settled()
}

// outOfLife is a time beyond which a replica that was not heard of is taken for dead, in every fourth round from the first
// on; in the others it is back before.
func (g *trio) outOfLife(round int) time.Duration {
	if round%4 == 0 {
		return g.moment(life+2*time.Second, life+10*time.Second)
	}
	return g.moment(0, quick)
}

// killed kills so many replicas at a random moment under load, and starts them again: soon, or when the others have taken over.
func killed(n int) func(g *trio, round int) {
	return func(g *trio, round int) {
		away := g.outOfLife(round)
		d := g.deliver(trioMarks, away/2)
		<-time.After(g.moment(0, 400*time.Millisecond))
		for i := range n {
			g.members[(round+i)%replicas].process().kill()
		}
		<-time.After(away)
		g.startAll()
		d.wait()
	}
}

// stopped stops a replica at a random moment under load as a machine does that is paused, and lets it go on: each time beyond
// its life, and while the others work on what it had in hand.
func stopped(g *trio, round int) {
	p := g.members[round%replicas].process()
	paused := g.moment(life-5*time.Second, life+10*time.Second)
	before := g.deliver(trioMarks/2, 0)
	<-time.After(g.moment(0, 400*time.Millisecond))
	must(g, p.cmd.Process.Signal(syscall.SIGSTOP))
	during := g.deliver(trioMarks-trioMarks/2, paused+time.Second)
	<-time.After(paused)
	must(g, p.cmd.Process.Signal(syscall.SIGCONT))
	before.wait()
	during.wait()
}

// databaseAway takes PostgreSQL away from all of them under load.
func databaseAway(mode string, away time.Duration) func(g *trio, round int) {
	return func(g *trio, _ int) {
		d := g.deliver(trioMarks, away/2)
		<-time.After(g.moment(0, 400*time.Millisecond))
		g.postgres.Stop(g, mode)
		<-time.After(away)
		if away > 0 && d.refused.Load() == 0 {
			g.Error("no webhook was refused while PostgreSQL was away")
		}
		g.postgres.Again(g)
		g.startAll()
		d.wait()
	}
}

// lineBroken breaks the line of one replica under load and mends it, soon or when the others have taken over. Once it is out of
// life it must not write to the catalog.
func lineBroken(how func(*proxytest.Proxy)) func(g *trio, round int) {
	return func(g *trio, round int) {
		i, away := round%replicas, g.outOfLife(round)
		d := g.deliver(trioMarks, away+time.Second)
		<-time.After(g.moment(0, 400*time.Millisecond))
		broken := time.Now()
		how(g.lines[i])
		<-time.After(away)
		report(g, "written by a replica that is out of life", g.written.between(i, broken.Add(life), time.Now()))
		g.lines[i].Restore()
		g.startAll()
		d.wait()
	}
}

// clocksWrong kills one of replicas whose clocks are minutes apart, and sets the clock of another one.
func clocksWrong(g *trio, round int) {
	d := g.deliver(trioMarks, quick)
	<-time.After(g.moment(0, 400*time.Millisecond))
	g.members[round%replicas].process().kill()
	step := []time.Duration{-5 * time.Minute, 5 * time.Minute, 0}[round%3]
	g.clocks[(round+1)%replicas].set(step)
	<-time.After(g.outOfLife(round))
	g.startAll()
	d.wait()
}

// catalogBroken breaks the catalog for all replicas in the middle of a burst.
func (g *trio) catalogBroken(f catalogtest.Fault) {
	g.Helper()
	before := len(g.catalog.Writes())
	first := g.deliver(trioMarks/2, 0)
	eventually(g, "marks are written", func() bool { return len(g.catalog.Writes()) > before })
	second := g.deliver(trioMarks-trioMarks/2, f.For/2)
	must(g, g.catalog.SetFault(f))
	<-time.After(f.For)
	first.wait()
	second.wait()
	g.settled()
}
