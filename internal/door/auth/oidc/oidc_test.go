package oidc_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"watchmark/internal/door/auth"
	"watchmark/internal/door/auth/oidc"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/tickets"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/testkit/memnet"
	"watchmark/internal/testkit/oidctest"
)

const redirectURI = "https://watch.example/base/api/login/oidc/callback"

var mira = oidctest.Account{Subject: "sub-of-mira", Email: "Mira@example.org", EmailVerified: true}

// rig is a provider and who asks it.
type rig struct {
	*oidc.Provider
	other    *oidc.Provider // another replica's
	t        *testing.T
	server   *oidctest.Server
	settings oidc.Settings
	log      bytes.Buffer
}

// newRig knows the client on both sides and lets sub-of-mira in.
func newRig(t *testing.T, c oidctest.Config) *rig {
	t.Helper()
	c.ClientID, c.ClientSecret, c.RedirectURI = "watchmark", "s3cret/+=of the client", redirectURI
	if c.Account.Subject == "" {
		c.Account = mira
	}
	r := &rig{t: t, server: oidctest.Start(t, c)}
	r.settings = oidc.Settings{Issuer: r.server.URL(), ClientID: c.ClientID, ClientSecret: secret.Text(c.ClientSecret), Allowed: []string{mira.Subject}}
	masker := &secret.Masker{}
	client, err := httpx.New(httpx.Config{Burst: 100}, masker, slog.New(masker.Handler(slog.NewTextHandler(&r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	d, box := dbtest.Open(t), sealer(t)
	r.Provider, r.other = newProvider(d, box, client, func() oidc.Settings { return r.settings }), newProvider(d, box, client, func() oidc.Settings { return r.settings })
	return r
}

func newProvider(d *db.DB, box *secret.Box, client *httpx.Client, now func() oidc.Settings) *oidc.Provider {
	return oidc.New(oidc.Config{
		Settings: now, HTTP: client, Log: slog.New(slog.DiscardHandler),
		Flows: tickets.New[oidc.Flow](d, box, "oidc", oidc.FlowLife, oidc.FlowsMost), Ends: tickets.New[oidc.End](d, box, "oidc_end", oidc.EndLife, 1),
	})
}

func sealer(t *testing.T) *secret.Box {
	t.Helper()
	box, err := secret.OpenBox(t.TempDir(), "", false)
	if err != nil {
		t.Fatal(err)
	}
	return box
}

// status is how the provider stands.
func (r *rig) status() oidc.Status {
	r.t.Helper()
	status, err := r.Status(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	return status
}

// away is what the provider sends the browser back with that goes to address.
func (r *rig) away(address, browser string) oidc.Answer {
	r.t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Get(address)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, _ := io.ReadAll(answer.Body)
	back, err := url.Parse(answer.Header.Get("Location"))
	if err != nil || !strings.HasPrefix(answer.Header.Get("Location"), redirectURI+"?") {
		r.t.Fatalf("the provider answers %s to %s: %s", answer.Status, back, body)
	}
	q := back.Query()
	return oidc.Answer{State: q.Get("state"), Code: q.Get("code"), Error: q.Get("error"), Browser: browser}
}

// begin goes to the provider and back.
func (r *rig) begin() oidc.Answer {
	r.t.Helper()
	address, browser, err := r.Start(r.t.Context(), redirectURI, "/records?status=error", "")
	if err != nil {
		r.t.Fatal(err)
	}
	return r.away(address, browser)
}

// signIn is how a whole sign-in ends.
func (r *rig) signIn() error {
	r.t.Helper()
	_, err := r.Finish(r.t.Context(), r.begin(), anybody)
	return err
}

func TestAllowedAccountComesIn(t *testing.T) {
	r := newRig(t, oidctest.Config{})
	in, err := r.Finish(t.Context(), r.begin(), anybody)
	if err != nil || in.Next != "/records?status=error" || len(r.settings.Entries()) != 1 || in.Entry != r.settings.Entries()[0] || in.Role != auth.RoleOwner || in.ByGroup {
		t.Fatalf("it ends with %+v: %v", in, err)
	}
	if last := r.status().Last; last == nil || last.Subject != mira.Subject || !last.Allowed || last.Item != mira.Subject {
		t.Errorf("the last attempt is %+v", last)
	}
	for range 3 {
		if err := r.signIn(); err != nil {
			t.Fatal(err)
		}
	}
	if d, k := r.server.Asked("discovery"), r.server.Asked("keys"); d != 1 || k != 1 {
		t.Errorf("four sign-ins asked discovery %d times and for the keys %d times", d, k)
	}
	for _, hidden := range []string{"s3cret", url.QueryEscape("s3cret/+=of the client"), "eyJ"} {
		if strings.Contains(r.log.String(), hidden) {
			t.Errorf("the log shows %q", hidden)
		}
	}
}

func TestOnlyWhoIsAllowedComesIn(t *testing.T) {
	for _, c := range []struct {
		name    string
		allowed []string
		account oidctest.Account
		in      bool
		item    string
	}{
		{"nobody is allowed", nil, mira, false, mira.Subject},
		{"another subject", []string{"sub-of-alex"}, mira, false, mira.Subject},
		{"part of the subject", []string{"sub"}, mira, false, mira.Subject},
		{"verified address", []string{"mira@example.org"}, mira, true, mira.Subject},
		{"verified, told as text", []string{"mira@example.org"}, oidctest.Account{Subject: "x", Email: "mira@example.org", EmailVerified: "true"}, true, "x"},
		{"unverified address", []string{"mira@example.org"}, oidctest.Account{Subject: "x", Email: "mira@example.org", EmailVerified: false}, false, "x"},
		{"verified not told", []string{"mira@example.org"}, oidctest.Account{Subject: "x", Email: "mira@example.org"}, false, "x"},
		{"verified told oddly", []string{"mira@example.org"}, oidctest.Account{Subject: "x", Email: "mira@example.org", EmailVerified: 1}, false, "x"},
		{"subject that is somebody's address", []string{"mira@example.org"}, oidctest.Account{Subject: "mira@example.org"}, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, oidctest.Config{Account: c.account})
			r.settings.Allowed = c.allowed
			if err := r.signIn(); c.in && err != nil || !c.in && !errors.Is(err, oidc.ErrNotAllowed) {
				t.Errorf("it ends with %v", err)
			}
			if last := r.status().Last; last == nil || last.Allowed != c.in || last.Item != c.item {
				t.Errorf("the last attempt is %+v", last)
			}
		})
	}
}

func TestGroupsGiveARole(t *testing.T) {
	groups := map[auth.Role]string{auth.RoleOwner: "admins", auth.RolePerson: "Family", auth.RoleGuest: "visitors"}
	for _, c := range []struct {
		name    string
		set     map[auth.Role]string
		allowed []string
		groups  any
		role    auth.Role
		err     error
	}{
		{"not set", nil, nil, []string{"Family"}, "", oidc.ErrNotAllowed},
		{"a person", groups, nil, []string{"other", "Family"}, auth.RolePerson, nil},
		{"the owner", groups, nil, []string{"admins"}, auth.RoleOwner, nil},
		{"a guest", groups, nil, []string{"visitors"}, auth.RoleGuest, nil},
		{"other letters", groups, nil, []string{"family"}, "", oidc.ErrNoGroup},
		{"no group", groups, nil, []string{}, "", oidc.ErrNoGroup},
		{"two roles", groups, nil, []string{"Family", "visitors"}, "", oidc.ErrManyRoles},
		{"a group of two roles", map[auth.Role]string{auth.RoleOwner: "Family", auth.RolePerson: "Family"}, nil, []string{"Family"}, "", oidc.ErrManyRoles},
		{"no claim", groups, nil, nil, "", oidc.ErrNoGroups},
		{"a text", groups, nil, "Family", "", oidc.ErrNoGroups},
		{"numbers", groups, nil, []any{"Family", 1}, "", oidc.ErrNoGroups},
		{"null among them", groups, nil, []any{"Family", nil}, "", oidc.ErrNoGroups},
		{"an object", groups, nil, map[string]any{"Family": true}, "", oidc.ErrNoGroups},
		{"by name, whatever the groups", groups, []string{mira.Subject}, []string{"visitors"}, auth.RoleOwner, nil},
	} {
		for how, byUserInfo := range map[string]bool{"token": false, "userinfo": true} {
			t.Run(c.name+" by "+how, func(t *testing.T) {
				account := mira
				account.Username, account.Groups = "mira", c.groups
				r := newRig(t, oidctest.Config{Account: account, EmailByUserInfo: byUserInfo, Scopes: []string{"openid", "email", "profile", "groups"}})
				r.settings.Allowed, r.settings.Groups, r.settings.GroupsClaim = c.allowed, c.set, "groups"
				in, err := r.Finish(t.Context(), r.begin(), anybody)
				if !errors.Is(err, c.err) || in.Role != c.role || in.Subject != mira.Subject || in.Issuer != r.server.URL() {
					t.Fatalf("it ends with %+v, %v", in, err)
				}
				if err == nil && !slices.Contains(r.settings.Entries(), in.Entry) {
					t.Errorf("the entry is %q, of %q", in.Entry, r.settings.Entries())
				}
				if c.set != nil && in.Name != "mira" {
					t.Errorf("the name is %q", in.Name)
				}
				r.settings.Groups = map[auth.Role]string{auth.RolePerson: "another"}
				if c.err == nil && in.ByGroup && slices.Contains(r.settings.Entries(), in.Entry) {
					t.Error("the entry holds when the group has changed")
				}
			})
		}
	}
}

// A provider that knows no such scope would refuse the whole sign-in.
func TestScopesAreAskedForThatTheProviderHas(t *testing.T) {
	account := mira
	account.Groups = []string{"Family"}
	r := newRig(t, oidctest.Config{Account: account, Scopes: []string{"openid", "email"}})
	r.settings.Groups, r.settings.GroupsClaim, r.settings.Allowed = map[auth.Role]string{auth.RolePerson: "Family"}, "groups", nil
	if err := r.signIn(); err != nil {
		t.Error(err)
	}
}

func TestAddressThatOnlyUserInfoTellsCounts(t *testing.T) {
	r := newRig(t, oidctest.Config{EmailByUserInfo: true})
	r.settings.Allowed = []string{"mira@example.org"}
	if err := r.signIn(); err != nil {
		t.Error(err)
	}
	r.server.Set(func(c *oidctest.Config) { c.UserInfo = func(claims map[string]any) { claims["sub"] = "somebody else" } })
	if err := r.signIn(); !errors.Is(err, oidc.ErrRefused) {
		t.Errorf("with another subject in userinfo it ends with %v", err)
	}
}

func TestTokensThatCannotBeTrustedAreRefused(t *testing.T) {
	set := func(name string, value any) func(map[string]any) string {
		return func(claims map[string]any) string { claims[name] = value; return "" }
	}
	how := func(how string) func(map[string]any) string { return func(map[string]any) string { return how } }
	ago := func(d time.Duration) int64 { return time.Now().Add(-d).Unix() }
	for _, c := range []struct {
		name  string
		token func(map[string]any) string
		says  string // empty where it must be taken
	}{
		{"wrong nonce", set("nonce", "another"), "token belongs to another sign-in"},
		{"no nonce", set("nonce", nil), "token belongs to another sign-in"},
		{"another audience", set("aud", "someone"), "for another client"},
		{"several audiences, ours authorized", func(c map[string]any) string {
			c["aud"], c["azp"] = []string{"watchmark", "other"}, "watchmark"
			return ""
		}, ""},
		{"several audiences, another authorized", func(c map[string]any) string { c["aud"], c["azp"] = []string{"watchmark", "other"}, "other"; return "" }, "for another client"},
		{"expired", set("exp", ago(time.Hour)), "check the clocks"},
		{"expired within the skew", set("exp", ago(time.Minute)), ""},
		{"not valid yet", set("nbf", ago(-time.Hour)), "check the clocks"},
		{"not valid yet within the skew", set("nbf", ago(-time.Minute)), ""},
		{"not valid yet, as no number", set("nbf", "tomorrow"), "signature of the token is wrong"},
		{"another issuer", set("iss", "https://elsewhere.example"), "from another issuer"},
		{"no subject", set("sub", ""), "names no user"},
		{"not signed", how("none"), "signature of the token is wrong"},
		{"signed with the public key as a secret", how("HS256"), "signature of the token is wrong"},
		{"signed with a strange key", how("strange"), "signature of the token is wrong"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, oidctest.Config{Token: c.token})
			err := r.signIn()
			if c.says == "" {
				if err != nil {
					t.Errorf("it ends with %v", err)
				}
				return
			}
			if !errors.Is(err, oidc.ErrRefused) || !strings.Contains(err.Error(), c.says) || r.status().Problem.Text != err.Error() {
				t.Errorf("it ends with %v, and the status tells %q", err, r.status().Problem.Text)
			}
		})
	}
}

func TestSignInEndsOnceInItsOwnBrowser(t *testing.T) {
	r := newRig(t, oidctest.Config{})
	back := r.begin()
	for name, change := range map[string]func(*oidc.Answer){
		"another browser": func(a *oidc.Answer) { a.Browser = "another" },
		"no cookie":       func(a *oidc.Answer) { a.Browser = "" },
		"another state":   func(a *oidc.Answer) { a.State = "another" },
		"no state":        func(a *oidc.Answer) { a.State = "" },
	} {
		forged := back
		change(&forged)
		counted := func() error { return errors.New("it was counted") }
		if _, err := r.Finish(t.Context(), forged, counted); !errors.Is(err, oidc.ErrState) {
			t.Errorf("with %s it ends with %v", name, err)
		}
	}
	if r.server.Asked("token") != 0 {
		t.Error("the provider was asked for what was forged")
	}
	// At whatever replica it comes back.
	if _, err := r.other.Finish(t.Context(), back, anybody); err != nil {
		t.Fatal(err)
	}
	if last := r.status().Last; last == nil || last.Subject != mira.Subject {
		t.Errorf("the replica where it began knows of %+v", last)
	}
	if _, err := r.Finish(t.Context(), back, anybody); !errors.Is(err, oidc.ErrState) {
		t.Errorf("the second time it ends with %v", err)
	}
	other := r.begin()
	other.Code = back.Code
	if _, err := r.Finish(t.Context(), other, anybody); !errors.Is(err, oidc.ErrRefused) {
		t.Errorf("with a code that was used it ends with %v", err)
	}
	mine, theirs := r.begin(), r.begin() // a code of another sign-in has another verifier
	mine.Code = theirs.Code
	if _, err := r.Finish(t.Context(), mine, anybody); !errors.Is(err, oidc.ErrRefused) {
		t.Errorf("with the code of another sign-in it ends with %v", err)
	}
}

func TestProviderThatSaysNo(t *testing.T) {
	r := newRig(t, oidctest.Config{Deny: "access_denied"})
	if err := r.signIn(); !errors.Is(err, oidc.ErrDenied) {
		t.Errorf("denied, it ends with %v", err)
	}
	r.server.Set(func(c *oidctest.Config) { c.Deny = "temporarily_unavailable" })
	if err := r.signIn(); !errors.Is(err, oidc.ErrRefused) || !strings.Contains(err.Error(), "temporarily_unavailable") {
		t.Errorf("unavailable, it ends with %v", err)
	}
	r.server.Set(func(c *oidctest.Config) { c.Deny = "<b>Call 555</b>" })
	if err := r.signIn(); !errors.Is(err, oidc.ErrRefused) || strings.Contains(err.Error(), "555") {
		t.Errorf("with what is no code it ends with %v", err)
	}
	r.server.Set(func(c *oidctest.Config) { c.Deny = "" })
	r.settings.ClientSecret = "wrong"
	if err := r.signIn(); !errors.Is(err, oidc.ErrRefused) || !strings.Contains(err.Error(), "auth.oidc_client_secret") {
		t.Errorf("with a wrong secret it ends with %v", err)
	}
}

func TestSecretIsShownTheWayTheProviderTakes(t *testing.T) {
	for name, methods := range map[string][]string{"not told": nil, "both": {"client_secret_post", "client_secret_basic"}, "post": {"client_secret_post"}} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, oidctest.Config{Methods: methods})
			if err := r.signIn(); err != nil {
				t.Error(err)
			}
			if r.server.Asked("token") != 1 {
				t.Errorf("the code was sent %d times", r.server.Asked("token"))
			}
		})
	}
	r := newRig(t, oidctest.Config{})
	r.server.Set(func(c *oidctest.Config) { c.ClientSecret = "" })
	r.settings.ClientSecret = ""
	if err := r.signIn(); err != nil {
		t.Errorf("a public client: %v", err)
	}
}

