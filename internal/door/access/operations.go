package access

// operations are all operations of the API by their id in the OpenAPI document, in its chapters.
var operations = map[string]Rule{
	// Accounts
	"activate-account":    ownerOnly,
	"add-media-user-name": ownerOnly,
	"assign-user":         ownerOnly,
	"change-account":      ownOf(Account),
	"create-account":      own,
	"delete-account":      ownOf(Account),
	"finish-oauth":        own,
	"get-account":         ownOf(Account),
	"heed-user":           ownerOnly,
	"ignore-user":         ownerOnly,
	"list-accounts":       own,
	"list-ignored-users":  ownerOnly,
	"list-unknown-users":  ownerOnly,
	"preview-assign-user": ownerOnly,
	"start-oauth":         own,
	"test-account":        ownOf(Account),

	// Archive
	"cancel-archive-import": ownerOnly,
	"get-archive-log":       ownerOnly,
	"get-archive-status":    ownerOnly,
	"get-archive-subject":   ownerOnly,
	"list-airing":           ownerOnly,
	"search-archive":        signedIn,
	"stream-archive-import": ownerOnly,
	"update-archive":        ownerOnly,
	"upload-archive":        ownerOnly,

	// Backups
	"delete-backup":   ownerOnly,
	"download-backup": ownerOnly,
	"list-backups":    ownerOnly,
	"make-backup":     ownerOnly,

	// Blocked keywords
	"create-blocked-keyword":  own,
	"delete-blocked-keyword":  ownOf(Keyword),
	"get-blocked-keyword":     ownOf(Keyword),
	"list-blocked-keywords":   own,
	"replace-blocked-keyword": ownOf(Keyword),

	// Candidates
	"confirm-pending-candidate": ownOf(Question),
	"delete-pending-candidate":  ownOf(Question),
	"get-pending-candidate":     ownOf(Question),
	"list-pending-candidates":   own,
	"reject-pending-candidate":  ownOf(Question),
	"undo-pending-candidate":    ownOf(Question),

	// Diagnostics
	"diagnose-network": ownerOnly,
	"get-diagnostics":  ownerOnly,
	"list-logs":        ownerOnly,
	"stream-logs":      ownerOnly,
	"test-host":        ownerOnly,
	"test-proxy":       ownerOnly,

	// ID table
	"get-dataset-status": ownerOnly,
	"get-idmap-status":   ownerOnly,
	"refresh-dataset":    ownerOnly,
	"update-idmap":       ownerOnly,

	// Import
	"get-import-server": ownerOnly,
	"import-file":       own,
	"preview-import":    ownerOnly,
	"run-import":        ownerOnly,

	// Language model
	"get-llm-usage": ownerOnly,
	"test-llm":      ownerOnly,

	// Login
	"accept-invitation":     everybody,
	"cancel-two-factor":     own,
	"change-password":       own,
	"confirm-two-factor":    own,
	"create-api-key":        own,
	"delete-api-key":        ownOf(Key),
	"finish-login-provider": everybody,
	"get-login-provider":    ownerOnly,
	"get-me":                own,
	"get-session":           everybody,
	"finish-login-plex":     everybody,
	"get-two-factor":        own,
	"list-api-keys":         own,
	"list-login-ways":       everybody,
	"login":                 everybody,
	"login-server":          everybody,
	"logout":                own,
	"renew-recovery-codes":  own,
	"setup":                 everybody,
	"start-login-plex":      everybody,
	"start-login-provider":  everybody,
	"start-two-factor":      own,
	"turn-off-two-factor":   own,

	// Mappings
	"create-mapping":          own,
	"delete-mapping":          ownOf(Mapping),
	"export-mappings":         own,
	"get-mapping":             ownOf(Mapping),
	"import-mappings":         own,
	"list-mappings":           own,
	"preview-import-mappings": own,
	"replace-mapping":         ownOf(Mapping),
	"share-mapping":           ownerOnly,
	"test-mappings":           own,

	// NAS
	"get-nas-status": ownerOnly,
	"list-nas-users": ownerOnly,
	"sync-nas":       ownerOnly,

	// Notifications
	"count-unread-notices":      own,
	"create-dingtalk-channel":   own,
	"create-email-channel":      ownerOnly,
	"create-notification-rule":  own,
	"create-webhook-channel":    own,
	"create-wecom-channel":      own,
	"delete-dingtalk-channel":   ownOf(Channel),
	"delete-email-channel":      ownerOnly,
	"delete-notice":             ownOf(Notice),
	"delete-notification-rule":  ownOf(MessageRule),
	"delete-webhook-channel":    ownOf(Channel),
	"delete-wecom-channel":      ownOf(Channel),
	"get-dingtalk-channel":      ownOf(Channel),
	"get-email-channel":         ownerOnly,
	"get-notice":                ownOf(Notice),
	"get-notification-rule":     ownOf(MessageRule),
	"get-webhook-channel":       ownOf(Channel),
	"get-wecom-channel":         ownOf(Channel),
	"list-dingtalk-channels":    own,
	"list-email-channels":       ownerOnly,
	"list-notices":              own,
	"list-notification-rules":   own,
	"list-notification-types":   signedIn,
	"list-webhook-channels":     own,
	"list-wecom-channels":       own,
	"read-notices":              own,
	"replace-dingtalk-channel":  ownOf(Channel),
	"replace-email-channel":     ownerOnly,
	"replace-notification-rule": ownOf(MessageRule),
	"replace-webhook-channel":   ownOf(Channel),
	"replace-wecom-channel":     ownOf(Channel),
	"resend-delivery":           ownOf(Delivery),
	"test-dingtalk-channel":     ownOf(Channel),
	"test-email-channel":        ownerOnly,
	"test-notifications":        own,
	"test-webhook-channel":      ownOf(Channel),
	"test-wecom-channel":        ownOf(Channel),

	// People
	"add-person":        ownerOnly,
	"change-person":     ownerOnly,
	"get-person":        ownerOnly,
	"invite-person":     ownerOnly,
	"list-people":       ownerOnly,
	"remove-person":     ownerOnly,
	"remove-sign-in":    ownerOnly,
	"revoke-invitation": ownerOnly,

	// Queue
	"delete-task":       ownerOnly,
	"get-replay-status": ownerOnly,
	"list-queue":        ownerOnly,
	"probe-catalog":     ownerOnly,
	"replay-queue":      ownerOnly,
	"replay-record":     ownerOnly,
	"revive-task":       ownerOnly,

	// Records
	"answer-unwatched":     own,
	"correct-record":       ownOf(Record),
	"get-match-trace":      ownOf(Record),
	"get-record":           ownOf(Record),
	"get-record-arrival":   ownOf(Record),
	"get-stats":            own,
	"list-match-records":   ownerOnly,
	"list-records":         own,
	"list-unwatched":       own,
	"preview-correction":   ownOf(Record),
	"retry-failed-records": own,
	"retry-record":         ownOf(Record),
	"stream-retry":         ownOf(Record),
	"undo":                 own,
	"undo-correction":      ownOf(Record),
	"unmark-record":        ownOf(Record),

	// Servers
	"add-server":            ownerOnly,
	"answer-server-held":    ownerOnly,
	"change-server":         ownerOnly,
	"choose-server":         ownerOnly,
	"get-server":            ownerOnly,
	"import-server-history": ownerOnly,
	"list-servers":          ownerOnly,
	"probe-server":          ownerOnly,
	"remove-server":         ownerOnly,
	"seed-server":           ownerOnly,
	"sign-in-server":        ownerOnly,
	"sync-server":           ownerOnly,

	// Service
	"get-docs":      signedIn,
	"get-openapi":   signedIn,
	"health":        everybody,
	"health-live":   everybody,
	"health-ready":  everybody,
	"list-replicas": ownerOnly,

	// Settings
	"change-settings":     ownerOnly,
	"get-settings":        ownerOnly,
	"get-settings-schema": ownerOnly,
	"preview-schedule":    ownerOnly,

	// Snapshots
	"close-word":        ownOf(Account),
	"delete-snapshot":   ownOf(Snapshot),
	"diff-snapshots":    ownOf(Snapshot),
	"export-list":       ownOf(Account),
	"get-entry-history": ownOf(Account),
	"get-word":          ownOf(Account),
	"import-snapshot":   ownOf(Account),
	"list-snapshots":    ownOf(Account),
	"put-word":          ownOf(Account),
	"restore-snapshot":  ownOf(Snapshot),
	"take-snapshot":     ownOf(Account),
	"undo-restore":      ownOf(Restore),

	// Subjects
	"get-subject":     signedIn,
	"search-subjects": signedIn,

	// Summaries
	"create-summary-job":   ownerOnly,
	"delete-summary-job":   ownerOnly,
	"get-airing-status":    ownerOnly,
	"get-summary-job":      ownerOnly,
	"list-summary-jobs":    ownerOnly,
	"list-summary-results": ownerOnly,
	"replace-summary-job":  ownerOnly,
	"test-summary-job":     ownerOnly,
	"trigger-summary-job":  ownerOnly,

	// TV boxes
	"get-device-status": ownerOnly,
	"scan-devices":      ownerOnly,
	"sync-device":       ownerOnly,
	"sync-devices":      ownerOnly,

	// Tasks
	"cancel-task": ownOf(Task),
	"get-task":    ownOf(Task),
	"list-jobs":   ownerOnly,
	"list-tasks":  own,
	"run-job":     ownerOnly,
	"stream-task": ownOf(Task),
	"undo-task":   ownerOnly,

	// Tests
	"test-match": ownerOnly,
	"test-sync":  ownerOnly,

	// Tracker
	"complete-tracker-email-login": ownerOnly,
	"disconnect-tracker":           ownerOnly,
	"finish-tracker-oauth":         ownerOnly,
	"get-tracker-status":           ownerOnly,
	"get-tracker-sync-status":      ownerOnly,
	"start-tracker-device":         ownerOnly,
	"start-tracker-email-login":    ownerOnly,
	"start-tracker-oauth":          ownerOnly,
	"sync-tracker":                 ownerOnly,

	// Webhooks
	"get-webhook-key":    ownerOnly,
	"list-webhook-log":   ownerOnly,
	"rotate-webhook-key": ownerOnly,
	"scrobble-pause":     own,
	"scrobble-start":     own,
	"scrobble-stop":      own,
	"webhook":            everybody,
	"webhook-with-key":   everybody,
}
