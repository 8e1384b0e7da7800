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
// TestReplicas does the same with three replicas on one PostgreSQL, each with a line of its own to it: it kills and stops replicas, stops the
// database, breaks lines, and sets clocks wrong. Webhooks go to any of them, and every list entry is written by all. Beside lost and doubled it counts writes
// of one entry that overlapped, of which the catalog loses one, and those that came before what was accepted earlier. The catalog
// goes on with a write whose client was killed for most of a minute. Its rounds are WATCHMARK_FAULT_ROUNDS, one when not set.
//
//	WATCHMARK_FAULT_ROUNDS=20 go test ./internal/testkit/faults -run TestReplicas -v -timeout 2h
//
//	go test ./internal/testkit/faults -run '^$' -bench . -benchtime 1x
//
// BenchmarkIntake measures how fast webhooks are stored and answered, BenchmarkDrain how fast
// what waited is marked once the catalog answers, BenchmarkStart how soon the service is there; the
// catalog is `watchmark simulate`, a process of its own. WATCHMARK_LOAD_EVENTS is the number of webhooks of BenchmarkIntake, 20000 when not set.
// BenchmarkCommunity measures webhooks, marks and pages with WATCHMARK_LOAD_ACCOUNTS accounts and WATCHMARK_LOAD_RECORDS records,
// 1000 and 100000 when not set, on SQLite and on PostgreSQL with up to three replicas.
// BenchmarkArchive measures the offline archive, imported from a synthetic dump of WATCHMARK_ARCHIVE_SCALE times the real one, 0.1 when not set. Memory is read
// from /proc, so they need Linux.
package faults
