package tracker_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"watchmark/internal/platform/hold"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/task"
	"watchmark/internal/source/tracker"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/testkit/trackertest"
)

const tokenCalls = "POST /oauth/token"

func TestTwoProcessesRenewOneCredentialAtOnce(t *testing.T) {
	one := newRig(t)
	two := rigOn(t, one.dir, one.remote, one.url)
	one.signIn(mira)
	one.show(mira, 1, 3, time.Now())
	for round := range 10 {
		before := one.remote.Requests()[tokenCalls]
		one.remote.ExpireAccess() // both get 401, whatever they know of its end
		var wait sync.WaitGroup
		for i := range 8 {
			k := one.service
			if i%2 == 1 {
				k = two.service
			}
			wait.Go(func() {
				if err := k.Ask(context.Background(), 1); err != nil {
					t.Errorf("round %d: %v", round, err)
				}
			})
		}
		wait.Wait()
		if n := one.remote.Requests()[tokenCalls] - before; n != 1 {
			t.Errorf("round %d: %d refreshes", round, n)
		}
	}
	access, refresh := one.service.Stored(t, 1)
	if !one.remote.Live(access, refresh) || one.remote.Pairs() != 1 {
		t.Error("the stored pair is not good, or not the only one")
	}
	again, refreshAgain := two.service.Stored(t, 1)
	if access != again || refresh != refreshAgain {
		t.Error("the processes see different pairs")
	}
}

func TestADeadSignInIsToldOnce(t *testing.T) {
	r := newRig(t)
	u := r.signIn(mira)
	r.remote.RevokeAll()
	for range 3 {
		if err := r.service.Ask(t.Context(), u.ID); !errors.Is(err, tracker.ErrDead) {
			t.Errorf("got %v", err)
		}
	}
	if n := r.remote.Requests()[tokenCalls]; n != 2 { // the sign-in and one refresh
		t.Errorf("%d requests for tokens", n)
	}
	if n := strings.Count(r.logs.String(), "does not renew a sign-in any more"); n != 1 {
		t.Errorf("told %d times", n)
	}
	status, err := r.service.Status(t.Context())
	must(t, err)
	if got := status.Users[0]; got.State != tracker.Dead || got.Problem.IsZero() {
		t.Errorf("shown as %+v", got)
	}
	if _, err := r.service.Sync(t.Context(), u.ID, false); !errors.Is(err, tracker.ErrDead) {
		t.Errorf("a sync: %v", err)
	}
	// Signing in again brings the same user back.
	back := r.signIn(mira)
	if back.ID != u.ID || back.State != tracker.Connected || !back.Problem.IsZero() {
		t.Errorf("back as %+v", back)
	}
	if err := r.service.Ask(t.Context(), u.ID); err != nil {
		t.Error(err)
	}
}

func TestInvalidGrantAnywhereInThe400IsTheEnd(t *testing.T) {
	for name, fault := range map[string]trackertest.Fault{
		"oauth":         {Body: `{"error":"invalid_grant"}`},
		"nested":        {Body: `{"error":{"code":"invalid_grant"}}`},
		"in a message":  {Body: `{"message":"refused: invalid_grant"}`},
		"a description": {Body: `{"error":"bad_request","error_description":"invalid_grant"}`},
		"a form":        {Body: `error=invalid_grant&error_description=used`},
		"a text":        {Body: `invalid_grant`},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			u := r.signIn(mira)
			r.remote.ExpireAccess()
			fault.Path, fault.Status = "/oauth/token", 400
			r.remote.SetFault(&fault)
			if err := r.service.Ask(t.Context(), u.ID); !errors.Is(err, tracker.ErrDead) {
				t.Errorf("got %v", err)
			}
			status, err := r.service.Status(t.Context())
			must(t, err)
			if got := status.Users[0]; got.State != tracker.Dead || got.Problem.IsZero() {
				t.Errorf("shown as %+v", got)
			}
		})
	}
}

