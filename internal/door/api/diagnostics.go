package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"runtime"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/catalog/archive"
	"watchmark/internal/engine/review"
	"watchmark/internal/match/idmap"
	"watchmark/internal/platform/logs"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/settings"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/source/device"
	"watchmark/internal/source/nas"
	"watchmark/internal/source/tracker"
	"watchmark/internal/upkeep/diagnose"
)

// errorsTold is how many failed records a bundle holds.
const errorsTold = 50

// diagnostics is what a bug report needs to know of a service.
type diagnostics struct {
	MadeAt  time.Time `json:"made_at"`
	Program program   `json:"program"`
	// Settings are as GET /api/settings answers them, SetBy says where those come from that are not the default.
	Settings settingsBody               `json:"settings"`
	SetBy    map[string]settings.Source `json:"set_by"`
	State    serviceState               `json:"state"`
	Errors   []failedRecord             `json:"errors"`
	Network  []diagnose.Result          `json:"network"` // what the last diagnosis found
	Log      []logs.Entry               `json:"log"`     // oldest first
}

// program is what runs, and on what.
type program struct {
	Version    string    `json:"version"`
	Build      string    `json:"build"`
	StartedAt  time.Time `json:"started_at"`
	TimeZone   string    `json:"time_zone"`
	CPUs       int       `json:"cpus"`
	Goroutines int       `json:"goroutines"`
	MemoryMB   int       `json:"memory_mb"`
}

// serviceState is the state of the parts of a service.
type serviceState struct {
	Catalog   breaker        `json:"catalog"`
	Counts    stats          `json:"counts"`
	Questions int            `json:"questions"`
	Accounts  []accountState `json:"accounts"`
	Archive   archive.Status `json:"archive"`
	Dataset   idmap.Status   `json:"dataset"`
	NAS       nas.Status     `json:"nas"`
	Device    device.Status  `json:"device"`
	Tracker   tracker.Status `json:"tracker"`
	Tasks     []task.Status  `json:"tasks"`
}

// accountState is how an account stands, without whose it is.
type accountState struct {
	ID             int64          `json:"id"`
	Method         account.Method `json:"auth_method"`
	Enabled        bool           `json:"enabled"`
	Preferred      bool           `json:"preferred"`
	DryRun         bool           `json:"dry_run"`
	HasToken       bool           `json:"has_token"`
	ExpiresAt      *time.Time     `json:"expires_at"`
	CheckedAt      *time.Time     `json:"checked_at"`
	Problem        string         `json:"problem"`
	ProblemValue   reason.Reason  `json:"problem_value,omitzero"`
	MediaUserNames int            `json:"media_user_names"`
}

// failedRecord is a record that failed, without what was watched and by whom.
type failedRecord struct {
	ID        int64            `json:"id"`
	CreatedAt time.Time        `json:"created_at"`
	Source    string           `json:"source"`
	ErrorKind record.ErrorKind `json:"error_kind"`
	Method    string           `json:"method"`
	Attempts  int              `json:"attempts"`
	Message   string           `json:"message"`
	// Value is Message with its code.
	Value reason.Reason `json:"message_value,omitzero"`
}

// Diagnostics is the file for a bug report.
type Diagnostics struct {
	// Build says in one line what was built.
	Build        string
	Settings     *settings.Manager
	Masker       *secret.Masker
	Stats        Stats
	Reachability func() catalog.Reachability
	Questions    *review.Store
	Accounts     *account.Store
	Archive      *archive.Importer
	Dataset      *idmap.Dataset
	NAS          *nas.Reader
	Device       *device.Watcher
	Tracker      *tracker.Service
	Tasks        *task.Registry
	Doctor       *diagnose.Doctor
	Logs         *logs.Ring
}

