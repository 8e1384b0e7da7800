package api_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/engine"
	"watchmark/internal/engine/queue"
	"watchmark/internal/platform/reason"
	"watchmark/internal/record"
)

var noAnswer = &catalog.Error{Kind: catalog.ErrUnreachable}

// queued adds a record of mira that waits in the queue.
func (r *rig) queued(title string, tries int) int64 {
	r.t.Helper()
	id := r.record(title, record.Queued, true)
	for range tries + 1 {
		err := r.db.Write(r.t.Context(), func(ctx context.Context, tx *sql.Tx) error {
			put, err := queue.PutTx(ctx, tx, queue.Task{RecordID: id, AccountID: 1, SubjectID: 8, Episodes: []catalog.EpisodeID{801}, LastError: reason.Text("no answer"), Asked: true}, 1)
			if err == nil && put.Status == queue.Abandoned {
				err = record.MoveTx(ctx, tx, id, record.Queued, record.Failed, record.Abandoned, reason.Text("given up"))
			}
			return err
		})
		if err != nil {
			r.t.Fatal(err)
		}
	}
	return id
}

func TestQueueIsSeenAndSteered(t *testing.T) {
	r := newRig(t)
	r.mira()
	r.do("GET", "/api/catalog_replay/queue", nil).want(200, `"items":[]`)
	first, second, given := r.queued("first", 0), r.queued("second", 0), r.queued("given up", 1)
	r.do("GET", "/api/catalog_replay/status", nil).want(200, `"enabled":true`, `"cron":"*/5 * * * *"`, `"next_run":"`, `"last_run":null`, `"last_outcome":""`, `"max_retries":50`, `"pending":2`, `"abandoned":1`, `"synced":0`, `"state":"closed"`)
	r.do("GET", "/api/catalog_replay/queue?limit=2", nil).want(200, `"title":"first"`, `"title":"second"`, fmt.Sprintf(`"next_cursor":"%d"`, second), `"last_error":"no answer"`, `"in_work":false`, `"media_type":"episode"`, `"episodes":[801]`)
	r.do("GET", "/api/catalog_replay/queue?status=abandoned", nil).want(200, `"title":"given up"`, `"retry_count":1`)
	r.do("GET", "/api/catalog_replay/queue?status=lost", nil).problem(422)

	r.lists.err = noAnswer
	r.do("GET", "/api/catalog_replay/status", nil).want(200, `"state":"open"`, `"since":"`, `"next_trial":"`, `"problem":"no answer"`)
	r.do("POST", "/api/catalog_replay/replay", nil).problem(502, "api_catalog_unreachable")
	r.do("POST", fmt.Sprintf("/api/catalog_replay/replay/%d", first), nil).problem(502)
	r.lists.err = nil
	r.do("POST", "/api/catalog_replay/replay?limit=1", nil).want(202, fmt.Sprintf(`{"record_ids":[%d]}`, first))
	r.do("POST", fmt.Sprintf("/api/catalog_replay/replay/%d", second), nil).want(202, fmt.Sprintf(`{"record_ids":[%d]}`, second))
	r.do("POST", "/api/catalog_replay/replay/999", nil).problem(404)
	r.do("POST", "/api/catalog_replay/replay?limit=0", nil).problem(422)
	for _, id := range []int64{first, second} {
		r.until(id, record.Success)
	}
	r.do("POST", fmt.Sprintf("/api/catalog_replay/replay/%d", first), nil).problem(409, "queue_done")

	r.do("POST", fmt.Sprintf("/api/catalog_replay/queue/%d/revive", given), nil).want(204)
	r.do("POST", fmt.Sprintf("/api/catalog_replay/queue/%d/revive", given), nil).problem(409)
	r.do("DELETE", fmt.Sprintf("/api/catalog_replay/queue/%d", given), nil).want(204)
	r.do("DELETE", fmt.Sprintf("/api/catalog_replay/queue/%d", given), nil).problem(404)
	r.do("GET", fmt.Sprintf("/api/records/%d", given), nil).want(200, `"status":"ignored"`, "out of the queue")
}

