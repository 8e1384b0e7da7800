package app_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// allowed is the rule of docs/architecture.md, "What may import what": for every
// package of ours, the packages of ours that its program code may import. A room
// stands for all its subpackages too.
var allowed = map[string][]string{
	"watch":  {},
	"title":  {},
	"secret": {},
	"db":     {},
	"sse":    {},
	"npm":    {},
	"lan":    {},
	"listen": {},
	"bell":   {},
	"rights": {},
	"trail":  {},
	"disk":   {},

	"metrics": {},
	"logfile": {},

	"certfile": {},

	"logring": {},
	"logtest": {},
	"task":    {"logring", "metrics", "trail"},

	"httpx":    {"secret"},
	"update":   {"bell", "httpx"},
	"diagnose": {"httpx", "lan", "secret"},
	"settings": {"db", "lan", "secret"},
	"auth":     {"db", "lan", "listen", "trail"},

	"auth/oidc":     {"httpx", "secret"},
	"auth/oidctest": {"simulated"},
	"auth/totptest": {},

	"source": {"source", "watch"},

	"source/device":            {"bell", "db", "httpx", "lan", "secret", "source", "task", "title", "watch"},
	"source/device/devicetest": {},

	"catalog": {"httpx", "secret", "watch"},

	"source/nas":         {"bell", "db", "source", "title", "watch"},
	"source/nas/nastest": {},

	"archive/dump":        {"catalog", "watch"},
	"archive/dumptest":    {},
	"archive/fetch":       {"disk", "httpx"},
	"archive/titles":      {"title"},
	"catalog/catalogtest": {"catalog", "simulated"},

	"backup":    {"bell", "db", "disk", "secret", "task"},
	"webhook":   {"db", "watch"},
	"mapping":   {"catalog", "db", "watch"},
	"account":   {"catalog", "db", "secret"},
	"record":    {"catalog", "db", "watch"},
	"candidate": {"catalog", "db", "mapping", "match", "record", "watch"},
	"match":     {"catalog", "dataset", "mapping", "title", "watch"},
	"replay":    {"bell", "catalog", "db", "record", "watch"},
	"engine":    {"account", "bell", "candidate", "catalog", "db", "forecast", "mapping", "match", "metrics", "notify", "record", "replay", "task", "trail", "watch", "webhook"},

	"cover": {"catalog", "httpx"},

	"dataset":     {"bell", "catalog", "httpx", "task", "title", "watch"},
	"dataset/gen": {"dataset", "npm"},
	"title/gen":   {"npm"},

	"forecast":            {"catalog", "watch"},
	"importer":            {"db", "forecast", "httpx", "record", "secret", "source", "task", "watch"},
	"importer/servertest": {},

	"notify":                     {"db", "metrics", "notify/channel", "secret"},
	"notify/channel":             {"httpx", "lan", "secret"},
	"notify/channel/channeltest": {},

	"llm":         {"db", "httpx", "secret"},
	"llm/llmtest": {"simulated"},
	"summary":     {"account", "archive", "bell", "catalog", "db", "llm", "notify", "record", "watch"},

	"tracker":             {"bell", "db", "forecast", "httpx", "secret", "task", "watch"},
	"tracker/trackertest": {"simulated"},

	"movein/movetest": {},
	"movein":          {"account", "catalog", "db", "mapping", "match", "notify", "notify/channel", "record", "secret", "settings", "summary", "tracker", "watch"},

	"archive": {"archive/dump", "archive/fetch", "archive/titles", "bell", "catalog", "db", "task", "title", "watch"},

	"api": {"account", "archive", "auth", "backup", "auth/oidc", "candidate", "catalog", "dataset", "diagnose", "engine", "importer", "listen", "llm", "logring", "mapping", "match", "metrics", "notify", "notify/channel", "record", "replay", "secret", "settings", "source", "source/device", "source/nas", "sse", "summary", "task", "tracker", "watch", "webhook"},
	"web": {"account", "archive", "auth", "auth/oidc", "backup", "candidate", "catalog", "cover", "dataset", "mapping", "forecast", "importer", "diagnose", "llm", "logring", "match", "notify", "notify/channel", "record", "replay", "settings", "source", "source/device", "source/nas", "sse", "summary", "task", "tracker", "update", "watch", "webhook"},
	"app": {"account", "api", "archive", "archive/fetch", "auth", "auth/oidc", "candidate", "catalog", "certfile", "cover", "backup", "dataset", "db", "diagnose", "disk", "engine", "httpx", "importer", "lan", "listen", "llm", "logfile", "logring", "mapping", "match", "metrics", "movein", "notify", "notify/channel", "record", "replay", "secret", "settings", "source", "source/device", "source/nas", "summary", "task", "tracker", "trail", "update", "watch", "web", "webhook"},

	"browsertest": {},
	"faults":      {},
	"memnet":      {},
	"install":     {},
	"release":     {},
	"simulated":   {},
	"demo":        {"account", "app", "catalog", "catalog/catalogtest", "mapping", "record", "secret", "watch"},
}

// room is the key of allowed that the package at p (below internal/) belongs to.
func room(p string) string {
	for ; p != "."; p = path.Dir(p) {
		if _, listed := allowed[p]; listed {
			return p
		}
	}
	return ""
}

func TestImportsPointDownOnly(t *testing.T) {
	root := filepath.Join("..")
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		own, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		own = filepath.ToSlash(own)
		from := room(own)
		if from == "" {
			t.Errorf("package internal/%s is in no room: add it to the table and to docs/architecture.md", own)
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range parsed.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			name, ours := strings.CutPrefix(name, "watchmark/internal/")
			if ours && !slices.Contains(allowed[from], room(name)) && room(name) != from {
				t.Errorf("%s imports internal/%s: %s may import only %v", file, name, from, allowed[from])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
