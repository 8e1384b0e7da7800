// Package account keeps the catalog accounts: whose list to mark, with which token,
// for which media-server users.
package account

import (
	"strings"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
)

// Method is how an account got its token.
type Method string

// The ways to a token: pasted by hand, or OAuth.
const (
	ByToken Method = "token"
	ByOAuth Method = "oauth"
)

// Account is a catalog account. Tokens are kept apart, see Tokens.
type Account struct {
	ID int64 `json:"id"`
	// PersonID is whose account it is; 0 is the owner's.
	PersonID int64 `json:"person_id"`
	// Username is the catalog's user name, as the catalog's user paths want it.
	Username string `json:"username"`
	Nickname string `json:"nickname"`
	// CatalogUserID is 0 until the catalog told it.
	CatalogUserID int    `json:"catalog_user_id"`
	Method        Method `json:"auth_method"`
	HasToken      bool   `json:"has_token"`
	// ExpiresAt is when the access token dies; nil when the catalog did not tell.
	ExpiresAt *time.Time `json:"expires_at"`
	// MediaUserNames select this account; compared exactly, case and spaces included.
	MediaUserNames []string `json:"media_user_names"`
	Enabled        bool     `json:"enabled"`
	Preferred      bool     `json:"preferred"`
	// Private makes new collection entries visible to their owner only.
	Private bool `json:"private"`
	// CompleteSeries and CompleteFilms set the subject done when every main episode is marked.
	CompleteSeries bool `json:"complete_series"`
	CompleteFilms  bool `json:"complete_films"`
	// DryRun has records say what would have been marked, and marks nothing.
	DryRun bool `json:"dry_run"`
	// Adult is what is done with adult titles; empty is as the settings say.
	Adult Adult `json:"adult"`
	// Unwatched is what is done when something was set back to unwatched on a media server; empty is as the settings say.
	Unwatched Unwatched `json:"unwatched"`
	// Rewatch is what is done when a marked episode is watched once more; empty is as the settings say.
	Rewatch Rewatch `json:"rewatch"`
	// CheckedAt is when the catalog last accepted the token; nil = never.
	CheckedAt *time.Time `json:"checked_at"`
	// Problem says why the token does not work; empty when it does.
	Problem   reason.Reason `json:"problem_value,omitzero"`
	CreatedAt time.Time     `json:"created_at"`
	UpdatedAt time.Time     `json:"updated_at"`
}

// MarshalJSON has the text of the problem beside it, as problem.
func (a Account) MarshalJSON() ([]byte, error) {
	type plain Account
	return reason.MarshalBeside((*plain)(&a))
}

// Tokens are the credentials of an account.
type Tokens struct {
	Access secret.Text
	// Refresh is empty for a token entered by hand.
	Refresh secret.Text
	// ExpiresAt is zero when unknown.
	ExpiresAt time.Time
	// RedirectURL is the address the sign-in came back to; a refresh must name it again.
	RedirectURL string
}

// Draft is a new account.
type Draft struct {
	// PersonID is whose account it is; 0 is the owner's.
	PersonID int64
	Username string
	Nickname string
	// CatalogUserID is set when the catalog just named the owner of the token, which checks it; 0 otherwise.
	CatalogUserID  int
	Method         Method
	Tokens         Tokens
	MediaUserNames []string
	Enabled        bool
	Preferred      bool
	Private        bool
	CompleteSeries bool
	CompleteFilms  bool
	DryRun         bool
	Adult          Adult
	Unwatched      Unwatched
	Rewatch        Rewatch
}

// Change is a change of an account; nil fields stay.
type Change struct {
	PersonID       *int64
	Username       *string
	AccessToken    *secret.Text
	MediaUserNames *[]string
	Enabled        *bool
	Private        *bool
	CompleteSeries *bool
	CompleteFilms  *bool
	DryRun         *bool
	Adult          *Adult
	Unwatched      *Unwatched
	Rewatch        *Rewatch
}

// Limits of what a person may enter.
const (
	maxUsername  = 100
	maxUserNames = 100
	maxToken     = 4096
)

// checkUsername returns a *reason.FieldError, as the checks below do.
func checkUsername(name string) error {
	if strings.TrimSpace(name) == "" || strings.TrimSpace(name) != name {
		return reason.At("username", badUsername)
	}
	if len(name) > maxUsername {
		return reason.At("username", longUsername.With(maxUsername))
	}
	return nil
}

// CheckUserNames holds the rules for a list of media-server users: how many, how long, each once. It returns a *reason.FieldError of the field.
func CheckUserNames(field string, names []string) error {
	if len(names) > maxUserNames {
		return reason.At(field, manyNames.With(maxUserNames))
	}
	seen := map[string]bool{}
	for _, name := range names {
		switch {
		case strings.TrimSpace(name) == "":
			return reason.At(field, emptyName)
		case len(name) > 500:
			return reason.At(field, longName)
		case seen[name]:
			return reason.At(field, nameTwice.With(name))
		}
		seen[name] = true
	}
	return nil
}

func checkToken(token secret.Text) error {
	text := token.Reveal()
	if len(text) > maxToken || strings.ContainsAny(text, " \t\r\n") {
		return reason.At("access_token", badToken)
	}
	return nil
}
