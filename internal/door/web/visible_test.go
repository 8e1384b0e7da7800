package web_test

import (
	"context"
	"database/sql"
	"regexp"
	"strings"
	"testing"
)

// TestPagesShowControlCharacters looks in every room, after texts of others came to end in characters that turn around
// what stands beside them, or are not seen.
func TestPagesShowControlCharacters(t *testing.T) {
	const hostile = "\u202e\u0007evil"
	all := shots(t)
	full := all[1].rig
	full.write(t, func(ctx context.Context, tx *sql.Tx) error {
		for table, columns := range map[string][]string{
			"records": {"title", "user_name", "subject_name", "message"}, "webhook_log": {"title", "user_name", "reason"}, "pending_candidates": {"title", "reason"},
			"mappings": {"note"}, "accounts": {"nickname"},
		} {
			for _, column := range columns {
				if _, err := tx.ExecContext(ctx, `UPDATE `+table+` SET `+column+` = `+column+` || ?`, hostile); err != nil {
					return err
				}
			}
		}
		return nil
	})
	edited := regexp.MustCompile(`(?s)<textarea.*?</textarea>| (?:value|href|src|action|data-(?:name|body|text|url|level))="[^"]*"`)
	symbols := 0
	for _, shot := range all {
		body := shot.rig.get(t, shot.rig.client(t, shot.signedIn), shot.path, "en").body
		if strings.ContainsAny(edited.ReplaceAllString(body, ""), "\u202e\u0007") {
			t.Errorf("%s (%s) holds control characters as they are", shot.name, shot.path)
		}
		symbols += strings.Count(body, `<span class="unseen" title="U+202E">U+202E</span>`)
	}
	if symbols < 50 {
		t.Errorf("%d symbols stand for control characters", symbols)
	}
	mustContain(t, full.get(t, full.client(t, true), "/records", "en").body, `<bdi class="name">`, `<bdi class="keep">`)
}
