package channel_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"watchmark/internal/tell/notify/channel"
	"watchmark/internal/testkit/channeltest"
)

// Every template that the documentation shows can be pasted, and its default is ours.
func TestDocumentedTemplatesWork(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "notifications.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 7 {
		t.Fatalf("%d templates are shown", len(blocks))
	}
	m := message()
	m.Text = strings.Repeat("长 ", 10_000)
	for _, block := range blocks {
		h := channeltest.NewHook(t)
		r := hook(t, h, channel.Webhook{Template: block[1]}, m)
		if !strings.Contains(string(r.Body), m.Title) {
			t.Errorf("%s sends %s", block[1], r.Body)
		}
	}
	if strings.TrimSpace(blocks[0][1]) != channel.DefaultTemplate {
		t.Errorf("the default is shown as %s", blocks[0][1])
	}
	for _, name := range regexp.MustCompile("`\\{([a-z_]+)\\}`").FindAllStringSubmatch(string(page), -1) {
		if strings.Contains(channel.DefaultTemplate, "{"+name[1]+"}") {
			continue
		}
		if _, known := map[string]bool{"user_name": true, "ori_title": true, "error_message": true, "subject_name": true, "subject_id": true, "episode_id": true, "account": true, "name": true}[name[1]]; !known {
			t.Errorf("{%s} is documented and unknown here", name[1])
		}
	}
}
