// Package faults holds the fault harness and the load bench of the whole service. It has
// tests only; nothing imports it.
//
// Every scenario of TestFaults runs the real binary on a data folder of its own, sends it
// webhooks, breaks something meanwhile, and then closes the books against the catalog: each
// event that was answered 202 must be marked on the list of the right account (lost = 0), and
// no episode and no list entry may have been written that was so already (doubled = 0). The
// catalog is package catalogtest inside the test, because it keeps every write it applied
// with the episodes named in it. What `watchmark simulate` tells, marks and a number of writes, is not enough:
// a write that repeats one episode of an earlier batch would not show in it.
//
//	go test ./internal/testkit/faults -v
//	WATCHMARK_FAULT_ROUNDS=200 go test ./internal/testkit/faults -run TestFaults -v -timeout 3h
//
// WATCHMARK_FAULT_ROUNDS is how often the service is killed, 20 when not set; every other
// scenario is repeated more often in the same proportion, and never less than once.
// WATCHMARK_FAULT_SEED repeats the random choices of an earlier run, which logs its seed.
// With -short the scenarios are skipped. Under the race detector the service is built with it too.
//
//	go test ./internal/testkit/faults -run '^$' -bench . -benchtime 1x
//
// BenchmarkIntake measures how fast webhooks are stored and answered, BenchmarkDrain how fast
// what waited is marked once the catalog answers, BenchmarkStart how soon the service is there; the
// catalog is `watchmark simulate`, a process of its own. WATCHMARK_LOAD_EVENTS is the number of webhooks of BenchmarkIntake, 20000 when not set.
// BenchmarkArchive measures the offline archive, imported from a synthetic dump of WATCHMARK_ARCHIVE_SCALE times the real one, 0.1 when not set. Memory is read
// from /proc, so they need Linux.
package faults
