package tracker_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/task"
	"watchmark/internal/source/tracker"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/testkit/trackertest"
)

func TestSigningInByMailInBothShapes(t *testing.T) {
	for name, answer := range map[string]trackertest.Answer{
		"redirect":       {},
		"301":            {Redirect: 301},
		"303":            {Redirect: 303},
		"307":            {Redirect: 307},
		"308":            {Redirect: 308},
		"body":           {AsJSON: true},
		"another cookie": {CookieName: "__Secure-tracker.session_token"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.opts.AppAPIURL = "http://127.0.0.1:9" // not for those who sign in by mail
			r.remote.SetAnswer(answer)
			life, err := r.service.StartLogin(t.Context(), "admin/mira", "  Mira@Home.Example ")
			must(t, err)
			if life <= 4*time.Minute || life > 5*time.Minute {
				t.Errorf("the code is good for %v", life)
			}
			otp := r.remote.LastCode(mira)
			u, err := r.service.CompleteLogin(t.Context(), "admin/mira", "", otp)
			must(t, err)
			if u.Name != "Mira" || u.State != tracker.Connected || u.Method != tracker.ByMail || u.ExpiresAt == nil || time.Until(*u.ExpiresAt) < 6*24*time.Hour {
				t.Errorf("connected as %+v", u)
			}
			c := r.service.Shown(t, u.ID)
			if c.TokenType != "bearer" || c.Scope != "public openid profile email offline_access" || c.ExpiresIn != 7*24*3600 {
				t.Errorf("stored %+v", c)
			}
			r.clean(otp, mira, c.Access.Reveal(), c.Refresh.Reveal(), c.ID.Reveal(), "session_token=", "code_verifier\":\"")
			if _, err := r.service.CompleteLogin(t.Context(), "admin/mira", mira, otp); !errors.Is(err, tracker.ErrNoLogin) {
				t.Errorf("the same code again: %v", err)
			}
		})
	}
}

func TestStateAndWhatElseIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		answer trackertest.Answer
		want   error
	}{
		"wrong state":               {trackertest.Answer{State: "wrong"}, tracker.ErrState},
		"no state":                  {trackertest.Answer{State: "missing"}, tracker.ErrState},
		"two states":                {trackertest.Answer{State: "twice"}, tracker.ErrState},
		"wrong state in a body":     {trackertest.Answer{State: "wrong", AsJSON: true}, tracker.ErrState},
		"no state, no code":         {trackertest.Answer{State: "missing", NoCode: true}, tracker.ErrState},
		"no code":                   {trackertest.Answer{NoCode: true}, tracker.ErrRefused},
		"no refresh token":          {trackertest.Answer{NoRefresh: true}, tracker.ErrRefused},
		"no cookie":                 {trackertest.Answer{NoCookie: true}, tracker.ErrRefused},
		"a cookie not secure":       {trackertest.Answer{CookieName: "better-auth.session_token"}, tracker.ErrRefused},
		"a cookie not of a session": {trackertest.Answer{CookieName: "__Secure-better-auth.session_data"}, tracker.ErrRefused},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.remote.SetAnswer(c.answer)
			_, err := r.service.StartLogin(t.Context(), "admin/mira", mira)
			must(t, err)
			if _, err = r.service.CompleteLogin(t.Context(), "admin/mira", mira, r.remote.LastCode(mira)); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if n := r.remote.Requests()[tokenCalls]; n != 0 && !c.answer.NoRefresh {
				t.Errorf("%d requests for a token", n)
			}
			status, err := r.service.Status(t.Context())
			must(t, err)
			if len(status.Users) != 0 {
				t.Errorf("stored %+v", status.Users)
			}
			if _, err = r.service.CompleteLogin(t.Context(), "admin/mira", mira, "123456"); !errors.Is(err, tracker.ErrNoLogin) {
				t.Errorf("after the code was used: %v", err)
			}
		})
	}
}

