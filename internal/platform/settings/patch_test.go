package settings_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/platform/settings"
)

// fromJSON is a patch as the API decodes it.
func fromJSON(t *testing.T, text string) map[string]map[string]any {
	t.Helper()
	var patch map[string]map[string]any
	if err := json.Unmarshal([]byte(text), &patch); err != nil {
		t.Fatal(err)
	}
	return patch
}

func TestPatchAppliesAtOnceAndSurvivesARestart(t *testing.T) {
	h := newHouse(t)
	m := h.start(t)
	patch := fromJSON(t, `{"sync":{"coalesce_ms":50},"matching":{"margin":1},"server":{"trusted_proxies":["10.0.0.0/8"]},"network":{"timeout_seconds":20}}`)
	if err := m.Patch(t.Context(), patch); err != nil {
		t.Fatal(err)
	}
	for when, m := range map[string]*settings.Manager{"at once": m, "after a restart": h.start(t)} {
		s := m.Current()
		if s.Sync.Coalesce != 50*time.Millisecond || s.Matching.Margin != 1 || s.Network.Timeout != 20*time.Second ||
			s.Server.TrustedProxies[0] != netip.MustParsePrefix("10.0.0.0/8") {
			t.Errorf("%s: %+v", when, s)
		}
		if key := keyOf(t, m.Schema(), "sync.coalesce_ms"); key.Source != settings.FromDatabase || key.Locked {
			t.Errorf("%s: schema says %+v", when, key)
		}
	}
}

func TestPatchIsAllOrNothing(t *testing.T) {
	tests := []struct {
		name, patch string
		want        []string
	}{
		{"out of bounds", `{"sync":{"workers":33},"log":{"level":"debug"}}`, []string{"sync.workers: 33 is not between 1 and 32"}},
		{"unknown key", `{"log":{"leve":"debug","level":"debug"}}`, []string{"log.leve: unknown key; did you mean log.level?"}},
		{"unknown section", `{"logg":{"level":"debug"},"log":{"level":"debug"}}`, []string{"logg: unknown section; did you mean [log]?"}},
		{"locked keys, whatever the value", `{"catalog":{"api_url":null,"burst":10},"log":{"level":"debug"}}`, []string{
			"catalog.api_url: is locked, because it is set by environment variable WATCHMARK_CATALOG_API_URL: change it there",
			"catalog.burst: is locked, because it is set by watchmark.toml: change it there"}},
		{"wrong types", `{"auth":{"enabled":"false","lockout_attempts":1.5},"log":{"level":{"a":1}},"server":{"trusted_proxies":[1]}}`, []string{
			"auth.enabled: text is given, but true or false is needed",
			"auth.lockout_attempts: a number with a fraction is given, but a whole number is needed",
			"log.level: a section is given, but text in quotes is needed",
			"server.trusted_proxies: item 1: a number is given, but text in quotes is needed"}},
		{"a NAS of nobody, nowhere", `{"nas":{"database_path":" ","user":"' OR 1","range":"ever"}}`, []string{
			"nas.database_path: is not the path of a file", "nas.range: ever is not one of all, 1day, 1week, 1month", "nas.user: is neither all nor the guid of a user, which has only letters and digits"}},
		{"table nowhere and never", `{"matching":{"dataset_url":"data.json","dataset_cron":"0 0 30 2 *"}}`, []string{
			"matching.dataset_cron: never comes: there is no such day", "matching.dataset_url: is not a full address that begins with http:// or https://"}},
		{"boxes that are not at home", `{"device":{"addresses":["192.168.1.5","8.8.8.8:9978"],"subnets":["10.0.0.0/8"],"min_percent":10}}`, []string{
			"device.addresses: item 2: 8.8.8.8 is not an address of a home network: it is a public address; addresses of home networks are 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10 and fc00::/7",
			"device.min_percent: 10 is not between 50 and 99",
			"device.subnets: item 1: 10.0.0.0/8 is too large: use at most a /22, which has 1024 addresses"}},
		{"a public network", `{"device":{"subnets":["8.8.8.0/24"]}}`, []string{
			"device.subnets: item 1: 8.8.8.0 is not an address of a home network: it is a public address; addresses of home networks are 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10 and fc00::/7"}},
		{"rule between a changed and an unchanged key", `{"matching":{"accept_score":0.4},"log":{"level":"debug"}}`, []string{
			"matching.review_score: 0.5 is higher than matching.accept_score, which is 0.4"}},
		{"line break in a text", `{"catalog":{"oauth_client_id":"a\r\nX-B: c"},"log":{"level":"debug"}}`, []string{
			"catalog.oauth_client_id: holds a line break or another control character"}},
		{"foreign text in a name", `{"log":{"a\nb":1}}`, []string{`log."a\nb": unknown key; the keys of [log] are level, format, file`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := newHouse(t)
			h.file(t, "[catalog]\nburst = 20")
			h.opts.Environ = []string{"WATCHMARK_CATALOG_API_URL=http://127.0.0.1:1"}
			m := h.start(t)
			m.OnChange(func(_, _ settings.Settings) { t.Error("a refused change was told") })
			before := m.View()
			err := m.Patch(t.Context(), fromJSON(t, test.patch))
			if diff := cmp.Diff(test.want, h.problems(t, err)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, m.View()); diff != "" {
				t.Errorf("a refused patch changed (-before +after):\n%s", diff)
			}
			if stored := h.stored(t); len(stored) > 0 {
				t.Errorf("a refused patch stored %v", stored)
			}
		})
	}
}

