package device

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"watchmark/internal/source/payload"
)

// reel shows looks at a player to a Watcher, at times of its own.
type reel struct {
	*home
	at     time.Time
	player *player
}

const minutes24 = 24 * time.Minute

func newReel(t *testing.T) *reel {
	t.Helper()
	h := newHome(t)
	return &reel{home: h, at: time.Unix(1_700_000_000, 0), player: h.met(h.add("127.0.0.1", firstPort), info{"7c1de0aa55ab90f1", "Living Box"}, time.Now())}
}

// look is a look after a while.
func (r *reel) look(after time.Duration, m media) {
	r.t.Helper()
	r.at = r.at.Add(after)
	m.speed = max(m.speed, 1)
	r.judge(r.t.Context(), r.player, sample{r.at, m})
}

// shows is a look at the usual show, at a share of its 24 minutes.
func shows(label string, share float64, state State) media {
	return media{title: "灯塔守望者", label: label, state: state, position: time.Duration(share * float64(minutes24)), duration: minutes24}
}

// plays looks every half minute from one share to another.
func (r *reel) plays(label string, from, to float64) {
	r.t.Helper()
	for share := from; share <= to; share += float64(30*time.Second) / float64(minutes24) {
		r.look(30*time.Second, shows(label, share, Playing))
	}
}

// watches looks at something at its beginning, and twice at 85 percent of its 24 minutes.
func (r *reel) watches(title, label string) *Event {
	r.t.Helper()
	m := media{title: title, label: label, state: Playing, duration: minutes24}
	for _, position := range []time.Duration{100 * time.Second, 1224 * time.Second, 1227 * time.Second} {
		m.position = position
		r.look(3*time.Second, m)
	}
	return r.player.last
}

// wants are the episodes that have counted, in order.
func (r *reel) wants(episodes ...string) {
	r.t.Helper()
	counted := []string{}
	for _, e := range r.events {
		counted = append(counted, fmt.Sprintf("%02v", *e.Episode))
	}
	if !slices.Equal(counted, episodes) {
		r.t.Errorf("counted is %q, want %q", counted, episodes)
	}
}

func TestAnEpisodeCountsOnceWhenItCrossesTheThreshold(t *testing.T) {
	r := newReel(t)
	r.plays("07", 0.1, 0.79)
	r.wants()
	r.plays("07", 0.8, 1)
	r.look(time.Minute, shows("07", 1, Stopped))
	r.look(time.Minute, shows("07", 0, Stopped))
	r.look(time.Minute, media{})
	r.wants("07")
	if e := r.player.last; e.Outcome != Counted || e.Share < 0.8 {
		t.Errorf("it is %+v", e)
	}
}

// Two looks may overlap: what one saw before the other is old.
func TestALookThatIsLateChangesNothing(t *testing.T) {
	r := newReel(t)
	r.plays("07", 0.3, 0.6)
	r.look(-10*time.Second, shows("06", 0.99, Playing))
	r.plays("07", 0.62, 0.9)
	r.wants("07")
	if r.player.play.watched < 10*time.Minute {
		t.Errorf("it is %+v", r.player.play)
	}
}

func TestWhatIsInHandIsStoredWhenTheServiceStops(t *testing.T) {
	r := newReel(t)
	r.plays("07", 0.31, 0.79)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	m := shows("07", 0.81, Playing)
	m.speed = 1
	r.judge(stopped, r.player, sample{r.at.Add(30 * time.Second), m})
	r.wants("07")
}