func TestOnlyStatus200IsASuccess(t *testing.T) {
	for _, path := range []string{"/auth/magic", "/auth/magic/submit", "/api/auth/oauth2/authorize", "/oauth/token"} {
		for _, fault := range []trackertest.Fault{
			{Status: 201}, {Status: 204}, {Status: 302, Header: map[string]string{"Location": "/signin"}}, {Status: 400}, {Status: 403}, {Status: 500}, {Status: 200, HTML: true},
		} {
			if fault.Status == 200 && path == "/auth/magic" {
				continue // nothing is read from its body
			}
			t.Run(fmt.Sprint(path, " ", fault.Status), func(t *testing.T) {
				r := newRig(t)
				fault.Path = path
				var err error
				if path == "/auth/magic" {
					r.remote.SetFault(&fault)
					_, err = r.service.StartLogin(t.Context(), "admin/mira", mira)
				} else {
					_, err = r.service.StartLogin(t.Context(), "admin/mira", mira)
					must(t, err)
					r.remote.SetFault(&fault)
					_, err = r.service.CompleteLogin(t.Context(), "admin/mira", mira, r.remote.LastCode(mira))
				}
				if err == nil || errors.Is(err, tracker.ErrWrongCode) {
					t.Errorf("got %v", err)
				}
				if n := r.remote.Requests()["GET /signin"] + r.remote.Requests()[""]; n != 0 {
					t.Error("a redirect was followed")
				}
				status, err := r.service.Status(t.Context())
				must(t, err)
				if len(status.Users) != 0 {
					t.Errorf("stored %+v", status.Users)
				}
			})
		}
	}
}

func TestARefusedSignInSaysWhatToDo(t *testing.T) {
	for name, c := range map[string]struct {
		fault trackertest.Fault
		words string
	}{
		"no such address":        {trackertest.Fault{Path: "/auth/magic", Status: 400}, "check it"},
		"a browser is wanted":    {trackertest.Fault{Path: "/auth/magic", Status: 403}, "browser"},
		"the code is not taken":  {trackertest.Fault{Path: "/auth/magic/submit", Status: 400}, "new e-mail"},
		"a client nobody knows":  {trackertest.Fault{Path: "/api/auth/", Status: 400}, "tracker.client_id"},
		"the client is refused":  {trackertest.Fault{Path: "/oauth/token", Status: 401}, "client ID"},
		"the client was deleted": {trackertest.Fault{Path: "/oauth/token", Status: 400}, "client ID"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.remote.SetFault(&c.fault)
			_, err := r.service.StartLogin(t.Context(), "admin/mira", mira)
			if err == nil {
				_, err = r.service.CompleteLogin(t.Context(), "admin/mira", mira, r.remote.LastCode(mira))
			}
			if err == nil || !strings.Contains(err.Error(), c.words) || strings.Contains(err.Error(), "simulator") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestWrongCodesVoidTheSignIn(t *testing.T) {
	r := newRig(t)
	_, err := r.service.StartLogin(t.Context(), "admin/mira", mira)
	must(t, err)
	right := r.remote.LastCode(mira)
	var field *reason.FieldError
	for _, otp := range []string{"", "12345", "1234567", "12345a", "１２３４５６", "12 456"} {
		if _, err := r.service.CompleteLogin(t.Context(), "admin/mira", mira, otp); !errors.As(err, &field) || field.Field != "otp" {
			t.Errorf("code %q: %v", otp, err)
		}
	}
	if n := r.remote.Requests()["POST /auth/magic/submit"]; n != 0 {
		t.Errorf("%d malformed codes were sent", n)
	}
	r.remote.SetFault(&trackertest.Fault{Path: "/auth/magic/submit", Times: 9})
	for range 9 { // the network failing is no wrong code
		if _, err := r.service.CompleteLogin(t.Context(), "admin/mira", mira, right); !errors.Is(err, tracker.ErrUnreachable) {
			t.Errorf("a cut connection: %v", err)
		}
	}
	for _, left := range []int{4, 3, 2, 1, 0} {
		var wrong *tracker.WrongCodeError
		if _, err := r.service.CompleteLogin(t.Context(), "admin/mira", mira, "000000"); !errors.As(err, &wrong) || !errors.Is(err, tracker.ErrWrongCode) || wrong.Left != left {
			t.Errorf("with %d left: %v", left, err)
		}
	}
	if _, err := r.service.CompleteLogin(t.Context(), "admin/mira", mira, "000000"); !errors.Is(err, tracker.ErrTooManyCodes) {
		t.Errorf("one too many: %v", err)
	}
	if _, err := r.service.CompleteLogin(t.Context(), "admin/mira", mira, right); !errors.Is(err, tracker.ErrNoLogin) {
		t.Errorf("the right code after that: %v", err)
	}
}

func TestCodesAtTheSameTimeCountOneByOne(t *testing.T) {
	r := newRig(t)
	_, err := r.service.StartLogin(t.Context(), "admin/mira", mira)
	must(t, err)
	var wrong, many, none atomic.Int32
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			switch _, err := r.service.CompleteLogin(t.Context(), "admin/mira", mira, "000000"); {
			case errors.Is(err, tracker.ErrWrongCode):
				wrong.Add(1)
			case errors.Is(err, tracker.ErrTooManyCodes):
				many.Add(1)
			case errors.Is(err, tracker.ErrNoLogin):
				none.Add(1)
			}
		})
	}
	wait.Wait()
	if wrong.Load() != 5 || many.Load() != 1 || none.Load() != 14 {
		t.Errorf("%d wrong, %d too many, %d for no sign-in", wrong.Load(), many.Load(), none.Load())
	}
	if n := r.remote.Requests()["POST /auth/magic/submit"]; n != 6 {
		t.Errorf("%d codes were sent", n)
	}
}

