package mediaserver_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/source/mediaserver"
)

func TestPlexSignInByThePage(t *testing.T) {
	h := newHouse(t, nil)
	tv, plex := h.s.PlexTV(), mediaserver.Server{Kind: mediaserver.Plex}
	code, err := h.dialer.StartCode(t.Context(), plex)
	if err != nil {
		t.Fatal(err)
	}
	want := tv.URL + "/auth#?clientID=test&code=" + code.Text + "&context%5Bdevice%5D%5Bproduct%5D=Watchmark"
	if left := time.Until(code.ExpiresAt); code.Address != want || left < 25*time.Minute || left > 31*time.Minute {
		t.Errorf("the code is %+v with %s left; the address should be %s", code, left, want)
	}
	tv.PollEvery = time.Hour
	for range 2 { // the second one is too fast
		if _, done, err := h.dialer.FinishCode(t.Context(), plex, code); done || err != nil {
			t.Errorf("asked too fast: %t, %v", done, err)
		}
	}
	tv.PollEvery = time.Nanosecond
	for _, status := range []int{http.StatusNotFound, http.StatusGone} {
		tv.ExpirePins(status)
		if _, done, err := h.dialer.FinishCode(t.Context(), plex, code); done || field(err) != "kind" {
			t.Errorf("an expired code that answers %d: %t, %v", status, done, err)
		}
	}
	account := h.account("mira")
	servers, people, err := h.dialer.PlexChoices(t.Context(), account)
	if err != nil || len(servers) != 1 || servers[0].ID != "machine-1" || servers[0].Name != "attic" || servers[0].Owner != "" {
		t.Fatalf("the servers are %+v, %v", servers, err)
	}
	if len(people) != 2 || people[0].Name != "mira" || people[0].PIN || people[1].Name != "bench" || !people[1].PIN {
		t.Fatalf("the people are %+v", people)
	}
	bench := people[1].ID
	for name, test := range map[string]struct {
		mediaserver.PlexChoice
		field string
	}{
		"another server":                {mediaserver.PlexChoice{Server: "machine-2"}, "server"},
		"a wrong PIN":                   {mediaserver.PlexChoice{Server: "machine-1", Person: bench, PIN: "0000"}, "pin"},
		"no PIN":                        {mediaserver.PlexChoice{Server: "machine-1", Person: bench}, "pin"},
		"nobody of the Home":            {mediaserver.PlexChoice{Server: "machine-1", Person: "9f31c0aa00000000"}, "person"},
		"an address with a password":    {mediaserver.PlexChoice{Server: "machine-1", URL: "http://mira:pw@127.0.0.1:1"}, "url"},
		"an address of a machine's own": {mediaserver.PlexChoice{Server: "machine-1", URL: "http://169.254.169.254"}, "url"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := h.dialer.PlexChoose(t.Context(), account, test.PlexChoice); field(err) != test.field {
				t.Errorf("the error is %v", err)
			}
		})
	}
	l, err := h.dialer.PlexChoose(t.Context(), account, mediaserver.PlexChoice{Server: "machine-1", Person: bench, PIN: "1234", URL: h.s.URL})
	if err != nil || l.UserName != "bench" || l.Name != "attic" || l.Server.UserID == "1" || l.Server.URL != h.s.URL || l.Server.Account == account {
		t.Fatalf("bench is %+v, %v", l, err)
	}
	if l, err = h.dialer.PlexChoose(t.Context(), account, mediaserver.PlexChoice{Server: "machine-1", Person: people[0].ID}); err != nil || l.UserName != "mira" || l.Server.UserID != "1" || l.Server.Account != account {
		t.Fatalf("mira is %+v, %v", l, err)
	}
	if err := h.dialer.KeepAlive(t.Context(), account); err != nil {
		t.Error(err)
	}
	tv.Refuse("mira", 498)
	if err := h.dialer.KeepAlive(t.Context(), account); !errors.Is(err, mediaserver.ErrSignedOut) {
		t.Errorf("a token that is too old: %v", err)
	}
}

