package device

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"watchmark/internal/platform/lan"
	"watchmark/internal/platform/reason"
)

// Outcome is what became of something that a box played.
type Outcome string

// The outcomes.
const (
	Counted  Outcome = "counted"  // it became records
	Repeated Outcome = "repeated" // it had been counted before
	Skipped  Outcome = "skipped"  // it does not count
)

// Event is a decision about something that a box played.
type Event struct {
	At        time.Time     `json:"at"`
	Title     string        `json:"title"`
	Label     string        `json:"label" doc:"What the player calls the episode."`
	Reading   Reading       `json:"reading"`
	Share     float64       `json:"share" doc:"The highest share of the running time that was seen, a ratio 0 to 1."`
	Outcome   Outcome       `json:"outcome" enum:"counted,repeated,skipped" doc:"Whether it became records, had been counted before, or does not count."`
	Reason    reason.Reason `json:"reason_value,omitzero" doc:"Why it does not count; empty when it does."`
	RecordIDs []int64       `json:"record_ids"`
}

// MarshalJSON has the text of its reason beside it.
func (e Event) MarshalJSON() ([]byte, error) {
	type plain Event
	return reason.MarshalBeside((*plain)(&e))
}

func eventOf(p *playback, at time.Time) Event {
	return Event{At: at.UTC(), Title: p.last.title, Label: p.last.label, Reading: p.reading, Share: p.highest, RecordIDs: []int64{}}
}

// Now is what a box plays.
type Now struct {
	Title    string  `json:"title"`
	Label    string  `json:"label" doc:"What the player calls the episode."`
	State    State   `json:"state" enum:"playing,paused,buffering,stopped"`
	Position float64 `json:"position" doc:"Seconds; 0 when it is unknown."`
	Duration float64 `json:"duration" doc:"Seconds; 0 when it is unknown, as for live streams."`
	Speed    float64 `json:"speed"`
	Share    float64 `json:"share" doc:"Of the running time, a ratio 0 to 1."`
	Highest  float64 `json:"highest_share" doc:"The highest share at which it was seen to play."`
	Seen     bool    `json:"seen_playing" doc:"False for what stands still since it was first seen, such as what a player keeps of an ended playback: it never counts by itself."`
	Live     bool    `json:"live" doc:"Whether it is a live stream, which never counts."`
	Settled  bool    `json:"settled" doc:"Whether it was decided on already."`
	Reading  Reading `json:"reading"`
}

// nowOf is nil when nothing is played.
func nowOf(p *playback) *Now {
	if p == nil {
		return nil
	}
	s := p.last
	return &Now{
		Title: s.title, Label: s.label, State: s.state, Position: s.position.Seconds(), Duration: s.duration.Seconds(), Speed: s.speed,
		Share: s.share(), Highest: p.highest, Seen: p.moved, Live: p.live(), Settled: p.settled, Reading: p.reading,
	}
}

// Device is a box, or an address of the settings at which none has answered yet.
type Device struct {
	Address   string     `json:"address" doc:"Where it is asked." example:"192.168.1.5:9978"`
	Addresses []string   `json:"addresses" doc:"Every address at which it answers."`
	UUID      string     `json:"uuid" doc:"Empty before the first answer, and for players that tell none."`
	Name      string     `json:"name" doc:"The user name of its events; empty before the first answer." example:"Living Box"`
	Listed    bool       `json:"listed" doc:"Whether device.addresses names it; otherwise it was found by a scan."`
	Online    bool       `json:"online"`
	LastSeen  *time.Time `json:"last_seen" doc:"Null before the first answer."`
	// OfflineSince is nil while it answers.
	OfflineSince *time.Time    `json:"offline_since" doc:"Null while it answers, and before it was asked."`
	Problem      reason.Reason `json:"problem_value,omitzero" doc:"Why it does not answer; asleep and off are nothing unusual."`
	Now          *Now          `json:"now,omitempty" doc:"What it plays, or played when it last answered; not there for nothing."`
	LastEvent    *Event        `json:"last_event,omitempty" doc:"What was last decided; not there when nothing was since the start."`
	NextPoll     *time.Time    `json:"next_poll" doc:"Null while the boxes are switched off."`
}

// MarshalJSON has the text of the problem beside it, as problem.
func (d Device) MarshalJSON() ([]byte, error) {
	type plain Device
	return reason.MarshalBeside((*plain)(&d))
}

// Status is what is known of the boxes.
type Status struct {
	Enabled  bool       `json:"enabled"`
	Devices  []Device   `json:"devices"`
	Scanning bool       `json:"scanning"`
	LastScan *time.Time `json:"last_scan" doc:"When the networks were last looked through to the end; null when they were not since the start."`
	Found    int        `json:"found" doc:"How many players that found."`
}

// Status is what is known of the boxes, without asking them.
func (k *Watcher) Status() Status {
	k.reconcile()
	enabled := k.Config().Enabled
	k.mu.Lock()
	defer k.mu.Unlock()
	status := Status{Enabled: enabled, Devices: []Device{}, Scanning: k.scanning, LastScan: moment(k.scanned), Found: k.scanFound}
	for _, p := range k.places {
		if p.isMain() {
			status.Devices = append(status.Devices, k.describe(p, enabled))
		}
	}
	slices.SortFunc(status.Devices, func(a, b Device) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Address, b.Address))
	})
	return status
}

