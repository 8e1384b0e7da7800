package catalogtest

import (
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// App is the application registered at the website, and how the website's OAuth
// behaves (upstreams/catalog.md section 10).
type App struct {
	ClientID     string
	ClientSecret string
	// RedirectURI is compared exactly.
	RedirectURI string
	// Username is who is signed in at the website and approves everything.
	Username string
	// ExpiresIn is the life of access tokens; 0 is 7 days.
	ExpiresIn time.Duration
	// UserIDAsText sends user_id as a string, as the newer server does.
	UserIDAsText bool
	// NewerErrors answers {"code":"INVALID_REFRESH_TOKEN"} and the like in place
	// of {"error":"invalid_grant"}.
	NewerErrors bool
}

// SetApp registers the only application; before, OAuth knows none.
func (s *Server) SetApp(app App) {
	if app.ExpiresIn == 0 {
		app.ExpiresIn = 7 * 24 * time.Hour
	}
	s.people.mu.Lock()
	defer s.people.mu.Unlock()
	s.people.oauth.app = app
}

// oauthState is guarded by people.mu.
type oauthState struct {
	app     App              // ClientID is empty before SetApp
	codes   map[string]grant // unused codes
	refresh map[string]int   // unused refresh tokens and whose they are
}

// codeLife is how long an authorization code may be used.
const codeLife = 60 * time.Second

// authorize is the page where a person would approve: it sends them straight
// back with a code. Mistakes are shown to the person, never sent to the redirect URI.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	back, err := s.people.approve(query, s.cfg.Now())
	if err != nil {
		answerText(w, http.StatusBadRequest, "text/html; charset=UTF-8", "<p>"+err.Error()+"</p>")
		return
	}
	http.Redirect(w, r, back, http.StatusFound)
}

func (p *people) approve(query url.Values, now time.Time) (back string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	app := p.oauth.app
	if app.ClientID == "" || query.Get("client_id") != app.ClientID {
		return "", errors.New("there is no such application")
	}
	if query.Get("response_type") != "code" {
		return "", errors.New("response_type must be code")
	}
	if query.Get("redirect_uri") != app.RedirectURI {
		return "", errors.New("redirect_uri is not the registered one")
	}
	user, ok := p.named(app.Username)
	if !ok {
		return "", errors.New("nobody is signed in")
	}
	target, err := url.Parse(app.RedirectURI)
	if err != nil {
		return "", errors.New("the registered redirect_uri is no address")
	}
	code := newToken()
	p.oauth.codes[code] = grant{user: user.ID, expires: now.Add(codeLife)}
	answer := target.Query()
	answer.Set("code", code)
	if state := query.Get("state"); state != "" {
		answer.Set("state", state)
	}
	target.RawQuery = answer.Encode()
	return target.String(), nil
}

// tokenAnswer is the success of the token endpoint.
type tokenAnswer struct {
	AccessToken  string  `json:"access_token"`
	ExpiresIn    int     `json:"expires_in"` // seconds
	TokenType    string  `json:"token_type"`
	Scope        *string `json:"scope"`
	RefreshToken string  `json:"refresh_token"`
	UserID       any     `json:"user_id"`
}

// tokenRefusal is one way the token endpoint says no, in both shapes.
type tokenRefusal struct {
	status      int // of the newer server; the older always answers 400
	code        string
	older       string
	description string
}

var (
	refusedForm     = &tokenRefusal{400, "INVALID_REQUEST", "invalid_request", "The request must be form-encoded"}
	refusedType     = &tokenRefusal{400, "UNSUPPORTED_GRANT_TYPE", "unsupported_grant_type", "Grant type not supported"}
	refusedApp      = &tokenRefusal{404, "APP_NONEXISTENCE", "invalid_client", "The client does not exist"}
	refusedSecret   = &tokenRefusal{400, "INVALID_CLIENT_SECRET", "invalid_client", "The client credentials are invalid"}
	refusedRedirect = &tokenRefusal{400, "REDIRECT_URI_MISMATCH", "redirect_uri_mismatch", "The redirect URI does not match"}
	refusedCode     = &tokenRefusal{400, "INVALID_AUTHORIZATION_CODE", "invalid_grant", "Authorization code doesn't exist or is invalid for the client"}
	refusedRefresh  = &tokenRefusal{400, "INVALID_REFRESH_TOKEN", "invalid_grant", "Invalid refresh token"}
)

// accessToken trades a code or a refresh token for a new pair. Both are single
// use; the old access token goes on working until it expires.
func (s *Server) accessToken(w http.ResponseWriter, r *http.Request) {
	refused := refusedForm
	var granted tokenAnswer
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err == nil && mediaType == "application/x-www-form-urlencoded" && r.ParseForm() == nil {
		granted, refused = s.people.issue(r.PostForm, s.cfg.Now())
	}
	switch {
	case refused == nil:
		answer(w, http.StatusOK, granted)
	case s.people.newerErrors():
		answer(w, refused.status, map[string]any{
			"statusCode": refused.status, "code": refused.code,
			"error": http.StatusText(refused.status), "message": refused.description,
		})
	default:
		answer(w, http.StatusBadRequest, map[string]string{"error": refused.older, "error_description": refused.description})
	}
}

func (p *people) newerErrors() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.oauth.app.NewerErrors
}

func (p *people) issue(form url.Values, now time.Time) (tokenAnswer, *tokenRefusal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	app := p.oauth.app
	if app.ClientID == "" || form.Get("client_id") != app.ClientID {
		return tokenAnswer{}, refusedApp
	}
	if form.Get("client_secret") != app.ClientSecret {
		return tokenAnswer{}, refusedSecret
	}
	var user int
	switch form.Get("grant_type") {
	case "authorization_code":
		if form.Get("redirect_uri") != app.RedirectURI {
			return tokenAnswer{}, refusedRedirect
		}
		code, ok := p.oauth.codes[form.Get("code")]
		delete(p.oauth.codes, form.Get("code"))
		if !ok || !now.Before(code.expires) {
			return tokenAnswer{}, refusedCode
		}
		user = code.user
	case "refresh_token":
		// Documented as required, yet a widely used client leaves it out.
		if form.Has("redirect_uri") && form.Get("redirect_uri") != app.RedirectURI {
			return tokenAnswer{}, refusedRedirect
		}
		owner, ok := p.oauth.refresh[form.Get("refresh_token")]
		if !ok {
			return tokenAnswer{}, refusedRefresh
		}
		delete(p.oauth.refresh, form.Get("refresh_token"))
		user = owner
	default:
		return tokenAnswer{}, refusedType
	}

	granted := tokenAnswer{
		AccessToken: newToken(), RefreshToken: newToken(), TokenType: "Bearer",
		ExpiresIn: int(app.ExpiresIn / time.Second), UserID: user,
	}
	if app.UserIDAsText {
		granted.UserID = strconv.Itoa(user)
	}
	p.tokens[granted.AccessToken] = grant{user: user, expires: now.Add(app.ExpiresIn)}
	p.oauth.refresh[granted.RefreshToken] = user
	return granted, nil
}
