package web_test

import (
	"encoding/json"
	"os"
	"testing"

	"watchmark/internal/match/idmap"
	"watchmark/internal/platform/bilingual"
	"watchmark/internal/source/nas"
	"watchmark/internal/tell/notify"
	"watchmark/internal/upkeep/backup"
	"watchmark/internal/upkeep/snapshot"
)

// A job has one name, on the page of tasks and in a message that it fails.
func TestAJobIsCalledInMessagesAsOnThePage(t *testing.T) {
	for lang, prefix := range map[bilingual.Language]string{bilingual.English: "Job failed · ", bilingual.Chinese: "定时任务失败 · "} {
		content, err := os.ReadFile("locales/" + string(lang) + "/tasks.json")
		if err != nil {
			t.Fatal(err)
		}
		var texts map[string]string
		if err := json.Unmarshal(content, &texts); err != nil {
			t.Fatal(err)
		}
		for _, job := range []string{backup.TaskKind, idmap.TaskKind, nas.ScanJob, snapshot.JobName} {
			title, _ := notify.Entry{Kind: notify.JobFailed, Facts: map[string]string{"job_name": job}}.Words(lang)
			if want := prefix + texts["task.kind."+job]; title != want {
				t.Errorf("%s is told as %q, want %q", job, title, want)
			}
		}
	}
}
