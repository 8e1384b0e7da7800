// Package cover gets the covers of subjects and keeps them in a folder, so that pages show
// them without a browser ever asking the catalog.
//
// What it promises: images come from one host, the one of the settings; what is kept is a
// JPEG, PNG, WebP or GIF by its first bytes, whatever the host called it; an image, the
// folder, the work at once and what is remembered are bounded; adult subjects have no
// cover here. Looking for covers never delays a mark: images have a rate of their own,
// look-ups a small one beside, and none are made while the catalog does not answer.
package cover

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"watchmark/internal/catalog"
	"watchmark/internal/platform/httpx"
)

// The errors a caller branches on.
var (
	// ErrNone is returned for a subject that has no cover, or none that is shown here.
	ErrNone = errors.New("the subject has no cover")
	// ErrLater is returned when the cover is not here yet; asking again later helps.
	ErrLater = errors.New("the cover is not here yet")
)

// LongestImage is what Config.HTTP is to bound an image to, in bytes.
const LongestImage = 1 << 20

const (
	// patience is how long Get waits for a cover on its way. A browser has few connections,
	// and every image that waits holds one.
	patience = 3 * time.Second
	// fetchers is how many covers are fetched at once, waiting how many more may want to be.
	fetchers = 4
	waiting  = 256
	// Look-ups share the rate of the catalog's API with marks: lookUps of them may come at
	// once, then one every lookUpEvery.
	lookUps     = 60
	lookUpEvery = 3 * time.Second
	// A cover is fetched anew when it is older than freshFor. That there is none is believed
	// for noneFor, a failure for failedFor; after one that no other cover would escape
	// nothing is fetched for restFor.
	freshFor  = 30 * 24 * time.Hour
	noneFor   = 24 * time.Hour
	failedFor = 10 * time.Minute
	restFor   = time.Minute
	// remembered is how many addresses, and how many subjects without a cover, are kept in
	// memory: some hundred bytes each.
	remembered = 4096
)

// Config is what a Cache is made of; every field must be set.
type Config struct {
	// Folder is where covers are kept. It is made when the first one comes.
	Folder string
	// HTTP asks the image host and nobody else, so that its rate is the images' own.
	HTTP *httpx.Client
	// Host is the address of the image host, without a slash at the end. It is asked for at every fetch.
	Host func() string
	// Subject looks a subject up without a login; errors are *catalog.Error.
	Subject func(context.Context, catalog.SubjectID) (catalog.Subject, error)
	// Reachable reports that the catalog is not known to be unreachable.
	Reachable func() bool
	Log       *slog.Logger
}

// Image is a cover.
type Image struct {
	// Type is its media type, such as image/jpeg, by its first bytes.
	Type string
	Data []byte
	// At is when it was fetched.
	At time.Time
}

// Cache has the covers. It may be used by several goroutines.
type Cache struct {
	Config
	shelf   shelf
	lookUps *rate.Limiter
	queue   chan catalog.SubjectID

	mu sync.Mutex
	// onTheWay are the covers that are fetched or wait for it; the channel is closed at the end.
	onTheWay map[catalog.SubjectID]chan struct{}
	verdicts map[catalog.SubjectID]verdict
	// addresses are those that searches told of, so that they need no look-up.
	addresses map[catalog.SubjectID]string
	rests     time.Time // nothing is fetched before
}

// verdict is what became of the last fetch, as long as it holds.
type verdict struct {
	err   error
	until time.Time
}

// NewCache is a Cache that fetches nothing until Run.
func NewCache(c Config) *Cache {
	return &Cache{
		Config: c, shelf: shelf{folder: c.Folder, most: mostKept}, lookUps: rate.NewLimiter(rate.Every(lookUpEvery), lookUps), queue: make(chan catalog.SubjectID, waiting),
		onTheWay: map[catalog.SubjectID]chan struct{}{}, verdicts: map[catalog.SubjectID]verdict{}, addresses: map[catalog.SubjectID]string{},
	}
}

// Run fetches covers until ctx ends.
func (k *Cache) Run(ctx context.Context) {
	var running sync.WaitGroup
	for range fetchers {
		running.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case id := <-k.queue:
					k.handle(ctx, id)
				}
			}
		})
	}
	running.Wait()
}

