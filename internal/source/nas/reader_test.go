package nas_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"watchmark/internal/source/nas"
	"watchmark/internal/testkit/nastest"
)

// on switches the source on as if that had been so long ago.
func (r *rig) on(before time.Duration) {
	r.t.Helper()
	r.round()
	at := ago(before)
	r.exec(`UPDATE nas_state SET since = ?, watermark = ?, rescanned_at = ?`, at, at, time.Now().UnixMilli())
}

func TestSwitchingOnBeginsNow(t *testing.T) {
	l := sample(t)
	l.Play("mira-guid", "lamp-1", ago(time.Hour), nil)
	l.Play("mira-guid", "lamp-2", ago(time.Minute), nil) // younger than the overlap
	r := newRig(t, l.Path)
	r.set(func(o *nas.Options) { o.Enabled = false })
	if s := r.status(); s.Enabled || s.Watermark != nil || s.NextRun != nil || !s.LastScan.IsZero() {
		t.Errorf("switched off, the status is %+v", s)
	}
	if _, _, err := r.Sync(t.Context(), nas.Manual{}); !errors.Is(err, nas.ErrOff) {
		t.Errorf("a scan of a source that is switched off gives %v", err)
	}
	before := time.Now().Truncate(time.Millisecond)
	r.set(func(o *nas.Options) { o.Enabled = true })
	s := r.status()
	if s.Watermark == nil || s.Watermark.Before(before) || s.LastScan.IsZero() || s.NextRun == nil || !s.LastError.IsZero() {
		t.Fatalf("switched on, the status is %+v", s)
	}
	r.sync(nas.Manual{})
	r.expect("")
	l.Play("alex-guid", "lamp-3", time.Now().UnixMilli(), nil)
	r.sync(nas.Manual{})
	r.expect("alex: 灯塔守望者 s1 e3")
	// Off and on again: what was watched in between is old.
	r.set(func(o *nas.Options) { o.Enabled = false })
	if s := r.status(); s.Watermark != nil || s.LastScan.IsZero() {
		t.Errorf("switched off, the status is %+v", s)
	}
	l.Play("alex-guid", "lamp-4", ago(time.Second), nil)
	r.set(func(o *nas.Options) { o.Enabled = true })
	r.sync(nas.Manual{})
	r.expect("")
	// History comes when it is asked for, once.
	r.sync(nas.Manual{Range: nas.Day, User: "mira-guid"})
	r.expect("mira: 灯塔守望者 s1 e1, mira: 灯塔守望者 s1 e2")
	if counts := r.sync(nas.Manual{Range: nas.All}); counts.Known != 3 {
		t.Errorf("the second time the scan is %+v", counts)
	}
	r.expect("alex: 灯塔守望者 s1 e4")
}

func TestRestartGoesOnWhereItWas(t *testing.T) {
	l := sample(t)
	r := newRig(t, l.Path)
	r.on(time.Hour)
	l.Play("mira-guid", "lamp-1", ago(30*time.Minute), nil)
	r.sync(nas.Manual{})
	r.expect("mira: 灯塔守望者 s1 e1")
	was := r.status()
	_ = r.db.Close()
	l.Play("mira-guid", "lamp-2", ago(20*time.Minute), nil) // while the service is down
	r.start()
	if now := r.status(); !now.Watermark.Equal(*was.Watermark) || !now.LastScan.Equal(was.LastScan) || now.Taken != 1 || now.Handling == "" {
		t.Errorf("before the restart %+v, after it %+v", was, now)
	}
	r.sync(nas.Manual{})
	r.expect("mira: 灯塔守望者 s1 e2")
}

