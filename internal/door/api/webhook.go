package api

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"

	"watchmark/internal/door/auth"
	"watchmark/internal/door/problem"
	"watchmark/internal/engine"
	"watchmark/internal/platform/listen"
	"watchmark/internal/platform/metrics"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/settings"
	"watchmark/internal/record/webhooklog"
	"watchmark/internal/source"
	"watchmark/internal/watch"
)

const (
	// intakeTime is how long a webhook waits for its events to be stored.
	intakeTime = 10 * time.Second
	// bodiesMost bounds the webhook bodies in memory at once, in bytes; more wait their turn. Those that anybody may send
	// wait for openBodiesMost.
	bodiesMost     = 64 << 20
	openBodiesMost = 16 << 20
	// bodyFirst is for how many bytes every body waits; a larger one waits for the rest of its room once those are there, so that
	// senders who promise much and send little keep nobody waiting.
	bodyFirst = 64 << 10
	// loggedBody is how many bytes of a masked body the webhook log keeps.
	loggedBody = 8 << 10
	// strangersPerSecond and strangersAtOnce bound what the log keeps of requests without
	// the key, which anybody may send.
	strangersPerSecond = 1
	strangersAtOnce    = 60
	// openPerSecond and openAtOnce bound the webhooks of an address where no key is asked for: a series that is marked as watched in
	// a media server comes at once.
	openPerSecond = 10
	openAtOnce    = 1000
)

// Webhooks are the door for media servers.
type Webhooks struct {
	Engine interface {
		Accept(ctx context.Context, a engine.Arrival) (engine.Accepted, error)
	}
	Settings *settings.Manager
	// Masker knows the service's secrets; bodies go through it before the webhook log keeps them.
	Masker *secret.Masker
	// People are those whose API keys players have.
	People people
	// Requests counts what came, by source, outcome and status.
	Requests *metrics.Counter
}

// door is Webhooks at their server, with what bounds them.
type door struct {
	*server
	Webhooks
	strangers  *rate.Limiter
	bodies     *bodyRoom
	openBodies *bodyRoom        // of those that anybody may send
	openDoor   *auth.Allowances // for those, by address
}

func (w Webhooks) register(s *server) {
	d := &door{
		server: s, Webhooks: w, strangers: rate.NewLimiter(strangersPerSecond, strangersAtOnce),
		bodies: newBodyRoom(bodiesMost), openBodies: newBodyRoom(openBodiesMost), openDoor: auth.NewAllowances(openAtOnce, openPerSecond),
	}
	s.mux.HandleFunc("POST /webhook/{source}", d.webhook)
	s.mux.HandleFunc("POST /webhook/{source}/{$}", d.webhook)
	s.mux.HandleFunc("POST /webhook/{source}/{key}", d.webhook)
	s.describeWebhooks()
	d.registerScrobble()
	s.registerPublished()
	for _, path := range LegacyPaths {
		source := watch.Source(strings.ToLower(path[1:]))
		take := func(w http.ResponseWriter, r *http.Request) { d.legacy(w, r, source) }
		s.mux.HandleFunc("POST "+path, take)
		s.mux.HandleFunc("POST "+path+"/{$}", take)
		s.mux.HandleFunc("POST "+path+"/{key}", take)
	}
}

// LegacyPaths are where Bangumi-syncer takes webhooks, alone or with a key as one more segment (docs/moving.md).
// They are answered while server.legacy_paths is on.
var LegacyPaths = []string{"/Plex", "/Emby", "/Jellyfin", "/Custom"}

// outcome is how a webhook is answered, and what the log keeps of the request.
type outcome struct {
	status int
	answer any // the JSON body: webhookIgnored or a *problem.Document; nil for accepted records
	events []watch.Event
	reason reason.Reason
	title  string
	label  string
	user   string
	body   []byte // nil when it is not kept
	// told makes the answer where it is another than answer, from what became of the events; nil otherwise.
	told func(engine.Accepted) (status int, answer any)
	// stranger is set when the sender did not show that it knows the service.
	stranger bool
}

// webhookIgnored answers an event that is not a watch.
type webhookIgnored struct {
	Ignored string `json:"ignored" doc:"Why nothing is marked." example:"media.pause is not the end of an episode or a film."`
}

