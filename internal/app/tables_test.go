package app_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// owners are the packages that keep the tables of the database: only their SQL names the table. docs/design/data.md lists them, too.
var owners = map[string]string{
	"budgets": "catalog/budget", "accounts": "catalog/account", "account_media_users": "catalog/account", "ignored_users": "catalog/account",
	"mappings": "match/mapping", "blocked_keywords": "match/mapping", "series_ids": "match/seriesid",
	"records": "record", "record_marks": "record", "traces": "record", "day_counts": "record", "left_entries": "record", "unwatched": "record", "media_unplayed": "source/watcher", "claims": "record", "entries": "catalog/entries", "webhook_log": "record/webhooklog",
	"nas_state": "source/nas", "nas_plays": "source/nas", "device_plays": "source/device", "imported_items": "source/importer", "snapshots": "upkeep/snapshot", "listed_entries": "upkeep/snapshot", "restores": "upkeep/snapshot", "restore_rows": "upkeep/snapshot",
	"tracker_users": "source/tracker", "tracker_plays": "source/tracker", "tracker_titles": "source/tracker", "tracker_mail": "source/tracker",
	"media_logins": "source/watcher", "media_plays": "source/watcher", "media_held": "source/watcher", "media_writes": "source/watcher",
	"asked_words": "tell/word", "notices": "tell/notify", "notice_states": "tell/notify", "notification_channels": "tell/notify", "notification_rules": "tell/notify",
	"notification_cooldowns": "tell/notify", "deliveries": "tell/notify",
	"llm_usage": "tell/llm", "summary_jobs": "tell/summary", "summary_results": "tell/summary", "airing_days": "tell/summary", "calendar_lists": "tell/calendar", "calendar_addresses": "tell/calendar",
	"pending_sync_queue": "engine/queue", "pending_candidates": "engine/review", "person_answers": "engine/review", "corrections": "engine/review", "moved_records": "upkeep/movein", "pending_upgrades": "upkeep/oldtexts",
	"people": "door/auth", "person_media_users": "door/auth", "person_sign_ins": "door/auth", "person_keys": "door/auth", "sessions": "door/auth", "second_factors": "door/auth", "recovery_codes": "door/auth",
	"door_failures": "door/auth",
	"settings":      "platform/settings", "jobs": "platform/schedule", "holds": "platform/hold", "tasks": "platform/task", "replicas": "platform/replica", "write_trials": "platform/db", "facts": "platform/db", "versions": "platform/changes", "tickets": "platform/tickets",
}

// gone are the tables of before, which a migration has dropped or renamed.
var gone = map[string]bool{"admins": true, "api_keys": true, "keywords": true, "made_summaries": true, "made_results": true}

// created and named find the tables that SQL creates, and those that it reads or writes.
var (
	created = regexp.MustCompile(`(?m)^CREATE TABLE (\w+)`)
	named   = regexp.MustCompile(`\b(?:FROM|JOIN|INTO|UPDATE)\s+(\w+)`)
)

func TestTablesHaveOneOwner(t *testing.T) {
	top := filepath.Join("..")
	migrations, err := filepath.Glob(filepath.Join(top, "platform", "db", "migrations", "*.sql"))
	if err != nil || len(migrations) == 0 {
		t.Fatal(err, "no migrations")
	}
	listed, err := os.ReadFile(filepath.Join(top, "..", "docs", "design", "data.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range migrations {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range created.FindAllStringSubmatch(string(text), -1) {
			if gone[found[1]] {
				continue
			}
			if owners[found[1]] == "" {
				t.Errorf("%s creates %s, which has no owner here", filepath.Base(file), found[1])
			}
			if !strings.Contains(string(listed), "`"+found[1]+"`") {
				t.Errorf("docs/design/data.md does not list %s", found[1])
			}
		}
	}
	err = filepath.WalkDir(top, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		folder, err := filepath.Rel(top, filepath.Dir(file))
		if err != nil {
			return err
		}
		if folder = filepath.ToSlash(folder); strings.HasPrefix(folder, "testkit") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			text, is := n.(*ast.BasicLit)
			if !is || text.Kind != token.STRING {
				return true
			}
			for _, found := range named.FindAllStringSubmatch(text.Value, -1) {
				fence := found[1] == "replicas" && folder == "platform/db"   // which every write asks
				whose := found[1] == "people" && folder == "catalog/account" // whose SQL tells others whose an account is
				if gone[found[1]] {
					t.Errorf("%s names the table %s, which is gone", file, found[1])
				}
				if owner := owners[found[1]]; owner != "" && owner != folder && !fence && !whose {
					t.Errorf("%s names the table %s, which %s owns", file, found[1], owner)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