func TestARenewedSignInThatIsRefusedSaysSo(t *testing.T) {
	r := newRig(t)
	u := r.signIn(mira)
	is := func(when string, state tracker.State, problem string) {
		t.Helper()
		status, err := r.service.Status(t.Context())
		must(t, err)
		if got := status.Users[0]; got.State != state || !strings.Contains(got.Problem.Text, problem) || (got.Problem.IsZero()) != (problem == "") {
			t.Errorf("%s: %+v", when, got)
		}
	}
	r.remote.SetFault(&trackertest.Fault{Path: "/sync/", Status: 401})
	for range 2 { // it is tried again each time
		if result, _ := r.sync(false); result.Outcome != tracker.Failed || !strings.Contains(result.Error.Text, "does not accept the sign-in") {
			t.Errorf("read with %+v", result)
		}
		is("refused", tracker.Refused, "although it was just renewed")
	}
	r.remote.SetFault(nil)
	must(t, r.service.Ask(t.Context(), u.ID))
	is("taken again", tracker.Connected, "")
	r.remote.SetFault(&trackertest.Fault{Path: "/sync/", Status: 401})
	if err := r.service.Ask(t.Context(), u.ID); !errors.Is(err, tracker.ErrUnauthorized) {
		t.Errorf("refused: %v", err)
	}
	r.remote.RevokeAll()
	if err := r.service.Ask(t.Context(), u.ID); !errors.Is(err, tracker.ErrDead) {
		t.Errorf("revoked: %v", err)
	}
	is("revoked", tracker.Dead, "sign in again")
}

func TestOtherFailuresKeepThePair(t *testing.T) {
	for name, fault := range map[string]trackertest.Fault{
		"cut":          {Path: "/oauth/token"},
		"overloaded":   {Path: "/oauth/token", Status: 503},
		"too much":     {Path: "/oauth/token", Status: 429, RetryAfter: 3},
		"firewall":     {Path: "/oauth/token", Status: 403, HTML: true},
		"another 400":  {Path: "/oauth/token", Status: 400},
		"unauthorized": {Path: "/oauth/token", Status: 401},
		"a 503 of it":  {Path: "/oauth/token", Status: 503, Body: `{"error":"invalid_grant"}`},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			u := r.signIn(mira)
			r.remote.ExpireAccess()
			access, refresh := r.service.Stored(t, u.ID)
			r.remote.SetFault(&fault)
			if err := r.service.Ask(t.Context(), u.ID); err == nil || errors.Is(err, tracker.ErrDead) {
				t.Errorf("got %v", err)
			}
			if a, f := r.service.Stored(t, u.ID); a != access || f != refresh {
				t.Error("the pair changed")
			}
			r.remote.SetFault(nil)
			if err := r.service.Ask(t.Context(), u.ID); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

func TestWhatARenewalDoesNotGiveIsKept(t *testing.T) {
	r := newRig(t)
	u := r.signIn(mira)
	was := r.service.Shown(t, u.ID)
	r.remote.ExpireAccess()
	r.remote.SetAnswer(trackertest.Answer{NoRefresh: true})
	must(t, r.service.Ask(t.Context(), u.ID))
	if now := r.service.Shown(t, u.ID); now.Access == was.Access || now.Refresh != was.Refresh || now.ID != was.ID || was.ID == "" {
		t.Errorf("another access token: %v, the same refresh token: %v, the same id token: %v", now.Access != was.Access, now.Refresh == was.Refresh, now.ID == was.ID)
	}
}

func TestAKeyThatIsGoneMayComeBack(t *testing.T) {
	r := newRig(t)
	u := r.signIn(mira)
	key := filepath.Join(r.dir, secret.KeyFile)
	must(t, os.Rename(key, key+".old"))
	other := rigOn(t, r.dir, r.remote, r.url)
	if err := other.service.Ask(t.Context(), u.ID); !errors.Is(err, secret.ErrWrongKey) {
		t.Errorf("with another key: %v", err)
	}
	status, err := other.service.Status(t.Context())
	must(t, err)
	if got := status.Users[0]; got.State != tracker.Connected || !strings.Contains(got.Problem.Text, secret.KeyFile) {
		t.Errorf("shown as %+v", got)
	}
	must(t, os.Rename(key+".old", key))
	must(t, rigOn(t, r.dir, r.remote, r.url).service.Ask(t.Context(), u.ID))
}

// renewing has a request renew the credential, up to the answer of the tracker; end lets that
// come and gives the error of the request. It works in a bubble.
func renewing(ctx context.Context, r *rig, id int64) (end func() error) {
	r.remote.ExpireAccess()
	hold := make(chan struct{})
	r.remote.SetFault(&trackertest.Fault{Path: "/oauth/token", Times: 1, Hold: hold})
	ended := make(chan error, 1)
	go func() { ended <- r.service.Ask(ctx, id) }()
	synctest.Wait()
	return func() error {
		close(hold)
		return <-ended
	}
}

func TestARenewalOutlivesItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, end := rigIn(t)
		defer end()
		u := r.signIn(mira)
		before, _ := r.service.Stored(t, u.ID)
		ctx, leave := context.WithCancel(t.Context())
		renewed := renewing(ctx, r, u.ID)
		leave()
		synctest.Wait()
		_ = renewed() // nobody waits for it
		access, refresh := r.service.Stored(t, u.ID)
		if access == before || !r.remote.Live(access, refresh) {
			t.Error("the pair that the tracker gave is lost")
		}
	})
}

func TestAStopWaitsForARenewalWithABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, end := rigIn(t)
		defer end()
		u := r.signIn(mira)
		before, _ := r.service.Stored(t, u.ID)
		r.remote.ExpireAccess()
		hold := make(chan struct{})
		r.remote.SetFault(&trackertest.Fault{Path: "/oauth/token", Times: 1, Hold: hold})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.service.Ask(ctx, u.ID) }()
		synctest.Wait()
		stop()
		asked := time.Now()
		if err := <-ended; !errors.Is(err, context.Canceled) || time.Since(asked) != task.OutliveMost {
			t.Errorf("ended after %v: %v", time.Since(asked), err)
		}
		close(hold) // the tracker answers late, and the process is still there
		synctest.Wait()
		if access, refresh := r.service.Stored(t, u.ID); access == before || !r.remote.Live(access, refresh) {
			t.Error("the pair that the tracker gave is lost")
		}
	})
}

func TestASignInDuringARenewalStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, end := rigIn(t)
		defer end()
		u := r.signIn(mira)
		renewed := renewing(t.Context(), r, u.ID)
		r.signIn(mira)
		access, refresh := r.service.Stored(t, u.ID)
		must(t, renewed())
		if a, f := r.service.Stored(t, u.ID); a != access || f != refresh {
			t.Error("the pair of the sign-in before replaced the new one")
		}
	})
}

func TestADisconnectWaitsForARenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, end := rigIn(t)
		defer end()
		u := r.signIn(mira)
		renewed := renewing(t.Context(), r, u.ID)
		disconnected := make(chan error, 1)
		go func() {
			_, err := r.service.Disconnect(t.Context(), u.ID)
			disconnected <- err
		}()
		synctest.Wait()
		if err := renewed(); err != nil && !errors.Is(err, tracker.ErrUnauthorized) && !errors.Is(err, tracker.ErrDisconnected) {
			t.Error(err)
		}
		must(t, <-disconnected)
		if err := r.service.Ask(t.Context(), u.ID); !errors.Is(err, tracker.ErrDisconnected) {
			t.Errorf("afterwards: %v", err)
		}
		if n := r.remote.Pairs(); n != 0 {
			t.Errorf("%d sign-ins are left at the tracker", n)
		}
	})
}

