// Package notify tells people what happened: a notice is kept in the inbox, and rules say
// to which channels it goes. What is to go out waits in the database, in the same
// transaction as what it tells of, so that a crash loses and doubles nothing.
package notify

import (
	"time"

	"watchmark/internal/platform/reason"
)

// Kind is what a notice tells of.
type Kind string

// What became of one event.
const (
	RequestReceived Kind = "request_received"
	Marked          Kind = "marked"
	AlreadyWatched  Kind = "already_watched"
	Ignored         Kind = "ignored"
	NoAccount       Kind = "no_account"
	NotMatched      Kind = "not_matched"
	ReviewWaiting   Kind = "review_waiting"
	EpisodeNotFound Kind = "episode_not_found"
	MarkFailed      Kind = "mark_failed"
	Queued          Kind = "queued"
	Replayed        Kind = "replayed"
	Abandoned       Kind = "abandoned"
)

// What became of accounts, services and long work.
const (
	TokenExpiring      Kind = "token_expiring"
	TokenDead          Kind = "token_dead"
	CatalogUnreachable Kind = "catalog_unreachable"
	CatalogBack        Kind = "catalog_back"
	SourceSilent       Kind = "source_silent"
	ArchiveImported    Kind = "archive_imported"
	ArchiveFailed      Kind = "archive_failed"
	ArchiveSkipped     Kind = "archive_skipped"
	TrackerSyncDone    Kind = "tracker_sync_done"
	TrackerSyncFailed  Kind = "tracker_sync_failed"
	ServerSignedOut    Kind = "server_signed_out"
	ServerUnreachable  Kind = "server_unreachable"
	ServerRefused      Kind = "server_refused"
	ServerAsks         Kind = "server_asks"
	ImportDone         Kind = "import_done"
	ImportFailed       Kind = "import_failed"
	JobFailed          Kind = "job_failed"
	WordAsked          Kind = "word_asked"
	UnwatchedAsks      Kind = "unwatched_asks"
	ListShrunk         Kind = "list_shrunk"
	SummaryReady       Kind = "summary_ready"
	AiringToday        Kind = "airing_today"
	NewVersion         Kind = "new_version"
	UpdateAvailable    Kind = "update_available"
	DatabaseMigrated   Kind = "database_migrated"
	LoginLocked        Kind = "login_locked"
	CertificateEnding  Kind = "certificate_ending"
	ReplicaLost        Kind = "replica_lost"
)

// Notice is one thing that happened.
type Notice struct {
	Kind Kind
	// At is when it happened; zero takes the time at which it is stored.
	At time.Time
	// User is the media server's name of the person it concerns; empty when it concerns
	// nobody in particular.
	User string
	// AccountID and Account are the catalog account it concerns; 0 and empty when none.
	AccountID int64
	Account   string
	// Person is whose it is alone, whatever the account: nobody else sees it, and no rule or channel of anybody else tells it. 0 leaves
	// that to the account.
	Person int64
	// RecordID is the record it tells of; 0 when none.
	RecordID int64
	// About is what it is about, in the words of the machine ("sousou no frieren s1"): notices of one
	// kind, account (by its id) and About are the same matter, which a rule tells once in its cooldown.
	About string
	// Facts are what its text is made of, and the placeholders of templates: title, ori_title,
	// subject_name, season, episode, source and so on. Values come from outside.
	Facts map[string]string
	// Reason is why, which is the placeholder error_message.
	Reason reason.Reason
	// Over says that the matter is settled: nobody is told, and what the inbox holds of it is closed.
	Over bool
	// Channels are where it goes past the rules; empty leaves that to them.
	Channels []int64
}
