package summary

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/record"
	"watchmark/internal/tell/llm"
	"watchmark/internal/tell/notify"
)

const (
	// longestRun bounds a run.
	longestRun = 300 * time.Second
	// forFigures is what is left of that when the model has to have answered.
	forFigures = 20 * time.Second
	// makeUp is how old a run of the schedule may be that the service was off for.
	makeUp = 24 * time.Hour
	// lookEvery is how often the clock is looked at: somebody may set it.
	lookEvery = time.Minute
)

// Model writes texts; *llm.Client is one.
type Model interface {
	Enabled() bool
	Chat(ctx context.Context, job string, messages []llm.Message) (llm.Answer, error)
}

// Config is what a Keeper is made of; every field must be set.
type Config struct {
	DB      *db.DB
	Records *record.Store
	Model   Model
	// Language is that of notifications: "en" or "zh-CN". It is asked at each use.
	Language func() bilingual.Language
	// Next is when a cron expression is due after a time; its error says what is wrong with it.
	Next func(expression string, after time.Time) (time.Time, error)
	// Notify stores notices within tx; Wake is called after the commit.
	Notify func(ctx context.Context, tx *sql.Tx, notices ...notify.Notice) error
	Wake   func()
	Log    *slog.Logger
}

// Keeper keeps the jobs and runs them: by their schedules, and when a person says so.
type Keeper struct {
	Config
	store store
	wake  schedule.Signal

	// ctx is that of runs a person started; it ends with Run.
	ctx    context.Context
	cancel context.CancelFunc
	mu     sync.Mutex
	ended  bool
	runs   sync.WaitGroup
}

// NewKeeper is a Keeper that runs nothing by schedule until Run.
func NewKeeper(c Config) *Keeper {
	k := &Keeper{Config: c, store: store{c.DB}, wake: schedule.NewSignal()}
	k.ctx, k.cancel = context.WithCancel(context.Background())
	return k
}

// Kick has the Keeper look at the jobs and the clock anew.
func (k *Keeper) Kick() {
	k.wake.Raise()
}

// Run runs jobs by their schedules until ctx ends, one after the other, then waits for those that
// persons started. What it was in the middle of runs again at the next start.
func (k *Keeper) Run(ctx context.Context) {
	defer func() {
		k.mu.Lock()
		k.ended = true
		k.mu.Unlock()
		k.cancel()
		k.runs.Wait()
	}()
	for {
		wait, err := k.round(ctx)
		if err != nil && ctx.Err() == nil {
			k.Log.ErrorContext(ctx, "cannot look after the summary jobs", "error", err)
		}
		if k.wake.Wait(ctx, wait); ctx.Err() != nil {
			return
		}
	}
}

// round runs what is due, and tells how long it is until it must look again.
func (k *Keeper) round(ctx context.Context) (time.Duration, error) {
	jobs, err := k.store.jobs(ctx)
	if err != nil {
		return lookEvery, err
	}
	for i := range jobs {
		if slot := k.due(jobs[i], time.Now()); !slot.IsZero() && !jobs[i].Running && ctx.Err() == nil {
			if _, err := k.run(ctx, jobs[i].Name, slot, &jobs[i]); err != nil && ctx.Err() == nil && !errors.Is(err, ErrRunning) && !errors.Is(err, ErrNotFound) {
				k.Log.ErrorContext(ctx, "a summary could not be made", "job", jobs[i].Name, "error", err)
			}
		}
	}
	wait, now := lookEvery, time.Now()
	for _, j := range jobs {
		if next, err := k.Next(j.Cron, now); j.Enabled && err == nil {
			wait = min(wait, max(next.Sub(now), time.Millisecond))
		}
	}
	return wait, nil
}

// due is the newest time of the schedule that was not run yet; zero when there is none. What is
// more than a day old is left alone.
func (k *Keeper) due(j Job, now time.Time) (slot time.Time) {
	if !j.Enabled {
		return time.Time{}
	}
	after := j.plannedFrom
	// What lies ahead was written by a clock that somebody has set back since.
	if oldest := now.Add(-makeUp); after.Before(oldest) || after.After(now.Add(lookEvery)) {
		after = oldest
	}
	for {
		next, err := k.Next(j.Cron, after)
		if err != nil || next.IsZero() || next.After(now) {
			return slot
		}
		slot, after = next, next
	}
}