func TestKeysMayRotate(t *testing.T) {
	r := newRig(t, oidctest.Config{})
	if err := r.signIn(); err != nil {
		t.Fatal(err)
	}
	r.server.Rotate(t)
	if err := r.signIn(); err != nil {
		t.Errorf("after the rotation: %v", err)
	}
}

func TestDiscoveryIsHeldAgainstTheIssuer(t *testing.T) {
	for _, c := range []struct {
		name      string
		slash     bool // in the setting
		discovery func(map[string]any) int
		says      string
	}{
		{"a slash too many in the setting", true, nil, ""},
		{"another issuer", false, func(d map[string]any) int { d["issuer"] = "https://elsewhere.example"; return 200 }, "https://elsewhere.example"},
		{"no issuer", false, func(d map[string]any) int { delete(d, "issuer"); return 200 }, "its issuer is"},
		{"no token endpoint", false, func(d map[string]any) int { delete(d, "token_endpoint"); return 200 }, "no usable addresses"},
		{"userinfo that is no address", false, func(d map[string]any) int { d["userinfo_endpoint"] = "/userinfo"; return 200 }, "no usable addresses"},
		{"not there", false, func(map[string]any) int { return 404 }, "check auth.oidc_issuer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, oidctest.Config{Discovery: c.discovery})
			if c.slash {
				r.settings.Issuer += "/"
			}
			if c.says == "" {
				if err := r.signIn(); err != nil {
					t.Error(err)
				}
				return
			}
			_, _, err := r.Start(t.Context(), redirectURI, "/", "")
			if !errors.Is(err, oidc.ErrRefused) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("it ends with %v", err)
			}
		})
	}
}