func TestARefreshWhoseAnswerIsLostIsTheEnd(t *testing.T) {
	r := newRig(t)
	u := r.signIn(mira)
	r.remote.ExpireAccess()
	r.remote.SetFault(&trackertest.Fault{Path: "/oauth/token", After: true, Times: 1})
	if err := r.service.Ask(t.Context(), u.ID); !errors.Is(err, tracker.ErrUnreachable) {
		t.Errorf("got %v", err)
	}
	if err := r.service.Ask(t.Context(), u.ID); !errors.Is(err, tracker.ErrDead) {
		t.Errorf("then %v", err)
	}
}

func TestARefusedTokenIsRenewedAndTheRequestRepeatedOnce(t *testing.T) {
	r := newRig(t)
	u := r.signIn(mira)
	r.remote.SetFault(&trackertest.Fault{Path: "/sync/", Status: 401})
	before := r.remote.Requests()
	if err := r.service.Ask(t.Context(), u.ID); !errors.Is(err, tracker.ErrUnauthorized) {
		t.Errorf("got %v", err)
	}
	now := r.remote.Requests()
	if n := now["GET /sync/last_activities"] - before["GET /sync/last_activities"]; n != 2 {
		t.Errorf("asked %d times", n)
	}
	if n := now[tokenCalls] - before[tokenCalls]; n != 1 {
		t.Errorf("%d refreshes", n)
	}
}

func TestTheHeartbeatRenewsOnTheLastDayOnly(t *testing.T) {
	dbtest.InBubble(t)
	synctest.Test(t, func(t *testing.T) {
		r, end := rigIn(t)
		defer end()
		r.service.NeverSync()
		r.signIn(mira)
		stop := r.run()
		time.Sleep(6*24*time.Hour - time.Hour)
		if n := r.remote.Requests()[tokenCalls]; n != 1 {
			t.Errorf("%d requests for tokens within six days", n)
		}
		time.Sleep(26 * time.Hour)
		if n := r.remote.Requests()[tokenCalls]; n != 2 {
			t.Errorf("%d requests for tokens on the last day", n)
		}
		// A dead one is left alone.
		r.remote.RevokeAll()
		time.Sleep(30 * 24 * time.Hour)
		if n := r.remote.Requests()[tokenCalls]; n != 3 {
			t.Errorf("%d requests for tokens after it died", n)
		}
		stop()
	})
}

func TestDisconnectRevokesAndForgets(t *testing.T) {
	r := newRig(t)
	u := r.signIn(mira)
	access, refresh := r.service.Stored(t, u.ID)
	revoked, err := r.service.Disconnect(t.Context(), 0)
	must(t, err)
	if !revoked || r.remote.Live(access, refresh) {
		t.Error("the tokens are still good")
	}
	if err := r.service.Ask(t.Context(), u.ID); !errors.Is(err, tracker.ErrDisconnected) {
		t.Errorf("a request: %v", err)
	}
	if _, err := r.service.Disconnect(t.Context(), 0); !errors.Is(err, tracker.ErrNotFound) {
		t.Errorf("nobody is left: %v", err)
	}
	if again := r.signIn(mira); again.ID != u.ID {
		t.Errorf("signed in again as %+v", again)
	}
	r.signIn(alex)
	if _, err := r.service.Disconnect(t.Context(), 0); !errors.Is(err, tracker.ErrWhich) {
		t.Errorf("one of two: %v", err)
	}
	r.remote.SetFault(&trackertest.Fault{Path: "/oauth/revoke", Status: 500})
	revoked, err = r.service.Disconnect(t.Context(), u.ID)
	must(t, err)
	if revoked {
		t.Error("said to be revoked")
	}
}

