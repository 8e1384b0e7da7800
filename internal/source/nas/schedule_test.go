package nas_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"watchmark/internal/source/nas"
	"watchmark/internal/testkit/dbtest"
)

// The library is read when the source is switched on and then by schedule, every hour.
func TestRunKeepsTheSchedule(t *testing.T) {
	dbtest.InBubble(t)
	synctest.Test(t, func(t *testing.T) { // begins in 2000, whose milliseconds would pass for seconds
		time.Sleep(27 * 365 * 24 * time.Hour)
		l := sample(t)
		defer l.Stop()
		r := newRig(t, l.Path)
		defer func() { _ = r.db.Close() }()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { r.jobs.Run(ctx); close(ended) }()
		defer func() { stop(); <-ended; _ = r.tasks.Stop(context.Background()) }()
		synctest.Wait()
		first := r.status()
		if first.LastScan.IsZero() || !first.NextRun.Equal(first.LastScan.Add(time.Hour)) {
			t.Errorf("after the start the status is %+v", first)
		}
		l.Play("mira-guid", "lamp-1", time.Now().UnixMilli(), nil)
		time.Sleep(59 * time.Minute)
		synctest.Wait()
		r.expect("")
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		r.expect("mira: 灯塔守望者 s1 e1")
		if s := r.status(); s.LastScan.Sub(first.LastScan) != time.Hour || s.Taken != 1 {
			t.Errorf("after an hour the status is %+v", s)
		}
		// Settings that change hold at once.
		for _, enabled := range []bool{false, true} {
			r.mu.Lock()
			r.options.Enabled = enabled
			r.mu.Unlock()
			r.jobs.Kick()
			synctest.Wait()
		}
		if s := r.status(); !s.LastScan.Equal(time.Now()) || !s.Since.Equal(time.Now().Truncate(time.Millisecond)) {
			t.Errorf("switched off and on, the status is %+v", s)
		}
		// Who reads the library keeps others waiting, not failing.
		release := r.Hold()
		var users []nas.User
		listed := make(chan error, 1)
		go func() {
			var err error
			users, err = r.Users(ctx)
			listed <- err
		}()
		synctest.Wait()
		if len(listed) != 0 {
			t.Error("the users are read while the library is being read")
		}
		release()
		if err := <-listed; err != nil || len(users) != 2 {
			t.Errorf("the users are %v: %v", users, err)
		}
		// But not for ever, and no longer than they want to.
		release = r.Hold()
		defer release()
		var p *nas.Problem
		if _, err := r.Users(ctx); !errors.As(err, &p) || p.Kind != nas.Busy {
			t.Errorf("after minutes of waiting the error is %v", err)
		}
		hurried, end := context.WithTimeout(ctx, time.Second)
		defer end()
		if _, err := r.Users(hurried); errors.As(err, &p) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after the second that there was the error is %v", err)
		}
	})
}