func TestACallerWhoGoesAwayIsSignedIn(t *testing.T) {
	for _, path := range []string{"/auth/magic", "/auth/magic/submit", "/api/auth/", "/oauth/token", "/users/settings"} {
		t.Run(path, func(t *testing.T) {
			r := newRig(t)
			hold := make(chan struct{})
			ctx, leave := context.WithCancel(t.Context())
			arrived := func(r *rig) (n int) {
				for pattern, count := range r.remote.Requests() {
					if strings.Contains(pattern, path) {
						n += count
					}
				}
				return n
			}
			go func() {
				for arrived(r) == 0 {
					time.Sleep(time.Millisecond)
				}
				leave()
				close(hold)
			}()
			r.remote.SetFault(&trackertest.Fault{Path: path, Times: 1, Hold: hold})
			_, err := r.service.StartLogin(ctx, "admin/mira", mira)
			must(t, err)
			u, err := r.service.CompleteLogin(ctx, "admin/mira", mira, r.remote.LastCode(mira))
			must(t, err)
			if u.Name != "Mira" {
				t.Errorf("connected as %+v", u)
			}
		})
	}
}

func TestSignInsOfDifferentCallersAreNeverMixed(t *testing.T) {
	r := newRig(t)
	hold := make(chan struct{})
	r.remote.SetFault(&trackertest.Fault{Path: "/auth/magic", Times: 1, Hold: hold})
	slow := make(chan error, 1)
	go func() {
		_, err := r.service.StartLogin(t.Context(), "admin/mira", mira)
		slow <- err
	}()
	for r.remote.Requests()["POST /auth/magic"] == 0 {
		time.Sleep(time.Millisecond)
	}
	var soon *tracker.CooldownError
	if _, err := r.service.StartLogin(t.Context(), "admin/mira", mira); !errors.As(err, &soon) || !soon.Waiting {
		t.Errorf("while the first mail is on its way: %v", err)
	}
	// A slow mail holds nobody else up once the minute is over.
	r.cooled()
	_, err := r.service.StartLogin(t.Context(), "key/alex", alex)
	must(t, err)
	r.cooled()
	_, err = r.service.StartLogin(t.Context(), "admin/mira", alex)
	must(t, err)
	close(hold)
	must(t, <-slow)
	if _, err := r.service.CompleteLogin(t.Context(), "key/alex", mira, r.remote.LastCode(mira)); !errors.Is(err, tracker.ErrNoLogin) {
		t.Errorf("another caller completes: %v", err)
	}
	u, err := r.service.CompleteLogin(t.Context(), "admin/mira", mira, r.remote.LastCode(mira))
	must(t, err)
	if u.Name != "Mira" {
		t.Errorf("connected as %+v", u)
	}
	if _, err := r.service.CompleteLogin(t.Context(), "key/nobody", "", r.remote.LastCode(alex)); !errors.Is(err, tracker.ErrNoLogin) {
		t.Errorf("a caller who began nothing: %v", err)
	}
	// The newest mail is what alex's address has: the code is the same one for both callers.
	u, err = r.service.CompleteLogin(t.Context(), "key/alex", "", r.remote.LastCode(alex))
	must(t, err)
	if u.Name != "alex" {
		t.Errorf("connected as %+v", u)
	}
}