func TestNullGivesTheDefaultBack(t *testing.T) {
	h := newHouse(t)
	m := h.start(t)
	for _, value := range []any{"debug", nil} {
		if err := m.Patch(t.Context(), one("log.level", value)); err != nil {
			t.Fatal(err)
		}
	}
	if key := keyOf(t, m.Schema(), "log.level"); viewOf(m, "log.level") != "info" || key.Source != settings.FromDefault {
		t.Errorf("level is %v from %s, want the default", viewOf(m, "log.level"), key.Source)
	}
	if stored := h.stored(t); len(stored) > 0 {
		t.Errorf("still stored: %v", stored)
	}
}

func TestListenersHearEachChangeOfWhatIsInForce(t *testing.T) {
	h := newHouse(t)
	m := h.start(t)
	var heard []string
	m.OnChange(func(before, after settings.Settings) {
		if m.Current().Log.Level != after.Log.Level || len(h.stored(t)) == 0 {
			t.Error("told before the change was stored and in force")
		}
		heard = append(heard, fmt.Sprint(before.Log.Level, "→", after.Log.Level))
	})
	for _, patch := range []map[string]map[string]any{
		one("log.level", "debug"), one("log.level", "debug"), {}, one("sync.workers", 8.0), one("log.level", "error"),
	} {
		if err := m.Patch(t.Context(), patch); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"INFO→DEBUG", "DEBUG→ERROR"}, heard); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestKeysThatNeedARestartWaitForIt(t *testing.T) {
	h := newHouse(t)
	m := h.start(t)
	if err := m.Patch(t.Context(), one("server.listen", "0.0.0.0:80")); err != nil {
		t.Fatal(err)
	}
	if m.Current().Server.Listen != "127.0.0.1:8787" || viewOf(m, "server.listen") != "0.0.0.0:80" || !keyOf(t, m.Schema(), "server.listen").PendingRestart {
		t.Errorf("in force %s, shown %v", m.Current().Server.Listen, viewOf(m, "server.listen"))
	}
	if got := h.start(t).Current().Server.Listen; got != "0.0.0.0:80" {
		t.Errorf("after the restart %s", got)
	}
	if err := m.Patch(t.Context(), one("server.listen", nil)); err != nil {
		t.Fatal(err)
	}
	if keyOf(t, m.Schema(), "server.listen").PendingRestart {
		t.Error("a change taken back still waits for a restart")
	}
}

