// Package account keeps the catalog accounts: whose list to mark, with which token,
// for which media-server users.
package account

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"watchmark/internal/platform/secret"
)

// The errors a caller branches on.
var (
	// ErrNotFound is returned when no account has the id asked for.
	ErrNotFound = errors.New("account not found")
	// ErrTaken is returned when another account has the catalog user name or is that catalog user already.
	ErrTaken = errors.New("another account is this catalog user already")
	// ErrNoToken is returned when an account has no access token.
	ErrNoToken = errors.New("the account has no access token: enter one or connect it again")
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
	// CheckedAt is when the catalog last accepted the token; nil = never.
	CheckedAt *time.Time `json:"checked_at"`
	// Problem says in plain words why the token does not work; empty when it does.
	Problem   string    `json:"problem"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
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
}

// Change is a change of an account; nil fields stay.
type Change struct {
	Username       *string
	AccessToken    *secret.Text
	MediaUserNames *[]string
	Enabled        *bool
	Private        *bool
	CompleteSeries *bool
	CompleteFilms  *bool
	DryRun         *bool
}

// Limits of what a person may enter.
const (
	maxUsername  = 100
	maxUserNames = 100
	maxToken     = 4096
)

// FieldError says which field of a draft or change is wrong, and how.
type FieldError struct {
	Field   string
	Problem string
}

// Error is the field and what is wrong with it.
func (e *FieldError) Error() string { return e.Field + ": " + e.Problem }

func checkUsername(name string) error {
	if strings.TrimSpace(name) == "" || strings.TrimSpace(name) != name {
		return &FieldError{"username", "give the catalog's user name, without spaces around it"}
	}
	if len(name) > maxUsername {
		return &FieldError{"username", fmt.Sprintf("longer than %d bytes", maxUsername)}
	}
	return nil
}

func checkUserNames(names []string) error {
	if len(names) > maxUserNames {
		return &FieldError{"media_user_names", fmt.Sprintf("more than %d names", maxUserNames)}
	}
	seen := map[string]bool{}
	for _, name := range names {
		switch {
		case strings.TrimSpace(name) == "":
			return &FieldError{"media_user_names", "a name is empty"}
		case len(name) > 500:
			return &FieldError{"media_user_names", "a name is longer than 500 bytes"}
		case seen[name]:
			return &FieldError{"media_user_names", fmt.Sprintf("%q is listed twice", name)}
		}
		seen[name] = true
	}
	return nil
}

func checkToken(token secret.Text) error {
	text := token.Reveal()
	if len(text) > maxToken || strings.ContainsAny(text, " \t\r\n") {
		return &FieldError{"access_token", "a token is one word without spaces or line breaks"}
	}
	return nil
}