func TestTokensAreNowhereInTheClear(t *testing.T) {
	r := newRig(t)
	u := r.signIn(mira)
	access, refresh := r.service.Stored(t, u.ID)
	r.remote.ExpireAccess()
	r.show(mira, 1, 2, time.Now())
	r.sync(true)
	newAccess, newRefresh := r.service.Stored(t, u.ID)
	r.clean(access, refresh, newAccess, newRefresh, mira)
	for place, content := range dbtest.Kept(t, r.dir) {
		for _, token := range []string{access, refresh, newAccess, newRefresh} {
			if strings.Contains(content, token) {
				t.Errorf("%s holds a token", place)
			}
		}
	}
	if text := fmt.Sprintf("%+v %v", u, r.service.Shown(t, u.ID)); strings.Contains(text, newAccess) {
		t.Error("a credential prints its tokens")
	}
}

func TestEveryStatusIsSaidInPlainWords(t *testing.T) {
	for name, c := range map[string]struct {
		fault trackertest.Fault
		kind  error
		words string
	}{
		"400":                 {trackertest.Fault{Status: 400}, tracker.ErrRefused, "Bad Request"},
		"403":                 {trackertest.Fault{Status: 403}, tracker.ErrForbidden, "without VIP in July 2026"},
		"403 of the firewall": {trackertest.Fault{Status: 403, HTML: true}, tracker.ErrForbidden, "firewall"},
		"404":                 {trackertest.Fault{Status: 404}, tracker.ErrGone, "does not have"},
		"409":                 {trackertest.Fault{Status: 409}, tracker.ErrRefused, "Conflict"},
		"412":                 {trackertest.Fault{Status: 412}, tracker.ErrRefused, "fault of Watchmark"},
		"420":                 {trackertest.Fault{Status: 420}, tracker.ErrLimit, "limit of the Trakt account"},
		"422":                 {trackertest.Fault{Status: 422}, tracker.ErrRefused, "Unprocessable"},
		"423":                 {trackertest.Fault{Status: 423}, tracker.ErrLocked, "is locked"},
		"423 deactivated":     {trackertest.Fault{Status: 423, Header: map[string]string{"X-Account-Deactivated": "true"}}, tracker.ErrLocked, "deactivated"},
		"426":                 {trackertest.Fault{Status: 426}, tracker.ErrVIP, "VIP"},
		"302":                 {trackertest.Fault{Status: 302, Header: map[string]string{"Location": "/signin"}}, tracker.ErrRefused, "redirect"},
		"429":                 {trackertest.Fault{Status: 429, RetryAfter: 7}, tracker.ErrBusy, "7s"},
		"429 of the firewall": {trackertest.Fault{Status: 429, HTML: true}, tracker.ErrBusy, "1m0s"},
		"500":                 {trackertest.Fault{Status: 500}, tracker.ErrUnreachable, "overloaded or broken (500)"},
		"521":                 {trackertest.Fault{Status: 521, HTML: true}, tracker.ErrUnreachable, "overloaded or broken (521)"},
		"what nobody foresaw": {trackertest.Fault{Status: 451}, tracker.ErrRefused, "451"},
		"a page":              {trackertest.Fault{Status: 200, HTML: true}, tracker.ErrUnreachable, "a web page came"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			u := r.signIn(mira)
			c.fault.Path = "/sync/"
			r.remote.SetFault(&c.fault)
			err := r.service.Ask(t.Context(), u.ID)
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.words) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// A replica that is evicted gives up the renewal that it began.
func TestARenewalOfAnEvictedReplicaIsTakenOver(t *testing.T) {
	r := newRig(t)
	u := r.signIn(mira)
	r.remote.ExpireAccess()
	const dead = 1 << 40
	gone := hold.New(r.db, dbtest.Self(dead), slog.New(slog.DiscardHandler))
	if got, err := gone.Take(t.Context(), fmt.Sprintf("tracker user %d", u.ID)); !got || err != nil {
		t.Fatal(got, err)
	}
	bounded, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if err := r.service.Ask(bounded, u.ID); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while it has it: %v", err)
	}
	must(t, r.db.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error { return hold.FreeTx(ctx, tx, []int64{dead}) }))
	must(t, r.service.Ask(t.Context(), u.ID))
}