// TestPlexAtAnAddressThatAPersonEntered, with a certificate that nobody has signed.
func TestPlexAtAnAddressThatAPersonEntered(t *testing.T) {
	h := newHouse(t, nil)
	front := httptest.NewTLSServer(h.s)
	t.Cleanup(front.Close)
	sum := sha256.Sum256(front.Certificate().Raw)
	pin, account := hex.EncodeToString(sum[:]), h.account("alex")
	for name, test := range map[string]struct{ url, certificate, wantURL, wantPin string }{
		"confirmed":                        {front.URL, pin, front.URL, pin},
		"not confirmed":                    {front.URL, "", h.s.URL, ""},
		"another one":                      {front.URL, strings.Repeat("00", 32), h.s.URL, ""},
		"where nobody answers any more":    {"http://127.0.0.1:9", pin, h.s.URL, ""},
		"as a person would have copied it": {" " + h.s.URL + "/", "", h.s.URL, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := h.dialer.PlexChoose(t.Context(), account, mediaserver.PlexChoice{Server: "machine-1", URL: test.url, Certificate: test.certificate})
			if err != nil || l.Server.URL != test.wantURL || l.Server.Pin != test.wantPin {
				t.Fatalf("%+v, %v", l, err)
			}
			if _, err := h.open(l).Who(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestPlexTokenGoesToItsServerOnly: at the address of a shared server somebody else may answer.
func TestPlexTokenGoesToItsServerOnly(t *testing.T) {
	h := newHouse(t, nil)
	stranger := newDoor(t, map[string]http.HandlerFunc{"/identity": says(`{"MediaContainer":{"machineIdentifier":"machine-9","version":"1"}}`)})
	h.s.PlexTV().Stranger = strings.TrimPrefix(stranger.URL, "http://")
	l := h.login("alex")
	if l.Server.URL != h.s.URL || l.Server.UserID == "1" {
		t.Errorf("the login is %+v", l)
	}
	l.Server.URL = stranger.URL
	l.Server.Account = ""
	for range 2 {
		if _, err := h.open(l).Who(t.Context()); !errors.Is(err, mediaserver.ErrOther) {
			t.Errorf("another server: %v", err)
		}
	}
	for _, header := range stranger.headers {
		if header.Get("X-Plex-Token") != "" {
			t.Errorf("a token was sent to another server")
		}
	}
}

func TestPlexIsFoundAgain(t *testing.T) {
	h := newHouse(t, nil)
	t.Run("at another address", func(t *testing.T) {
		l := h.login("alex")
		l.Server.URL = "http://127.0.0.1:9"
		who, err := h.open(l).Who(t.Context())
		if err != nil || who.Server.URL != h.s.URL || who.Version == "" {
			t.Errorf("%+v, %v", who, err)
		}
	})
	t.Run("with another token", func(t *testing.T) {
		l := h.login("alex")
		before := l.Server.Token
		l.Server.Token = "dead"
		who, err := h.open(l).Who(t.Context())
		if err != nil || who.Server.Token != before {
			t.Errorf("%+v, %v", who, err)
		}
	})
	t.Run("but not as somebody else", func(t *testing.T) {
		l, mira := h.login("alex"), h.login("mira")
		l.Server.Token, l.Server.Account = "dead", mira.Server.Account
		if who, err := h.open(l).Who(t.Context()); !errors.Is(err, mediaserver.ErrSignedOut) {
			t.Errorf("%+v, %v", who, err)
		}
	})
}

// TestPlexSaysWhatIsWrongWithItsServices: an answer that says nothing about the sign-in does not end it.
func TestPlexSaysWhatIsWrongWithItsServices(t *testing.T) {
	plex := mediaserver.Server{Kind: mediaserver.Plex}
	code := mediaserver.Code{Text: "8lzj", Secret: "564964751", ExpiresAt: time.Now().Add(time.Hour)}
	const limited = `{"errors":[{"code":1003,"message":"API rate limit exceeded","status":429}]}`
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		polls  error // nil: not confirmed yet
		class  reason.Class
		says   string
	}{
		"an error":              {status(http.StatusInternalServerError), mediaserver.ErrUnreachable, reason.Upstream, "(500)"},
		"another page":          {says("<html>"), mediaserver.ErrUnreachable, reason.Upstream, "(200)"},
		"nothing in the answer": {says(`{"id":null,"code":null,"authToken":"a b"}`), nil, reason.Upstream, "(200)"},
		"a limit": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = w.Write([]byte(limited))
		}, nil, reason.Unavailable, "asks to wait"},
		"no answer": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, mediaserver.ErrUnreachable, reason.Upstream, "plex.tv does not answer: no connection"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDoor(t, map[string]http.HandlerFunc{"/api/v2/pins": test.answer, "/api/v2/pins/564964751": test.answer})
			dialer := newDialer(t)
			dialer.Plex = func() mediaserver.PlexAddresses {
				return mediaserver.PlexAddresses{Account: d.URL, Clients: d.URL, Page: d.URL}
			}
			_, err := dialer.StartCode(t.Context(), plex)
			if told := reason.Of(err); !errors.Is(err, mediaserver.ErrUnreachable) || told.Class() != test.class || !strings.Contains(told.Text, test.says) {
				t.Errorf("the beginning: %v, class %v", err, reason.Of(err).Class())
			}
			if _, done, err := dialer.FinishCode(t.Context(), plex, code); done && test.polls == nil || test.polls == nil && err != nil || test.polls != nil && !errors.Is(err, test.polls) {
				t.Errorf("asked whether it was confirmed: %t, %v", done, err)
			}
		})
	}
}
