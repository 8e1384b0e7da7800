package api_test

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"testing"
	"unicode/utf8"

	"watchmark/internal/engine"
	"watchmark/internal/watch"
)

// lastEntry is the newest line of the webhook log.
func (r *rig) lastEntry() map[string]any {
	r.t.Helper()
	items := r.do("GET", "/api/webhook-log?limit=1", nil).want(200).get("items").([]any)
	if len(items) == 0 {
		r.t.Fatal("the webhook log is empty")
	}
	return items[0].(map[string]any)
}

func TestWebhookKeyMayComeThreeWays(t *testing.T) {
	r := newRig(t)
	body := event("灯塔守望者", 2, "7")
	r.anonymous("POST", "/webhook/custom/"+hookKey, body).want(202, `{"record_ids":[1]}`)
	r.anonymous("POST", "/webhook/custom?key="+hookKey, body).want(202)
	r.anonymous("POST", "/webhook/custom", body, "X-Webhook-Key", hookKey).want(202, `{"record_ids":[3]}`)
	for name, path := range map[string]string{
		"none": "/webhook/custom", "wrong": "/webhook/custom/wrong", "prefix": "/webhook/custom/" + hookKey[:8], "longer": "/webhook/custom/" + hookKey + "x",
		"empty": "/webhook/custom?key=",
	} {
		t.Run(name, func(t *testing.T) {
			r.anonymous("POST", path, `{"title":"not to be kept"}`).problem(401)
		})
	}
	entry := r.lastEntry()
	if entry["status"] != 401.0 || entry["body"] != "" || entry["source"] != "custom" || !strings.Contains(entry["reason"].(string), "key") {
		t.Errorf("log: %v", entry)
	}
	r.do("PATCH", "/api/settings", map[string]any{"auth": map[string]any{"webhook_auth_enabled": false}}).want(200)
	r.anonymous("POST", "/webhook/custom", body).want(202)
}

func TestStrangersDoNotFillTheLog(t *testing.T) {
	r := newRig(t)
	for range 150 {
		r.anonymous("POST", "/webhook/custom/wrong", `{}`).problem(401)
	}
	var log struct{ Items []any }
	r.do("GET", "/api/webhook-log?limit=200", nil).want(200).into(&log)
	if n := len(log.Items); n < 50 || n > 120 {
		t.Errorf("the log keeps %d of 150 requests of strangers", n)
	}
	r.anonymous("POST", "/webhook/custom/"+hookKey, event("灯塔守望者", 2, "7")).want(202)
}

func TestNoKeyIsRightWhileNoneIsSet(t *testing.T) {
	r := newRig(t, "WATCHMARK_AUTH_WEBHOOK_KEY=")
	r.anonymous("POST", "/webhook/custom", event("x", 1, 1)).problem(401)
	r.anonymous("POST", "/webhook/custom?key=", event("x", 1, 1)).problem(401)
}

func TestWebhookAnswersSayWhatIsWrong(t *testing.T) {
	r := newRig(t, "WATCHMARK_SERVER_MAX_BODY_MB=1")
	at := func(source string) string { return "/webhook/" + source + "/" + hookKey }
	r.anonymous("POST", at("nobody"), event("x", 1, 1)).problem(404, "plex")
	if entry := r.lastEntry(); entry["source"] != "" || strings.Contains(fmt.Sprint(entry), "nobody") {
		t.Errorf("log: %v", entry)
	}
	r.anonymous("GET", at("custom"), nil).problem(405, "POST")
	r.anonymous("POST", "/webhook/", nil).problem(404)
	for name, c := range map[string]struct {
		source string
		body   any
		status int
		text   string
	}{
		"missing fields": {"custom", `{"user_name":"mira"}`, 400, "title, season, episode"},
		"broken JSON":    {"custom", `{"title":"x"`, 400, "JSON"},
		"empty":          {"plex", "", 400, "empty"},
		"no JSON":        {"emby", "hello", 415, "neither JSON nor a form"},
		"too large":      {"custom", `{"title":"` + strings.Repeat("a", 1<<20) + `"}`, 413, "server.max_body_mb"},
	} {
		t.Run(name, func(t *testing.T) {
			r.anonymous("POST", at(c.source), c.body).problem(c.status, c.text)
			if entry := r.lastEntry(); entry["status"] != float64(c.status) || !strings.Contains(entry["reason"].(string), c.text) || entry["source"] != c.source {
				t.Errorf("log: %v", entry)
			}
		})
	}
	r.anonymous("POST", at("custom"), event("x", 1, 1)).want(202)
}

func TestWebhooksAreOpenToOtherOriginsAndNeedNoLogin(t *testing.T) {
	r := newRig(t)
	r.anonymous("POST", "/webhook/custom/"+hookKey, event("x", 1, 1), "Origin", "http://elsewhere.example", "Sec-Fetch-Site", "cross-site").want(202)
}

// plexForm is a form as Plex sends it, poster included.
func plexForm(t *testing.T, payload string) (contentType, body string) {
	t.Helper()
	var buf bytes.Buffer
	form := multipart.NewWriter(&buf)
	part := must(form.CreatePart(textproto.MIMEHeader{"Content-Disposition": {`form-data; name="payload"`}, "Content-Type": {"application/json"}}))(t)
	_, _ = part.Write([]byte(payload))
	poster := must(form.CreateFormFile("thumb", "poster.jpg"))(t)
	_, _ = poster.Write(bytes.Repeat([]byte{0xff, 0xd8, 'J'}, 5000))
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	return form.FormDataContentType(), buf.String()
}