func TestPlayersThatJumpOnBeforeTheEnd(t *testing.T) {
	t.Run("at 93 percent between two looks", func(t *testing.T) {
		r := newReel(t)
		r.plays("07", 0.5, 0.93)
		r.look(30*time.Second, shows("08", 0.01, Playing))
		r.wants("07")
	})
	t.Run("the ending is skipped at 88 percent", func(t *testing.T) {
		r := newReel(t)
		r.plays("07", 0.5, 0.795)
		r.look(30*time.Second, shows("07", 0.81, Playing))
		r.look(30*time.Second, shows("08", 0.01, Playing))
		r.wants("07")
	})
	t.Run("over the threshold between two looks", func(t *testing.T) {
		r := newReel(t)
		r.plays("07", 0.5, 0.795)
		r.look(30*time.Second, shows("08", 0.01, Playing))
		r.wants("07")
	})
	t.Run("too far from the threshold", func(t *testing.T) {
		r := newReel(t)
		r.plays("07", 0.5, 0.74)
		r.look(30*time.Second, shows("08", 0.01, Playing))
		r.wants()
	})
	t.Run("the box was away for long", func(t *testing.T) {
		r := newReel(t)
		r.plays("07", 0.5, 0.74)
		r.look(2*time.Hour, shows("08", 0.01, Playing))
		r.wants()
	})
	t.Run("stopped at the very end", func(t *testing.T) {
		r := newReel(t)
		r.plays("07", 0.5, 0.795)
		r.look(30*time.Second, shows("07", 0.81, Stopped))
		r.wants("07")
	})
	t.Run("stopped, and the title is gone", func(t *testing.T) {
		r := newReel(t)
		r.plays("07", 0.5, 0.795)
		r.look(30*time.Second, media{})
		r.wants("07")
	})
	t.Run("stopped, and the position is gone", func(t *testing.T) {
		r := newReel(t)
		r.plays("07", 0.5, 0.795)
		r.look(30*time.Second, shows("07", 0, Stopped))
		r.wants("07")
	})
	t.Run("at twice the speed", func(t *testing.T) {
		r := newReel(t)
		for share := 0.5; share < 0.795; share += 0.02 {
			m := shows("07", share, Playing)
			m.speed = 2
			r.look(15*time.Second, m)
		}
		if r.player.play.planned != closeLook/2 {
			t.Errorf("the next look is after %v", r.player.play.planned)
		}
		r.look(15*time.Second, shows("08", 0, Playing))
		r.wants("07")
	})
}

func TestGhostsNeverCount(t *testing.T) {
	for _, state := range []State{Stopped, Paused, Buffering} {
		r := newReel(t)
		for range 30 {
			r.look(time.Minute, shows("07", 0.95, state))
		}
		if r.player.now.Seen {
			t.Errorf("%s: it was seen to play", state)
		}
		r.look(time.Minute, shows("08", 0.01, Playing))
		if e := r.player.last; e != nil {
			t.Errorf("%s: decided is %+v", state, e)
		}
		r.look(time.Minute, media{})
		r.wants()
	}
	// A player that says playing but stands still was not seen to play either.
	r := newReel(t)
	for range 30 {
		r.look(time.Minute, shows("07", 0.95, Playing))
	}
	if r.player.play.interval(0.8) != idleLook {
		t.Error("what stands still is looked at often")
	}
	r.look(time.Minute, shows("08", 0.01, Playing))
	r.wants()
}

func TestJumpsDoNotCountByThemselves(t *testing.T) {
	t.Run("from the beginning to the end and on", func(t *testing.T) {
		r := newReel(t)
		r.plays("07", 0.01, 0.05)
		r.look(30*time.Second, shows("07", 0.95, Playing))
		r.look(30*time.Second, shows("08", 0.01, Playing))
		r.wants()
	})
	t.Run("after some minutes of watching", func(t *testing.T) {
		r := newReel(t)
		r.plays("07", 0.01, 0.3)
		r.look(30*time.Second, shows("07", 0.95, Playing))
		r.wants()
		r.look(30*time.Second, shows("08", 0.01, Playing))
		r.wants()
	})
	t.Run("to the end and back", func(t *testing.T) {
		r := newReel(t)
		r.plays("07", 0.01, 0.3)
		r.look(30*time.Second, shows("07", 0.95, Playing))
		r.look(30*time.Second, shows("07", 0.3, Playing))
		r.plays("07", 0.32, 0.5)
		r.wants()
		if r.player.play.highest < 0.9 {
			t.Error("the highest share is not kept")
		}
	})
	t.Run("over the credits, after most of it", func(t *testing.T) {
		r := newReel(t)
		r.plays("07", 0.01, 0.76)
		r.look(30*time.Second, shows("07", 0.95, Playing))
		r.look(30*time.Second, shows("08", 0.01, Playing))
		r.wants("07")
	})
	t.Run("and playing on there", func(t *testing.T) {
		r := newReel(t)
		r.look(0, shows("07", 0.85, Playing))
		r.wants()
		r.look(30*time.Second, shows("07", 0.87, Playing))
		r.wants("07")
	})
}