func TestAMarkWaitsForItsAccount(t *testing.T) {
	r := newRig(t)
	r.mira()
	id := r.queued("first", 0)
	send := fmt.Sprintf("/api/catalog_replay/replay/%d", id)
	r.do("PATCH", "/api/accounts/1", map[string]any{"enabled": false}).want(200)
	r.do("POST", send, nil).problem(409, "No usable account configuration for probing")
	r.do("POST", "/api/catalog_replay/replay", nil).problem(409, "No usable account configuration for probing")
	r.do("POST", "/api/accounts", map[string]any{"username": "alex", "access_token": "catalog-token-of-alex-0123456789"}).want(201)
	r.do("GET", "/api/catalog_replay/queue", nil).want(200, `"held":true`, `"status":"pending"`)
	r.do("POST", send, nil).problem(409, "disabled, deleted or without a token")
	r.do("POST", "/api/catalog_replay/replay", nil).want(202, `{"record_ids":[]}`)
	r.do("POST", fmt.Sprintf("/api/records/%d/retry", id), nil).want(202)
	r.until(id, record.Queued)
	r.do("GET", "/api/catalog_replay/queue", nil).want(200, `"held":true`, `"last_error":"the account mira is disabled: this waits until it is enabled"`)
	r.do("PATCH", "/api/accounts/1", map[string]any{"enabled": true}).want(200)
	r.do("POST", send, nil).want(202)
	r.until(id, record.Success)
}

// until waits until a record is in a state.
func (r *rig) until(id int64, want record.Status) {
	r.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; <-time.After(10 * time.Millisecond) {
		got, err := r.records.Get(r.t.Context(), id)
		if err != nil {
			r.t.Fatal(err)
		}
		if got.Status == want {
			return
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("record %d stays %s", id, got.Status)
		}
	}
}

func TestProbeSaysWhyItFails(t *testing.T) {
	r := newRig(t)
	const path = "/api/catalog_replay/probe"
	r.do("POST", path, nil).want(200, `"ok":false`, `"reason":"no_account"`, "no enabled account")
	r.mira()
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, `"ok":true,"reason":""`},
		{account.ErrNoToken, `"ok":false,"reason":"empty_token"`},
		{noAnswer, `"ok":false,"reason":"unreachable"`},
		{&catalog.Error{Kind: catalog.ErrUnauthorized, Status: 401}, `"ok":false,"reason":"refused"`},
		{account.ErrOtherUser, `"ok":false,"reason":"refused"`},
	} {
		r.lists.err = c.err
		r.do("POST", path, nil).want(200, c.want, `"account":"mira"`)
	}
	r.lists.err = fmt.Errorf("the disk is gone")
	r.do("POST", path, nil).problem(500)
}

// sent is one server-sent event.
type sent struct{ name, id, data string }

// events reads a stream to its end, or to the limit, as a script of the owner, or of whom headers show.
func (r *rig) events(path, lastID string, limit int, headers ...string) (status int, all []sent) {
	r.t.Helper()
	req := must(http.NewRequestWithContext(r.t.Context(), http.MethodGet, r.url+path, nil))(r.t)
	if len(headers) == 0 {
		headers = []string{"Authorization", "Bearer " + r.key}
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	if lastID != "" {
		req.Header.Set("Last-Event-ID", lastID)
	}
	res := must(http.DefaultClient.Do(req))(r.t)
	defer func() { _ = res.Body.Close() }()
	var e sent
	for lines := bufio.NewScanner(res.Body); lines.Scan() && len(all) < limit; {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "event":
			e.name = value
		case "id":
			e.id = value
		case "data":
			e.data = value
		case "":
			if e.name != "" {
				all = append(all, e)
			}
			e = sent{}
		}
	}
	return res.StatusCode, all
}

