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

// The documentation tells every field and every preset of every type.
func TestDocumentationHasEveryAdapter(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "notifications.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range channel.Adapters {
		_, chapter, found := strings.Cut(string(page), "\n## "+a.Name.English+"\n")
		chapter, _, _ = strings.Cut(chapter, "\n## ")
		if !found {
			t.Errorf("there is no chapter %s", a.Name.English)
		}
		for _, f := range a.Fields {
			if !strings.Contains(chapter, "`"+f.Name+"`") {
				t.Errorf("%s lacks the field %s", a.Name.English, f.Name)
			}
		}
		for _, p := range a.Presets {
			if !strings.Contains(chapter, p.Name) {
				t.Errorf("%s lacks the preset %s", a.Name.English, p.Name)
			}
		}
	}
}

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