func TestLoginStaysOnUntilThePrivateAddressIsInForce(t *testing.T) {
	h := newHouse(t)
	h.put(t, map[string]string{"server.listen": `"0.0.0.0:80"`})
	patch := map[string]map[string]any{"server": {"listen": "127.0.0.1:80"}, "auth": {"enabled": false}}
	want := []string{"auth.enabled: can be false only while server.listen is a loopback or private address; it is 0.0.0.0:80 until the service is restarted"}
	m := h.start(t)
	if diff := cmp.Diff(want, h.problems(t, m.Patch(t.Context(), patch))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !m.Current().Auth.Enabled {
		t.Error("login is off on a public address")
	}
}

func TestSecretsAreSealedAndNeverShown(t *testing.T) {
	const proxy, key = "http://mira:hunter2@proxy.example:3128", "webhook-key-0123456789"
	h := newHouse(t)
	m := h.start(t)
	if got := viewOf(m, "auth.webhook_key"); got != "" {
		t.Errorf("a secret that is not set is shown as %v", got)
	}
	patch := map[string]map[string]any{"network": {"proxy": proxy}, "auth": {"webhook_key": key}}
	if err := m.Patch(t.Context(), patch); err != nil {
		t.Fatal(err)
	}
	view, schema := m.View(), m.Schema()
	shown, err := json.Marshal([]any{view, schema, m.Current()})
	if err != nil {
		t.Fatal(err)
	}
	places := map[string]string{"JSON": string(shown), "print": fmt.Sprintf("%v %+v", m.Current(), m.Current()), "database": fmt.Sprint(h.stored(t))}
	refusals := []map[string]map[string]any{one("network.proxy", proxy+"/hunter2"), one("auth.webhook_key", key+"/"), one("auth.webhook_key", []any{key})}
	for i, refused := range refusals {
		err := m.Patch(t.Context(), refused)
		if err == nil {
			t.Errorf("patch %d was taken", i)
			continue
		}
		places[fmt.Sprint("error ", i)] = err.Error()
	}
	for place, text := range places {
		if strings.Contains(text, "hunter2") || strings.Contains(text, key) {
			t.Errorf("%s holds a secret: %s", place, text)
		}
	}
	if viewOf(m, "network.proxy") != settings.Mask {
		t.Errorf("proxy is shown as %v", viewOf(m, "network.proxy"))
	}

	if err := m.Patch(t.Context(), map[string]map[string]any{"network": {"proxy": settings.Mask}, "auth": {"webhook_key": settings.Mask}}); err != nil {
		t.Fatal(err)
	}
	s := h.start(t).Current()
	if s.Network.Proxy.Reveal() != proxy || s.Auth.WebhookKey.Reveal() != key {
		t.Error("sending the mask back changed a secret")
	}
	if secrets := s.Secrets(); len(secrets) != 2 {
		t.Errorf("%d secrets are listed, want 2", len(secrets))
	}
	if err := m.Patch(t.Context(), one("network.proxy", "")); err != nil {
		t.Fatal(err)
	}
	if got := h.start(t).Current().Network.Proxy.Reveal(); got != "" {
		t.Error("an emptied secret is still set after a restart")
	}
}

func TestAnAPIKeyIsFreedOfWhatWasCopiedWithIt(t *testing.T) {
	m := newHouse(t).start(t)
	if err := m.Patch(t.Context(), one("llm.api_key", " Bearer sk-0123456789 ")); err != nil {
		t.Fatal(err)
	}
	if got := m.Current().LLM.APIKey.Reveal(); got != "sk-0123456789" {
		t.Errorf("the key is %q", got)
	}
}

func TestMaskOfALockedSecretIsNoChange(t *testing.T) {
	h := newHouse(t)
	h.opts.Environ = []string{"WATCHMARK_AUTH_WEBHOOK_KEY=abc"}
	m := h.start(t)
	if err := m.Patch(t.Context(), one("auth.webhook_key", settings.Mask)); err != nil {
		t.Error(err)
	}
}

func TestNothingChangesWhenStoringFails(t *testing.T) {
	h := newHouse(t)
	h.opts.Overrides = brokenStore{h.store}
	m := h.start(t)
	m.OnChange(func(_, _ settings.Settings) { t.Error("a change that was not stored was told") })
	if err := m.Patch(t.Context(), one("log.level", "debug")); !errors.Is(err, errDiskFull) {
		t.Errorf("error %v, want the store's", err)
	}
	if got := viewOf(m, "log.level"); got != "info" {
		t.Errorf("level is %v", got)
	}
}

func TestReadersAndChangesAtOnce(t *testing.T) {
	m := newHouse(t).start(t)
	var last settings.Settings
	m.OnChange(func(_, after settings.Settings) { last = after })
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if err := m.Patch(t.Context(), one("sync.coalesce_ms", float64(i))); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			_, _, _ = m.Current(), m.View(), m.Schema()
		})
	}
	all.Wait()
	if last.Sync.Coalesce != m.Current().Sync.Coalesce {
		t.Error("the last change told is not the one in force")
	}
}