// Get is the cover of a subject. One that is not kept yet is fetched, and waited for a
// few seconds; the fetch goes on when ctx ends. The error is ErrNone, ErrLater, or says
// that the folder cannot be read.
func (k *Cache) Get(ctx context.Context, id catalog.SubjectID) (Image, error) {
	kept, err := k.shelf.read(id)
	switch {
	case err == nil:
		if time.Since(kept.At) > freshFor {
			_, _ = k.ask(id) // the old one is shown meanwhile, whatever comes of it
		}
		return kept, nil
	case !errors.Is(err, fs.ErrNotExist):
		return Image{}, err
	}
	done, err := k.ask(id)
	if err != nil {
		return Image{}, err
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		return Image{}, ErrLater
	case <-ctx.Done():
		return Image{}, ErrLater
	}
	if kept, err = k.shelf.read(id); errors.Is(err, fs.ErrNotExist) {
		return Image{}, k.judged(id)
	}
	return kept, err
}

// Learn takes in where the covers of some subjects are, or that they have none, so that
// nobody needs to look them up.
func (k *Cache) Learn(subjects []catalog.Subject) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range subjects {
		if s.Image == "" || s.NSFW {
			bound(k.verdicts)
			k.verdicts[s.ID] = verdict{ErrNone, time.Now().Add(noneFor)}
			continue
		}
		bound(k.addresses)
		k.addresses[s.ID] = s.Image
	}
}

// bound empties a full memory: what is needed comes back.
func bound[V any](memory map[catalog.SubjectID]V) {
	if len(memory) >= remembered {
		clear(memory)
	}
}

// ask has a cover fetched; done is closed at the end of that. The error is that of a
// verdict which still holds, or ErrLater where nothing can be fetched now.
func (k *Cache) ask(id catalog.SubjectID) (done <-chan struct{}, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	if v, judged := k.verdicts[id]; judged && now.Before(v.until) {
		return nil, v.err
	}
	if there := k.onTheWay[id]; there != nil {
		return there, nil
	}
	if now.Before(k.rests) {
		return nil, ErrLater
	}
	select {
	case k.queue <- id:
		mine := make(chan struct{})
		k.onTheWay[id] = mine
		return mine, nil
	default:
		return nil, ErrLater
	}
}

// resting reports that nothing is to be fetched now.
func (k *Cache) resting() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return time.Now().Before(k.rests)
}

// judged is what is known of a subject without a cover.
func (k *Cache) judged(id catalog.SubjectID) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if v, known := k.verdicts[id]; known {
		return v.err
	}
	return ErrLater
}

// handle fetches one cover and keeps it, or the reason why there is none.
func (k *Cache) handle(ctx context.Context, id catalog.SubjectID) {
	data, err := k.fetch(ctx, id)
	if err == nil {
		if err = k.shelf.put(id, data); err != nil {
			err = &failure{fmt.Errorf("%w: give the service room and write access there", err), restFor}
		}
	}
	if errors.Is(err, ErrNone) {
		if gone := k.shelf.remove(id); gone != nil {
			k.Log.Warn("a cover cannot be removed", "error", gone)
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.verdicts, id)
	var failed *failure
	switch {
	case err == nil || errors.Is(err, errNotAsked) || ctx.Err() != nil: // nothing was learnt of the subject
	case errors.Is(err, ErrNone):
		bound(k.verdicts)
		k.verdicts[id] = verdict{ErrNone, time.Now().Add(noneFor)}
	default:
		if errors.As(err, &failed) {
			k.rests = time.Now().Add(failed.rest)
			k.Log.Info("covers cannot be fetched, pages show placeholders meanwhile", "error", err, "again_in", failed.rest)
		}
		bound(k.verdicts)
		k.verdicts[id] = verdict{ErrLater, time.Now().Add(failedFor)}
	}
	close(k.onTheWay[id])
	delete(k.onTheWay, id)
}

// errNotAsked is the error of a fetch that did not come to its first request.
var errNotAsked = errors.New("not asked: Bangumi does not answer, or too much was looked up lately")

// failure is an error that other covers would meet too: nothing is fetched for a while.
type failure struct {
	error
	rest time.Duration
}

// Unwrap is the cause.
func (f *failure) Unwrap() error { return f.error }

// typeOf is the media type of an image that browsers show, by its first bytes; empty for everything else.
func typeOf(data []byte) string {
	switch t := http.DetectContentType(data); t {
	case "image/jpeg", "image/png", "image/webp", "image/gif":
		return t
	}
	return ""
}
