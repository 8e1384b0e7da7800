package llm

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/scope"
)

// KeepUsage is how long the use is kept.
const KeepUsage = 365 * 24 * time.Hour

// Usage keeps account in the database of what the model was asked for.
type Usage struct{ db *db.DB }

// NewUsage is the account in d.
func NewUsage(d *db.DB) *Usage { return &Usage{d} }

// OfPeople is the job that all uses of people are counted as: what a person calls a summary is nobody else's.
const OfPeople = "*"

// add counts one use.
func (u *Usage) add(ctx context.Context, job string, at time.Time, a Answer, problem error) error {
	person := scope.From(ctx).Person()
	if person != 0 {
		job = OfPeople
	}
	return u.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO llm_usage (person_id, at, job, model, prompt_tokens, completion_tokens, latency_ms, error) VALUES (`+account.Person+`, ?, ?, ?, ?, ?, ?, ?)`,
			person, at.UnixMilli(), job, a.Model, a.Prompt, a.Completion, a.Latency.Milliseconds(), reason.Of(problem))
		if err != nil {
			return fmt.Errorf("count the use of the language model: %w", err)
		}
		return nil
	})
}

// by counts how often a person had the model asked since a time.
func (u *Usage) by(ctx context.Context, person int64, since time.Time) (count int, err error) {
	err = u.db.Read().QueryRowContext(ctx, `SELECT COUNT(*) FROM llm_usage WHERE person_id = ? AND at > ?`, person, since.UnixMilli()).Scan(&count)
	if err != nil {
		return 0, fmt.Errorf("count how often person %d had the language model asked: %w", person, err)
	}
	return count, nil
}

// Used is what one job used on one day, or what all did.
type Used struct {
	// Day is the day in the service's time zone, as 2026-05-31.
	Day string `json:"day" doc:"The day, in the time zone of the service." example:"2026-05-31"`
	Job string `json:"job" doc:"The name of the summary job; empty for tests of the settings, * for the summaries of people." example:"daily"`
	Count
}

// Count adds up uses.
type Count struct {
	Requests         int   `json:"requests" doc:"How often the model was asked; tries of one request count once."`
	Failed           int   `json:"failed" doc:"How many of these failed."`
	PromptTokens     int64 `json:"prompt_tokens" doc:"Tokens that were sent, where the service told."`
	CompletionTokens int64 `json:"completion_tokens" doc:"Tokens that were answered, where the service told."`
	LatencyMS        int64 `json:"latency_ms" doc:"The sum of the times, in milliseconds."`
}

// Report is the use of some days.
type Report struct {
	Days  []Used `json:"days" doc:"By day and job, the newest day first."`
	Total Count  `json:"total"`
	// LastError is the newest failure.
	LastError   reason.Reason `json:"last_error_value,omitzero" doc:"Why the model did not answer the last time that it did not; empty when it always did."`
	LastErrorAt *time.Time    `json:"last_error_at" doc:"When that was."`
}

// MarshalJSON has the text of the last error beside it, as last_error.
func (r Report) MarshalJSON() ([]byte, error) {
	type plain Report
	return reason.MarshalBeside((*plain)(&r))
}

// Report is the use of the last days, today included, in the time zone of now. It reads the rows of
// these days alone.
func (u *Usage) Report(ctx context.Context, now time.Time, days int) (Report, error) {
	from := time.Date(now.Year(), now.Month(), now.Day()-days+1, 0, 0, 0, 0, now.Location())
	report := Report{Days: []Used{}}
	type key struct{ day, job string }
	counts := map[key]*Count{}
	err := db.Each(ctx, u.db.Read(), "read the use of the language model", func(row db.Row) error {
		var at, prompt, completion, latency int64
		var job string
		var problem reason.Reason
		if err := row.Scan(&at, &job, &prompt, &completion, &latency, &problem); err != nil {
			return err
		}
		when := time.UnixMilli(at)
		k := key{when.In(now.Location()).Format(time.DateOnly), job}
		if counts[k] == nil {
			counts[k] = &Count{}
		}
		for _, c := range []*Count{counts[k], &report.Total} {
			c.Requests++
			c.PromptTokens += prompt
			c.CompletionTokens += completion
			c.LatencyMS += latency
			if !problem.IsZero() {
				c.Failed++
			}
		}
		if !problem.IsZero() {
			utc := when.UTC()
			report.LastError, report.LastErrorAt = problem, &utc
		}
		return nil
	}, `SELECT at, job, prompt_tokens, completion_tokens, latency_ms, error FROM llm_usage WHERE at >= ? ORDER BY at`, from.UnixMilli())
	if err != nil {
		return Report{}, err
	}
	for k, c := range counts {
		report.Days = append(report.Days, Used{k.day, k.job, *c})
	}
	slices.SortFunc(report.Days, func(a, b Used) int {
		if a.Day != b.Day {
			return strings.Compare(b.Day, a.Day)
		}
		return strings.Compare(a.Job, b.Job)
	})
	return report, nil
}

// Prune removes up to limit uses from before cutoff and reports how many went.
func (u *Usage) Prune(ctx context.Context, cutoff time.Time, limit int) (int64, error) {
	var n int64
	err := u.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `DELETE FROM llm_usage WHERE id IN (SELECT id FROM llm_usage WHERE at < ? ORDER BY at LIMIT ?)`, cutoff.UnixMilli(), limit)
		if err != nil {
			return fmt.Errorf("remove old uses of the language model: %w", err)
		}
		n, err = result.RowsAffected()
		return err
	})
	return n, err
}
