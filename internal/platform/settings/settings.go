// Package settings knows every setting of the service: its type, default,
// bounds, help text, whether it is secret and whether it needs a restart.
//
// One table (see table) binds each key to a field of Settings. From it come the
// reading of watchmark.toml and of the environment, the validation, the JSON of
// the settings page, the example file and the settings reference.
//
// Precedence, lowest first: default, database (what was changed on the page or
// by the API), file, environment, command line. The file is the operator's: it
// is read and never written, and a key set there, in the environment or on the
// command line is locked for the page and the API.
package settings

import (
	"crypto/rand"
	"encoding/base64"
	"log/slog"
	"net/netip"
	"time"

	"watchmark/internal/platform/secret"
)

//go:generate go run ./gen

// Settings holds one valid value for every key. What Load and Manager.Current
// return is a snapshot shared by many readers: do not change it.
type Settings struct {
	Server         Server
	Auth           Auth
	Network        Network
	Catalog        Catalog
	Sync           Sync
	Matching       Matching
	IDMap          IDMap
	CatalogArchive CatalogArchive
	CatalogReplay  CatalogReplay
	NAS            NAS
	Device         Device
	Tracker        Tracker
	Watcher        Watcher
	Notification   Notification
	LLM            LLM
	Backup         Backup
	Database       Database
	Snapshot       Snapshot
	Log            Log
}

// Server is the section [server]: where the service listens and what it keeps.
type Server struct {
	Listen         string         // host:port; an empty host means every address
	BasePath       string         // "" or a path with a leading and no trailing slash
	PublicURL      string         // without trailing slash, base path included; "" = derive from the request
	MaxBody        int64          // largest webhook body, in bytes
	TrustedProxies []netip.Prefix // peers whose X-Forwarded-* headers are believed
	TLSCert        string         // file of the certificate chain, PEM; "" = plain HTTP, and then TLSKey is "" too
	TLSKey         string         // file of its private key, PEM
	WebhookLog     time.Duration  // how long requests stay in the webhook log
	KeepRecords    time.Duration  // how long records stay; 0 = for ever
	LegacyPaths    bool           // answer the webhook paths of Bangumi-syncer too
	LegacyKey      secret.Text    // what these paths ask for; "" = nothing
	Metrics        bool           // whether GET /metrics answers
	UpdateCheck    bool           // whether UpdateURL is asked once a day
	UpdateURL      string         // http or https; "" = none
}

// Auth is the section [auth]: who may use the page, the API and the webhooks.
type Auth struct {
	Enabled            bool
	WebhookAuthEnabled bool
	WebhookKey         secret.Text // URL-safe; "" = none yet: then no webhook key is valid
	Session            time.Duration
	LockoutAttempts    int
	Lockout            time.Duration
	OIDCName           string // what people call the provider; "" = its host
	OIDCIssuer         string // "" = no sign-in by a provider
	OIDCClientID       string // "" = no sign-in by a provider
	OIDCClientSecret   secret.Text
	// Groups of the provider that make somebody the owner, a person or a guest, "" = none does, and the claim that names groups.
	OIDCGroupsClaim, OIDCOwnerGroup, OIDCPersonGroup, OIDCGuestGroup string
	// MediaServers are the ids of the media servers that sign people in.
	MediaServers []string
	OIDCAllowed  []string // subjects, and e-mail addresses in lower case; none = nobody
}

// Network is the section [network]: how the service reaches other servers.
type Network struct {
	Proxy   secret.Text // http, https, socks5 or socks5h URL, maybe with a password; "" = from the environment
	Timeout time.Duration
	// CACertificates is the file or folder of certificates that are trusted besides those of the system; "" = none.
	CACertificates string
}

// Catalog is the section [catalog]: the catalog service and its limits.
type Catalog struct {
	APIURL            string // without trailing slash
	WebURL            string // without trailing slash
	ImageURL          string // without trailing slash
	RequestsPerMinute int
	Burst             int
	Egress            string // of this replica: letters, digits, - _ and dots
	LimitCounts       string // CountAddress or CountAddressAndUser
	OAuthClientID     string
	OAuthClientSecret secret.Text
}

// What Bangumi counts requests by, as Catalog.LimitCounts.
const (
	CountAddress        = "address"
	CountAddressAndUser = "address_and_user"
)

// Sync is the section [sync]: how an event becomes a mark.
type Sync struct {
	TestSkipPermissionCheck bool
	FilmStartMarksDoing     bool
	Coalesce                time.Duration // at most, when more events are expected; 0 = do not wait
	Workers                 int
	Adult                   string // mark, private or skip
	Unwatched               string // ignore, take_back or ask
	Rewatch                 string // ignore, note or doing
}

// Matching is the section [matching]: what is asked beside the catalog, and when a match is good enough. It holds
// that ReviewScore is not above AcceptScore.
type Matching struct {
	DatasetEnabled bool
	DatasetURL     string // http or https
	DatasetCron    string // as ParseStandard of go-cron reads it; "" = never

	ArbiterEnabled    bool
	LiveActionEnabled bool

	AcceptScore float64
	ReviewScore float64
	Margin      float64
}