func TestCooldownAndLifeOfACode(t *testing.T) {
	dbtest.InBubble(t)
	synctest.Test(t, func(t *testing.T) {
		r, end := rigIn(t)
		defer end()
		_, err := r.service.StartLogin(t.Context(), "admin/mira", mira)
		must(t, err)
		first := r.remote.LastCode(mira)
		time.Sleep(20 * time.Second)
		var soon *tracker.CooldownError
		if _, err := r.service.StartLogin(t.Context(), "admin/mira", mira); !errors.As(err, &soon) || soon.RetryAfter != 40*time.Second {
			t.Errorf("after 20 s: %v", err)
		}
		time.Sleep(40 * time.Second)
		_, err = r.service.StartLogin(t.Context(), "admin/mira", mira)
		must(t, err)
		if _, err := r.service.CompleteLogin(t.Context(), "admin/mira", mira, first); !errors.Is(err, tracker.ErrWrongCode) {
			t.Errorf("the code of the mail before: %v", err)
		}
		// A mail that was not sent leaves the code of the one before as it was.
		time.Sleep(time.Minute)
		r.remote.SetFault(&trackertest.Fault{Path: "/auth/magic", Times: 1, Status: 503})
		if _, err := r.service.StartLogin(t.Context(), "admin/mira", mira); !errors.Is(err, tracker.ErrUnreachable) {
			t.Errorf("a mail that is not sent: %v", err)
		}
		if _, err := r.service.CompleteLogin(t.Context(), "admin/mira", mira, "000000"); !errors.Is(err, tracker.ErrWrongCode) {
			t.Errorf("the sign-in from before: %v", err)
		}
		time.Sleep(4 * time.Minute)
		var over *tracker.OverError
		if _, err := r.service.CompleteLogin(t.Context(), "admin/mira", mira, r.remote.LastCode(mira)); !errors.Is(err, tracker.ErrCodeExpired) || !errors.As(err, &over) || over.RetryAfter != time.Second {
			t.Errorf("after five minutes: %v", err)
		}
		// A mail that was not sent leaves no cooldown.
		r.remote.SetFault(&trackertest.Fault{Path: "/auth/magic", Times: 1, Status: 503})
		if _, err := r.service.StartLogin(t.Context(), "admin/mira", mira); !errors.Is(err, tracker.ErrUnreachable) {
			t.Errorf("a mail that is not sent: %v", err)
		}
		r.signIn(mira)
	})
}

