package api_test

import (
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"watchmark/internal/tell/notify"
	"watchmark/internal/testkit/llmtest"
	"watchmark/internal/watch"
)

const modelKey = "sk-0123456789-of-the-tests"

// modelRig is newRig with a simulated language model.
func modelRig(t *testing.T) (*rig, *llmtest.Server) {
	t.Helper()
	remote, base := llmtest.Start(t, llmtest.Config{Key: modelKey})
	return newRig(t, "WATCHMARK_LLM_BASE_URL="+base, "WATCHMARK_LLM_API_KEY="+modelKey, "WATCHMARK_LLM_MODEL=m-1"), remote
}

// watched adds what mira watched just now.
func (r *rig) watched(title string, number float64) {
	r.t.Helper()
	season := 1
	e := watch.Event{Source: watch.Custom, Action: watch.Watched, Media: watch.Episode, Title: title, Season: &season, Episode: &number, UserName: "mira"}
	must(r.records.InsertClaimed(r.t.Context(), e, false, 0))(r.t)
	// A summary ends before the millisecond in which it is asked for.
	for written := time.Now().UnixMilli(); time.Now().UnixMilli() == written; {
		runtime.Gosched()
	}
}

func TestTheLanguageModelIsTried(t *testing.T) {
	r, remote := modelRig(t)
	got := r.do("POST", "/api/llm/test", nil).want(200, `"ok":true`, `"model":"m-1"`)
	if got.get("latency_ms").(float64) < 0 || got.get("problem") != "" {
		t.Errorf("it answers %s", got.body)
	}
	for _, empty := range []string{`{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}`, `{"choices":[{"message":{"content":null},"finish_reason":"length"}]}`} {
		remote.Next(llmtest.Reply{Body: empty})
		if got := r.do("POST", "/api/llm/test", nil).want(200, `"ok":true`, `"kind":""`, `"problem":""`, `"latency_ms":`); got.get("model") == "" {
			t.Errorf("an empty completion: %s", got.body)
		}
	}
	remote.Next(llmtest.Reply{Status: 401, Body: `{"error":{"message":"Incorrect API key provided: ` + modelKey + `"}}`})
	got = r.do("POST", "/api/llm/test", nil).want(200, `"ok":false`, `"kind":"bad_key"`, `"status":401`, "Check llm.api_key")
	if strings.Contains(got.body, modelKey) {
		t.Errorf("it shows the key: %s", got.body)
	}
	r.do("GET", "/api/llm/usage", nil).want(200, `"requests":4`, `"failed":1`, `"prompt_tokens":120`, `"job":""`, "refuses the key")
	r.do("GET", "/api/llm/usage?days=366", nil).problem(422, "query.days")
	r.anonymous("POST", "/api/llm/test", nil).problem(401)
}

func TestThereIsNoLanguageModel(t *testing.T) {
	r := newRig(t)
	r.do("POST", "/api/llm/test", nil).problem(409, "set llm.base_url")
	r.do("GET", "/api/llm/usage", nil).want(200, `"days":[]`, `"last_error_at":null`)
}

