package web_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"watchmark/internal/catalog"
	said "watchmark/internal/tell/word"
	"watchmark/internal/testkit/browsertest"
)

// saidNow is what the list of the rig says of every entry.
type saidNow struct {
	mu    sync.Mutex
	entry catalog.Entry
	asked bool
}

// Show implements web.Words.
func (s *saidNow) Show(context.Context, int64, catalog.SubjectID) (said.View, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.entry.Type == 0 {
		return said.View{}, catalog.ErrNotListed
	}
	return said.View{Entry: s.entry, Asked: s.asked}, nil
}

// Asked implements web.AskedWords.
func (s *saidNow) Asked(context.Context, int) ([]said.Asked, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.asked {
		return nil, nil
	}
	return []said.Asked{{AccountID: 1, Subject: 900001, Name: "灯塔守望者", At: time.Now().Add(-time.Hour)}}, nil
}

func (s *saidNow) put(rate int, comment string, asked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entry = catalog.Entry{Subject: 900001, SubjectType: catalog.Anime, Type: catalog.Done, Rate: rate, Comment: comment, Tags: []string{"TV", "原创"}, About: catalog.About{Name: "灯台守のうた", NameCN: "灯塔守望者"}}
	s.asked = asked
}

const wordPath = "/people/1/entries/900001/word"

func TestBrowserSaysAWordAtTheEnd(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	g.fill(t)
	g.said.put(0, "before", true)
	const path = "/api/accounts/1/entries/900001/word"
	g.answer = func(c apiCall) (int, string) {
		switch {
		case c.Method == http.MethodDelete:
			return 204, ""
		case len(g.wrote()) == 1: // somebody rates it elsewhere meanwhile
			g.said.put(4, "elsewhere", true)
			return 409, `{"status":409,"detail":"changed meanwhile"}`
		}
		g.said.put(10, "好看", false)
		return 200, `{"account":"mira","asked":false,"hidden":true,"entry":{}}`
	}
	checked := func(n int) string { return fmt.Sprintf(`document.querySelector("[name=rate][value='%d']").checked`, n) }
	browsertest.Run(t, tab, browsertest.Sized(390, 844), g.signIn(), chromedp.Navigate(g.server.URL+wordPath), browsertest.Until(browsertest.Listening),
		browsertest.Until(browsertest.Says("h1", "灯塔守望者")), browsertest.Until(browsertest.Says("#word-count", "6 of 380")), browsertest.Until(checked(0)),
		browsertest.Click("#word button.primary"), browsertest.Until(browsertest.Says("#word .form-error", "stands on your list already")),
		chromedp.Evaluate[chromedp.Void](`document.querySelector("[name=rate][value='0']").focus()`), chromedp.KeyEvent(kb.ArrowLeft), browsertest.Until(checked(10)), // by keyboard
		chromedp.Evaluate[chromedp.Void](`const c = document.getElementById("word-comment"); c.value = "字".repeat(381); c.dispatchEvent(new Event("input", { bubbles: true }))`),
		browsertest.Until(browsertest.Says("#word-count", "Bangumi takes 380")),
		browsertest.Type("#word-comment", "好看"),
		browsertest.Click("#word button.primary"), browsertest.Until(browsertest.Says("#word .form-error", "changed meanwhile")),
		browsertest.Until(browsertest.Says("#word-now", "elsewhere")), browsertest.Until(checked(10)), browsertest.Until(`document.getElementById("word-comment").value === "好看"`),
		browsertest.Click("#word button.primary"), browsertest.Until(browsertest.Says("#toasts", "Written to your list")), browsertest.Until(browsertest.Says("#word-hidden", "to you only")),
		browsertest.Until(browsertest.Says("#word-now", "好看")),
	)
	mustCall(t, g,
		apiCall{http.MethodPut, path, `{"rate":10,"comment":"好看","shown":{"rate":0,"comment":"before"}}`},
		apiCall{http.MethodPut, path, `{"rate":10,"comment":"好看","shown":{"rate":4,"comment":"elsewhere"}}`})
	g.said.put(0, "", true)
	browsertest.Run(t, tab, chromedp.Navigate(g.server.URL+wordPath), browsertest.Until(browsertest.Listening),
		browsertest.Click("form[data-api=DELETE] button"), browsertest.Until(`location.pathname === "/inbox"`))
	if calls := g.wrote(); calls[len(calls)-1].Method != http.MethodDelete || calls[len(calls)-1].Path != path {
		t.Errorf("not now asks for %+v", calls[len(calls)-1])
	}
	in := g.client(t, true)
	for path, status := range map[string]int{"/people/99/entries/1/word": 404, "/people/1/entries/x/word": 404, "/people/1/entries/0/word": 404, wordPath: 200} {
		if got := g.get(t, in, path, "en").status; got != status {
			t.Errorf("%s: %d, want %d", path, got, status)
		}
	}
	g.said.entry = catalog.Entry{}
	mustContain(t, g.get(t, in, wordPath, "zh-CN").body, "该账号的列表中没有此条目", "重试")
}
