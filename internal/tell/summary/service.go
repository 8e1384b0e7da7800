package summary

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/hold"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/scope"
	"watchmark/internal/platform/task"
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
	// ahead is how far ahead of the clock the time of a run may be.
	ahead = time.Minute
)

// Model writes texts; *llm.Client is one.
type Model interface {
	Enabled() bool
	Chat(ctx context.Context, job string, messages []llm.Message) (llm.Answer, error)
}

// Config is what a Service is made of; every field must be set.
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
	// MayTry returns why a person may not run a job by hand so often.
	MayTry func(ctx context.Context, tries int) error
	// Schedule has Scheduled, which the caller adds; Tasks are the runs that persons start.
	Schedule *schedule.Registry
	Tasks    *task.Registry
	Holds    *hold.Holds
	Log      *slog.Logger
}

// Service keeps the jobs and runs them: by their schedules, and when a person says so.
type Service struct {
	Config
	store store

	mu    sync.Mutex
	crons []string // of the enabled jobs of everybody, as they were seen last
	// resting are jobs that could not be kept, by id, and until when they are left alone.
	resting map[int64]time.Time
}

// NewService is a Service; its Scheduled runs what is due by schedule.
func NewService(c Config) *Service {
	return &Service{Config: c, store: store{c.DB, c.Holds}, resting: map[int64]time.Time{}}
}

// JobsJob is the name of the job that runs the jobs.
const JobsJob = "summaries"

// Scheduled runs the jobs that are due, one after the other. The owner, who asks for it, runs
// all of the owner's that are switched on.
func (s *Service) Scheduled() schedule.Job {
	return schedule.Job{Name: JobsJob, Quiet: true, Plan: s.plan, Look: s.look, Run: s.runJobs}
}

// plan is due when the first of the jobs is.
func (s *Service) plan() schedule.Plan {
	s.mu.Lock()
	crons := s.crons
	s.mu.Unlock()
	if len(crons) == 0 {
		return schedule.Plan{}
	}
	return schedule.Plan{Text: strings.Join(crons, "; "), Next: func(after time.Time) (first time.Time) {
		for _, cron := range crons {
			if next, err := s.Next(cron, after); err == nil && !next.IsZero() && (first.IsZero() || next.Before(first)) {
				first = next
			}
		}
		return first
	}}
}

// look reads the jobs, and reports whether one of them is due.
func (s *Service) look(ctx context.Context) (due bool, err error) {
	jobs, err := s.store.planned(ctx)
	if err != nil {
		return false, err
	}
	var crons []string
	for _, j := range jobs {
		if j.Enabled && !slices.Contains(crons, j.Cron) {
			crons = append(crons, j.Cron)
		}
		due = due || !j.Running && !s.rests(j) && !s.due(j, time.Now()).IsZero()
	}
	s.mu.Lock()
	s.crons = crons
	s.mu.Unlock()
	return due, nil
}

// runJobs is the work of the job. What it is in the middle of when the service stops runs again at the next start.
func (s *Service) runJobs(ctx context.Context, run *schedule.Run) error {
	jobs, err := s.store.planned(ctx)
	if err != nil {
		return err
	}
	var problems []error
	for i := range jobs {
		slot, seen := s.due(jobs[i], time.Now()), &jobs[i]
		if run.Asked && jobs[i].Enabled && jobs[i].person == 0 {
			slot, seen = time.Time{}, nil
		} else if slot.IsZero() || jobs[i].Running || s.rests(jobs[i]) {
			continue
		}
		if _, err := s.run(jobs[i].as(ctx), jobs[i].Name, slot, seen); ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil && !errors.Is(err, ErrRunning) && !errors.Is(err, ErrNotFound) {
			s.rest(jobs[i])
			name := jobs[i].Name
			if jobs[i].person != 0 {
				name = "of a person" // whose name of it is nobody else's
			}
			problems = append(problems, fmt.Errorf("the summary %s could not be made: %w", name, err))
		}
	}
	return errors.Join(problems...)
}

// restFor is how long a job that could not be kept is left alone.
const restFor = 5 * time.Minute

// rest leaves a job alone for a while.
func (s *Service) rest(j Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resting[j.ID] = time.Now().Add(restFor)
}

// rests reports whether a job is left alone now.
func (s *Service) rests(j Job) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	until, resting := s.resting[j.ID]
	if resting && !time.Now().Before(until) {
		delete(s.resting, j.ID)
		resting = false
	}
	return resting
}

// due is the newest time of the schedule that was not run yet; zero when there is none. What is
// more than a day old is left alone.
func (s *Service) due(j Job, now time.Time) (slot time.Time) {
	if !j.Enabled {
		return time.Time{}
	}
	after := j.plannedFrom
	// What lies ahead was written by a clock that somebody has set back since.
	if oldest := now.Add(-makeUp); after.Before(oldest) || after.After(now.Add(ahead)) {
		after = oldest
	}
	for {
		next, err := s.Next(j.Cron, after)
		if err != nil || next.IsZero() || next.After(now) {
			return slot
		}
		slot, after = next, next
	}
}

