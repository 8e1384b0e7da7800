// Package upkeep looks after an installation: backups (backup), moving in from another tool (movein), finding out
// why a service cannot be reached (diagnose), newer versions (update), starting with the system (install) and giving
// up the rights of root (rights).
//
// It promises that a data folder is replaced only after what replaces it was checked. It uses platform and the stores
// that movein fills. Begin with backup/backup.go.
package upkeep
