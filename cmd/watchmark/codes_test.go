package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"
	"time"

	"watchmark/internal/testkit/totptest"
)

func TestLostPhoneIsNoEnd(t *testing.T) {
	data := t.TempDir()
	off := func(name string) ran {
		t.Helper()
		return finish(t, command(t, nil, "two-factor", "off", name, "--data", data), "")
	}
	service := serve(t, data, nowhere)
	service.setUp("mira")
	jar, err := cookiejar.New(nil)
	must(t, err)
	client := &http.Client{Jar: jar}
	post := func(path, body string) string {
		t.Helper()
		answer, err := client.Post(service.url+path, "application/json", strings.NewReader(body))
		must(t, err)
		defer func() { _ = answer.Body.Close() }()
		text, err := io.ReadAll(answer.Body)
		must(t, err)
		if answer.StatusCode != http.StatusOK {
			t.Fatalf("%s answers %s: %s", path, answer.Status, text)
		}
		return string(text)
	}
	login := fmt.Sprintf(`{"name":"mira","password":%q}`, password)
	post("/api/login", login)
	if got := off("mira"); got.code != 1 || !strings.Contains(got.err, "two-factor sign-in is not on") {
		t.Errorf("while it is off: exit %d, %s", got.code, got.err)
	}
	var made struct{ Secret string }
	must(t, json.Unmarshal([]byte(post("/api/two-factor/start", fmt.Sprintf(`{"password":%q}`, password))), &made))
	post("/api/two-factor/confirm", fmt.Sprintf(`{"code":%q}`, totptest.Code(made.Secret, time.Now())))
	mustHold(t, post("/api/login", login), `"needs_code":true`)
	if got := off("alex"); got.code != 1 || !strings.Contains(got.err, `"mira"`) {
		t.Errorf("a wrong name: exit %d, %s", got.code, got.err)
	}
	if got := off("mira"); got.code != 0 || got.err != "" {
		t.Errorf("exit %d, prints %q and %q", got.code, got.out, got.err)
	}
	mustHold(t, post("/api/login", login), `"authenticated":true`)
}
