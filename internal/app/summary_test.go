package app_test

import (
	"net/http"
	"strings"
	"testing"

	"watchmark/internal/testkit/llmtest"
)

// TestASummaryOfWhatWasMarked goes the whole way: an event, its mark, a text by a model at home.
func TestASummaryOfWhatWasMarked(t *testing.T) {
	const key = "sk-of-the-language-model-0123456789"
	remote, base := llmtest.Start(t, llmtest.Config{Key: key, Models: []string{"qwen"}})
	remote.Answer(func(r llmtest.Request) string {
		if !strings.Contains(r.User, "灯台守のうた") && !strings.Contains(r.User, "灯塔守望者") || !strings.Contains(r.User, `"episodes":"5"`) || !strings.Contains(r.User, `"status":"marked"`) {
			return "What was watched? " + r.User
		}
		return "Mira watched the lighthouse."
	})
	// A proxy that cannot be used: a model at home is asked without it.
	s := start(t, "WATCHMARK_LOG_LEVEL=debug", "WATCHMARK_LLM_BASE_URL="+strings.TrimSuffix(base, "/v1"), "WATCHMARK_LLM_API_KEY="+key, "WATCHMARK_LLM_MODEL=qwen")
	s.settled(s.custom(`{"title":"灯塔守望者","season":1,"episode":5,"user_name":"Mira"}`))
	s.api(http.MethodPatch, "/api/settings", `{"network":{"proxy":"http://127.0.0.1:9"}}`, http.StatusOK, nil)
	s.api(http.MethodPost, "/api/summary/jobs", `{"name":"每天"}`, http.StatusCreated, nil)
	const job = "/api/summary/jobs/%E6%AF%8F%E5%A4%A9"
	if got := s.api(http.MethodPost, job+"/test", "", http.StatusOK, nil); !strings.Contains(got.body, "Mira watched the lighthouse.") || !strings.Contains(got.body, `"records":1`) {
		t.Errorf("the test answers %s", got.body)
	}
	if got := s.api(http.MethodPost, job+"/trigger", "", http.StatusOK, nil); !strings.Contains(got.body, `"status":"done"`) {
		t.Errorf("the run answers %s", got.body)
	}
	if got := s.api(http.MethodGet, "/api/llm/usage", "", http.StatusOK, nil); !strings.Contains(got.body, `"requests":2`) || !strings.Contains(got.body, `"job":"每天"`) {
		t.Errorf("the use is %s", got.body)
	}
	if got := s.api(http.MethodGet, "/api/summary/airing", "", http.StatusOK, nil); !strings.Contains(got.body, `"reason":"archive_off"`) {
		t.Errorf("what airs stands at %s", got.body)
	}
	if strings.Contains(s.logs.String(), key) {
		t.Error("the log holds the key")
	}
}