func TestRetryIsStreamedResumedAndEnds(t *testing.T) {
	r := newRig(t)
	r.mira()
	id := r.record("灯塔守望者", record.Failed, true)
	stream := fmt.Sprintf("/api/records/%d/retry/stream", id)
	if status, _ := r.events(stream, "", 0); status != 404 {
		t.Errorf("before any retry: %d", status)
	}
	if status, _ := r.events("/api/records/nonsense/retry/stream", "", 0); status != 404 {
		t.Errorf("no number: %d", status)
	}
	r.do("POST", fmt.Sprintf("/api/records/%d/retry", id), nil).want(202, fmt.Sprintf(`"record_ids":[%d]`, id), `"task_id":1`)
	_, first := r.events(stream, "", 1) // this reader leaves, the run goes on
	if len(first) != 1 {
		t.Fatalf("events %v", first)
	}
	_, all := r.events(stream, "", 1000)
	last := all[len(all)-1]
	if last.name != "result" || !strings.Contains(last.data, `"state":"done"`) || !strings.Contains(last.data, `"status":"success"`) {
		t.Fatalf("the stream ends with %+v", last)
	}
	var logged []sent
	for _, e := range all {
		if e.name == "log" {
			logged = append(logged, e)
		}
	}
	if len(logged) == 0 || logged[0].id != "1" || !strings.HasPrefix(logged[0].data, `{"time":"`) || last.id != fmt.Sprint(len(logged)+1) {
		t.Errorf("log %v, and the end has number %s", logged, last.id)
	}
	if _, rest := r.events(stream, logged[len(logged)-1].id, 1000); len(rest) != 1 || rest[0].name != "result" {
		t.Errorf("after the last line: %v", rest)
	}
	if status, rest := r.events(stream, last.id, 1000); status != 204 || len(rest) != 0 {
		t.Errorf("after the end: %d %v", status, rest)
	}
	if status, _ := r.events("/api/tasks/1/stream", "", 1000); status != 200 {
		t.Errorf("the same by its task: %d", status)
	}
}

func TestTasksAreListedAndCancelled(t *testing.T) {
	r := newRig(t)
	r.mira()
	r.do("GET", "/api/tasks", nil).want(200, `"items":[]`)
	r.do("GET", "/api/tasks/1", nil).problem(404)
	r.do("POST", "/api/tasks/1/cancel", nil).problem(404)
	r.record("a", record.Failed, true)
	r.record("b", record.Failed, true)
	r.record("c", record.Ignored, true)
	r.do("POST", "/api/records/retry", nil).want(202, `"kind":"retry_failed"`, `"state":"`)
	if _, all := r.events("/api/tasks/1/stream", "", 1000); len(all) == 0 || !strings.Contains(all[len(all)-1].data, `"marked":2`) {
		t.Errorf("events %v", all)
	}
	r.do("GET", "/api/tasks", nil).want(200, `"state":"done"`, `"done":2,"total":2`)
	r.do("GET", "/api/tasks/1", nil).want(200, `"result":{"retried":2,"marked":2`)
	r.do("POST", "/api/tasks/1/cancel", nil).problem(409, "has ended")
	r.do("POST", "/api/records/retry?source=nowhere", nil).problem(422)
	r.do("POST", "/api/records/retry?source=tracker&since=2026-01-01T00:00:00Z&until=2026-02-01T00:00:00Z", nil).want(202)
}

func TestWhatCannotBeStoredIsNotAccepted(t *testing.T) {
	r := newRig(t)
	r.engine.failing(fmt.Errorf("%w: no space", engine.ErrNotStored))
	got := r.do("POST", "/webhook/custom/"+hookKey, map[string]any{"title": "a", "season": 1, "episode": 1, "user_name": "mira"}).problem(503, "webhook_not_stored")
	if got.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
}
