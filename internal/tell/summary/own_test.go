package summary_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/replica"
	"watchmark/internal/platform/scope"
	"watchmark/internal/record"
	"watchmark/internal/tell/llm"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/summary"
	"watchmark/internal/testkit/dbtest"
)

// people adds two people, mira (2) and alex (3), with an account each (102 and 103).
func (r *rig) people() {
	r.t.Helper()
	execute(r.t, r.db, `INSERT INTO people (id, name, role, password_hash, created_at, updated_at) VALUES (2, 'mira', 'person', '', 0, 0), (3, 'alex', 'person', '', 0, 0)`)
	for _, id := range []int{2, 3} {
		execute(r.t, r.db, fmt.Sprintf(`INSERT INTO accounts (id, person_id, username, auth_method, enabled, preferred, private, complete_series, complete_films, created_at, updated_at) VALUES (%d, %d, 'account %d', 'token', 1, 0, 0, 0, 0, 0, 0)`, 100+id, id, id))
	}
}

// watchedBy is watched for the account of a person.
func (r *rig) watchedBy(at time.Time, person int, title string) {
	r.t.Helper()
	r.watched(at, "tv", title, 1, 1, record.Success, 0)
	execute(r.t, r.db, `UPDATE records SET account_id = ? WHERE id = (SELECT MAX(id) FROM records)`, 100+person)
}

// Each evening everybody gets what is theirs, and the owner all; who may not sign in any more gets nothing. What the owner runs at once is
// the owner's.
func TestTheScheduleTellsEverybodyTheirOwn(t *testing.T) {
	dir := dbtest.Folder(t)
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, dir)
		defer func() { _ = r.db.Close() }()
		r.people()
		k := r.service()
		mira, alex := scope.In(t.Context(), scope.Of(2)), scope.In(t.Context(), scope.Of(3))
		day := time.Now().Local().Truncate(24 * time.Hour).Add(24 * time.Hour)
		until := func(days, hour int) {
			time.Sleep(time.Until(time.Date(day.Year(), day.Month(), day.Day()+days, hour, 0, 0, 0, time.Local)) + time.Second)
			synctest.Wait()
		}
		until(0, 8)
		r.create(k, nil)
		for _, ctx := range []struct {
			as   string
			make func() (summary.Job, error)
		}{{"mira", func() (summary.Job, error) { return k.Create(mira, daily(nil)) }}, {"alex", func() (summary.Job, error) { return k.Create(alex, daily(nil)) }}} {
			if _, err := ctx.make(); err != nil {
				t.Fatal(ctx.as, err)
			}
		}
		running(t, k)
		r.watchedBy(time.Now(), 2, "Of mira")
		r.watchedBy(time.Now(), 3, "Of alex")
		told := func() map[int64]string {
			all := map[int64]string{}
			for _, n := range r.notices(notify.SummaryReady) {
				all[n.Person] += n.Facts["summary_text"]
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			r.told = nil
			return all
		}
		until(0, 21)
		got := told()
		if len(got) != 3 || !strings.Contains(got[0], "Of mira") || !strings.Contains(got[0], "Of alex") || !strings.Contains(got[2], "Of mira") || strings.Contains(got[2], "Of alex") ||
			!strings.Contains(got[3], "Of alex") || strings.Contains(got[3], "Of mira") {
			t.Fatalf("the evening tells %v", got)
		}

		// By hand the owner runs the owner's.
		if _, err := k.Schedule.Start(t.Context(), summary.JobsJob); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := told(); len(got) != 1 || got[0] == "" {
			t.Errorf("run at once it tells %v", got)
		}

		execute(t, r.db, `UPDATE people SET role = 'guest' WHERE id = 3`)
		r.watchedBy(time.Now(), 2, "More of mira")
		r.watchedBy(time.Now(), 3, "More of alex")
		until(1, 21)
		if got := told(); len(got) != 2 || got[3] != "" {
			t.Errorf("with a guest it tells %v", got)
		}
	})
}