// Trigger runs the job of a name now, and tells people of it. The run goes on when ctx ends. It
// returns ErrNotFound, ErrRunning or ErrStopping; a run that failed is a result, not an error.
func (k *Keeper) Trigger(ctx context.Context, name string) (Result, error) {
	type ended struct {
		result Result
		err    error
	}
	end := make(chan ended, 1)
	k.mu.Lock()
	if k.ended {
		k.mu.Unlock()
		return Result{}, ErrStopping
	}
	k.runs.Go(func() {
		result, err := k.run(k.ctx, name, time.Time{}, nil)
		if k.ctx.Err() != nil && errors.Is(err, k.ctx.Err()) {
			err = ErrStopping
		}
		end <- ended{result, err}
	})
	k.mu.Unlock()
	select {
	case e := <-end:
		return e.result, e.err
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
}

// Test makes the summary of the job of a name now, keeps nothing of it and tells nobody. It returns
// ErrNotFound; what failed is a result.
func (k *Keeper) Test(ctx context.Context, name string) (Result, error) {
	j, err := job(ctx, k.DB.Read(), name)
	if err != nil {
		return Result{}, err
	}
	r := k.generate(ctx, j, ByPerson, time.Now())
	return r, ctx.Err()
}

// run runs the job of a name: of the schedule at slot, as which it was seen, or now for a person.
func (k *Keeper) run(ctx context.Context, name string, slot time.Time, seen *Job) (Result, error) {
	owner := rand.Text()
	j, err := k.store.claim(ctx, name, owner, seen)
	if err != nil {
		return Result{}, err
	}
	starter, to := ByPerson, time.Now()
	if seen != nil {
		// Up to its time, so that the next run begins where this one ends.
		starter, to = ByCron, slot
	}
	r := k.generate(ctx, j, starter, to)
	// What was made, or let go, is written even when the service is stopping.
	storing := context.WithoutCancel(ctx)
	if ctx.Err() != nil {
		return Result{}, errors.Join(ctx.Err(), k.store.release(storing, j.ID, owner))
	}
	r.ID, err = k.store.finish(storing, j, owner, slot, r, func(ctx context.Context, tx *sql.Tx) error {
		return k.Notify(ctx, tx, k.notices(j, r)...)
	})
	if err != nil {
		return Result{}, err
	}
	k.Wake()
	k.Log.InfoContext(ctx, "a summary was made", "job", j.Name, "outcome", r.Outcome, "records", r.Records, "model", r.Model, "problem", r.Problem)
	return r, nil
}

// generate makes the summary of what was watched up to a time. Whatever goes wrong is in the result.
func (k *Keeper) generate(ctx context.Context, j Job, starter Starter, to time.Time) (r Result) {
	bounded, cancel := context.WithTimeout(ctx, longestRun)
	defer cancel()
	r = Result{Starter: starter, From: to.AddDate(0, 0, -j.DaysBack), To: to}
	defer func() {
		r.At = time.Now()
		if p := recover(); p != nil {
			k.Log.ErrorContext(ctx, "a summary job panicked", "job", j.Name, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			r.Outcome, r.Problem, r.Text = Failed, internalErrorLookLogService.With(), ""
		}
	}()
	err := k.write(bounded, j, &r)
	switch {
	case err == nil, ctx.Err() != nil: // what is given up is not kept
	case errors.Is(err, context.DeadlineExceeded):
		r.Outcome, r.Problem = Failed, tookLongerDatabaseOrLanguage.With(longestRun)
	default:
		k.Log.ErrorContext(ctx, "a summary job failed", "job", j.Name, "error", err)
		r.Outcome, r.Problem = Failed, recordsCouldNotReadLook.With()
	}
	return r
}

// write reads the records and writes the text.
func (k *Keeper) write(ctx context.Context, j Job, r *Result) error {
	most := j.MaxRecords
	if most == 0 {
		most = MostRecords
	}
	records, total, err := k.Records.Watched(ctx, record.Span{From: r.From, To: r.To, User: j.User, Limit: most})
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}
	r.Records = total
	words := wordsOf(k.Language())
	if total == 0 {
		r.Outcome, r.Text = Done, words.nothing
		if j.SkipEmpty {
			r.Outcome = Empty
		}
		return nil
	}
	h := historyOf(records, total, r.From, r.To)
	r.Outcome = Done
	if k.Model.Enabled() {
		asking, cancel := context.WithTimeout(ctx, longestRun-forFigures)
		answer, err := k.Model.Chat(asking, j.Name, h.messages(j.Prompt, words))
		cancel()
		r.PromptTokens, r.CompletionTokens = answer.Prompt, answer.Completion
		if err == nil {
			r.Text, r.Model = answer.Text, answer.Model
			if answer.Cut {
				r.Text, r.Problem = r.Text+" …", answerCutRaiseLlmMax.With()
			}
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.Problem = reason.Of(err)
		if errors.Is(err, context.DeadlineExceeded) {
			r.Problem = languageModelDidNotAnswer.With()
		}
	}
	r.Text = h.figures(words)
	if !r.Problem.IsZero() {
		r.Text += "\n\n" + words.withoutModel(r.Problem.In(k.Language()))
	}
	return nil
}

// notices are what people are told of a run. One that did not fail settles the failure before it.
func (k *Keeper) notices(j Job, r Result) []notify.Notice {
	span := spanOf(r.From, r.To)
	facts := map[string]string{
		"job_name": j.Name, "date_range": span, "record_count": strconv.Itoa(r.Records), "lookback_days": strconv.Itoa(j.DaysBack),
	}
	failed := notify.Notice{Kind: notify.JobFailed, At: r.At, User: j.User, About: "summary " + j.Name, Facts: facts}
	if r.Outcome == Failed {
		facts["error_message"] = r.Problem.Text
		return []notify.Notice{failed}
	}
	failed.Over = true
	if r.Outcome == Empty {
		return []notify.Notice{failed}
	}
	facts["summary_text"], facts["model"], facts["tokens_used"] = r.Text, r.Model, strconv.Itoa(r.PromptTokens+r.CompletionTokens)
	made := j.Notice()
	made.At, made.About, made.Facts = r.At, "summary "+j.Name+" "+span, facts
	return []notify.Notice{failed, made}
}

// Notice is what people are told of a text of the job, without what the run brings to it: enough to see where it goes.
func (j Job) Notice() notify.Notice {
	return notify.Notice{Kind: notify.SummaryReady, User: j.User, Channels: j.Channels}
}

// Jobs lists every job by name.
func (k *Keeper) Jobs(ctx context.Context) ([]Job, error) {
	jobs, err := k.store.jobs(ctx)
	now := time.Now()
	for i := range jobs {
		if next, err := k.Next(jobs[i].Cron, now); jobs[i].Enabled && err == nil && !next.IsZero() {
			next = next.UTC()
			jobs[i].NextRun = &next
		}
	}
	return jobs, err
}

// Job is the job of a name, or ErrNotFound.
func (k *Keeper) Job(ctx context.Context, name string) (Job, error) {
	jobs, err := k.Jobs(ctx)
	if err != nil {
		return Job{}, err
	}
	for _, j := range jobs {
		if j.Name == name {
			return j, nil
		}
	}
	return Job{}, ErrNotFound
}

// Create adds a job. It returns a *reason.FieldError, ErrTaken or ErrFull.
func (k *Keeper) Create(ctx context.Context, d Draft) (Job, error) {
	d, err := d.checked(k.Next)
	if err != nil {
		return Job{}, err
	}
	if err := k.store.create(ctx, d); err != nil {
		return Job{}, err
	}
	k.Kick()
	return k.Job(ctx, d.Name)
}

// Update replaces the job of a name, which may get another. It returns a *reason.FieldError, ErrNotFound
// or ErrTaken.
func (k *Keeper) Update(ctx context.Context, name string, d Draft) (Job, error) {
	d, err := d.checked(k.Next)
	if err != nil {
		return Job{}, err
	}
	if err := k.store.update(ctx, name, d); err != nil {
		return Job{}, err
	}
	k.Kick()
	return k.Job(ctx, d.Name)
}

// Delete removes the job of a name with its results, or returns ErrNotFound.
func (k *Keeper) Delete(ctx context.Context, name string) error { return k.store.remove(ctx, name) }

// Results is a page of the results of a job, the newest first, and the cursor of the next page
// (0 = none). It returns ErrNotFound.
func (k *Keeper) Results(ctx context.Context, name string, before int64, limit int) (results []Result, next int64, err error) {
	return k.store.results(ctx, name, before, limit)
}