func (d Diagnostics) register(s *server) {
	const path = "/api/diagnostics"
	started := time.Now()
	registerOther(s, huma.Operation{
		Method: http.MethodGet, Path: path, OperationID: "get-diagnostics", Tags: []string{"Diagnostics"},
		Summary: "Get the diagnostics for a bug report",
		Description: "One JSON file: version, settings, the state of every part, the last errors, the last diagnosis of the network and the newest lines of the log. " +
			"Secrets and e-mail addresses are masked. Host names are not, nor are titles and user names where the log has them: look through it before you publish it.",
		Responses: map[string]*huma.Response{"200": {Description: "A file to attach.", Content: map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Type: huma.TypeObject}}}}},
	}, func(ctx context.Context, _ *none) (*diagnosticsFile, error) {
		found, err := d.gather(ctx, program{Version: s.Version, Build: d.Build, StartedAt: started})
		if err != nil {
			return nil, err
		}
		text, err := d.masked(found)
		return &diagnosticsFile{"application/json", `attachment; filename="watchmark-diagnostics-` + found.MadeAt.Format("20060102-150405") + `.json"`, text}, err
	})
}

// diagnosticsFile is a file that a browser saves.
type diagnosticsFile struct {
	ContentType string `header:"Content-Type"`
	Disposition string `header:"Content-Disposition"`
	Body        []byte
}

// masked is v as JSON for people, without anything secret: what the service knows as secret, and what
// stands under a name that says so.
func (d Diagnostics) masked(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode the diagnostics: %w", err)
	}
	var whole bytes.Buffer
	if err := json.Indent(&whole, []byte(d.Masker.Body("application/json", text, math.MaxInt)), "", "  "); err != nil {
		return nil, fmt.Errorf("mask the diagnostics: %w", err)
	}
	return whole.Bytes(), nil
}

func (d Diagnostics) gather(ctx context.Context, p program) (diagnostics, error) {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	zone, _ := time.Now().Zone()
	p.TimeZone, p.CPUs, p.Goroutines, p.MemoryMB = zone, runtime.NumCPU(), runtime.NumGoroutine(), int(memory.Sys>>20)
	found := diagnostics{
		MadeAt: time.Now(), Program: p,
		Settings: d.Settings.View(), SetBy: map[string]settings.Source{}, Network: d.Doctor.State(), Errors: []failedRecord{}, Log: []logs.Entry{},
	}
	for _, section := range d.Settings.Schema() {
		for _, key := range section.Keys {
			if key.Source != settings.FromDefault {
				found.SetBy[key.Path] = key.Source
			}
		}
	}
	lines, _ := d.Logs.After(0, logs.Everything)
	for _, line := range lines {
		found.Log = append(found.Log, line.Entry())
	}
	failed, _, err := d.Stats.Records.List(ctx, record.Filter{Status: record.Failed, Limit: errorsTold})
	if err != nil {
		return diagnostics{}, err
	}
	for _, r := range failed {
		found.Errors = append(found.Errors, failedRecord{r.ID, r.CreatedAt, string(r.Source), r.ErrorKind, r.Method, r.Attempts, r.Message.Text, r.Message})
	}
	found.State, err = d.state(ctx)
	return found, err
}

func (d Diagnostics) state(ctx context.Context) (serviceState, error) {
	state := serviceState{
		Catalog: breakerOf(d.Reachability()), Archive: d.Archive.Status(), Dataset: d.Dataset.Status(), Device: d.Device.Status(),
		Accounts: []accountState{},
	}
	var err error
	if state.Tasks, err = d.Tasks.List(ctx); err != nil {
		return serviceState{}, err
	}
	for i := range state.Tasks {
		state.Tasks[i].Result = nil
	}
	counts, err := d.Stats.count(ctx)
	if err != nil {
		return serviceState{}, err
	}
	state.Counts = counts
	if state.Questions, err = d.Questions.Open(ctx); err != nil {
		return serviceState{}, err
	}
	accounts, err := d.Accounts.List(ctx)
	if err != nil {
		return serviceState{}, err
	}
	for _, a := range accounts {
		state.Accounts = append(state.Accounts, accountState{a.ID, a.Method, a.Enabled, a.Preferred, a.DryRun, a.HasToken, a.ExpiresAt, a.CheckedAt, a.Problem.Text, a.Problem, len(a.MediaUserNames)})
	}
	if state.NAS, err = d.NAS.Status(ctx); err != nil {
		return serviceState{}, err
	}
	state.Tracker, err = d.Tracker.Status(ctx)
	return state, err
}