func TestWhatLacksIsSaid(t *testing.T) {
	r := newRig(t)
	r.opts.ClientID, r.opts.AppClientID = "", ""
	if _, err := r.service.StartLogin(t.Context(), "admin/mira", mira); !errors.Is(err, tracker.ErrNoClient) || !strings.Contains(err.Error(), "tracker.client_id") {
		t.Errorf("without a client id: %v", err)
	}
	if _, err := r.service.StartOAuth(t.Context(), "admin/mira", appBack); !errors.Is(err, tracker.ErrNoApp) {
		t.Errorf("without an application: %v", err)
	}
	if _, err := r.service.StartDevice(t.Context()); !errors.Is(err, tracker.ErrNoApp) {
		t.Errorf("without an application: %v", err)
	}
	r.opts.ClientID = webClient
	var field *reason.FieldError
	for _, email := range []string{"", "mira", "mira@home", "a b@home.example"} {
		if _, err := r.service.StartLogin(t.Context(), "admin/mira", email); !errors.As(err, &field) || field.Field != "email" {
			t.Errorf("address %q: %v", email, err)
		}
	}
}

func TestSigningInWithAnApplication(t *testing.T) {
	r := newRig(t)
	r.opts.APIURL = "http://127.0.0.1:9" // for those who sign in by mail
	address, err := r.service.StartOAuth(t.Context(), "admin/mira", appBack)
	must(t, err)
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := browser.Get(address)
	must(t, err)
	must(t, resp.Body.Close())
	back, err := url.Parse(resp.Header.Get("Location"))
	must(t, err)
	state, code := back.Query().Get("state"), back.Query().Get("code")
	if _, err := r.service.FinishOAuth(t.Context(), "admin/alex", state, code); !errors.Is(err, tracker.ErrState) {
		t.Errorf("another caller comes back: %v", err)
	}
	u, err := r.service.FinishOAuth(t.Context(), "admin/mira", state, code)
	must(t, err)
	if u.Name != "Mira" || u.Method != tracker.ByCode {
		t.Errorf("connected as %+v", u)
	}
	if _, err := r.service.FinishOAuth(t.Context(), "admin/mira", state, code); !errors.Is(err, tracker.ErrState) {
		t.Errorf("a second time: %v", err)
	}
	r.clean(code, appSecret)
}

// TestASignInEndsAtAnotherReplica than it began at, by mail and in the browser, and wrong codes are counted together.
func TestASignInEndsAtAnotherReplica(t *testing.T) {
	r := newRig(t)
	other := rigOn(t, r.dir, r.remote, r.url)
	_, err := r.service.StartLogin(t.Context(), "admin/mira", mira)
	must(t, err)
	for n, k := range []*tracker.Service{r.service, other.service, r.service, other.service, other.service} {
		var wrong *tracker.WrongCodeError
		if _, err := k.CompleteLogin(t.Context(), "admin/mira", "", "000000"); !errors.As(err, &wrong) || wrong.Left != 4-n {
			t.Fatalf("wrong code %d: %v", n+1, err)
		}
	}
	r.remote.SetFault(&trackertest.Fault{Path: "/auth/magic/submit", Times: 1, Status: 503})
	if _, err := other.service.CompleteLogin(t.Context(), "admin/mira", "", "000000"); !errors.Is(err, tracker.ErrUnreachable) {
		t.Fatalf("a failure of the network: %v", err)
	}
	u, err := other.service.CompleteLogin(t.Context(), "admin/mira", "", r.remote.LastCode(mira))
	must(t, err)
	if u.Name != "Mira" {
		t.Errorf("connected as %+v", u)
	}
	if _, err := other.service.FinishOAuth(t.Context(), "admin/mira", stateOf(r), "code"); errors.Is(err, tracker.ErrState) {
		t.Errorf("a browser that comes back to another replica: %v", err)
	}
}

// stateOf is the state that a browser takes to the tracker and back.
func stateOf(r *rig) string {
	r.t.Helper()
	address, err := r.service.StartOAuth(r.t.Context(), "admin/mira", appBack)
	must(r.t, err)
	there, err := url.Parse(address)
	must(r.t, err)
	return there.Query().Get("state")
}