func TestLiveStreamsNeverCount(t *testing.T) {
	live := func(position, duration time.Duration) media {
		return media{title: "某台", label: "07", state: Playing, position: position, duration: duration}
	}
	for name, next := range map[string]func(i int) media{
		"without a running time": func(i int) media { return live(time.Duration(i)*time.Minute, 0) },
		"shorter than a minute":  func(i int) media { return live(time.Duration(40+i)*time.Second, 59*time.Second) },
		"a growing window": func(i int) media {
			return live(2*time.Hour+time.Duration(i)*30*time.Second, 2*time.Hour+time.Duration(i)*30*time.Second+10*time.Second)
		},
		"a window that grew": func(i int) media {
			return live(200*time.Minute+time.Duration(i)*10*time.Second, 4*time.Hour+time.Duration(min(i, 3))*30*time.Second)
		},
		"a channel with a window": func(i int) media {
			m := live(time.Hour+time.Duration(i)*30*time.Second, 2*time.Hour)
			m.title = "CCTV-1 综合"
			return m
		},
	} {
		r := newReel(t)
		for i := range 200 {
			r.look(30*time.Second, next(i))
		}
		if !r.player.now.Live || r.player.play.interval(0.8) != idleLook {
			t.Errorf("%s: it is %+v", name, r.player.now)
		}
		r.look(30*time.Second, media{})
		if len(r.events) > 0 {
			t.Errorf("%s: counted %q", name, r.short())
		}
	}
	t.Run("a growing window that is left soon", func(t *testing.T) {
		r := newReel(t)
		r.look(30*time.Second, live(2*time.Hour, 2*time.Hour+10*time.Second))
		r.look(30*time.Second, live(2*time.Hour+30*time.Second, 2*time.Hour+40*time.Second))
		r.look(30*time.Second, media{})
		r.wants()
	})
}

// What differs in season or year only is something else.
func TestSeasonsAndNewVersionsCountForThemselves(t *testing.T) {
	r := newReel(t)
	for _, c := range [][2]string{{"灯塔守望者", "07"}, {"灯塔守望者", "S01E07"}, {"灯塔守望者", "S02E07"}, {"灯塔守望者(2009)", "07"}, {"灯塔守望者(2024)", "07"}, {"灯塔守望者", "SP7"}} {
		if e := r.watches(c[0], c[1]); e == nil || e.Outcome != Counted || e.Label != c[1] {
			t.Errorf("%q: %+v", c, e)
		}
		r.exec("UPDATE device_plays SET armed = 0") // as if nothing else had been played since
	}
}

func TestWhatIsNotAnEpisodeIsSkippedWithAReason(t *testing.T) {
	r := newReel(t)
	for label, want := range map[string]string{"全12集": "counts episodes", "第03集预告": "extra", "线路一": "not clear which episode"} {
		if e := r.watches("灯塔守望者", label); e == nil || e.Outcome != Skipped || e.Label != label || !strings.Contains(e.Reason.Text, want) {
			t.Errorf("%s: %+v", label, e)
		}
	}
	r.plays("07", 0.4, 0.48)
	r.look(30*time.Second, media{})
	if e := r.player.last; e.Label != "07" || !strings.Contains(e.Reason.Text, "it ended at 46 %, and counts from 80 %") {
		t.Errorf("left in the middle: %+v", e)
	}
	told := r.player.last
	live := media{title: "CCTV-1 综合", label: "新闻", state: Playing, duration: minutes24}
	for _, position := range []time.Duration{1300 * time.Second, 1303 * time.Second} {
		live.position = position
		r.look(3*time.Second, live)
	}
	live.duration = 0
	r.look(3*time.Second, live)
	r.look(3*time.Second, media{})
	if r.player.last != told {
		t.Errorf("a channel: %+v", r.player.last)
	}
	r.wants()
}

func TestPauseAndComeBack(t *testing.T) {
	r := newReel(t)
	r.plays("07", 0.3, 0.6)
	for range 20 {
		r.look(time.Minute, shows("07", 0.6, Paused))
	}
	if r.player.play.interval(0.8) != idleLook {
		t.Error("a long pause is looked at often")
	}
	r.plays("07", 0.61, 0.85)
	r.wants("07")
	// Some players say that they are stopped while they load.
	r = newReel(t)
	r.plays("07", 0.3, 0.6)
	r.look(time.Minute, shows("07", 0.6, Stopped))
	r.plays("07", 0.61, 0.85)
	r.wants("07")
}

// A name is not what is played: another site has another one for it.
func TestWhatIsTheSameGoesOn(t *testing.T) {
	t.Run("at another site", func(t *testing.T) {
		r := newReel(t)
		r.plays("正在播放：第07集", 0.5, 0.75)
		m := shows("07", 0.76, Playing)
		for i, url := range []string{"https://cdn.example/a", "https://cdn.example/b", "https://cdn.example/c"} { // each file is a little longer
			m.title, m.url, m.duration, m.position = "灯塔守望者 1080P", url, m.duration+10*time.Second, m.position+30*time.Second
			r.look(30*time.Second, m)
			if r.player.play.watched < 5*time.Minute || r.player.play.live() {
				t.Fatalf("at look %d it is %+v", i, r.player.play)
			}
		}
		r.plays("07", 0.83, 0.9)
		r.wants("07")
	})
	t.Run("but not when the address tells another episode", func(t *testing.T) {
		r := newReel(t)
		m := shows("", 0.3, Playing)
		m.url = "https://cdn.example/Lighthouse.S01E07.mkv?sig=1"
		r.look(0, m)
		for share := 0.4; share < 0.9; share += 0.02 {
			m = shows("", share, Playing)
			m.url = fmt.Sprintf("https://cdn.example/Lighthouse.S01E08.mkv?sig=%v", share)
			r.look(30*time.Second, m)
		}
		r.wants("08")
	})
	t.Run("but not when nothing can be told of either", func(t *testing.T) {
		r := newReel(t)
		r.plays("线路一", 0.5, 0.75)
		r.plays("线路二", 0.01, 0.05)
		if e := r.player.last; e == nil || e.Label != "线路一" || e.Outcome != Skipped {
			t.Errorf("it is %+v", e)
		}
	})
}

