package oldtexts_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"
	"testing"

	"watchmark/internal/engine"
	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/reason"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/upkeep/oldtexts"
)

var _ engine.Engine // whose kinds are declared then, and those of all that it uses

// TestTextsOfBeforeBecomeReasons stores texts as older versions did.
func TestTextsOfBeforeBecomeReasons(t *testing.T) {
	for _, c := range []struct{ name, text, chinese string }{
		{"a text", "marked as watched", "已标记为看过"},
		{"a text within a text", "the catalog cannot be reached: this waits and is repeated by itself", "无法连接 Bangumi：在等待队列中，会自动重试"},
		{"a quoted title", `no entry matched "Nowhere" season 3: look for it in the catalog and add a mapping for the title, or block it if it does not belong there`,
			"没有与“Nowhere” 第 3 季匹配的条目：请在 Bangumi 上查找，并为该标题添加映射；如果它不该被标记，就屏蔽它"},
		{"reasons in a row", "perhaps 灯塔, but not sure (the title is similar, it began or aired in 2019): confirm it on the page Review", "可能是《灯塔》，但不够确定（标题相似，2019 年开播或放送）：请在“待确认”页面确认"},
		{"what nobody knows", "something else: entirely", "something else: entirely"},
		{"a value", `{"code":"later","text":"of a later version"}`, "of a later version"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := dbtest.Open(t)
			trace, err := json.Marshal(map[string]any{"result": map[string]any{"status": "review", "reason": c.text}})
			if err != nil {
				t.Fatal(err)
			}
			exec := func(query string, args ...any) {
				t.Helper()
				err := d.Write(t.Context(), func(_ context.Context, tx *sql.Tx) error {
					_, err := tx.Exec(query, args...)
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			exec(`INSERT INTO records (id, status, is_test, source, action, media_type, user_name, title, original_title, release_date, message, event, created_at, updated_at)
				VALUES (1, 'success', 0, 'custom', 'watched', 'episode', 'mira', 'x', '', '', ?, '{}', 1, 1)`, c.text)
			exec(`INSERT INTO traces (record_id, trace) VALUES (1, ?)`, string(trace))
			for range 2 { // the second time there is nothing to do
				if err := oldtexts.Upgrade(t.Context(), d); err != nil {
					t.Fatal(err)
				}
			}
			var message reason.Reason
			var stored string
			if err := d.Read().QueryRow(`SELECT message, trace FROM records JOIN traces ON record_id = id`).Scan(&message, &stored); err != nil {
				t.Fatal(err)
			}
			if message.In(bilingual.Chinese) != c.chinese {
				t.Errorf("the record says %q, want %q", message.In(bilingual.Chinese), c.chinese)
			}
			var read struct {
				Result struct {
					Reason string        `json:"reason"`
					Value  reason.Reason `json:"reason_value"`
				} `json:"result"`
			}
			if err := json.Unmarshal([]byte(stored), &read); err != nil || read.Result.Reason != c.text {
				t.Fatalf("the trace says %q, %v", read.Result.Reason, err)
			}
			if is := !read.Result.Value.IsZero(); is != message.Known() && !strings.HasPrefix(c.text, "{") || is && read.Result.Value.In(bilingual.Chinese) != c.chinese {
				t.Errorf("the value of the trace is %+v", read.Result.Value)
			}
		})
	}
}