// IDMap is the section [idmap]: the lists of how other sites number seasons.
type IDMap struct {
	Enabled                   bool
	AnimeListsURL, ShinkroURL string // http or https; "" = not used
	UpdateCron                string // as ParseStandard of go-cron reads it; "" = never
}

// DefaultArchiveDir is the default of catalog_archive.data_dir, which stands for a
// folder in the data folder, wherever that is.
const DefaultArchiveDir = "./data/archive"

// CatalogArchive is the section [catalog_archive]: the local copy of the catalog.
type CatalogArchive struct {
	Enabled    bool
	DataDir    string
	UpdateCron string   // as ParseStandard of go-cron reads it, in Asia/Shanghai unless it names a zone
	PointerURL string   // http or https
	Mirrors    []string // prefixes of addresses, http or https
	MinFreeMB  int
}

// CatalogReplay is the section [catalog_replay]: marks that wait for the catalog.
type CatalogReplay struct {
	Enabled    bool
	MaxRetries int
	Cron       string // as ParseStandard of go-cron reads it
}

// NAS is the section [nas]: the media library of a NAS, which is read by schedule.
type NAS struct {
	Enabled      bool
	DatabasePath string
	User         string // a guid of the library, or "all"
	MinPercent   int
	Range        string // "all", "1day", "1week" or "1month"
	Limit        int    // most plays that one scan takes
	Cron         string // as ParseStandard of go-cron reads it
}

// Device is the section [device]: TV boxes whose player is asked what it plays.
type Device struct {
	Enabled    bool
	Addresses  []string       // as lan.ParseHost reads them
	Subnets    []netip.Prefix // as lan.ParseNetwork gives them
	ScanEvery  time.Duration  // 0 = scan on demand only
	MinPercent int
}

// Tracker is the section [tracker]: the watch tracker whose history is taken in.
type Tracker struct {
	Enabled         bool
	AuthURL         string // without trailing slash
	APIURL          string // without trailing slash; for those who signed in by e-mail
	ClientID        string // "" = no sign-in by e-mail
	RedirectURI     string
	AppAPIURL       string // without trailing slash; for those who signed in with an application
	AppClientID     string
	AppClientSecret secret.Text
	Cron            string // as ParseStandard of go-cron reads it; "" = never
	Genres          []string
	Overlap         time.Duration
}

// Watcher is the section [watcher]: the media servers that are followed with people's own logins.
type Watcher struct {
	Enabled        bool
	PlexURL        string // without trailing slash
	PlexClientsURL string // without trailing slash
	PlexAuthURL    string // without trailing slash; a page for browsers
}

// Notification is the section [notification]: what people are told, and in which language.
type Notification struct {
	Language    string        // "en" or "zh-CN"
	AiringCron  string        // as ParseStandard of go-cron reads it; "" = never
	SilentAfter time.Duration // how long a source may be silent until that is told; 0 = for ever
	PeopleHome  bool          // whether people may have messages sent to the home network
}

// LLM is the section [llm]: the service that writes summaries.
type LLM struct {
	BaseURL     string // without trailing slash; "" = off
	APIKey      secret.Text
	Model       string
	Timeout     time.Duration // of one request
	MaxTokens   int           // of an answer; 0 = not sent
	Temperature string        // a number from 0 to 2; "" = not sent
}

// DefaultBackupDir is the default of backup.dir, which stands for a folder in the data
// folder, wherever that is.
const DefaultBackupDir = "./data/backups"

// Backup is the section [backup]: backups that are made by schedule.
type Backup struct {
	Cron string // as ParseStandard of go-cron reads it; "" = never
	Dir  string
	Keep int
}

// Database is the section [database]: where everything is stored.
type Database struct {
	URL secret.Text // postgres or postgresql URL, maybe with a password; "" = SQLite in the data folder
}

// Snapshot is the section [snapshot]: readings of whole lists.
type Snapshot struct {
	Enabled bool
	Cron    string // as ParseStandard of go-cron reads it
	Keep    int
}

// Log is the section [log].
type Log struct {
	Level  slog.Level
	Format string // "text" or "json"
	File   bool   // whether the log is also written to files in the data folder
}

// NewWebhookKey is a random value for auth.webhook_key.
func NewWebhookKey() string {
	random := make([]byte, 24)
	_, _ = rand.Read(random) // documented never to return an error
	return base64.RawURLEncoding.EncodeToString(random)
}

// Secrets lists the secret values that are set, for whoever masks known secrets
// in logs.
func (s Settings) Secrets() []secret.Text {
	var set []secret.Text
	for _, sec := range table(&s) {
		for _, o := range sec.options {
			if text, ok := o.at.(*secret.Text); ok && text.Reveal() != "" {
				set = append(set, *text)
			}
		}
	}
	return set
}
