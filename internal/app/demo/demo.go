// Package demo shows the main job without an account or a network: the service runs
// on a temporary folder against the embedded sample catalog, and webhooks shaped like
// those of every source are played at it over HTTP.
package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"watchmark/internal/app"
	"watchmark/internal/record"
	"watchmark/internal/testkit/catalogtest"
)

// Options say how the demo runs.
type Options struct {
	// Listen is where the page is served; a free port of this machine by default.
	Listen string
	// Once ends the demo after the webhooks, instead of staying up until the context ends.
	Once bool
	// Out gets the story.
	Out io.Writer
	// Logs gets the service's log.
	Logs io.Writer
}

// The login of the demo's page, known to everybody.
const (
	adminName     = "demo"
	adminPassword = "watchmark-demo"
)

// The two people of the demo.
const (
	listOwner = "mira_list"
	mediaUser = "Mira"
	token     = "demo-token-of-mira-0123456789abcdefghij"
)

// ErrWrong is returned when a webhook did not come out as the demo says it should.
var ErrWrong = errors.New("not everything came out right")

// Run plays the demo. With Once it returns after the last webhook, ErrWrong if one
// came out wrong; otherwise it serves the page until ctx ends.
func Run(ctx context.Context, o Options) (err error) {
	_, _ = fmt.Fprintln(o.Out, "Starting the demo: a service with a catalog of its own …") // the end of the demo tells whether writing works
	folder, err := os.MkdirTemp("", "watchmark-demo-")
	if err != nil {
		return fmt.Errorf("make a temporary folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()

	list := catalogtest.New(catalogtest.Config{Users: []catalogtest.User{{Username: listOwner, Nickname: "Mira", Token: token}}})
	if err := list.LoadSample(); err != nil {
		return err
	}
	catalog, closeCatalog, err := list.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer closeCatalog()

	service, err := app.New(ctx, app.Options{
		DataDir: folder,
		Environ: []string{"WATCHMARK_CATALOG_API_URL=" + catalog, "WATCHMARK_CATALOG_WEB_URL=" + catalog, "WATCHMARK_CATALOG_IMAGE_URL=" + catalog,
			"WATCHMARK_IDMAP_ENABLED=false"}, // it asks nobody else
		Logs: o.Logs,
		Demo: app.DemoLogin{Name: adminName, Password: adminPassword},
	})
	if err != nil {
		return err
	}
	if err := prepare(ctx, service); err != nil {
		return errors.Join(err, service.Close())
	}
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", o.Listen)
	if err != nil {
		return errors.Join(fmt.Errorf("listen on %s: %w", o.Listen, err), service.Close())
	}
	serving, stop := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- service.Serve(serving, listener) }()
	defer func() {
		stop()
		err = errors.Join(err, <-served)
	}()

	p := player{
		url: "http://" + listener.Addr().String(), catalog: catalog, service: service, out: o.Out,
		key: service.Settings.Current().Auth.WebhookKey.Reveal(),
	}
	if err := p.play(ctx); err != nil {
		return err
	}
	if o.Once {
		return nil
	}
	p.say("\nThe page is open at %s — sign in as %s with the password %s. Ctrl-C ends the demo and removes its data.", p.url, adminName, adminPassword)
	<-ctx.Done()
	return nil
}

// player plays webhooks at the running service and checks how they come out.
type player struct {
	url, catalog, key string
	service           *app.App
	out               io.Writer
}

// say writes one line of the story; a closed terminal must not end the demo.
func (p player) say(format string, args ...any) { _, _ = fmt.Fprintf(p.out, format+"\n", args...) }

// play sends every scene and tells what became of it.
func (p player) play(ctx context.Context) error {
	p.say("Playing webhooks at %s. The list of %s is marked for what the media-server user %q watches.\n", p.url, listOwner, mediaUser)
	wrong := 0
	for _, s := range scenes {
		ok, err := p.playScene(ctx, s)
		if err != nil {
			return fmt.Errorf("%s: %w", s.what, err)
		}
		if !ok {
			wrong++
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%w: %d of %d", ErrWrong, wrong, len(scenes))
	}
	p.say("\nAll %d came out right.", len(scenes))
	return nil
}

// playScene sends one webhook, waits for its records, and reports whether they came out as told.
func (p player) playScene(ctx context.Context, s scene) (bool, error) {
	before, err := p.writes(ctx)
	if err != nil {
		return false, err
	}
	ids, ignored, err := p.send(ctx, s)
	if err != nil {
		return false, err
	}
	p.say("%-9s %s", s.source, s.what)
	if s.ignored {
		return p.verdict(ignored != "" && len(ids) == 0, "not stored: "+ignored), nil
	}
	if len(ids) != len(s.want) {
		return p.verdict(false, fmt.Sprintf("gave %d records, %d were expected", len(ids), len(s.want))), nil
	}
	ok := true
	for i, id := range ids {
		r, err := p.settled(ctx, id)
		if err != nil {
			return false, err
		}
		told := fmt.Sprintf("%s: %s", r.Status, r.Message)
		if r.SubjectID != 0 {
			told += fmt.Sprintf("\n          → %s (%d)", r.SubjectName, r.SubjectID)
			if r.EpisodeSort != nil {
				told += fmt.Sprintf(" episode %g", *r.EpisodeSort)
			}
			told += fmt.Sprintf(", by %s, confidence %.2f", r.Method, r.Confidence)
		}
		w := s.want[i]
		fits := r.Status == w.status && (w.subject == 0 || r.SubjectID == w.subject) &&
			(w.sort < 0 || r.EpisodeSort != nil && *r.EpisodeSort == w.sort)
		ok = p.verdict(fits, told) && ok
	}
	after, err := p.writes(ctx)
	if err != nil {
		return false, err
	}
	if s.writesNothing && after != before {
		ok = p.verdict(false, fmt.Sprintf("wrote %d times to the list", after-before))
	}
	return ok, nil
}

// verdict tells one outcome and passes ok on.
func (p player) verdict(ok bool, told string) bool {
	mark := "ok   "
	if !ok {
		mark = "WRONG"
	}
	p.say("    %s %s", mark, told)
	return ok
}

// send posts the scene's webhook the way its source can carry the key.
func (p player) send(ctx context.Context, s scene) (ids []int64, ignored string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+"/webhook/"+string(s.source)+"/"+p.key, strings.NewReader(s.body))
	if err != nil {
		return nil, "", err
	}
	request.Header.Set("Content-Type", s.contentType)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = response.Body.Close() }()
	var answer struct {
		RecordIDs []int64 `json:"record_ids"`
		Ignored   string  `json:"ignored"`
		Detail    string  `json:"detail"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return nil, "", fmt.Errorf("read the answer: %w", err)
	}
	if response.StatusCode >= http.StatusBadRequest {
		return nil, "", fmt.Errorf("the service answers %s: %s", response.Status, answer.Detail)
	}
	return answer.RecordIDs, answer.Ignored, nil
}

// patience is how long a record may take to settle.
const patience = 30 * time.Second

// settled waits until the record is in a final state.
func (p player) settled(ctx context.Context, id int64) (record.Record, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("record %d did not settle", id))
	defer cancel()
	changes, unsubscribe := p.service.Records.Feed.Subscribe()
	defer unsubscribe()
	for {
		r, err := p.service.Records.Get(ctx, id)
		if err != nil {
			return record.Record{}, err
		}
		if !r.Status.IsOnTheWay() {
			return r, nil
		}
		select {
		case <-changes:
		case <-ctx.Done():
			return record.Record{}, context.Cause(ctx)
		}
	}
}

// writes is how many requests have changed the simulated list so far.
func (p player) writes(ctx context.Context) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.catalog+"/_sim/marks", nil)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }()
	var answer struct {
		Writes int `json:"writes"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return 0, fmt.Errorf("read the simulated list: %w", err)
	}
	return answer.Writes, nil
}
