// Package auth keeps strangers out, and people from what is not theirs: the owner and the first-start setup, people and their
// invitations, the second factor, sessions of browsers, API keys of scripts, the lockout after
// repeated failures, and the HTTP middleware that asks for all of them.
//
// What it promises: the database holds no password, session token, API key or recovery
// code, only an argon2id hash of the first and SHA-256 hashes of the random others, and
// the secret of the second factor sealed; a code is good once; every
// request looks them up anew, so a password changed or a key made by the command
// line counts at once in the running service; guessing is bounded per address, per
// name and over all, and by itself in a browser in which somebody has signed in before, whom strangers so
// cannot shut out. Sign-ins, codes and failures count for all replicas together.
package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"time"
	"unicode"
	"unicode/utf8"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/tickets"
)

// Policy is what the settings say about signing in. It is read anew at each use.
type Policy struct {
	// SessionLife is how long a session lives after it was last used.
	SessionLife time.Duration
	// LockoutAttempts is how many failures in a row an address or a name has (at least 1)
	// before it is refused for LockoutTime after the last of them.
	LockoutAttempts int
	LockoutTime     time.Duration
	// Entries are what sessions that were opened by a provider are noted by, of those it may open.
	Entries []string
}

// Store keeps people, sessions, API keys and failed attempts in the database. It is safe for concurrent use.
type Store struct {
	db        *db.DB
	box       Sealer
	policy    func() Policy
	hasher    hasher
	decoy     string
	door      *door
	strangers *Allowances
	starts    *Allowances // of sign-ins by a provider

	setups     *tickets.Kind[setupLink] // by their tokens
	setupToken string                   // of this process
	enrolments *tickets.Kind[enrolling]
	ended      broadcast // for requests that last

	// EndDevices ends within tx what reaches the devices of a person, 0 for the owner, past any session. It is called
	// for each new password; nil does nothing.
	EndDevices func(ctx context.Context, tx *sql.Tx, person int64) error
}

// NewStore is the store over d under the policy that the function tells. box seals the secret of the
// second factor, sign-ins under way, and who failed to sign in.
func NewStore(d *db.DB, box Sealer, policy func() Policy) *Store {
	return &Store{
		db:         d,
		box:        box,
		policy:     policy,
		hasher:     newHasher(),
		decoy:      decoyHash(),
		door:       newDoor(d, box),
		strangers:  NewAllowances(strangerBurst, strangerPace),
		starts:     NewAllowances(startBurst, 1/startWait.Seconds()),
		setups:     tickets.New[setupLink](d, box, "setup", setupLife, setupsMost),
		setupToken: newToken(),
		enrolments: tickets.New[enrolling](d, box, "second_factor", enrolmentLife, enrolmentsMost),
	}
}

// touchEvery is how much time passes before the last use of a session or a key is written again.
const touchEvery = time.Minute

const tokenBytes = 32

// newToken is 32 random bytes in URL-safe base64, 43 characters.
func newToken() string {
	return base64.RawURLEncoding.EncodeToString(randomBytes(tokenBytes))
}

// randomBytes are n bytes of the system's generator, which does not fail (it ends the process).
func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // documented never to return an error
	return b
}

// digest is what the tables keep of a random token: it needs no salt and no slow
// hash, nobody can try 2^256 values.
func digest(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

const maxName = 100

// checkName holds the rule for names of people and of API keys.
func checkName(name string) error {
	if !utf8.ValidString(name) {
		return reason.At("name", notUTF8)
	}
	runes := []rune(name)
	switch {
	case len(runes) == 0:
		return reason.At("name", nameMissing)
	case len(runes) > maxName:
		return reason.At("name", nameLong.With(maxName))
	case unicode.IsSpace(runes[0]) || unicode.IsSpace(runes[len(runes)-1]):
		return reason.At("name", nameSpaced)
	}
	for _, r := range runes {
		if !unicode.IsPrint(r) {
			return reason.At("name", nameUnprintable)
		}
	}
	return nil
}
