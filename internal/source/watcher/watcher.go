// Package watcher follows what people watch on media servers with nothing but their own login: live where the server
// tells, by asking where it does not, and by comparing what it remembers with what is known here (docs/design/watcher.md).
//
// It promises: what was played before a login was connected is marked only when a person asks for it; a play becomes one
// record, however often and in whichever way it is seen; what is known of a server and the records that came of it are stored
// in one transaction; nothing is ever un-marked; passwords are not kept, tokens are sealed.
package watcher

import (
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/source/mediaserver"
)

// State is how a login stands.
type State string

// The states.
const (
	Connected   State = "connected"
	SignedOut   State = "signed_out"  // it needs a person to sign in
	Unreachable State = "unreachable" // the server does not answer; it is asked again
	Refused     State = "refused"     // the server lets the person in no more, for now; it is asked again
)

// States are all of them.
var States = []State{Connected, SignedOut, Unreachable, Refused}

// Way is how news of a server come in.
type Way string

// The ways.
const (
	Live    Way = "live"    // the server tells at once
	Polling Way = "polling" // it is asked from time to time
	Waiting Way = "waiting" // neither for now: the connection is being made, or was lost
)

// Login is a person's login at a media server, as the API and the pages show it.
type Login struct {
	ID            int64            `json:"id"`
	Kind          mediaserver.Kind `json:"kind" enum:"jellyfin,emby,plex,ugreen,zspace,fnos"`
	URL           string           `json:"url"`
	ServerName    string           `json:"server_name"`
	ServerID      string           `json:"server_id"`
	Version       string           `json:"version"`
	UserName      string           `json:"user_name" doc:"What the server calls the person."`
	MediaUserName string           `json:"media_user_name" doc:"The media-server user that records name, and that accounts list."`
	State         State            `json:"state" enum:"connected,signed_out,unreachable,refused"`
	Problem       reason.Reason    `json:"problem_value,omitzero" doc:"What is wrong and what to do; empty while it works."`
	Enabled       bool             `json:"enabled" doc:"Whether the server is asked at all."`
	Way           Way              `json:"way" enum:"live,polling,waiting" doc:"How news come in: the server tells them at once (live), or it is asked from time to time (polling)."`
	// SignIn is a sign-in by code that waits for a person; Choices are between what a person at Plex can see.
	SignIn      *SignIn   `json:"sign_in,omitempty" doc:"A sign-in by code that waits for a person; not there otherwise."`
	Choices     *Choices  `json:"choices,omitempty" doc:"What the person has to choose before the login is complete; not there otherwise."`
	Libraries   []Library `json:"libraries"`
	Accounts    []string  `json:"accounts" doc:"The enabled accounts that list media_user_name; without one nothing is marked."`
	Webhook     bool      `json:"webhook" doc:"Whether webhooks of the same server and user came lately, too; one play is one record all the same."`
	ConnectedAt time.Time `json:"connected_at"`
	// LastEventAt is when the last play was taken in.
	LastEventAt *time.Time `json:"last_event_at"`
	LastEvent   string     `json:"last_event" doc:"The last play that was taken in, such as 灯塔守望者 S2 E7."`
	CatchUp     *CatchUp   `json:"last_catch_up,omitempty" doc:"The last time when everything since was asked for; not there before."`
	NextCatchUp *time.Time `json:"next_catch_up"`
	ComparedAt  *time.Time `json:"compared_at" doc:"When everything that the person has played was last compared."`
	Known       int        `json:"known" doc:"How many played episodes and films of the server are known."`
	Held        []Held     `json:"held" doc:"Plays that came all at once and wait for a person's word."`
	// SkewSeconds is by how much the clock of the server is ahead of ours.
	SkewSeconds int `json:"skew_seconds" doc:"By how many seconds the clock of the server is ahead of ours; 0 below 5 minutes."`

	pin, device, userID string
	version             int64
	quirks              mediaserver.Quirks
	libraries           []library
	lostAt, webhookAt   time.Time
	cursor              time.Time
	comparedVersion     string
	counted             int // -1 when the server was not asked
	removed             bool
}

// LostAt is since when the server does not answer; zero while it does.
func (l Login) LostAt() time.Time { return l.lostAt }

// MarshalJSON has the text of the problem beside it, as problem.
func (l Login) MarshalJSON() ([]byte, error) {
	type plain Login
	return reason.MarshalBeside((*plain)(&l))
}

// SignIn is a sign-in by code that waits for a person.
type SignIn struct {
	Code      string    `json:"code" doc:"What to type in at the media server."`
	URL       string    `json:"url" doc:"Where to confirm it; empty where that is done in any app of the server."`
	ExpiresAt time.Time `json:"expires_at"`
}

// Choices are what a person at Plex can connect.
type Choices struct {
	Servers []Choice `json:"servers"`
	People  []Choice `json:"people" doc:"The members of the Plex Home; empty without one."`
}

// Choice is a server or a member of a Plex Home.
type Choice struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Owner string `json:"owner" doc:"Who shares the server; empty for an own one, and for people."`
	PIN   bool   `json:"pin" doc:"Whether the member's PIN is asked for."`
}

// Library is a library of a login.
type Library struct {
	mediaserver.Library
	Picked bool `json:"picked" doc:"Whether plays of it are taken."`
}

// CatchUp is what asking for everything since brought.
type CatchUp struct {
	At       time.Time     `json:"at"`
	Full     bool          `json:"full" doc:"Whether everything was compared, not only what is new by its date."`
	Taken    int           `json:"taken" doc:"Plays that became records."`
	Known    int           `json:"known" doc:"Plays that were known already."`
	Skipped  int           `json:"skipped" doc:"Plays that cannot be marked, such as episodes without a number."`
	Held     int           `json:"held" doc:"Plays that wait for a person's word."`
	Requests int           `json:"requests"`
	Error    reason.Reason `json:"error_value,omitzero" doc:"Why it did not come to its end; empty otherwise."`
}

// MarshalJSON has the text of the error beside it, as error.
func (c CatchUp) MarshalJSON() ([]byte, error) {
	type plain CatchUp
	return reason.MarshalBeside((*plain)(&c))
}

// Held is a show of which so many plays came at once that a person is asked.
type Held struct {
	Title    string    `json:"title"`
	Season   *int      `json:"season"`
	Episodes []float64 `json:"episodes"`
	Film     bool      `json:"film"`
	At       time.Time `json:"at"`
}
