package settings_test

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/settings"
)

func TestDefaultsAreTypedAndInUnits(t *testing.T) {
	got := newHouse(t).start(t).Current()
	want := settings.Settings{
		Server:  settings.Server{Listen: "127.0.0.1:8787", MaxBody: 4 << 20, TrustedProxies: []netip.Prefix{}, WebhookLog: 7 * 24 * time.Hour},
		Auth:    settings.Auth{Enabled: true, WebhookAuthEnabled: true, Session: 30 * 24 * time.Hour, LockoutAttempts: 5, Lockout: 15 * time.Minute, OIDCAllowed: []string{}, OIDCGroupsClaim: "groups", MediaServers: []string{}},
		Network: settings.Network{Timeout: 15 * time.Second},
		Catalog: settings.Catalog{APIURL: "https://api.bgm.tv", WebURL: "https://bgm.tv", ImageURL: "https://lain.bgm.tv", RequestsPerMinute: 100, Burst: 800, Egress: "shared", LimitCounts: "address"},
		Sync:    settings.Sync{Coalesce: 300 * time.Millisecond, Workers: 4, Adult: "mark", Unwatched: "ignore", Rewatch: "ignore"},
		IDMap: settings.IDMap{Enabled: true, AnimeListsURL: "https://raw.githubusercontent.com/Anime-Lists/anime-lists/master/anime-list.xml",
			ShinkroURL: "https://raw.githubusercontent.com/varoOP/shinkro-mapping/main/tvdb-mal.yaml", UpdateCron: "50 8 * * *"},
		Matching: settings.Matching{DatasetEnabled: true, DatasetURL: "https://unpkg.com/bangumi-data@0.3/dist/data.json", DatasetCron: "30 8 * * 3",
			AcceptScore: 0.85, ReviewScore: 0.5, Margin: 0.04},
		CatalogArchive: settings.CatalogArchive{DataDir: "./data/archive", UpdateCron: "0 8 * * 3", Mirrors: []string{}, MinFreeMB: 3000,
			PointerURL: "https://raw.githubusercontent.com/bangumi/Archive/master/aux/latest.json"},
		CatalogReplay: settings.CatalogReplay{Enabled: true, MaxRetries: 50, Cron: "*/5 * * * *"},
		NAS: settings.NAS{
			DatabasePath: "/usr/local/apps/@appdata/trim.media/database/trimmedia.db", User: "all", MinPercent: 85, Range: "all", Limit: 100, Cron: "*/5 * * * *",
		},
		Device: settings.Device{Addresses: []string{}, Subnets: []netip.Prefix{}, ScanEvery: 6 * time.Hour, MinPercent: 80},
		Tracker: settings.Tracker{AuthURL: "https://auth.trakt.tv", APIURL: "https://apiz.trakt.tv", RedirectURI: "https://app.trakt.tv/callback",
			AppAPIURL: "https://api.trakt.tv", Cron: "0 */6 * * *", Genres: []string{"anime", "donghua", "animation"}, Overlap: 48 * time.Hour},
		Watcher:      settings.Watcher{Enabled: true, PlexURL: "https://plex.tv", PlexClientsURL: "https://clients.plex.tv", PlexAuthURL: "https://app.plex.tv/auth"},
		Notification: settings.Notification{Language: "en", AiringCron: "0 9 * * *", SilentAfter: 14 * 24 * time.Hour}, LLM: settings.LLM{Timeout: time.Minute, MaxTokens: 2000},
		Backup: settings.Backup{Cron: "17 4 * * *", Dir: settings.DefaultBackupDir, Keep: 7}, Snapshot: settings.Snapshot{Cron: "43 3 * * *", Keep: 60},
		Log: settings.Log{Level: slog.LevelInfo, Format: "text"},
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
}

func TestEachLayerOverridesTheOneBelow(t *testing.T) {
	const path = "server.listen"
	layers := []struct {
		add    func(h *house)
		value  string
		source settings.Source
		by     string
	}{
		{func(*house) {}, "127.0.0.1:8787", settings.FromDefault, ""},
		{func(h *house) { h.put(t, map[string]string{path: `"127.0.0.1:1"`}) }, "127.0.0.1:1", settings.FromDatabase, ""},
		{func(h *house) { h.file(t, "[server]\nlisten = \"127.0.0.1:2\"") }, "127.0.0.1:2", settings.FromFile, "watchmark.toml"},
		{func(h *house) { h.opts.Environ = []string{"PATH=/bin", "WATCHMARK_SERVER_LISTEN=127.0.0.1:3"} }, "127.0.0.1:3", settings.FromEnvironment, "environment variable WATCHMARK_SERVER_LISTEN"},
		{func(h *house) { h.opts.Flags = map[string]string{path: "127.0.0.1:4"} }, "127.0.0.1:4", settings.FromFlag, "command line"},
	}
	h := newHouse(t)
	for _, layer := range layers {
		layer.add(h)
		m := h.start(t)
		key := keyOf(t, m.Schema(), path)
		if m.Current().Server.Listen != layer.value || viewOf(m, path) != layer.value {
			t.Errorf("%s: in force %q, shown %v, want %q", layer.source, m.Current().Server.Listen, viewOf(m, path), layer.value)
		}
		if key.Source != layer.source || key.Locked != (layer.by != "") || !strings.HasSuffix(key.LockedBy, layer.by) {
			t.Errorf("%s: schema says %+v", layer.source, key)
		}
	}
}

func TestValuesAreNormalised(t *testing.T) {
	tests := []struct {
		name, env string
		path      string
		want      any
	}{
		{"slash before and none after a base path", "WATCHMARK_SERVER_BASE_PATH=watch/mark/", "server.base_path", "/watch/mark"},
		{"the root as base path is empty", "WATCHMARK_SERVER_BASE_PATH=/", "server.base_path", ""},
		{"no slash after an address", "WATCHMARK_CATALOG_API_URL=http://127.0.0.1:9000/api//", "catalog.api_url", "http://127.0.0.1:9000/api"},
		{"the longer of two sections with one beginning", "WATCHMARK_CATALOG_ARCHIVE_ENABLED=true", "catalog_archive.enabled", true},
		{"a list by commas, single addresses and host bits", "WATCHMARK_SERVER_TRUSTED_PROXIES=10.1.2.3, 172.16.5.0/12,::1", "server.trusted_proxies", []string{"10.1.2.3/32", "172.16.0.0/12", "::1/128"}},
		{"IPv4 in IPv6 form is IPv4", "WATCHMARK_SERVER_TRUSTED_PROXIES=::ffff:10.1.2.3,::ffff:172.16.5.0/108", "server.trusted_proxies", []string{"10.1.2.3/32", "172.16.0.0/12"}},
		{"a choice in other case", "WATCHMARK_LOG_LEVEL=WARN", "log.level", "warn"},
		{"a number", "WATCHMARK_MATCHING_MARGIN=0.2", "matching.margin", 0.2},
		{"listening on every address", "WATCHMARK_SERVER_LISTEN=:80", "server.listen", ":80"},
		{"an empty variable counts as not set", "WATCHMARK_SYNC_WORKERS=", "sync.workers", int64(4)},
		{"a number that may be left out", "WATCHMARK_LLM_TEMPERATURE= 0.70", "llm.temperature", "0.7"},
		{"variables of other parts", "WATCHMARK_SECRET_KEY=x", "sync.workers", int64(4)},
		{"variables that a cluster sets", "WATCHMARK_SERVICE_PORT_HTTP=8787", "sync.workers", int64(4)},
		{"a link to the service's port", "WATCHMARK_PORT_8787_TCP_ADDR=10.0.0.1", "sync.workers", int64(4)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := newHouse(t)
			h.opts.Environ = []string{test.env}
			if diff := cmp.Diff(test.want, viewOf(h.start(t), test.path)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnAddressThatIsComparedStaysAsItIs(t *testing.T) {
	h := newHouse(t)
	h.file(t, "[tracker]\nredirect_uri = \" https://Tracker.example/callback/ \"")
	if got := h.start(t).Current().Tracker.RedirectURI; got != "https://Tracker.example/callback/" {
		t.Errorf("it is %q", got)
	}
}

func TestLoadSaysWhatIsWrongAndWhere(t *testing.T) {
	tests := []struct {
		name, file string
		environ    []string
		stored     map[string]string
		want       []string
	}{
		{name: "unknown key with the nearest name",
			file: "# mine\n\n[catalog]\nweb_url = \"https://bgm.tv\"\napi_ur = \"https://api.bgm.tv\"\n",
			want: []string{"watchmark.toml line 5: catalog.api_ur: unknown key; did you mean catalog.api_url?"}},
		{name: "unknown key like nothing",
			file: "[log]\ncolourful = true",
			want: []string{"watchmark.toml line 2: log.colourful: unknown key; the keys of [log] are level, format, file"}},
		{name: "key of a neighbour section",
			file: "[catalog_archive]\napi_url = \"x\"",
			want: []string{"watchmark.toml line 2: catalog_archive.api_url: unknown key; did you mean catalog.api_url?"}},
		{name: "unknown section",
			file: "[sever]\nlisten = \"127.0.0.1:1\"",
			want: []string{"watchmark.toml line 1: sever: unknown section; did you mean [server]?"}},
		{name: "key outside of a section",
			file: "listen = \"127.0.0.1:1\"",
			want: []string{"watchmark.toml line 1: listen: is not in a section; did you mean server.listen?"}},
		{name: "section written as a key",
			file: "log = \"debug\"",
			want: []string{"watchmark.toml line 1: log: is a section: write [log] and its keys below"}},
		{name: "several at once, in dotted and inline form too",
			file: "matching.accept_score = 1.5\nlog = { level = \"loud\" }\n[sync]\nworkers = \"4\"\ncoalesce_ms = 0.5\n",
			want: []string{
				"watchmark.toml line 2: log.level: loud is not one of debug, info, warn, error",
				"watchmark.toml line 1: matching.accept_score: 1.5 is not between 0 and 1",
				"watchmark.toml line 5: sync.coalesce_ms: a number with a fraction is given, but a whole number is needed",
				"watchmark.toml line 4: sync.workers: text is given, but a whole number is needed"}},
		{name: "not a number",
			file: "[matching]\nmargin = nan",
			want: []string{"watchmark.toml line 2: matching.margin: NaN is not between 0 and 1"}},
		{name: "wrong types",
			file: "[auth]\nenabled = 1\n[server]\nlisten = 8787\ntrusted_proxies = \"10.0.0.0/8\"\nrecord_days = 2020-01-01",
			want: []string{
				"watchmark.toml line 2: auth.enabled: a number is given, but true or false is needed",
				"watchmark.toml line 4: server.listen: a number is given, but text in quotes is needed",
				"watchmark.toml line 6: server.record_days: a date or time is given, but a whole number is needed",
				"watchmark.toml line 5: server.trusted_proxies: text is given, but a list of texts is needed"}},
		{name: "item of a list",
			file: "[server]\ntrusted_proxies = [\"10.0.0.0/8\", \"home\"]",
			want: []string{"watchmark.toml line 2: server.trusted_proxies: item 2: home is not a network such as 172.16.0.0/12"}},
		{name: "a network that is half of another kind",
			file: "[server]\ntrusted_proxies = [\"::ffff:10.0.0.0/8\"]",
			want: []string{"watchmark.toml line 2: server.trusted_proxies: item 1: \"::ffff:10.0.0.0/8\" is not a network such as 172.16.0.0/12"}},
		{name: "broken TOML",
			file: "[server\nlisten = 1",
			want: []string{"watchmark.toml line 1, column 8: file: expected ']' to close table name"}},
		{name: "misspelled variable",
			environ: []string{"WATCHMARK_CATALOG_API_UR=x", "WATCHMARK_SEVER_LISTEN=x", "WATCHMARK_SOMETHING_QUITE_DIFFERENT=x"},
			want: []string{
				"environment: WATCHMARK_CATALOG_API_UR: unknown variable; did you mean WATCHMARK_CATALOG_API_URL?",
				"environment: WATCHMARK_SEVER_LISTEN: unknown variable; did you mean WATCHMARK_SERVER_LISTEN?",
				"environment: WATCHMARK_SOMETHING_QUITE_DIFFERENT: unknown variable: correct its name, or remove it if it is not meant for Watchmark"}},
		{name: "file and variables together",
			file:    "[sync]\nworkers = 0",
			environ: []string{"WATCHMARK_AUTH_ENABLED=maybe", "WATCHMARK_LOG_FORMAT=xml", "WATCHMARK_NETWORK_TIMEOUT_SECONDS=121", "WATCHMARK_MATCHING_MARGIN=much"},
			want: []string{
				"watchmark.toml line 2: sync.workers: 0 is not between 1 and 32",
				"environment variable WATCHMARK_AUTH_ENABLED: auth.enabled: maybe is not true or false",
				"environment variable WATCHMARK_LOG_FORMAT: log.format: xml is not one of text, json",
				"environment variable WATCHMARK_MATCHING_MARGIN: matching.margin: much is not a number between 0 and 1",
				"environment variable WATCHMARK_NETWORK_TIMEOUT_SECONDS: network.timeout_seconds: 121 is not between 1 and 120"}},
		{name: "addresses",
			file: "[catalog]\napi_url = \"api.bgm.tv\"\nweb_url = \"https://mira:pw@bgm.tv\"\n[server]\nlisten = \"localhost\"\nbase_path = \"/a/../b\"\npublic_url = \"https://w.example/?a=b\"\n[network]\nproxy = \"ftp://mira:pw@proxy.example\"",
			want: []string{
				"watchmark.toml line 2: catalog.api_url: is not a full address that begins with http:// or https://",
				"watchmark.toml line 3: catalog.web_url: must not hold a user name or password",
				"watchmark.toml line 9: network.proxy: is not a proxy address: begin with one of http, https, socks5, socks5h, then ://host:port",
				"watchmark.toml line 6: server.base_path: \"/a/../b\" is not a path such as /watchmark (letters, digits, - . _ ~ between single slashes)",
				"watchmark.toml line 5: server.listen: localhost is not host:port, such as 127.0.0.1:8787",
				"watchmark.toml line 7: server.public_url: must not hold a query (?) or a fragment (#)"}},
		{name: "the language model",
			file: "[llm]\nbase_url = \"localhost:11434\"\napi_key = \"my key\"\ntemperature = \"3\"\ntimeout = 300",
			want: []string{
				"watchmark.toml line 3: llm.api_key: is not an API key: it has spaces, or characters that no key has",
				"watchmark.toml line 2: llm.base_url: is not a full address that begins with http:// or https://",
				"watchmark.toml line 4: llm.temperature: is not a number from 0 to 2, such as 0.7",
				"watchmark.toml line 5: llm.timeout: 300 is not between 5 and 270"}},
		{name: "rules between keys",
			file: "[server]\nlisten = \"0.0.0.0:8787\"\n[auth]\nenabled = false\n[matching]\nreview_score = 0.9\n[catalog]\nrequests_per_minute = 240",
			want: []string{
				"watchmark.toml: auth.enabled: can be false only while server.listen is a loopback or private address; it is 0.0.0.0:8787",
				"watchmark.toml: matching.review_score: 0.9 is higher than matching.accept_score, which is 0.85",
				"watchmark.toml: catalog.requests_per_minute: together with catalog.burst this allows 3200 requests in ten minutes; api.bgm.tv bans above 3000, so set at most 2400 here"}},
		{name: "a stored value that a variable makes unsafe",
			stored:  map[string]string{"auth.enabled": "false"},
			environ: []string{"WATCHMARK_SERVER_LISTEN=:8787"},
			want:    []string{"database: auth.enabled: can be false only while server.listen is a loopback or private address; it is :8787"}},
		{name: "stored values that cannot be used",
			stored: map[string]string{"sync.workers": "99", "log.level": "loud", "auth.webhook_key": `"sealed elsewhere"`},
			want: []string{
				"database: auth.webhook_key: the stored value cannot be opened: " + secret.ErrDamaged.Error() + "; or set the key in watchmark.toml or as WATCHMARK_AUTH_WEBHOOK_KEY",
				"database: log.level: the stored value is not JSON: invalid character 'l' looking for beginning of value; or set the key in watchmark.toml or as WATCHMARK_LOG_LEVEL",
				"database: sync.workers: 99 is not between 1 and 32; or set the key in watchmark.toml or as WATCHMARK_SYNC_WORKERS"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := newHouse(t)
			h.opts.Environ = test.environ
			h.put(t, test.stored)
			if test.file != "" {
				h.file(t, test.file)
			}
			_, err := settings.Load(t.Context(), h.opts)
			if diff := cmp.Diff(test.want, h.problems(t, err)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestFileMendsAStoredValueThatCannotBeUsed(t *testing.T) {
	h := newHouse(t)
	h.put(t, map[string]string{"auth.webhook_key": `"sealed elsewhere"`, "gone.key": "1"})
	h.file(t, "[auth]\nwebhook_key = \"new-key\"")
	if got := h.start(t).Current().Auth.WebhookKey.Reveal(); got != "new-key" {
		t.Errorf("webhook key is %q, want that of the file", got)
	}
}

func TestMissingFileIsAnError(t *testing.T) {
	h := newHouse(t)
	h.opts.File = filepath.Join(t.TempDir(), "watchmark.toml")
	if _, err := settings.Load(t.Context(), h.opts); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want that the file does not exist", err)
	}
}

func TestFileOfAnEditorWithByteOrderMarkAndCRLF(t *testing.T) {
	h := newHouse(t)
	h.file(t, "\ufeff[sync]\r\nworkers = 2\r\n")
	if got := h.start(t).Current().Sync.Workers; got != 2 {
		t.Errorf("%d workers, want 2", got)
	}
}

func TestLoginCanBeSwitchedOffInPrivateOnly(t *testing.T) {
	for listen, allowed := range map[string]bool{
		"127.0.0.1:8787": true, "localhost:8787": true, "[::1]:8787": true, "192.168.1.5:8787": true,
		"10.0.0.1:80": true, "[fd00::1]:80": true, "[::ffff:10.0.0.1]:80": true,
		":8787": false, "0.0.0.0:8787": false, "[::]:8787": false, "203.0.113.5:80": false,
		"watch.example:80": false, "[::ffff:203.0.113.5]:80": false,
	} {
		t.Run(listen, func(t *testing.T) {
			h := newHouse(t)
			h.opts.Environ = []string{"WATCHMARK_AUTH_ENABLED=false", "WATCHMARK_SERVER_LISTEN=" + listen}
			if _, err := settings.Load(t.Context(), h.opts); (err == nil) != allowed {
				t.Errorf("allowed is %v, want %v (%v)", err == nil, allowed, err)
			}
		})
	}
}

// FuzzFile holds that no file makes Load panic, and that what it takes keeps
// the bounds.
func FuzzFile(f *testing.F) {
	f.Add("[server]\nlisten = \":1\"\n[matching]\nmargin = 0.5\n")
	f.Add("log = { level = \"debug\" }\n'a.b'.\"c\\n\" = [[1], {x = 2}]\n[[server]]\n")
	f.Add("catalog.api_url = \"http://h/\"\n[network]\nproxy = \"socks5://a:b@h:1\"")
	f.Add("server.trusted_proxies = [\"::/0\", \"1.2.3.4\"]\nserver.listen=\"[::1%eth0]:1\"")
	path := filepath.Join(f.TempDir(), "watchmark.toml")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := settings.Load(t.Context(), settings.Options{File: path, Overrides: nothingStored{}})
		if err != nil {
			return
		}
		s := m.Current()
		if s.Sync.Workers < 1 || s.Sync.Workers > 32 || !(s.Matching.Margin >= 0 && s.Matching.Margin <= 1) || s.Matching.ReviewScore > s.Matching.AcceptScore {
			t.Errorf("out of bounds: %+v", s)
		}
		if strings.HasSuffix(s.Catalog.APIURL, "/") || !strings.HasPrefix(s.Catalog.APIURL, "http") {
			t.Errorf("api_url is %q", s.Catalog.APIURL)
		}
	})
}

// nothingStored is an empty database.
type nothingStored struct{ settings.Overrides }

func (nothingStored) All(context.Context) (map[string]string, error) { return nil, nil }

func (nothingStored) Follow(func(context.Context) error) {}