func TestWhatIsWoundBackBeginsAnew(t *testing.T) {
	r := newReel(t)
	r.plays("07", 0.3, 0.95)
	r.plays("07", 0.01, 0.95)
	r.wants("07")
	if e := r.player.last; e.Outcome != Repeated {
		t.Errorf("it is %+v", e)
	}
	r.at = r.at.Add(rearmAfter)
	r.look(0, shows("07", 0, Playing)) // it loads
	r.plays("07", 0.01, 0.95)
	r.wants("07", "07")
}

func TestIntervals(t *testing.T) {
	var none *playback
	if none.interval(0.8) != idleLook {
		t.Error("nothing is looked at often")
	}
	r := newReel(t)
	r.plays("07", 0.1, 0.2)
	if got := r.player.play.interval(0.8); got != farLook {
		t.Errorf("far from the threshold %v", got)
	}
	r.plays("07", 0.72, 0.79)
	if got := r.player.play.interval(0.8); got != closeLook {
		t.Errorf("near the threshold %v", got)
	}
	r.look(time.Second, shows("07", r.player.play.end.share(), Paused))
	if got := r.player.play.interval(0.8); got != farLook {
		t.Errorf("paused near the threshold %v", got)
	}
	m := shows("07", 0.5, Playing)
	m.speed = 16
	r.look(time.Second, m)
	if got := r.player.play.interval(0.8); got != leastLook {
		t.Errorf("at a high speed %v", got)
	}
}

func TestMediaIsReadLeniently(t *testing.T) {
	for text, want := range map[string]media{
		`{}`: {state: Stopped, speed: 1},
		`{"title":"灯塔守望者","artist":"正在播放：第07集","url":"u","state":3,"position":1320000,"duration":1440000,"speed":1.5}`: {
			title: "灯塔守望者", label: "正在播放：第07集", url: "u", state: Playing, position: 22 * time.Minute, duration: minutes24, speed: 1.5},
		`{"title":"a","state":"2","position":"1320000.5","duration":1440000.0,"speed":"2"}`: {title: "a", state: Paused, position: 22 * time.Minute, duration: minutes24, speed: 2},
		`{"title":"a","state":6,"position":-1,"duration":-9223372036854775807}`:             {title: "a", state: Buffering, speed: 1},
		`{"title":"a","state":1,"position":-1,"duration":"-9223372036854775807"}`:           {title: "a", state: Stopped, speed: 1},
		`{"title":"a","state":1e300,"position":1e300,"duration":9223372036854775807}`:       {title: "a", state: Stopped, speed: 1},
		`{"title":null,"state":null,"position":null,"duration":[],"speed":0}`:               {state: Stopped, speed: 1},
		`{"title":" a\n ","state":7,"speed":-3}`:                                            {title: "a", state: Stopped, speed: 1},
		`{"title":"a","state":0,"speed":1000}`:                                              {title: "a", state: Stopped, speed: 16},
		`{"title":{"x":1},"artist":7}`:                                                      {label: "7", state: Stopped, speed: 1},
	} {
		o, err := payload.ParseObject([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := readMedia(o); got != want {
			t.Errorf("%s is %+v, want %+v", text, got, want)
		}
	}
}

func FuzzReadMedia(f *testing.F) {
	f.Add([]byte(`{"title":"a","artist":"07","state":3,"position":1.5e3,"duration":-9223372036854775807,"speed":"x"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		o, err := payload.ParseObject(text)
		if err != nil {
			return
		}
		m := readMedia(o)
		if m.position < 0 || m.duration < 0 || m.speed <= 0 || m.speed > 16 {
			t.Errorf("%s is %+v", text, m)
		}
		at := time.Unix(1_700_000_000, 0)
		p := newPlayback(sample{at, m})
		for range 3 { // it stands still
			at = at.Add(time.Minute)
			p.take(sample{at, m}, 0.8)
			if p.complete(0.8) || p.completeAtEnd(at, 0.8) {
				t.Errorf("%+v counts", m)
			}
		}
	})
}