func TestABrowserThatIsAwayForLongIsTooLate(t *testing.T) {
	dbtest.InBubble(t)
	synctest.Test(t, func(t *testing.T) {
		r, end := rigIn(t)
		defer end()
		state := stateOf(r)
		time.Sleep(10 * time.Minute)
		if _, err := r.service.FinishOAuth(t.Context(), "admin/mira", state, "code"); !errors.Is(err, tracker.ErrState) {
			t.Errorf("after ten minutes: %v", err)
		}
	})
}

// TestTheNextMailWaitsAMinute holds for whoever asks, whatever became of the sign-in, and after a restart.
func TestTheNextMailWaitsAMinute(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(t *testing.T, r *rig)
		caller    string
		email     string
		waiting   bool
	}{
		"the same again":     {func(*testing.T, *rig) {}, "admin/mira", mira, true},
		"another caller":     {func(*testing.T, *rig) {}, "key/alex", mira, false},
		"another address":    {func(*testing.T, *rig) {}, "admin/mira", alex, false},
		"after six wrong":    {func(t *testing.T, r *rig) { r.guess(t, 6) }, "admin/mira", mira, false},
		"after one wrong":    {func(t *testing.T, r *rig) { r.guess(t, 1) }, "admin/mira", mira, true},
		"after the sign-in":  {func(t *testing.T, r *rig) { r.finish(t) }, "admin/mira", mira, false},
		"after the sign-out": {func(t *testing.T, r *rig) { r.finish(t); _, err := r.service.Disconnect(t.Context(), 0); must(t, err) }, "admin/mira", mira, false},
		"after a failure": {func(t *testing.T, r *rig) {
			r.remote.SetAnswer(trackertest.Answer{State: "wrong"})
			_, err := r.service.CompleteLogin(t.Context(), "admin/mira", mira, r.remote.LastCode(mira))
			if !errors.Is(err, tracker.ErrState) {
				t.Errorf("got %v", err)
			}
		}, "admin/mira", mira, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			_, err := r.service.StartLogin(t.Context(), "admin/mira", mira)
			must(t, err)
			c.meanwhile(t, r)
			again := rigOn(t, r.dir, r.remote, r.url) // a restart, or another replica
			for what, k := range map[string]*tracker.Service{"here": r.service, "after a restart": again.service} {
				var soon *tracker.CooldownError
				if _, err := k.StartLogin(t.Context(), c.caller, c.email); !errors.As(err, &soon) || soon.RetryAfter <= 50*time.Second || soon.RetryAfter > time.Minute {
					t.Errorf("%s: %v", what, err)
				} else if soon.Waiting != c.waiting {
					t.Errorf("%s: waiting %v", what, soon.Waiting)
				}
			}
			if n := r.remote.Requests()["POST /auth/magic"]; n != 1 {
				t.Errorf("%d mails", n)
			}
		})
	}
}