// Trigger runs the job of a name now, and tells people of it. The run goes on when ctx ends. It
// returns ErrNotFound, ErrRunning or ErrStopping, or to a person who does so too often why not; a run that failed is a result, not an
// error.
func (s *Service) Trigger(ctx context.Context, name string) (Result, error) {
	if _, err := job(ctx, s.DB.Read(), name); err != nil {
		return Result{}, err
	}
	if err := s.MayTry(ctx, 1); err != nil {
		return Result{}, err
	}
	type ended struct {
		result Result
		err    error
	}
	end := make(chan ended, 1)
	_, err := s.Tasks.Start(ctx, task.Spec{Kind: JobsJob, Quiet: true}, func(ctx context.Context, _ *task.Task) error {
		result, err := s.run(ctx, name, time.Time{}, nil)
		if errors.Is(context.Cause(ctx), task.ErrStopping) && errors.Is(err, ctx.Err()) {
			err = ErrStopping
		}
		end <- ended{result, err}
		return err
	})
	if errors.Is(err, task.ErrStopping) {
		return Result{}, ErrStopping
	}
	if err != nil {
		return Result{}, err
	}
	select {
	case e := <-end:
		return e.result, e.err
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
}

// Test makes the summary of the job of a name now, keeps nothing of it and tells nobody. It returns
// ErrNotFound, or to a person who does so too often why not; what failed is a result.
func (s *Service) Test(ctx context.Context, name string) (Result, error) {
	j, err := job(ctx, s.DB.Read(), name)
	if err != nil {
		return Result{}, err
	}
	if err := s.MayTry(ctx, 1); err != nil {
		return Result{}, err
	}
	r := s.generate(ctx, j, ByPerson, time.Now())
	return r, ctx.Err()
}

// run runs the job of a name: of the schedule at slot, as which it was seen, or now for a person.
func (s *Service) run(ctx context.Context, name string, slot time.Time, seen *Job) (Result, error) {
	j, err := s.store.claim(ctx, name, seen)
	if err != nil {
		return Result{}, err
	}
	defer s.Holds.Give(ctx, holdOf(j.ID))
	starter, to := ByPerson, time.Now()
	if seen != nil {
		// Up to its time, so that the next run begins where this one ends.
		starter, to = ByCron, slot
	}
	r := s.generate(ctx, j, starter, to)
	// What was made, or let go, is written even when the service is stopping.
	storing := context.WithoutCancel(ctx)
	if ctx.Err() != nil {
		return Result{}, ctx.Err()
	}
	r.ID, err = s.store.finish(storing, j, slot, r, func(ctx context.Context, tx *sql.Tx) error {
		return s.Notify(ctx, tx, s.notices(j, r)...)
	})
	if err != nil {
		return Result{}, err
	}
	s.Wake()
	s.Log.InfoContext(ctx, "a summary was made", "job", j.ID, "outcome", r.Outcome, "records", r.Records, "model", r.Model, "problem", r.Problem)
	return r, nil
}

// generate makes the summary of what was watched up to a time. Whatever goes wrong is in the result.
func (s *Service) generate(ctx context.Context, j Job, starter Starter, to time.Time) (r Result) {
	bounded, cancel := context.WithTimeout(ctx, longestRun)
	defer cancel()
	r = Result{Starter: starter, From: to.AddDate(0, 0, -j.DaysBack), To: to}
	defer func() {
		r.At = time.Now()
		if p := recover(); p != nil {
			s.Log.ErrorContext(ctx, "a summary job panicked", "job", j.ID, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			r.Outcome, r.Problem, r.Text = Failed, panicked.With(), ""
		}
	}()
	err := s.write(bounded, j, &r)
	switch {
	case err == nil, ctx.Err() != nil: // what is given up is not kept
	case errors.Is(err, context.DeadlineExceeded):
		r.Outcome, r.Problem = Failed, tooSlow.With(longestRun)
	default:
		s.Log.ErrorContext(ctx, "a summary job failed", "job", j.ID, "error", err)
		r.Outcome, r.Problem = Failed, recordsUnreadable.With()
	}
	return r
}

// write reads the records and writes the text.
func (s *Service) write(ctx context.Context, j Job, r *Result) error {
	most := j.MaxRecords
	if most == 0 {
		most = MostRecords
	}
	records, total, err := s.Records.Watched(ctx, record.Span{From: r.From, To: r.To, User: j.User, Limit: most})
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}
	r.Records = total
	words := wordsOf(s.Language())
	if total == 0 {
		r.Outcome, r.Text = Done, words.nothing
		if j.SkipEmpty {
			r.Outcome = Empty
		}
		return nil
	}
	h := historyOf(records, total, r.From, r.To)
	r.Outcome = Done
	if s.Model.Enabled() {
		asking, cancel := context.WithTimeout(ctx, longestRun-forFigures)
		answer, err := s.Model.Chat(asking, j.Name, h.messages(j.Prompt, words))
		cancel()
		r.PromptTokens, r.CompletionTokens = answer.Prompt, answer.Completion
		if err == nil {
			r.Text, r.Model = answer.Text, answer.Model
			if answer.Cut {
				r.Text, r.Problem = r.Text+" …", answerCut.With()
			}
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.Problem = j.withoutModel(err)
		if errors.Is(r.Problem, modelFailed) {
			s.Log.WarnContext(ctx, "the language model did not write the summary of a person", "job", j.ID, "error", err)
		}
	}
	r.Text = h.figures(words)
	if !r.Problem.IsZero() {
		r.Text += "\n\n" + words.withoutModel(r.Problem.In(s.Language()))
	}
	return nil
}

// withoutModel is what is said of an error of the model. What the service of the owner answered is the owner's: a person reads only what
// that one can change.
func (j Job) withoutModel(err error) reason.Reason {
	var failure *llm.Error
	switch failed := errors.As(err, &failure); {
	case errors.Is(err, context.DeadlineExceeded):
		return modelTooSlow.With()
	case j.person == 0 || errors.Is(err, llm.ErrOften):
		return reason.Of(err)
	case failed && (failure.Kind == llm.TooLong || failure.Kind == llm.Refused):
		return (&llm.Error{Kind: failure.Kind}).Reason()
	}
	return modelFailed.With()
}

// notices are what people are told of a run. One that did not fail settles the failure before it.
func (s *Service) notices(j Job, r Result) []notify.Notice {
	span := spanOf(r.From, r.To)
	facts := map[string]string{
		"job_name": j.Name, "date_range": span, "record_count": strconv.Itoa(r.Records), "lookback_days": strconv.Itoa(j.DaysBack),
	}
	failed := notify.Notice{Kind: notify.JobFailed, At: r.At, User: j.User, Person: j.person, About: aboutJob(j.Name), Facts: facts}
	if r.Outcome == Failed {
		failed.Reason = r.Problem
		return []notify.Notice{failed}
	}
	failed.Over = true
	if r.Outcome == Empty {
		return []notify.Notice{failed}
	}
	facts["summary_text"], facts["model"], facts["tokens_used"] = r.Text, r.Model, strconv.Itoa(r.PromptTokens+r.CompletionTokens)
	made := j.Notice()
	made.At, made.About, made.Facts = r.At, aboutJob(j.Name)+" "+span, facts
	return []notify.Notice{failed, made}
}

// aboutJob is what notices of a job are about.
func aboutJob(name string) string { return "summary " + name }

// Notice is what people are told of a text of the job, without what the run brings to it: enough to see where it goes.
func (j Job) Notice() notify.Notice {
	return notify.Notice{Kind: notify.SummaryReady, User: j.User, Person: j.person, Channels: j.Channels}
}

// Jobs lists every job of who asks by name.
func (s *Service) Jobs(ctx context.Context) ([]Job, error) {
	jobs, err := s.store.jobs(ctx)
	now := time.Now()
	for i := range jobs {
		if next, err := s.Next(jobs[i].Cron, now); jobs[i].Enabled && err == nil && !next.IsZero() {
			next = next.UTC()
			jobs[i].NextRun = &next
		}
	}
	return jobs, err
}

// Job is the job of who asks of a name, or ErrNotFound.
func (s *Service) Job(ctx context.Context, name string) (Job, error) {
	jobs, err := s.Jobs(ctx)
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

// Create adds a job of who asks. It returns a *reason.FieldError, ErrTaken or ErrFull, or to a person replica.ErrOlder.
func (s *Service) Create(ctx context.Context, d Draft) (Job, error) {
	d, err := d.checked(ctx, s.Next)
	if err != nil {
		return Job{}, err
	}
	if err := s.store.create(ctx, d); err != nil {
		return Job{}, err
	}
	s.Schedule.Kick()
	return s.Job(ctx, d.Name)
}

// Update replaces the job of a name, which may get another. It returns a *reason.FieldError, ErrNotFound
// or ErrTaken.
func (s *Service) Update(ctx context.Context, name string, d Draft) (Job, error) {
	d, err := d.checked(ctx, s.Next)
	if err != nil {
		return Job{}, err
	}
	if err := s.store.update(ctx, name, d); err != nil {
		return Job{}, err
	}
	if d.Name != name || !d.Enabled {
		if err := s.closeFailed(ctx, name); err != nil {
			return Job{}, err
		}
	}
	s.Schedule.Kick()
	return s.Job(ctx, d.Name)
}

// Delete removes the job of a name with its results, or returns ErrNotFound.
func (s *Service) Delete(ctx context.Context, name string) error {
	if err := s.store.remove(ctx, name); err != nil {
		return err
	}
	return s.closeFailed(ctx, name)
}

// closeFailed closes what people were told of a job that failed, which runs no more by that name.
func (s *Service) closeFailed(ctx context.Context, name string) error {
	return s.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		return s.Notify(ctx, tx, notify.Notice{Kind: notify.JobFailed, Person: scope.From(ctx).Person(), About: aboutJob(name), Over: true})
	})
}

// Results is a page of the results of a job, the newest first, and the cursor of the next page
// (0 = none). It returns ErrNotFound.
func (s *Service) Results(ctx context.Context, name string, before int64, limit int) (results []Result, next int64, err error) {
	return s.store.results(ctx, name, before, limit)
}
