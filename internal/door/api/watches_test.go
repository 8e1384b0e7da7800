package api_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"watchmark/internal/door/api"
	"watchmark/internal/match"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/changes"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

// watchesOf is a document of watches.
type watchesOf struct {
	Format  int
	Kind    string
	Account struct {
		Username       string
		MediaUserNames []string `json:"media_user_names"`
	}
	Records []struct {
		ID        int64
		AccountID int64 `json:"account_id"`
		Title     string
		Status    string
		Message   string
		Event     watch.Event
		Mapping   *record.Rule
		Question  int64 `json:"question_id"`
	}
	Answers  []struct{ ID int64 }
	Mappings []struct{ ID int64 }
	Blocked  []struct{ Keyword string } `json:"blocked_titles"`
}

// fill adds n records of accounts in turn, by few statements.
func (r *rig) fill(n int, accounts ...int64) {
	r.t.Helper()
	events := make([]watch.Event, n)
	for i := range events {
		season, episode := 1, float64(i)
		events[i] = watch.Event{Source: watch.Custom, Action: watch.Watched, Media: watch.Episode, Title: `A "title" <b>`, Season: &season, Episode: &episode, UserName: "mira"}
	}
	err := r.db.Write(r.t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		if _, err := record.InsertAll(ctx, tx, events, false, 0, time.Now()); err != nil {
			return err
		}
		for i, id := range accounts {
			_, err := tx.ExecContext(ctx, `UPDATE records SET status = 'success', account_id = ? WHERE account_id IS NULL AND id % ? = ?`, id, len(accounts), i)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

func TestWatchesAreTakenOut(t *testing.T) {
	r := newRig(t)
	r.mira()
	r.do("POST", "/api/accounts", map[string]any{"username": "alex", "access_token": "catalog-token-of-alex-0123456789", "media_user_names": []string{"alex"}}).want(201)
	own, _ := r.ask(show("灯塔守望者", 2, 14), match.Candidate{SubjectID: 265, Name: "灯台守", Score: .8})
	other, _ := r.ask(show("别人的", 1, 1), match.Candidate{SubjectID: 265, Name: "灯台守", Score: .8})
	r.do("POST", fmt.Sprintf("/api/pending-candidates/%d/confirm", own), map[string]any{"subject_id": 265}).want(202)
	r.do("POST", "/api/mappings", map[string]any{"title": "led", "subject_id": 265}).want(201)
	r.do("POST", "/api/mappings", map[string]any{"title": "of nobody", "subject_id": 265}).want(201)
	r.do("POST", "/api/blocked-keywords", map[string]any{"keyword": "广告"}).want(201)
	r.do("POST", "/api/blocked-keywords", map[string]any{"keyword": "elsewhere"}).want(201)
	sqlOf := func(statement string, args ...any) {
		t.Helper()
		if err := r.db.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, statement, args...)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	sqlOf(`UPDATE records SET account_id = 1, status = 'success' WHERE question_id = ?`, own)
	sqlOf(`UPDATE records SET account_id = 2, status = 'success' WHERE question_id = ?`, other)
	r.fill(1303, 1, 2)
	led := must(mapping.NewStore(r.db, changes.New(r.db)).All(t.Context()))(t)
	ruled := led[slices.IndexFunc(led, func(m mapping.Mapping) bool { return m.Title == "led" })]
	sqlOf(`UPDATE records SET rule_id = ?, rule_subject_id = 265, rule_offset = 3 WHERE id = (SELECT MAX(id) FROM records WHERE account_id = 1)`, ruled.ID)
	sqlOf(`UPDATE records SET status = 'ignored', message = ? WHERE id = (SELECT MIN(id) FROM records WHERE account_id = 1 AND question_id IS NULL)`,
		`{"code":"keyword_blocks","args":{"keyword":"广告"},"text":"blocked"}`)

	got := r.do("GET", "/api/accounts/1/export?format=watches", nil).want(200)
	var doc watchesOf
	got.into(&doc)
	if doc.Format != 1 || doc.Kind != "watches" || doc.Account.Username != "mira" || !slices.Equal(doc.Account.MediaUserNames, []string{"mira"}) {
		t.Errorf("it begins with %+v", doc.Account)
	}
	if !strings.HasPrefix(got.header.Get("Content-Disposition"), `attachment; filename="watchmark-watches-`) {
		t.Errorf("it is no file: %v", got.header)
	}
	var ids []int64
	for _, one := range doc.Records {
		ids = append(ids, one.ID)
		if one.AccountID != 1 || one.Event.Title != one.Title {
			t.Fatalf("a record is %+v", one)
		}
	}
	var want []int64
	for after := int64(0); ; {
		page := must(r.records.OfAccount(t.Context(), 1, after, 100))(t)
		if len(page) == 0 {
			break
		}
		for _, one := range page {
			want = append(want, one.ID)
		}
		after = want[len(want)-1]
	}
	if !slices.Equal(ids, want) || len(ids) < 650 || !slices.IsSorted(ids) {
		t.Errorf("%d records, want %d", len(ids), len(want))
	}
	if last := doc.Records[len(doc.Records)-1]; last.Mapping == nil || *last.Mapping != (record.Rule{ID: ruled.ID, SubjectID: 265, EpisodeOffset: 3}) {
		t.Errorf("the rule of a record is %+v", last.Mapping)
	}
	if len(doc.Answers) != 1 || doc.Answers[0].ID != own {
		t.Errorf("answers are %+v", doc.Answers)
	}
	if len(doc.Mappings) != 2 {
		t.Errorf("mappings are %+v", doc.Mappings)
	}
	if len(doc.Blocked) != 1 || doc.Blocked[0].Keyword != "广告" {
		t.Errorf("blocked titles are %+v", doc.Blocked)
	}
	for _, secret := range []string{token, "catalog-token-of-alex", r.key, hookKey, "别人的"} {
		if strings.Contains(got.body, secret) {
			t.Errorf("it holds %q", secret)
		}
	}

	r.do("GET", "/api/accounts/9/export?format=watches", nil).problem(404)
	r.do("GET", "/api/accounts/1/export?format=xlsx", nil).problem(422, "watches")
	r.anonymous("GET", "/api/accounts/1/export?format=watches", nil).problem(401)
	var empty watchesOf
	r.do("POST", "/api/accounts", map[string]any{"username": "bench", "access_token": "catalog-token-of-bench-0123456789"}).want(201)
	r.do("GET", "/api/accounts/3/export?format=watches", nil).want(200, `"records":[]`, `"blocked_titles":[]`).into(&empty)
}

// pages counts what is asked of records.
type pages struct {
	*record.Store
	asked, most int
	written     func() int
	last        int
	stalled     bool
	fail        int // the page that cannot be read; 0 for none
}

func (p *pages) OfAccount(ctx context.Context, id, after int64, limit int) ([]record.Kept, error) {
	if p.asked++; p.asked == p.fail {
		return nil, errors.New("the disk is gone")
	}
	if p.written != nil {
		p.stalled = p.stalled || p.asked > 1 && p.written() <= p.last
		p.last = p.written()
	}
	page, err := p.Store.OfAccount(ctx, id, after, limit)
	p.most = max(p.most, len(page))
	return page, err
}

func TestWatchesOfManyRecordsAreWrittenPageByPage(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and does one thing after the other")
	}
	r := newRig(t)
	r.mira()
	r.fill(30_000, 1)
	var out bytes.Buffer
	counted := &pages{Store: r.records, written: out.Len}
	mira := must(r.accounts.Get(t.Context(), 1))(t)
	ws := api.Watches{Records: counted, Questions: r.questions, Mappings: mapping.NewStore(r.db, changes.New(r.db))}
	if err := api.WriteWatches(ws, t.Context(), mira, &out); err != nil {
		t.Fatal(err)
	}
	if counted.most > 500 || counted.asked < 60 || counted.asked > 62 || counted.stalled {
		t.Errorf("%d pages of up to %d records, and nothing was written between two of them: %t", counted.asked, counted.most, counted.stalled)
	}
	var doc watchesOf
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil || len(doc.Records) != 30_000 {
		t.Errorf("%d records, %v", len(doc.Records), err)
	}
}

func TestAnExportThatFailsIsCutOff(t *testing.T) {
	r := newRig(t)
	r.mira()
	r.fill(3000, 1)
	r.kept.fail = 4
	req := must(http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"/api/accounts/1/export?format=watches", nil))(t)
	req.Header.Set("Authorization", "Bearer "+r.key)
	res := must(http.DefaultTransport.RoundTrip(req))(t)
	defer func() { _ = res.Body.Close() }()
	if body, err := io.ReadAll(res.Body); err == nil || strings.Contains(string(body), "about:blank") {
		t.Errorf("a part came as the whole: %.200s", body[max(0, len(body)-200):])
	}
	r.kept.fail = 1
	r.kept.asked = 0
	if got := r.do("GET", "/api/accounts/1/export?format=watches", nil).problem(500); got.header.Get("Content-Disposition") != "" {
		t.Error("a problem is kept as a file")
	}
}