// describe is what is known of a place and of the player there. The caller holds mu.
func (k *Watcher) describe(p *place, enabled bool) Device {
	d := Device{
		Address: p.address(), Addresses: []string{}, Listed: p.listed, Online: !p.seen.IsZero() && p.offline.IsZero(), Problem: p.problem,
		LastSeen: moment(p.seen), OfflineSince: moment(p.offline),
	}
	if enabled {
		d.NextPoll = moment(p.next)
	}
	pl := p.player
	if pl == nil {
		return d
	}
	d.UUID, d.Name, d.Now, d.LastEvent = pl.uuid, pl.name, pl.now, pl.last
	for _, other := range k.places {
		if other.player == pl && other.offline.IsZero() {
			d.Addresses = append(d.Addresses, other.address())
		}
	}
	return d
}

// moment is t for people; nil for none.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// Scanned is what a scan for testing found.
type Scanned struct {
	Complete bool     `json:"complete" doc:"Whether the networks were looked through to the end; the time is limited."`
	Devices  []Device `json:"devices" doc:"Every box that is known, as it answered just now. Nothing of it was taken in."`
}

// readingTime is how long a scan for testing may take to ask what it found.
const readingTime = 2 * pollTimeout

// DebugScan looks for boxes and asks each what it plays. Nothing counts, but what was found
// is known from then on. It ends in the time that ctx gives, and returns ErrScanning while
// boxes are being looked for.
func (k *Watcher) DebugScan(ctx context.Context) (Scanned, error) {
	k.reconcile()
	scanning := ctx
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		scanning, cancel = context.WithDeadline(ctx, deadline.Add(-readingTime))
		defer cancel()
	}
	_, err := k.scan(scanning)
	if err != nil && scanning.Err() == nil {
		return Scanned{}, err
	}
	k.mu.Lock()
	places := slices.Clone(k.places)
	k.mu.Unlock()
	devices := make([]Device, len(places))
	var asking sync.WaitGroup
	for i, p := range places {
		asking.Go(func() { devices[i] = k.peek(ctx, p) })
	}
	asking.Wait()
	result := Scanned{Complete: err == nil, Devices: []Device{}}
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, p := range places {
		if p.isMain() {
			result.Devices = append(result.Devices, devices[i])
		}
	}
	return result, nil
}

// peek is what a place answers now; who is there is kept, what is played is not.
func (k *Watcher) peek(ctx context.Context, p *place) Device {
	who, what, err := k.ask(ctx, p)
	at := time.Now()
	enabled := k.Config().Enabled
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil {
		d := k.describe(p, enabled)
		d.Online, d.Problem = false, reason.Of(err)
		return d
	}
	k.met(p, who, at)
	d := k.describe(p, enabled)
	if d.Now = nil; what.title != "" {
		d.Now = nowOf(newPlayback(sample{at, what}))
	}
	return d
}

// Synced is what a person's word did with a box.
type Synced struct {
	Before      Device        `json:"before"`
	After       Device        `json:"after"`
	Event       *Event        `json:"event,omitempty" doc:"What was decided by this call; not there when nothing was."`
	Reason      string        `json:"reason" doc:"Why nothing was taken in, in one line; empty when something was."`
	ReasonValue reason.Reason `json:"reason_value,omitzero"`
}

// DebugSync asks the box of an address or uuid now, and takes in what it plays or has paused, if it is far enough: a
// person asked, so whether it was seen to play until there does not matter. It returns ErrOff while the boxes are
// switched off, and ErrUnknown for a box that is not known. That it does not answer is no error.
func (k *Watcher) DebugSync(ctx context.Context, address, uuid string) (Synced, error) {
	if !k.Config().Enabled {
		return Synced{}, ErrOff
	}
	k.reconcile()
	k.mu.Lock()
	p := k.lookUp(address, uuid)
	if p == nil {
		k.mu.Unlock()
		return Synced{}, ErrUnknown
	}
	before := k.describe(p, true)
	k.mu.Unlock()
	k.poll(ctx, p) // what goes wrong is in the state after it
	k.Kick()
	k.mu.Lock()
	pl, problem := p.player, reason.Reason{}
	if !p.offline.IsZero() || pl == nil {
		problem = p.problem
	}
	k.mu.Unlock()
	if problem.IsZero() {
		problem = k.demand(ctx, pl)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	result := Synced{Before: before, After: k.describe(p, true)}
	if result.After.LastEvent != before.LastEvent {
		result.Event = result.After.LastEvent
	}
	if result.Event == nil || result.Event.Outcome != Counted {
		result.Reason, result.ReasonValue = problem.Text, problem
	}
	return result, nil
}

// lookUp is the place of an address or of a uuid; nil when none is known. The caller holds mu.
func (k *Watcher) lookUp(address, uuid string) *place {
	host, port, _ := lan.ParseHost(address) // what cannot be read is not known
	for _, p := range k.places {
		switch {
		case address != "" && p.host == host && (port == 0 || p.port == port):
			return p
		case uuid != "" && p.player != nil && p.player.uuid == uuid && p.player.place == p:
			return p
		}
	}
	return nil
}
