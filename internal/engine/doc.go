// Package engine turns events into records and records into marks: intake, workers, the pipeline (route, block,
// match, mark, settle), retry. Beside it: the queue of marks that wait for the catalog (queue), which it uses, and what
// people decide about uncertain and wrong matches (review), which uses it.
//
// It promises: an event whose Accept returned is in the database and survives kill -9; every record ends in a settled
// state; every step may run twice with the same outcome, because work is held by leases and the marker reads before
// it writes.
//
// It uses every room above it in this list: platform, watch, catalog, match, record, source and tell.
// Begin with engine.go, intake.go and pipeline.go.
package engine