// A provider that does not answer costs one wait, however many knock meanwhile.
func TestSilentProviderIsAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		door := memnet.New(t).Listen("auth.lan")
		var asked atomic.Int32
		go func() {
			for {
				if _, err := door.Accept(); err != nil {
					return
				}
				asked.Add(1)
			}
		}()
		defer func() { _ = door.Close() }()
		client, err := httpx.New(httpx.Config{Timeout: 20 * time.Second, Burst: 100}, &secret.Masker{}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		d := dbtest.Open(t)
		provider := newProvider(d, sealer(t), client, func() oidc.Settings { return oidc.Settings{Issuer: "http://auth.lan", ClientID: "watchmark"} })
		errs := make([]error, 20)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() { _, _, errs[i] = provider.Start(t.Context(), redirectURI, "/", "") })
		}
		all.Wait()
		for _, err := range errs {
			var failure *httpx.Error
			if !errors.As(err, &failure) || failure.Kind != httpx.Timeout {
				t.Fatalf("it ends with %v", err)
			}
		}
		if got := asked.Load(); got != 1 {
			t.Errorf("it was asked %d times", got)
		}
	})
}

func TestUnreachableKeysAreNoBadToken(t *testing.T) {
	r := newRig(t, oidctest.Config{Discovery: func(d map[string]any) int { d["jwks_uri"] = "http://127.0.0.1:1/keys"; return 200 }})
	var failure *httpx.Error
	if err := r.signIn(); !errors.As(err, &failure) || failure.Kind != httpx.Connection {
		t.Errorf("it ends with %v", err)
	}
}

