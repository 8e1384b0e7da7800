// Package record keeps the result of every event for every account: the row that a person looks at, and its trace.
// The log of webhook requests (webhooklog) stands below it.
//
// It promises that a record which was stored is never lost, and that a record is processed by one worker at a time,
// which holds it by a lease in its row. It uses platform, watch and catalog. Begin with record.go.
package record
