package device

import "time"

const (
	// shortest is the running time below which something is a live stream (upstreams/device.md, section 5).
	shortest = time.Minute
	// slack is how much further than the clock a position may have gone: players buffer and round.
	slack = 5 * time.Second
	// watchedLeast is the share of the running time that must have been seen to play, unless
	// two looks found it playing on above the threshold. A jump to the end does neither.
	watchedLeast = 0.1
	// nearLeast is the share from which what ended between two looks may have got over the
	// threshold. Who saw as much of it play may jump over the rest.
	nearLeast = 0.7
	// anew is the share below which something begins once more that was at its end.
	anew = 0.5
)

// sample is one look at a player.
type sample struct {
	at time.Time
	media
}

// share is how much of the running time lies behind, 0 to 1; 0 when that is unknown, as
// it is for live streams.
func (s sample) share() float64 {
	if s.duration < shortest || s.position <= 0 {
		return 0
	}
	return min(float64(s.position)/float64(s.duration), 1)
}

// playback is one title and label on one player, from the first look at it to the last
// one. It decides by upstreams/device.md, section 4; thresholds are shares, 0 to 1.
type playback struct {
	reading Reading
	last    sample
	planned time.Duration // between the last look and the next one

	// moved is set once it was seen playing. What never was is the ghost of an ended
	// playback, or stands still since before this service looked.
	moved, moving bool
	still         time.Time // since when it does not move; zero while it does
	end           sample    // the last look at which it moved
	lowest        float64   // share at such looks; above 1 before the first
	highest       float64
	watched       time.Duration // of the running time, seen to play
	jumped        bool          // the last move was further than playing goes
	above         bool          // two looks found it playing on above the threshold
	growing       bool          // the running time has grown since the look before
	grown         int           // how often it did

	settled bool // there is nothing more to decide
	told    bool // the store knows that it plays
}

func newPlayback(s sample) *playback {
	p := &playback{reading: Read(s.title, s.label, s.url), last: s, lowest: 2, still: s.at}
	if p.moving = s.state == Playing; p.moving {
		p.move(s)
	}
	return p
}

// same reports whether s is a look at this playback: at the same item, by whatever name
// another site that goes on with it gives it. An address counts only where it tells the
// episode: it differs at each play, and a proxy has one for all. What had been decided
// begins anew when it is wound back.
func (p *playback) same(s sample) bool {
	now := Read(s.title, s.label, s.url)
	if playOf("", now) != playOf("", p.reading) {
		return false
	}
	if !now.Problem.IsZero() && (p.last.title != s.title || p.last.label != s.label) {
		return false
	}
	back := p.end.share() >= anew && s.share() > 0 && s.share() < anew
	return !p.settled || !back
}

// take adds a look that is the same playback.
func (p *playback) take(s sample, threshold float64) {
	gone := s.position - p.last.position
	possible := time.Duration(float64(s.at.Sub(p.last.at))*max(s.speed, p.last.speed)) + slack
	if on := gone > 0 && gone <= possible && p.last.position > 0; on {
		p.watched += gone
		p.above = p.above || p.last.share() >= threshold
		p.jumped = false
	} else if gone != 0 {
		p.jumped = true
	}
	// Another address is another file, which may be longer.
	p.growing = s.url == p.last.url && p.last.duration >= shortest && s.duration > p.last.duration+time.Second
	if p.growing {
		p.grown++
	}
	p.moving = s.position > 0 && (gone > 0 || gone < 0 && s.state == Playing)
	p.last = s
	switch {
	case p.moving:
		p.move(s)
	case p.still.IsZero():
		p.still = s.at
	}
}

func (p *playback) move(s sample) {
	p.moved, p.still, p.end = true, time.Time{}, s
	p.highest = max(p.highest, s.share())
	if s.share() > 0 {
		p.lowest = min(p.lowest, s.share())
	}
}

// live reports whether it is a live stream: of no or a short running time, of one that
// grows, or a channel.
func (p *playback) live() bool {
	return p.reading.Kind == Live || p.grown > 1 || p.last.duration < shortest && p.end.duration < shortest
}

// trusted reports whether it was watched, and not jumped to its end.
func (p *playback) trusted() bool {
	watched := float64(p.watched) / float64(p.end.duration)
	return watched >= nearLeast || !p.jumped && (p.above || watched >= watchedLeast)
}

// complete reports whether it counts as watched by the last look at it.
func (p *playback) complete(threshold float64) bool {
	return !p.settled && p.moving && !p.live() && !p.growing && p.end.share() >= threshold && p.trusted()
}

// completeAtEnd reports whether it counts as watched when a look at a time finds it
// ended: by its last share, or one that may have come over the threshold until then.
func (p *playback) completeAtEnd(at time.Time, threshold float64) bool {
	if p.settled || !p.moved || p.live() || p.growing || !p.trusted() {
		return false
	}
	share := p.end.share()
	unseen := float64(min(at.Sub(p.end.at), p.planned)) * p.end.speed
	if share >= nearLeast && p.moving && p.end.state == Playing {
		share += unseen / float64(p.end.duration)
	}
	return share >= threshold
}

// The intervals between two looks. Players jump on before the end, so what plays is looked
// at often (section 4).
const (
	closeLook = 30 * time.Second
	farLook   = time.Minute
	idleLook  = 2 * time.Minute
	// leastLook is for those who play at many times the speed.
	leastLook = 10 * time.Second
	// stillFor is how long something may stand still until it is taken for idle.
	stillFor = 10 * time.Minute
)

// interval is the time until the next look at the player; p is nil when it plays nothing.
func (p *playback) interval(threshold float64) time.Duration {
	switch {
	case p == nil || !p.moved || p.live() || !p.still.IsZero() && p.last.at.Sub(p.still) >= stillFor:
		return idleLook
	case p.settled || !p.moving:
		return farLook
	}
	left := time.Duration((threshold - p.end.share()) * float64(p.end.duration))
	look := min(max(left/2, closeLook), farLook)
	return max(time.Duration(float64(look)/max(p.end.speed, 1)), leastLook)
}