// A program that does not know of summaries of people would tell one what all watched: people have none while one runs, and none may run
// from then on.
func TestPeopleHaveNoneBesideAProgramThatDoesNotKnowOfIt(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.Folder(t))
	r.people()
	k := r.service()
	mira := scope.In(t.Context(), scope.Of(2))
	execute(t, r.db, `INSERT INTO replicas (replica, address, state, lease_until, started_at, program, schema, reachable, egress, clock_offset, settings_digest)
		VALUES ('old', '', 'live', 0, 0, '1.0', 59, 1, '', 0, '')`)
	r.create(k, nil)
	if _, err := k.Create(mira, daily(nil)); !errors.Is(err, replica.ErrOlder) {
		t.Errorf("beside it: %v", err)
	}
	if floor, err := r.db.SchemaFloor(t.Context()); err != nil || floor >= 60 {
		t.Errorf("the floor is %d, %v", floor, err)
	}
	execute(t, r.db, `DELETE FROM replicas`)
	if _, err := k.Create(mira, daily(nil)); err != nil {
		t.Error(err)
	}
	if floor, err := r.db.SchemaFloor(t.Context()); err != nil || floor != 60 {
		t.Errorf("then the floor is %d, %v", floor, err)
	}
}

// What a person has of summaries is bounded, and so is how often they come.
func TestJobsOfAPersonAreBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.Folder(t))
	r.people()
	k := r.service()
	mira := scope.In(t.Context(), scope.Of(2))
	for cron, fits := range map[string]bool{
		"0 21 * * *": true, "0 * * * *": true, "0 9,21 * * 1-5": true, "30 8 1 * *": true, "*/59 * * * *": false, "* * * * *": false, "0,1 0 1 * *": false, "@every 10m": false,
	} {
		d := daily(func(d *summary.Draft) { d.Cron = cron })
		_, err := k.Create(mira, d)
		var field *reason.FieldError
		if refused := errors.As(err, &field) && field.Field == "cron"; refused == fits || fits && err != nil {
			t.Errorf("%q: %v", cron, err)
		}
		if err == nil {
			if err := k.Delete(mira, d.Name); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := k.Create(t.Context(), d); err != nil {
			t.Errorf("%q of the owner: %v", cron, err)
		}
		if err := k.Delete(t.Context(), d.Name); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 6 {
		_, err := k.Create(mira, daily(func(d *summary.Draft) { d.Name = fmt.Sprint("n", i) }))
		if full := err != nil; full != (i == 5) {
			t.Errorf("number %d: %v", i+1, err)
		}
	}
	r.create(k, func(d *summary.Draft) { d.Name = "n1" })
	if _, err := k.Update(mira, "n1", daily(func(d *summary.Draft) { d.Name = "n2" })); !errors.Is(err, summary.ErrTaken) {
		t.Errorf("a name of another of the same person: %v", err)
	}
	if jobs, err := k.Jobs(t.Context()); err != nil || len(jobs) != 1 {
		t.Errorf("the owner has %d, %v", len(jobs), err)
	}
}

// A person reads nothing of the service that the owner uses: only what that one can change.
func TestAPersonReadsNothingOfTheServiceOfTheModel(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.Folder(t))
	r.people()
	k := r.service()
	mira := scope.In(t.Context(), scope.Of(2))
	r.watchedBy(time.Now().Add(-time.Hour), 2, "Of mira")
	if _, err := k.Create(mira, daily(nil)); err != nil {
		t.Fatal(err)
	}
	r.create(k, nil)
	said := reason.Reason{Code: "other", Text: "the organization acme-7 has no seat"}
	for name, c := range map[string]struct {
		err  error
		code string
	}{
		"the key is refused":      {&llm.Error{Kind: llm.BadKey, Status: 401, Detail: said}, "summary_model_failed"},
		"it is out of reach":      {&llm.Error{Kind: llm.Unreachable, Detail: said}, "summary_model_failed"},
		"the database":            {errors.New("the disk acme-7 is full"), "summary_model_failed"},
		"too long":                {&llm.Error{Kind: llm.TooLong, Detail: said}, "llm_problem"},
		"it refuses":              {&llm.Error{Kind: llm.Refused, Detail: said}, "llm_problem"},
		"too often":               {llm.ErrOften, "llm_often"},
		"it did not come in time": {context.DeadlineExceeded, "summary_model_too_slow"},
	} {
		r.model.set(func(context.Context) (llm.Answer, error) { return llm.Answer{}, c.err })
		own, err := k.Test(mira, "daily")
		if err != nil || own.Problem.Code != c.code || strings.Contains(own.Problem.Text+own.Text, "acme-7") || strings.Contains(own.Problem.Text, "llm.") || !strings.Contains(own.Text, "Of mira") {
			t.Errorf("%s: a person reads %+v, %v", name, own, err)
		}
		whole, err := k.Test(t.Context(), "daily")
		if told := strings.Contains(c.err.Error(), "acme-7"); err != nil || strings.Contains(whole.Problem.Text, "acme-7") != told {
			t.Errorf("%s: the owner reads %+v, %v", name, whole, err)
		}
	}
}