// webhook takes one request of a media server that shows the key. It is answered from the intake only:
// what it brings is stored before the answer, and worked on after it.
func (d *door) webhook(w http.ResponseWriter, r *http.Request) {
	src := watch.Source(r.PathValue("source"))
	current := d.Settings.Current().Auth
	switch {
	case !slices.Contains(source.Webhooks, src):
		d.conclude(w, r, "", refuseStranger(unknownSource.With(listed(source.Webhooks)))) // what stands there may be anything, a key in the wrong place too
	case current.WebhookAuthEnabled && !rightKey(givenKey(r), current.WebhookKey.Reveal()):
		d.conclude(w, r, src, refuseStranger(wrongKey))
	default:
		if current.WebhookAuthEnabled {
			listen.Known(r.Context())
		}
		d.conclude(w, r, src, d.webhookOf(w, r, src, d.bodies))
	}
}

// legacy is webhook for the paths of Bangumi-syncer, which have a key of their own or none. Where anybody may send something,
// that has a room of its own and a bound by address: it must not keep those waiting who have a key.
func (d *door) legacy(w http.ResponseWriter, r *http.Request, src watch.Source) {
	current := d.Settings.Current().Server
	key := current.LegacyKey.Reveal()
	switch {
	case !current.LegacyPaths:
		d.conclude(w, r, src, refuseStranger(legacyOff))
	case key != "" && !rightKey(givenKey(r), key):
		d.conclude(w, r, src, refuseStranger(wrongLegacyKey))
	case settings.StrongKey(key):
		listen.Known(r.Context())
		d.conclude(w, r, src, d.webhookOf(w, r, src, d.bodies))
	case !d.openDoor.Allow(auth.ClientOf(r.Context()).Addr, time.Now()):
		d.conclude(w, r, src, refuseStranger(tooManyOpen))
	default:
		d.conclude(w, r, src, d.webhookOf(w, r, src, d.openBodies))
	}
}

// conclude stores what a request brought, with its line in the log, and answers it.
func (d *door) conclude(w http.ResponseWriter, r *http.Request, src watch.Source, o outcome) {
	status := o.status
	defer func() { d.count(src, status) }()
	if o.stranger && !d.strangers.Allow() {
		o.answer.(*problem.Document).Write(w, r)
		return
	}
	entry := webhooklog.Entry{
		At: time.Now(), Source: src, ContentType: short(r.Header.Get("Content-Type")), Status: o.status,
		Reason: o.reason.Masked(d.Masker.Mask), UserName: o.user, Title: o.title, Label: o.label,
		Body: d.Masker.Body(r.Header.Get("Content-Type"), o.body, loggedBody),
	}
	if addr := auth.ClientOf(r.Context()).Addr; addr.IsValid() {
		entry.Remote = addr.String()
	}
	ctx, cancel := context.WithTimeout(r.Context(), intakeTime)
	defer cancel()
	got, err := d.Engine.Accept(ctx, engine.Arrival{Events: o.events, Entry: entry})
	switch {
	case err == nil && !got.Ignored.IsZero():
		status, o.status, o.reason, o.answer = http.StatusOK, http.StatusOK, got.Ignored, webhookIgnored{got.Ignored.Text}
	case err == nil:
	case len(o.events) > 0:
		p := d.problemOf(r.Context(), "POST /webhook/"+string(src), err)
		status = p.Status
		p.Write(w, r)
		return
	default:
		// The answer stays right without its line in the log.
		d.Log.WarnContext(r.Context(), "cannot note a webhook request", "source", src, "status", o.status, "error", err)
	}
	if o.told != nil {
		status, o.answer = o.told(got)
		o.status = status
	}
	d.Log.DebugContext(r.Context(), "webhook answered", "source", src, "status", o.status, "reason", o.reason, "record_ids", got.IDs)
	switch answer := o.answer.(type) {
	case *problem.Document:
		answer.Write(w, r)
	case nil:
		writeJSON(w, o.status, acceptedRecords{got.IDs})
	default:
		writeJSON(w, o.status, answer)
	}
}

// count adds an answered request to Requests.
func (d *door) count(src watch.Source, status int) {
	if src == "" {
		src = "unknown"
	}
	d.Requests.Add(1, string(src), string(webhooklog.OutcomeOf(status)), strconv.Itoa(status))
}

// webhookOf reads and judges a webhook that may come in.
func (d *door) webhookOf(w http.ResponseWriter, r *http.Request, src watch.Source, room *bodyRoom) outcome {
	return d.receive(w, r, src, "", d.Settings.Current().Server.MaxBody, room)
}

