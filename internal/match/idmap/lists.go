package idmap

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/task"
)

// UpdateKind is the kind of the tasks that update all sources.
const UpdateKind = "idmap_update"

const listStateName = "idmap.json"

// ListsConfig is what Lists are made of; every field must be set.
type ListsConfig struct {
	// Folder is the data folder, which exists.
	Folder string
	HTTP   *httpx.Client
	// Schedule has the Job, which the caller adds.
	Schedule *schedule.Registry
	// Dataset is what the lists are joined with; an update fetches it, too.
	Dataset *Dataset
	// Enabled, the addresses and Plan are asked whenever they are needed, so that changed settings hold at once. A list
	// without an address is not fetched, and not used.
	Enabled             func() bool
	AnimeLists, Shinkro func() string
	Plan                func() schedule.Plan
	Log                 *slog.Logger
}

// Lists keeps the lists of how other sites number seasons. They are fetched by schedule and kept in the data folder as they
// came; none is part of the program (id-map.md section 4). Until a new one was read whole, the last one serves.
type Lists struct {
	ListsConfig

	mu   sync.Mutex  // of what kept holds
	kept []*keptList // the one that is believed first comes first
}

// keptList is a list with its state.
type keptList struct {
	name, file string
	url        func() string
	read       func(io.Reader) (*Seasons, error)
	loaded     bool
	seasons    *Seasons // nil while there is none
	state      listState
}

// listState is what is remembered of a list.
type listState struct {
	URL       string        `json:"url,omitempty"`
	ETag      string        `json:"etag,omitempty"`
	FetchedAt time.Time     `json:"fetched_at,omitzero"`
	Run       time.Time     `json:"run,omitzero"` // when it was last asked for
	LastError reason.Reason `json:"last_error,omitzero"`
}

// NewLists are the lists; their Job updates them by schedule, and Table gives them to the Dataset.
func NewLists(c ListsConfig) *Lists {
	l := &Lists{ListsConfig: c, kept: []*keptList{
		{name: "anime-lists", file: "anime-lists.gz", url: c.AnimeLists, read: ReadAnimeLists},
		{name: "shinkro", file: "shinkro.gz", url: c.Shinkro, read: ReadShinkro},
	}}
	states := map[string]listState{}
	text, err := os.ReadFile(filepath.Join(c.Folder, listStateName))
	if err == nil && json.Unmarshal(text, &states) == nil { // else nothing is known, and they are fetched anew
		for _, k := range l.kept {
			k.state = states[k.name]
		}
	}
	return l
}

// InUse are the lists that serve, the one that is believed first at the front. The first call reads them, which takes
// about 0.2 s.
func (l *Lists) InUse() []*Seasons {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lists []*Seasons
	for _, k := range l.kept {
		if !l.Enabled() || k.url() == "" {
			k.loaded, k.seasons = false, nil // nobody needs its memory
			continue
		}
		if !k.loaded {
			l.load(k)
		}
		if k.seasons != nil {
			lists = append(lists, k.seasons)
		}
	}
	return lists
}

// load reads the stored form of a list. The caller holds mu.
func (l *Lists) load(k *keptList) {
	k.loaded = true
	stored, err := os.ReadFile(filepath.Join(l.Folder, k.file))
	if err == nil {
		k.seasons, err = k.parse(stored)
		debug.FreeOSMemory() // else the service would keep for long what only the reading needed
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.Log.Warn("a list of seasons cannot be read, it is fetched anew", "list", k.name, "error", err)
		k.state.ETag, k.state.LastError = "", reason.Of(err)
	}
}

// parse reads a list, packed by gzip or not.
func (k *keptList) parse(document []byte) (*Seasons, error) {
	var plain io.Reader = bytes.NewReader(document)
	if bytes.HasPrefix(document, []byte{0x1f, 0x8b}) {
		unzipped, err := gzip.NewReader(plain)
		if err != nil {
			return nil, reason.Because.With(errListFormat, err)
		}
		plain = unzipped
	}
	digest := sha256.New()
	all := bufio.NewReader(&bounded{from: io.TeeReader(plain, digest), left: maxList})
	seasons, err := k.read(all)
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(io.Discard, all); err != nil { // the digest is that of the whole, and its end tells that it is whole
		return nil, noList(err)
	}
	seasons.Version = fmt.Sprintf("sha256-%x", digest.Sum(nil)[:6])
	return seasons, nil
}

// Job updates all sources, and reads the stored lists before somebody waits for it.
func (l *Lists) Job() schedule.Job {
	return schedule.Job{
		Name: UpdateKind, Own: true, Run: l.update, Busy: ErrRunning,
		Plan: func() schedule.Plan {
			if !l.Enabled() {
				return schedule.Plan{}
			}
			return l.Plan()
		},
		Ready: func(context.Context) error {
			if !l.Enabled() {
				return errListsOff
			}
			return nil
		},
		Look: func(ctx context.Context) (due bool, err error) {
			l.InUse()
			last, err := l.last(ctx)
			return l.Enabled() && last.IsZero(), err // the first lists come at once
		},
		Last: l.last,
	}
}

// last is when the lists were asked for last.
func (l *Lists) last(context.Context) (time.Time, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := time.Time{}
	for _, k := range l.kept {
		if k.state.Run.After(last) {
			last = k.state.Run
		}
	}
	return last, nil
}

// Update starts a task that fetches the newest of all sources.
func (l *Lists) Update(ctx context.Context) (*task.Task, error) {
	return l.Schedule.Start(ctx, UpdateKind)
}