const plexEpisode = `{"event":%q,"Account":{"id":1,"title":"mira"},"Server":{"title":"attic","uuid":"u"},"token":"plex-token-value",
	"Metadata":{"type":"episode","grandparentTitle":"灯塔守望者","parentIndex":2,"index":7,"title":"The tide"}}`

func TestBodiesAreKeptMaskedCutAndWithoutFiles(t *testing.T) {
	r := newRig(t)
	contentType, body := plexForm(t, fmt.Sprintf(plexEpisode, "media.scrobble"))
	r.anonymous("POST", "/webhook/plex/"+hookKey, body, "Content-Type", contentType).want(202)
	entry := r.lastEntry()
	text := entry["body"].(string)
	if !strings.Contains(text, "grandparentTitle") || strings.Contains(text, "plex-token-value") || strings.Contains(text, "\xff\xd8") || strings.Contains(text, "\ufffd") {
		t.Errorf("kept body: %.300s", text)
	}
	if entry["user_name"] != "mira" || entry["title"] != "灯塔守望者" || entry["reason"] != "accepted" || fmt.Sprint(entry["record_ids"]) != "[1]" || entry["remote"] != "127.0.0.1" {
		t.Errorf("log: %v", entry)
	}
	long := event("灯", 1, 1)
	long["note"] = strings.Repeat("灯塔", 5000)
	long["secret"] = hookKey
	r.anonymous("POST", "/webhook/custom/"+hookKey, long).want(202)
	text = r.lastEntry()["body"].(string)
	if len(text) > 8<<10 || len(text) < 8000 || !utf8.ValidString(text) || strings.Contains(text, hookKey) {
		t.Errorf("kept body has %d bytes: %.100s", len(text), text)
	}
	if strings.Contains(r.log.String(), "plex-token-value") {
		t.Error("the service's log has the token")
	}
}

func TestEventsThatAreNoWatchAreIgnoredAndNoted(t *testing.T) {
	r := newRig(t)
	contentType, body := plexForm(t, fmt.Sprintf(plexEpisode, "media.pause"))
	got := r.anonymous("POST", "/webhook/plex/"+hookKey, body, "Content-Type", contentType).want(200)
	if entry := r.lastEntry(); entry["reason"] != got.get("ignored") || entry["status"] != 200.0 || fmt.Sprint(entry["record_ids"]) != "[]" {
		t.Errorf("answer %s, log %v", got.body, entry)
	}
	contentType, body = plexForm(t, fmt.Sprintf(plexEpisode, "media.play"))
	r.anonymous("POST", "/webhook/plex/"+hookKey, body, "Content-Type", contentType).want(200, "Playback started")
}

func TestTheStartOfAFilmCountsWhenTheSettingSaysSo(t *testing.T) {
	r := newRig(t)
	film := map[string]any{"media_type": "movie", "title": "潮汐", "user_name": "mira", "sync_action": "mark_watching"}
	r.anonymous("POST", "/webhook/custom/"+hookKey, film).want(200, "film_start_marks_doing")
	r.do("PATCH", "/api/settings", map[string]any{"sync": map[string]any{"film_start_marks_doing": true}}).want(200)
	r.anonymous("POST", "/webhook/custom/"+hookKey, film).want(202)
	if events := r.engine.events; len(events) != 1 || events[0].Action != watch.Started || !events[0].IsFilm() {
		t.Errorf("events: %+v", events)
	}
}

func TestAFullIntakeAsksToComeBack(t *testing.T) {
	r := newRig(t)
	r.engine.failing(engine.ErrBusy)
	got := r.anonymous("POST", "/webhook/custom/"+hookKey, event("x", 1, 1)).problem(503)
	if got.header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After %q", got.header.Get("Retry-After"))
	}
	r.anonymous("POST", "/webhook/custom/wrong", event("x", 1, 1)).problem(401)
	if !strings.Contains(r.log.String(), "cannot note a webhook request") {
		t.Error("the log does not tell that a request went unnoted")
	}
}

func TestWebhookLogIsPaged(t *testing.T) {
	r := newRig(t)
	for range 3 {
		r.anonymous("POST", "/webhook/custom/"+hookKey, event("x", 1, 1)).want(202)
	}
	r.anonymous("POST", "/webhook/tautulli/wrong", nil).problem(401)
	page := r.do("GET", "/api/webhook-log?source=custom&limit=2", nil).want(200)
	if items := page.get("items").([]any); len(items) != 2 {
		t.Fatalf("page: %s", page.body)
	}
	page = r.do("GET", "/api/webhook-log?source=custom&limit=2&cursor="+page.get("next_cursor").(string), nil).want(200)
	if items := page.get("items").([]any); len(items) != 1 || page.get("next_cursor") != "" {
		t.Fatalf("page: %s", page.body)
	}
	if http.StatusOK != r.do("GET", "/api/webhook-log?source=tautulli", nil).want(200, "wrong").status {
		t.Error("no answer")
	}
}