func TestSummaryJobs(t *testing.T) {
	r := newRig(t)
	const jobs = "/api/summary/jobs"
	r.do("GET", jobs, nil).want(200, `"items":[]`)
	r.do("POST", jobs, map[string]any{"name": "daily"}).want(201, `"name":"daily"`, `"enabled":true`, `"cron":"0 21 * * *"`, `"days_back":1`, `"skip_empty":true`,
		`"max_records":0`, `"channels":[]`, `"running":false`, `"next_run":"`)
	r.do("POST", jobs, map[string]any{"name": "daily"}).problem(409, "with this name already")
	weekly := "每周_总结-1"
	path := jobs + "/" + url.PathEscape(weekly)
	r.do("POST", jobs, map[string]any{"name": weekly, "enabled": false, "cron": "0 9 * * 1", "days_back": 7, "user": "mira", "prompt": " Be brief. ", "max_records": 20, "channels": []int{3, 1, 3}, "skip_empty": false}).
		want(201, `"next_run":null`, `"channels":[1,3]`, `"prompt":"Be brief."`)
	r.do("GET", path, nil).want(200, `"user":"mira"`)
	r.do("GET", jobs+"?limit=1", nil).want(200, `"name":"daily"`, `"next_cursor":"1"`)
	for field, wrong := range map[string]any{
		"name": "a/b", "cron": "at nine", "days_back": 400, "max_records": 501, "channels": []int{0}, "prompt": strings.Repeat("x", 4001), "user": strings.Repeat("x", 501),
	} {
		body := map[string]any{"name": "wrong"}
		body[field] = wrong
		r.do("POST", jobs, body).problem(422, `"body.`+field+`"`)
	}
	for _, name := range []string{"", " ", "a b", "a.b", "a?b", strings.Repeat("x", 65), "a\u202eb"} {
		r.do("POST", jobs, map[string]any{"name": name}).problem(422, `"body.name"`)
	}
	r.do("POST", jobs, map[string]any{"name": "wrong", "when": "now"}).problem(422, "when")
	r.do("PUT", path, map[string]any{"days_back": 14}).want(200, `"name":"`+weekly+`"`, `"days_back":14`, `"enabled":true`, `"prompt":""`)
	r.do("PUT", path, map[string]any{"name": "daily"}).problem(409)
	r.do("PUT", path, map[string]any{"name": "weekly"}).want(200, `"name":"weekly"`)
	r.do("GET", path, nil).problem(404, "no summary with this name")
	r.do("PUT", path, map[string]any{}).problem(404)
	r.do("DELETE", jobs+"/weekly", nil).want(204)
	r.do("DELETE", jobs+"/weekly", nil).problem(404)
	for _, missing := range []string{"/trigger", "/test"} {
		r.do("POST", jobs+"/weekly"+missing, nil).problem(404)
	}
	r.do("GET", jobs+"/weekly/results", nil).problem(404)
	for i := range 49 {
		r.do("POST", jobs, map[string]any{"name": "job" + strings.Repeat("x", i)}).want(201)
	}
	r.do("POST", jobs, map[string]any{"name": "onemore"}).problem(409, "50")
	r.anonymous("GET", jobs, nil).problem(401)
}

func TestASummaryIsTriedAndTriggered(t *testing.T) {
	r, remote := modelRig(t)
	const daily = "/api/summary/jobs/daily"
	r.do("POST", "/api/summary/jobs", map[string]any{"name": "daily", "channels": []int{4}}).want(201)
	r.watched("灯塔守望者", 5)

	r.do("POST", daily+"/test", nil).want(200, `"id":0`, `"records":1`, "A quiet day with good episodes", `"model":"m-1"`, `"prompt_tokens":120`)
	r.do("GET", daily+"/results", nil).want(200, `"items":[]`)
	if len(r.told) != 0 {
		t.Errorf("a test tells %v", r.told)
	}
	r.do("POST", daily+"/trigger", nil).want(200, `"status":"done"`, "A quiet day with good episodes", `"started_by":"person"`)
	if len(r.told) != 1 || r.told[0].Kind != notify.SummaryReady || len(r.told[0].Channels) != 1 || r.told[0].Facts["summary_text"] == "" || r.told[0].Facts["tokens_used"] != "150" {
		t.Errorf("it tells %+v", r.told)
	}
	r.do("GET", daily, nil).want(200, `"outcome":"done"`)
	r.do("POST", daily+"/trigger", nil).want(200, `"status":"done"`)
	first := r.do("GET", daily+"/results?limit=1", nil).want(200, `"id":2`)
	r.do("GET", daily+"/results?cursor="+first.get("next_cursor").(string), nil).want(200, `"id":1`, `"next_cursor":""`)

	// While a run is under way, in this or another process, nothing happens.
	wait := make(chan struct{})
	remote.Next(llmtest.Reply{Status: 404, Body: `{"error":"no such model"}`, Wait: wait})
	asked, ended := len(remote.Requests()), make(chan reply, 1)
	go func() { ended <- r.do("POST", daily+"/trigger", nil) }()
	for len(remote.Requests()) == asked {
		time.Sleep(time.Millisecond)
	}
	r.do("GET", daily, nil).want(200, `"running":true`)
	if got := r.do("POST", daily+"/trigger", nil).want(200).body; got != `{"status":"skipped"}`+"\n" {
		t.Errorf("the second one answers %q", got)
	}
	close(wait)
	got := <-ended
	got.want(200, `"status":"done"`, "1 episode of 1 show.", "The language model could not write this summary", `"model":""`, "no such model")
	r.do("GET", "/api/llm/usage", nil).want(200, `"job":"daily"`, `"requests":4`)
}

func TestAiringStatus(t *testing.T) {
	r := newRig(t)
	r.do("GET", "/api/summary/airing", nil).want(200, `"reason":"archive_missing"`, `"next_run":null`, `"told":[]`)
}