func TestManyWhoAskAtOnceGetOneMail(t *testing.T) {
	r := newRig(t)
	other := rigOn(t, r.dir, r.remote, r.url)
	var sent atomic.Int32
	var wait sync.WaitGroup
	for i := range 16 {
		wait.Go(func() {
			k := []*tracker.Service{r.service, other.service}[i%2]
			var soon *tracker.CooldownError
			if _, err := k.StartLogin(t.Context(), fmt.Sprint("key/", i), mira); err == nil {
				sent.Add(1)
			} else if !errors.As(err, &soon) {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if n := r.remote.Requests()["POST /auth/magic"]; n != 1 || sent.Load() != 1 {
		t.Errorf("%d mails, %d of them told", n, sent.Load())
	}
}

func TestAClockThatWasSetBackHoldsNoMailUp(t *testing.T) {
	r := newRig(t)
	_, err := r.service.StartLogin(t.Context(), "admin/mira", mira)
	must(t, err)
	must(t, r.db.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE tracker_mail SET asked_at = asked_at + 3600000`)
		return err
	}))
	_, err = r.service.StartLogin(t.Context(), "admin/mira", mira)
	must(t, err)
}

// guess enters wrong codes.
func (r *rig) guess(t *testing.T, times int) {
	t.Helper()
	for range times {
		if _, err := r.service.CompleteLogin(t.Context(), "admin/mira", mira, "000000"); err == nil {
			t.Error("a wrong code was taken")
		}
	}
}

// finish enters the right code.
func (r *rig) finish(t *testing.T) {
	t.Helper()
	_, err := r.service.CompleteLogin(t.Context(), "admin/mira", mira, r.remote.LastCode(mira))
	must(t, err)
}

func TestFewBrowsersAreWaitedFor(t *testing.T) {
	r := newRig(t)
	var states []string
	for range 150 {
		states = append(states, stateOf(r))
	}
	known := 0
	for _, state := range states {
		if _, err := r.service.FinishOAuth(t.Context(), "admin/mira", state, "code"); !errors.Is(err, tracker.ErrState) {
			known++
		}
	}
	if known != 100 {
		t.Errorf("%d browsers are waited for", known)
	}
}

func TestSigningInByDeviceCode(t *testing.T) {
	const polls = "POST /oauth/device/token"
	for name, c := range map[string]struct {
		fault   *trackertest.Fault
		approve string // whose; "no" refuses, "" leaves the code alone
		polls   int    // within the first minute
		state   task.State
		message string
	}{
		"approved":                  {nil, alex, 5, task.Done, "alex"},
		"refused":                   {nil, "no", 5, task.Failed, "refused"},
		"nobody comes":              {nil, "", 12, task.Failed, "expired before"},
		"asked too often":           {&trackertest.Fault{Status: 429, Times: 2}, alex, 3, task.Done, "alex"}, // after 5, 15 and 35 s
		"cut":                       {&trackertest.Fault{Times: 3}, alex, 5, task.Done, "alex"},
		"overloaded":                {&trackertest.Fault{Status: 503, Times: 3}, alex, 5, task.Done, "alex"},
		"the code has ended":        {&trackertest.Fault{Status: 410}, alex, 1, task.Failed, "start again"},
		"the code was used":         {&trackertest.Fault{Status: 409}, alex, 1, task.Failed, "start again"},
		"the code is not known":     {&trackertest.Fault{Status: 404}, alex, 1, task.Failed, "start again"},
		"the secret is not the one": {&trackertest.Fault{Status: 401}, alex, 1, task.Failed, "client ID or its secret"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, end := rigIn(t)
				defer end()
				d, err := r.service.StartDevice(t.Context())
				must(t, err)
				if d.VerificationURL == "" || time.Until(d.ExpiresAt) != 10*time.Minute {
					t.Errorf("told %+v", d)
				}
				if c.fault != nil {
					c.fault.Path = "/oauth/device/token"
					r.remote.SetFault(c.fault)
				}
				time.Sleep(21 * time.Second)
				if c.approve != "" && !r.remote.Approve(d.UserCode, strings.TrimPrefix(c.approve, "no")) {
					t.Error("no such code")
				}
				time.Sleep(40 * time.Second)
				if n := r.remote.Requests()[polls]; n != c.polls {
					t.Errorf("asked %d times in a minute", n)
				}
				waiting, err := r.tasks.Get(t.Context(), d.TaskID)
				must(t, err)
				status := r.wait(waiting)
				if status.State != c.state || !strings.Contains(status.Message.Text, c.message) {
					t.Errorf("ended as %+v", status)
				}
				if u, is := task.ResultOf[tracker.User](status); is != (c.state == task.Done) || is && (u.Name != "alex" || u.Method != tracker.ByDevice) {
					t.Errorf("the result is %+v", status.Result)
				}
				r.clean(appSecret)
			})
		})
	}
}

func TestFewDeviceCodesAreWaitedFor(t *testing.T) {
	r := newRig(t)
	for range 5 {
		_, err := r.service.StartDevice(t.Context())
		must(t, err)
	}
	if _, err := r.service.StartDevice(t.Context()); !errors.Is(err, tracker.ErrLoginsFull) {
		t.Errorf("one more: %v", err)
	}
}
