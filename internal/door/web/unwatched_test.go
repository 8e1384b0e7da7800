package web_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"watchmark/internal/record"
	"watchmark/internal/testkit/browsertest"
)

// asksAboutUnwatched has records wait for a word about their marks.
func (g *rig) asksAboutUnwatched(t testing.TB, ids ...int64) {
	t.Helper()
	err := g.db.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		return errors.Join(record.UnwatchTx(ctx, tx, 1, ids, time.Now()), record.AskUnwatchedTx(ctx, tx, ids, time.Now()))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestBrowserAnswersWhatIsUnwatched presses both answers. What a button is about is told to those who do not see it.
func TestBrowserAnswersWhatIsUnwatched(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	s := g.fill(t)
	g.asksAboutUnwatched(t, s.success)
	g.answer = func(apiCall) (int, string) { return 202, `{"task_id":7}` }
	one, err := g.records.Get(t.Context(), s.success)
	if err != nil {
		t.Fatal(err)
	}
	in := g.client(t, true)
	mustContain(t, g.get(t, in, "/inbox", "zh-CN").body, "改回未看", fmt.Sprintf("第 %g 集", *one.Episode), "撤回标记", "保留标记")
	browsertest.Run(t, tab, g.signIn(), browsertest.Sized(390, 844), chromedp.Navigate(g.server.URL+"/inbox"), browsertest.Until(browsertest.Listening),
		browsertest.Until(browsertest.Says("#unwatched", fmt.Sprintf("episode %g", *one.Episode))))
	for i, take := range []bool{true, false} {
		button := fmt.Sprintf("#unwatched form:nth-of-type(%d) button", i+1)
		browsertest.Run(t, tab, browsertest.Until(fmt.Sprintf(`document.getElementById(document.querySelector(%q).getAttribute("aria-describedby")).innerText.includes(%q)`, button, one.Title)),
			browsertest.Click(button), browsertest.Until(fmt.Sprintf(`!document.querySelector(%q).closest("form").dataset.busy`, button)))
		calls := g.wrote()
		want := apiCall{http.MethodPost, "/api/unwatched", fmt.Sprintf(`{"record_ids":[%d],"take_back":%t}`, s.success, take)}
		if len(calls) != i+1 || calls[i] != want {
			t.Errorf("calls %+v, want %+v", calls, want)
		}
	}
}
