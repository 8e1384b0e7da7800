package web_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"image"
	_ "image/png" // the icons
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// visited is what a path answers to a browser that has nothing yet, as long as it is on the way.
func visited(t *testing.T, g *rig, path string) (answer *http.Response, body []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.server.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept-Encoding", "gzip") // and so nothing unpacks it
	answer, err = http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	var b bytes.Buffer
	if _, err := b.ReadFrom(answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s answers %d: %v", path, answer.StatusCode, err)
	}
	return answer, b.Bytes()
}

var loaded = regexp.MustCompile(`(?:src|href)="(/static/[^"]+|/manifest[^"]+)"`)

// A first visit is the sign-in page with all that it names.
func TestAFirstVisitIsSmall(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	_, page := visited(t, g, "/login")
	size := len(page)
	for _, m := range loaded.FindAllSubmatch(page, -1) {
		_, file := visited(t, g, string(m[1]))
		size += len(file)
	}
	if size > 120<<10 {
		t.Errorf("it has %d bytes", size)
	}
	t.Logf("it has %d bytes", size)
}

func TestTheManifestAndItsIcons(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	answer, text := visited(t, g, "/manifest.webmanifest")
	if got := answer.Header.Get("Content-Type"); got != "application/manifest+json" {
		t.Errorf("it is %s", got)
	}
	var m struct {
		StartURL string `json:"start_url"`
		Icons    []struct{ Src, Sizes, Purpose string }
	}
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	if m.StartURL != "/" || len(m.Icons) != 3 {
		t.Fatalf("it is %+v", m)
	}
	for _, icon := range m.Icons {
		_, packed := visited(t, g, icon.Src)
		plain, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		config, format, err := image.DecodeConfig(plain)
		if err != nil || format != "png" || icon.Sizes != fmt.Sprintf("%dx%d", config.Width, config.Height) {
			t.Errorf("%s is %s of %dx%d (%v)", icon.Src, format, config.Width, config.Height, err)
		}
	}
}

// What the worker keeps is the same for everybody who reads a language, and may load nothing.
func TestThePageWithoutTheService(t *testing.T) {
	t.Parallel()
	g := newRig(t)
	for lang, says := range map[string]string{"en": "Watchmark cannot be reached", "zh-CN": "无法连接 Watchmark", "xx": "Watchmark cannot be reached"} {
		answer, page := visited(t, g, "/offline?v=1&lang="+lang)
		if !strings.Contains(string(page), says) {
			t.Errorf("%s: it is %s", lang, page)
		}
		policy := answer.Header.Get("Content-Security-Policy")
		if strings.Count(policy, "'sha256-") != 2 || strings.Contains(policy, "unsafe") || loaded.Match(page) {
			t.Errorf("%s: the policy is %s", lang, policy)
		}
	}
	_, worker := visited(t, g, "/worker.js")
	for _, icon := range []string{"icon-192-", "badge-"} {
		name := regexp.MustCompile(`static/` + icon + `[0-9a-f]{10}\.png`).Find(worker)
		if name == nil {
			t.Fatalf("the worker names no %s", icon)
		}
		visited(t, g, "/"+string(name))
	}
}