// receive reads and judges a request that may come in, of at most limit bytes, which take their place in room. action is what its path says.
func (d *door) receive(w http.ResponseWriter, r *http.Request, src watch.Source, action string, limit int64, room *bodyRoom) outcome {
	body, release, err := readBody(w, r, limit, room)
	defer release()
	if err != nil {
		return refuse(d.problemOf(r.Context(), "POST /webhook/"+string(src), err))
	}
	delivery, err := source.Parse(src, source.Request{Action: action, ContentType: r.Header.Get("Content-Type"), Query: r.URL.Query(), Body: body})
	if err != nil {
		o := refuse(d.problemOf(r.Context(), "POST /webhook/"+string(src), err))
		o.body = body
		return o
	}
	o := outcome{title: delivery.Title, label: delivery.Label, user: delivery.UserName, body: body}
	o.events, o.reason = wanted(delivery, d.Settings.Current().Sync.FilmStartMarksDoing)
	if len(o.events) == 0 {
		o.status, o.answer = http.StatusOK, webhookIgnored{o.reason.Text}
		return o
	}
	o.status, o.reason = http.StatusAccepted, accepted.With()
	return o
}

// wanted are the events of a delivery that the intake takes, or why there are none.
func wanted(d source.Delivery, filmStarts bool) (events []watch.Event, ignored reason.Reason) {
	for _, e := range d.Events {
		switch {
		case e.Action == watch.Watched, e.Action == watch.Unwatched, e.IsFilm() && filmStarts:
			events = append(events, e)
		case e.IsFilm():
			ignored = filmBegan.With()
		default:
			ignored = playbackBegan.With()
		}
	}
	if !d.Ignored.IsZero() {
		ignored = d.Ignored
	}
	return events, ignored
}

func listed(sources []watch.Source) string {
	names := make([]string, len(sources))
	for i, src := range sources {
		names[i] = string(src)
	}
	return strings.Join(names, ", ")
}

func refuse(p *problem.Document) outcome {
	why := p.Reason
	why.Text = p.Detail
	return outcome{status: p.Status, answer: p, reason: why}
}

func refuseStranger(why error) outcome {
	p := problem.Of(why)
	if p.Status == http.StatusTooManyRequests {
		p = p.After(1)
	}
	o := refuse(p)
	o.stranger = true
	return o
}

// givenKey is the key of a request: the last segment of the path, ?key= or a header.
func givenKey(r *http.Request) string {
	for _, key := range []string{r.PathValue("key"), r.URL.Query().Get("key")} {
		if key != "" {
			return key
		}
	}
	return r.Header.Get("X-Webhook-Key")
}

// rightKey compares in constant time. No key is right while none is set.
func rightKey(given, want string) bool {
	g, w := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(g[:], w[:]) == 1 && want != ""
}

// bodyRoom is for how many bytes of bodies there is room at once.
type bodyRoom struct {
	*semaphore.Weighted
	most int64
}

func newBodyRoom(most int64) *bodyRoom { return &bodyRoom{semaphore.NewWeighted(most), most} }

// readBody reads at most limit bytes, which take their place in room until release is called. listen.Handler bounds how long
// that takes. The error is for the caller.
func readBody(w http.ResponseWriter, r *http.Request, limit int64, room *bodyRoom) (body []byte, release func(), err error) {
	var taken int64
	release = func() { room.Release(taken) }
	take := func(bytes int64) error {
		wait, cancel := context.WithTimeout(r.Context(), intakeTime)
		defer cancel()
		if err := room.Acquire(wait, bytes); err != nil {
			return engine.ErrBusy
		}
		taken += bytes
		return nil
	}
	whole := limit
	if r.ContentLength >= 0 {
		whole = min(whole, r.ContentLength)
	}
	first := min(whole, bodyFirst)
	if err := take(first); err != nil {
		return nil, release, err
	}
	from := http.MaxBytesReader(w, r.Body, limit)
	body, err = io.ReadAll(io.LimitReader(from, first))
	if err == nil && int64(len(body)) == first {
		if err := take(min(whole, room.most) - first); err != nil {
			return nil, release, err
		}
		var rest []byte
		rest, err = io.ReadAll(from)
		body = append(body, rest...)
	}
	var large *http.MaxBytesError
	switch {
	case err == nil:
		return body, release, nil
	case errors.As(err, &large):
		if limit < 1<<20 { // which is no setting
			return nil, release, problem.With(http.StatusRequestEntityTooLarge, bodyOver.With(limit>>10))
		}
		return nil, release, problem.With(http.StatusRequestEntityTooLarge, bodyLarge.With(limit>>20))
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, release, problem.With(http.StatusRequestTimeout, bodyLate.With())
	}
	return nil, release, bodyBroken
}
