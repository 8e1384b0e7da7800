package channel_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"watchmark/internal/tell/notify/channel"
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

// The template that the documentation shows is the default.
func TestDocumentedTemplateIsTheDefault(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "notifications.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) != 1 || strings.TrimSpace(blocks[0][1]) != channel.DefaultTemplate {
		t.Errorf("the default is shown as %q", blocks)
	}
	for _, name := range regexp.MustCompile("`\\{([a-z_]+)\\}`").FindAllStringSubmatch(string(page), -1) {
		if strings.Contains(channel.DefaultTemplate, "{"+name[1]+"}") {
			continue
		}
		if _, known := map[string]bool{"user_name": true, "ori_title": true, "error_message": true, "subject_name": true, "subject_id": true, "episode_id": true, "account": true, "name": true, "top_candidate_name": true}[name[1]]; !known {
			t.Errorf("{%s} is documented and unknown here", name[1])
		}
	}
}