// Many rows bear one time, as after a season was marked at once, and more than one scan takes.
func TestLimitLosesNothing(t *testing.T) {
	l := sample(t)
	r := newRig(t, l.Path)
	r.on(time.Hour)
	at := ago(10 * time.Minute)
	for i := 1; i <= 12; i++ {
		l.Play("mira-guid", fmt.Sprintf("lamp-%d", i), at, nil)
	}
	l.Play("alex-guid", "lamp-1", ago(50*time.Minute), nastest.Columns{"watched": 0})
	r.set(func(o *nas.Options) { o.Limit = 5 })
	taken := 0
	for _, want := range []struct {
		taken int
		more  bool
	}{{5, true}, {5, true}, {2, false}, {0, false}} {
		counts := r.sync(nas.Manual{})
		if counts.Taken != want.taken || counts.More != want.more {
			t.Errorf("the scan is %+v, want %+v", counts, want)
		}
		taken += counts.Taken
	}
	if taken != 12 {
		t.Errorf("%d of 12 rows were taken: %s", taken, r.titles())
	}
}

// A page of rows that are not finished must not keep those behind it from being read.
func TestManyUnfinishedRows(t *testing.T) {
	l := sample(t)
	l.Exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
		INSERT INTO item_user_play (user_guid, item_guid, watched, visible, update_time) SELECT 'alex-guid', 'x' || i, 0, 1, ? FROM n`, ago(20*time.Minute))
	l.Play("mira-guid", "lamp-1", ago(10*time.Minute), nil)
	r := newRig(t, l.Path)
	r.on(time.Hour)
	r.set(func(o *nas.Options) { o.Limit = 1 })
	if counts := r.sync(nas.Manual{}); counts.Taken != 1 || counts.Read != 2501 {
		t.Errorf("the scan is %+v", counts)
	}
}

// Plugins write seconds, which a comparison with milliseconds never sees.
func TestSecondsAreTimes(t *testing.T) {
	l := sample(t)
	r := newRig(t, l.Path)
	r.round()
	l.Play("mira-guid", "lamp-1", time.Now().Unix(), nil) // the second in which it was switched on
	l.Play("mira-guid", "lamp-2", ago(time.Hour)/1000, nil)
	r.sync(nas.Manual{})
	r.expect("mira: 灯塔守望者 s1 e1")
	l.Play("mira-guid", "lamp-3", time.Now().UnixMilli(), nil)
	r.sync(nas.Manual{})
	r.expect("mira: 灯塔守望者 s1 e3")
}

// Rows appear a little late, and clocks are set back.
func TestLateRowsAndClocks(t *testing.T) {
	l := sample(t)
	r := newRig(t, l.Path)
	r.on(3 * time.Hour)
	l.Play("mira-guid", "lamp-1", ago(time.Hour), nil)
	r.sync(nas.Manual{})
	r.expect("mira: 灯塔守望者 s1 e1")
	l.Play("mira-guid", "lamp-2", ago(time.Hour+2*time.Minute), nil) // within the overlap
	l.Play("mira-guid", "lamp-3", ago(2*time.Hour), nil)             // the clock of the NAS was set back
	r.sync(nas.Manual{})
	r.expect("mira: 灯塔守望者 s1 e2")
	// Once a day everything since the switching on is looked through.
	r.exec(`UPDATE nas_state SET rescanned_at = ?`, ago(25*time.Hour))
	r.sync(nas.Manual{})
	r.expect("mira: 灯塔守望者 s1 e3")
	l.Play("mira-guid", "lamp-4", ago(2*time.Hour), nil)
	r.sync(nas.Manual{})
	r.expect("")
	// A row from the future is taken and does not hide what comes.
	l.Play("mira-guid", "lamp-5", time.Now().Add(10000*time.Hour).UnixMilli(), nil)
	r.sync(nas.Manual{})
	r.expect("mira: 灯塔守望者 s1 e5")
	l.Play("mira-guid", "lamp-6", time.Now().UnixMilli(), nil)
	r.sync(nas.Manual{})
	r.expect("mira: 灯塔守望者 s1 e6")
	if w := r.status().Watermark; w.After(time.Now()) {
		t.Errorf("the watermark is in the future: %v", w)
	}
}

// Times that the service stored while its own clock was ahead.
func TestClockOfTheServiceWasAhead(t *testing.T) {
	ahead := time.Now().Add(48 * time.Hour).UnixMilli()
	cases := []struct {
		name  string
		state string // of nas_state, with one time that is ahead
		want  string
	}{
		{"at the last rescan: now comes one", "rescanned_at = ?", "mira: 灯塔守望者 s1 e1, mira: 灯塔守望者 s1 e2"},
		{"at the last scan: the watermark is now", "watermark = ?", "mira: 灯塔守望者 s1 e2"},
		{"when it was switched on: that is now", "since = ?", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := sample(t)
			r := newRig(t, l.Path)
			r.on(5 * time.Hour)
			l.Play("mira-guid", "lamp-1", ago(2*time.Hour), nil)
			l.Play("mira-guid", "lamp-2", ago(time.Minute), nil)
			r.exec(`UPDATE nas_state SET watermark = ?`, ago(time.Hour))
			r.exec(`UPDATE nas_state SET `+c.state, ahead)
			r.sync(nas.Manual{})
			r.expect(c.want)
			l.Play("mira-guid", "lamp-3", time.Now().UnixMilli(), nil)
			r.sync(nas.Manual{})
			r.expect("mira: 灯塔守望者 s1 e3")
		})
	}
	t.Run("the last scan: the next one comes now", func(t *testing.T) {
		l := sample(t)
		r := newRig(t, l.Path)
		r.round()
		r.exec(`UPDATE nas_state SET last_scan = '{"at":"2200-01-01T00:00:00Z"}'`)
		l.Play("mira-guid", "lamp-1", time.Now().UnixMilli(), nil)
		r.round()
		r.expect("mira: 灯塔守望者 s1 e1")
	})
}

// A rescan that takes more than the limit goes on until it is through.
func TestRescanGoesOnOverTheLimit(t *testing.T) {
	l := sample(t)
	r := newRig(t, l.Path)
	r.on(5 * time.Hour)
	for i := 1; i <= 3; i++ {
		l.Play("mira-guid", fmt.Sprintf("lamp-%d", i), ago(2*time.Hour), nil)
	}
	r.exec(`UPDATE nas_state SET watermark = ?, rescanned_at = 0`, ago(time.Minute))
	r.set(func(o *nas.Options) { o.Limit = 1 })
	r.sync(nas.Manual{})
	r.sync(nas.Manual{})
	r.sync(nas.Manual{})
	if got := r.titles(); strings.Count(got, "mira") != 3 {
		t.Errorf("taken was %s", got)
	}
}

// The one row of a user and an item is written again and again while it is watched anew.
func TestRewatchIsTakenAtItsEnd(t *testing.T) {
	l := sample(t)
	r := newRig(t, l.Path)
	r.on(time.Hour)
	write := func(watched, seconds int) {
		t.Helper()
		l.Play("mira-guid", "lamp-1", time.Now().UnixMilli(), nastest.Columns{"watched": watched, "ts": seconds})
		r.sync(nas.Manual{})
	}
	write(0, 600)
	r.expect("")
	write(1, 0)
	r.expect("mira: 灯塔守望者 s1 e1")
	for seconds := 10; seconds < 50; seconds += 10 { // the mark stays while it is played
		write(1, seconds)
	}
	r.expect("")
	write(0, 100) // un-marked: nothing is taken back
	write(0, 200)
	r.expect("")
	write(1, 0)
	r.expect("mira: 灯塔守望者 s1 e1")
	write(1, 0)
	r.expect("")
}

func TestFailedTakeIsNotDone(t *testing.T) {
	l := sample(t)
	r := newRig(t, l.Path)
	r.on(time.Hour)
	was := r.status()
	l.Play("mira-guid", "lamp-1", ago(time.Minute), nil)
	r.fails = errors.New("the disk is full")
	_, _, err := r.Sync(t.Context(), nas.Manual{})
	var p *nas.Problem
	if !errors.As(err, &p) || p.Kind != nas.NotTaken {
		t.Errorf("a scan that cannot be stored gives %v", err)
	}
	if s := r.status(); !s.Watermark.Equal(*was.Watermark) || s.LastErrorKind != nas.NotTaken {
		t.Errorf("after that the status is %+v", s)
	}
	r.fails = nil
	r.sync(nas.Manual{})
	r.expect("mira: 灯塔守望者 s1 e1")
}

// A scan of one user must not move the watermark past what others watched.
func TestOneUserDoesNotHideTheOthers(t *testing.T) {
	l := sample(t)
	r := newRig(t, l.Path)
	r.on(time.Hour)
	l.Play("alex-guid", "lamp-1", ago(40*time.Minute), nil)
	l.Play("mira-guid", "lamp-2", ago(10*time.Minute), nil)
	r.sync(nas.Manual{User: "mira-guid"})
	r.expect("mira: 灯塔守望者 s1 e2")
	r.sync(nas.Manual{})
	r.expect("alex: 灯塔守望者 s1 e1")
	// The setting leaves others out for good: what they watched meanwhile is old.
	r.set(func(o *nas.Options) { o.User = "mira-guid" })
	l.Play("alex-guid", "lamp-3", ago(4*time.Minute), nil)
	l.Play("mira-guid", "lamp-4", ago(2*time.Minute), nil)
	r.sync(nas.Manual{})
	r.expect("mira: 灯塔守望者 s1 e4")
	r.set(func(o *nas.Options) { o.User = nas.AllUsers })
	r.exec(`UPDATE nas_state SET rescanned_at = 0`)
	r.sync(nas.Manual{})
	r.expect("")
	l.Play("alex-guid", "lamp-5", time.Now().UnixMilli(), nil)
	r.sync(nas.Manual{})
	r.expect("alex: 灯塔守望者 s1 e5")
}

// mira, who is read, watched nothing for long; what alex watched meanwhile stays old.
func TestAnotherUserBringsNothingOld(t *testing.T) {
	l := sample(t)
	r := newRig(t, l.Path)
	r.set(func(o *nas.Options) { o.User = "mira-guid" })
	r.on(3 * 24 * time.Hour)
	l.Play("alex-guid", "lamp-1", ago(2*24*time.Hour), nil)
	r.sync(nas.Manual{})
	l.Play("mira-guid", "lamp-2", ago(time.Second), nil)
	r.sync(nas.Manual{User: "alex-guid"}) // which brings it when asked, and moves nothing
	r.expect("alex: 灯塔守望者 s1 e1")
	l.Play("alex-guid", "lamp-3", ago(24*time.Hour), nil)
	r.exec(`UPDATE nas_state SET caught_up_at = ?`, ago(time.Minute)) // the last scan was a minute ago
	r.set(func(o *nas.Options) { o.User = nas.AllUsers })
	r.sync(nas.Manual{})
	r.expect("mira: 灯塔守望者 s1 e2")
}

func TestRangeBoundsWhatIsRead(t *testing.T) {
	l := sample(t)
	r := newRig(t, l.Path)
	r.on(40 * 24 * time.Hour)
	r.set(func(o *nas.Options) { o.Range = nas.Week })
	l.Play("mira-guid", "lamp-1", ago(8*24*time.Hour), nil)
	l.Play("mira-guid", "lamp-2", ago(6*24*time.Hour), nil)
	r.sync(nas.Manual{})
	r.expect("mira: 灯塔守望者 s1 e2")
	r.sync(nas.Manual{Range: nas.Month})
	r.expect("mira: 灯塔守望者 s1 e1")
	// A range that a person asks for hides nothing of what is older.
	l.Play("mira-guid", "lamp-3", ago(36*time.Hour), nil)
	l.Play("mira-guid", "lamp-4", ago(time.Minute), nil)
	r.sync(nas.Manual{Range: nas.Day})
	r.expect("mira: 灯塔守望者 s1 e4")
	r.sync(nas.Manual{})
	r.expect("mira: 灯塔守望者 s1 e3")
}

// Ids outlive their items, a file is recognised later, and values are odd.
func TestOddRows(t *testing.T) {
	l := sample(t)
	r := newRig(t, l.Path)
	r.on(time.Hour)
	l.Item("late", "Video", "", "视频-1", nil)
	l.Play("mira-guid", "gone", ago(30*time.Minute), nil)
	l.Play("mira-guid", "late", ago(30*time.Minute), nil)
	l.Play("alex-guid", "lamp-1", ago(30*time.Minute), nastest.Columns{"watched": 2})
	counts := r.sync(nas.Manual{})
	if counts.Read != 3 || counts.Skipped != 3 || len(counts.Reasons) != 3 {
		t.Errorf("the scan is %+v", counts)
	}
	r.round()
	r.sync(nas.Manual{})
	s := r.status()
	if got := strings.Join(s.WatchedValues, ","); got != "1,2" {
		t.Errorf("the values of watched are %s", got)
	}
	if n := strings.Count(r.log.String(), "unknown values"); n != 1 {
		t.Errorf("unknown values were told %d times: %s", n, r.log)
	}
	l.Exec(`UPDATE item SET type = 'Episode', title = 'x', parent_guid = 'lamp-s', episode_number = 9 WHERE guid = 'late'`)
	r.exec(`UPDATE nas_state SET rescanned_at = 0`)
	r.sync(nas.Manual{})
	r.expect("mira: 灯塔守望者 s1 e9")
}

// One row whose time cannot be must not keep the others from being stored.
func TestTimesThatCannotBe(t *testing.T) {
	l := sample(t)
	r := newRig(t, l.Path)
	l.Play("mira-guid", "lamp-1", time.Now().UnixMicro(), nil)
	l.Play("mira-guid", "lamp-2", time.Now().UnixNano(), nil)
	l.Play("mira-guid", "lamp-3", 0, nil)
	l.Play("mira-guid", "lamp-4", 0, nastest.Columns{"update_time": "99999999999999999999999"})
	l.Play("mira-guid", "lamp-5", ago(time.Minute), nil)
	r.sync(nas.Manual{Range: nas.All})
	if n := len(r.events); n != 5 {
		t.Fatalf("%d of 5 rows were taken: %s", n, r.titles())
	}
	for _, e := range r.events {
		if e.OccurredAt.IsZero() == (*e.Episode == 5) {
			t.Errorf("episode %v was watched at %v", *e.Episode, e.OccurredAt)
		}
	}
}

// A row that is written while the pages are read comes twice; so do rows of a table without a key.
func TestRowThatMovesIsTakenOnce(t *testing.T) {
	l := sample(t)
	r := newRig(t, l.Path)
	for minute := range 3 {
		l.Insert("item_user_play", nastest.Columns{"user_guid": "mira-guid", "item_guid": "lamp-1", "watched": 1, "visible": 1, "update_time": ago(time.Hour - time.Duration(minute)*time.Minute)})
	}
	if counts := r.sync(nas.Manual{Range: nas.All}); counts.Taken != 1 || counts.Known != 2 {
		t.Errorf("the scan is %+v", counts)
	}
	r.expect("mira: 灯塔守望者 s1 e1")
}

func TestMissingColumnsAreTold(t *testing.T) {
	whole := newRig(t, sample(t).Path)
	whole.round()
	if s := whole.status(); len(s.Missing) != 0 {
		t.Errorf("of a whole library is missing %v", s.Missing)
	}
	older := nastest.Create(t, t.TempDir(), "item_user_play.visible", "user.status")
	older.Exec(`ALTER TABLE item RENAME COLUMN episode_number TO episode_index`)
	r := newRig(t, older.Path)
	r.round()
	if got := strings.Join(r.status().Missing, "; "); got != "item_user_play.visible: hidden rows are read too; user.status: disabled users are read too" {
		t.Errorf("missing is %s", got)
	}
}

// A failure is told once, keeps the watermark and is over when it is over.
func TestFailuresAreKeptAndToldOnce(t *testing.T) {
	l := sample(t)
	r := newRig(t, l.Path+"-elsewhere")
	r.round()
	s := r.status()
	if s.LastErrorKind != nas.Missing || s.Watermark == nil || s.NextRun == nil || s.Handling != "" {
		t.Errorf("the status is %+v", s)
	}
	_, _, _ = r.Sync(t.Context(), nas.Manual{})
	if n := strings.Count(r.log.String(), "cannot be read"); n != 1 {
		t.Errorf("the failure was told %d times: %s", n, r.log)
	}
	r.set(func(o *nas.Options) { o.Path = l.Path }) // another path is read at once
	if s := r.status(); !s.LastError.IsZero() || s.Handling == "" || !strings.Contains(r.log.String(), "can be read again") {
		t.Errorf("the status is %+v; log: %s", s, r.log)
	}
}