// update is the work of the job. It fails when a source does, after it has asked for the others.
func (l *Lists) update(ctx context.Context, run *schedule.Run) error {
	bounded, cancel := context.WithTimeout(ctx, longestRefresh)
	defer cancel()
	defer debug.FreeOSMemory()
	var failed []error
	if l.Dataset.Enabled() {
		err := l.Dataset.update(bounded, ctx, run.Task)
		if err != nil && !errors.As(err, new(*Refusal)) {
			run.Again(retryAfter)
		}
		failed = append(failed, err)
	}
	for i, k := range l.kept {
		url := k.url()
		if url == "" || bounded.Err() != nil {
			continue
		}
		run.Progress(i+1, len(l.kept)+1, reason.Text("fetch"))
		state, err := l.fetch(bounded, k, url)
		if ctx.Err() != nil {
			return ctx.Err() // a service that was stopped in the middle begins anew
		}
		state.Run, state.LastError = time.Now().UTC(), reason.Of(err)
		l.mu.Lock()
		k.state = state
		l.mu.Unlock()
		if err != nil {
			run.Again(retryAfter)
			failed = append(failed, ofList.With(k.name, err))
		}
		if err := l.keepStates(); err != nil {
			l.Log.Warn("the state of the lists of seasons cannot be kept", "error", err)
		}
	}
	run.SetResult(l.Status())
	return cmp.Or(failed...)
}

// fetch asks for a list, and takes it into use when it is a new one. The state is the one to keep, whether it failed or not.
func (l *Lists) fetch(ctx context.Context, k *keptList, url string) (listState, error) {
	l.InUse()
	l.mu.Lock()
	state, now := k.state, k.seasons
	l.mu.Unlock()
	etag := ""
	if state.URL == url && now != nil {
		etag = state.ETag
	}
	document, newTag, err := download(ctx, l.HTTP, url, etag)
	if err != nil || document == nil {
		return state, err
	}
	seasons, err := k.parse(document)
	if err != nil {
		return state, readingList.With(err)
	}
	// A list of another address may be a smaller one.
	if now != nil && state.URL == url && float64(seasons.Len()) < leastShare*float64(now.Len()) {
		return state, errSmaller.With(seasons.Len(), now.Len())
	}
	if err := replace(filepath.Join(l.Folder, k.file), packed(document)); err != nil {
		return state, notSaved.With(err)
	}
	l.mu.Lock()
	k.seasons, k.loaded = seasons, true
	l.mu.Unlock()
	l.Log.InfoContext(ctx, "a list of seasons was updated", "list", k.name, "version", seasons.Version, "entries", seasons.Len())
	return listState{URL: url, ETag: newTag, FetchedAt: time.Now().UTC().Truncate(time.Second)}, nil
}

// packed is a document by gzip, unless it is so already.
func packed(document []byte) []byte {
	if bytes.HasPrefix(document, []byte{0x1f, 0x8b}) {
		return document
	}
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	_, _ = zip.Write(document) // a buffer takes everything
	_ = zip.Close()
	return b.Bytes()
}

// keepStates writes what is remembered of all lists.
func (l *Lists) keepStates() error {
	states := map[string]listState{}
	l.mu.Lock()
	for _, k := range l.kept {
		states[k.name] = k.state
	}
	l.mu.Unlock()
	text, err := json.Marshal(states)
	if err != nil {
		return err
	}
	return replace(filepath.Join(l.Folder, listStateName), text)
}

// ListsStatus is where the sources of the map stand.
type ListsStatus struct {
	Enabled bool           `json:"enabled"`
	Sources []SourceStatus `json:"sources"`
	// Updating is set while an update runs; TaskID is that one, or the last one since the start.
	Updating bool       `json:"updating"`
	TaskID   int64      `json:"task_id" doc:"The update that runs, or ran last; 0 when there was none since the start."`
	NextRun  *time.Time `json:"next_run"`
}

// SourceStatus is where a source stands.
type SourceStatus struct {
	Name      string        `json:"name" enum:"bangumi-data,anime-lists,shinkro"`
	Enabled   bool          `json:"enabled" doc:"Whether it is used: it is switched on and has an address."`
	Version   string        `json:"version" doc:"Its release, or the beginning of its SHA-256; empty while there is none."`
	Rows      int           `json:"rows"`
	FetchedAt time.Time     `json:"fetched_at,omitzero" doc:"Not there before the first time, and for what came with the program."`
	LastError reason.Reason `json:"last_error_value,omitzero" doc:"Why the last update failed; empty when it did not. What was there before stays in use."`
}

// MarshalJSON has the text of the last error beside it.
func (s SourceStatus) MarshalJSON() ([]byte, error) {
	type plain SourceStatus
	return reason.MarshalBeside((*plain)(&s))
}

// Status is where the sources stand now.
func (l *Lists) Status() ListsStatus {
	table := l.Dataset.Status()
	job := l.Schedule.Now(UpdateKind)
	s := ListsStatus{Enabled: l.Enabled(), TaskID: job.TaskID, Updating: job.Running, NextRun: job.NextRun, Sources: []SourceStatus{{
		Name: "bangumi-data", Enabled: table.Enabled, Version: table.Version, Rows: table.Entries, FetchedAt: table.FetchedAt, LastError: table.LastError,
	}}}
	l.InUse()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range l.kept {
		source := SourceStatus{Name: k.name, Enabled: s.Enabled && k.url() != "", LastError: k.state.LastError}
		if k.seasons != nil {
			source.Version, source.Rows, source.FetchedAt = k.seasons.Version, k.seasons.Len(), k.state.FetchedAt
		}
		s.Sources = append(s.Sources, source)
	}
	return s
}