func TestTryTellsWhatAPatchWouldDoAndWritesNothing(t *testing.T) {
	h := newHouse(t)
	h.opts.Environ = []string{"WATCHMARK_CATALOG_BURST=7"}
	m := h.start(t)
	if err := m.Patch(t.Context(), fromJSON(t, `{"network":{"proxy":"http://a.example:3128"},"sync":{"workers":5}}`)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, patch string
		changes     bool
		wrong       string
	}{
		{"another value", `{"log":{"level":"debug"}}`, true, ""},
		{"the default that holds", `{"log":{"level":"info"}}`, false, ""},
		{"the secret that is stored", `{"network":{"proxy":"http://a.example:3128"}}`, false, ""},
		{"another secret", `{"network":{"proxy":"http://b.example:3128"}}`, true, ""},
		{"one of two", `{"network":{"timeout_seconds":15},"log":{"level":"debug"}}`, true, ""},
		{"a value that a restart waits for", `{"sync":{"workers":5}}`, false, ""},
		{"nothing", `{}`, false, ""},
		{"an unusable value", `{"log":{"level":"loud"}}`, false, "log.level"},
		{"a locked key", `{"catalog":{"burst":7}}`, false, "is locked"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := m.Current()
			changes, err := m.Try(fromJSON(t, c.patch))
			if changes != c.changes || (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("answers %v, %v", changes, err)
			}
			if diff := cmp.Diff(fmt.Sprint(before), fmt.Sprint(m.Current())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestShortKeysAreRefusedWhenEntered and hold on where they stand already: the service must start.
func TestShortKeysAreRefusedWhenEntered(t *testing.T) {
	for _, key := range []string{"server.legacy_key", "auth.webhook_key"} {
		m := newHouse(t).start(t)
		for text, problem := range map[string]string{
			"x": "has fewer than 12 characters", "eleven-char": "has fewer than 12 characters", "twelve-chars": "", "": "",
		} {
			err := m.Patch(t.Context(), one(key, text))
			if problem == "" && err != nil || problem != "" && (err == nil || !strings.Contains(err.Error(), key+": "+problem)) {
				t.Errorf("%s = %q: %v", key, text, err)
			}
		}
		if weak := m.Weak(); len(weak) != 0 {
			t.Errorf("weak are %v", weak)
		}
		section, name, _ := strings.Cut(key, ".")
		for where, set := range map[string]func(h *house){
			"watchmark.toml":       func(h *house) { h.file(t, "["+section+"]\n"+name+" = \"short\"\n") },
			"environment variable": func(h *house) { h.opts.Environ = []string{"WATCHMARK_" + strings.ToUpper(section+"_"+name) + "=short"} },
			"database": func(h *house) {
				h.put(t, map[string]string{key: fmt.Sprintf("%q", h.opts.Sealer.Seal("short", "settings/"+key+"/value"))})
			},
		} {
			h := newHouse(t)
			set(h)
			m := h.start(t)
			weak := m.Weak()
			if len(weak) != 1 || weak[0].Field != key || !strings.Contains(weak[0].Where, where) || strings.Contains(weak.Error(), "short\"") {
				t.Errorf("%s in the %s: weak are %v", key, where, weak)
			}
			if where == "database" {
				if err := m.Patch(t.Context(), one(key, "short")); err != nil {
					t.Errorf("%s cannot stay as it is: %v", key, err)
				}
			}
		}
	}
}