func TestSettingsCountAsTheyAre(t *testing.T) {
	r := newRig(t, oidctest.Config{})
	back := r.begin()
	r.settings.Allowed = nil
	if _, err := r.Finish(t.Context(), back, anybody); !errors.Is(err, oidc.ErrNotAllowed) {
		t.Errorf("not allowed any more, it ends with %v", err)
	}
	back = r.begin()
	r.settings.ClientID = "another"
	if _, err := r.Finish(t.Context(), back, anybody); !errors.Is(err, oidc.ErrState) {
		t.Errorf("with another client it ends with %v", err)
	}
	r.settings.Issuer = ""
	if _, _, err := r.Start(t.Context(), redirectURI, "/", ""); !errors.Is(err, oidc.ErrOff) || r.status().On || r.settings.Entries() != nil {
		t.Errorf("switched off, it ends with %v", err)
	}
}

// TestTokensAreNotFollowedElsewhere: code, verifier, client secret and access token go to the address that discovery
// names, and to no other, be it another port of the same host.
func TestTokensAreNotFollowedElsewhere(t *testing.T) {
	for _, door := range []string{"token", "userinfo"} {
		for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
			t.Run(door+" "+http.StatusText(status), func(t *testing.T) {
				var reached, leaked atomic.Int32
				elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					reached.Add(1)
					if body, _ := io.ReadAll(r.Body); len(body) > 0 || r.Header.Get("Authorization") != "" {
						leaked.Add(1)
					}
				}))
				defer elsewhere.Close()
				away := httptest.NewServer(http.RedirectHandler(elsewhere.URL+"/"+door, status))
				defer away.Close()
				r := newRig(t, oidctest.Config{EmailByUserInfo: true, Discovery: func(document map[string]any) int {
					document[door+"_endpoint"] = away.URL
					return http.StatusOK
				}})
				if err := r.signIn(); door == "token" && !errors.Is(err, oidc.ErrRefused) {
					t.Errorf("the sign-in ends with %v", err)
				}
				if reached.Load() != 0 || leaked.Load() != 0 {
					t.Errorf("elsewhere was asked %d times, %d with something secret", reached.Load(), leaked.Load())
				}
			})
		}
	}
}

// anybody may come as often as they like.
func anybody() error { return nil }
