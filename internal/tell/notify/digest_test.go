package notify

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"watchmark/internal/platform/bilingual"
)

// notMarked is the entry of an episode that was not marked.
func notMarked(title string, at time.Time) Entry {
	return Entry{Kind: MarkFailed, Severity: Failure, At: at, Account: "alex", Facts: map[string]string{"title": title}}
}

func TestDigest(t *testing.T) {
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	mixed := []Entry{
		{Kind: Queued, At: noon.Add(time.Minute), Account: "alex", Facts: map[string]string{"title": "Monster"}},
		{Kind: Queued, At: noon, Account: "alex", Facts: map[string]string{"title": "Monster"}},
		{Kind: NoAccount, At: noon, User: "mira", Facts: map[string]string{"title": "Mushishi"}},
		{Kind: TokenDead, At: noon, Account: "alex"},
		notMarked("Frieren", noon), notMarked("Frieren", noon), notMarked("Pluto", noon),
	}
	var flood []Entry
	for n := range 1000 {
		flood = append(flood, notMarked(fmt.Sprint("Show ", n), noon))
	}
	flood = append(flood, Entry{Kind: TokenDead, At: noon, Account: "alex"}, Entry{Kind: NoAccount, At: noon, User: "mira"})
	var everything []Entry
	for _, k := range kinds {
		everything = append(everything, Entry{Kind: k.Kind, At: noon})
	}
	for name, c := range map[string]struct {
		entries     []Entry
		language    bilingual.Language
		base        string
		dropped     int
		title, text string // a text that ends with … only begins so
	}{
		"several kinds": {mixed, bilingual.English, "http://house", 0, "7 notices · Not marked 3, Sign-in refused 1, No account 1, …",
			"Not marked: 3\n- Frieren not marked · alex ×2\n- Pluto not marked · alex\nSign-in refused: 1\n- Sign-in refused · alex\n" +
				"No account: 1\n- Mushishi: no account · mira\nWaits for Bangumi: 2\n- Monster waits for Bangumi · alex ×2"},
		"in Chinese": {mixed, bilingual.Chinese, "", 3, "7 条通知 · 标记失败 3、登录已失效 1、没有对应账号 1、…",
			"标记失败：3\n- 《Frieren》 标记失败 · alex ×2\n- 《Pluto》 标记失败 · alex\n登录已失效：1\n…"},
		"one kind":                  {flood[:4], bilingual.English, "", 0, "4 notices · Not marked", "Not marked: 4\n- Show 0 not marked · alex\n…"},
		"a flood leaves nobody out": {flood, bilingual.English, "http://house/", 0, "1002 notices · Not marked 1000, Sign-in refused 1, No account 1", "Not marked: 1000\n- Show 0 not marked · alex\n…"},
		"every kind":                {everything, bilingual.English, "http://house", 0, fmt.Sprintf("%d notices · Not marked 1, Given up 1, Sign-in refused 1, …", len(kinds)), "Not marked: 1\n…"},
	} {
		t.Run(name, func(t *testing.T) {
			m := parcel{message: "m", entries: c.entries, digest: true, dropped: c.dropped}.compose(c.language, c.base)
			start, open := strings.CutSuffix(c.text, "…")
			if m.Title != c.title || m.Text != c.text && (!open || !strings.HasPrefix(m.Text, start)) {
				t.Errorf("%s\n%s\n\nwant\n\n%s\n%s", m.Title, m.Text, c.title, c.text)
			}
			if lines := strings.Split(m.Text, "\n"); len(lines) > digestLines+2 {
				t.Errorf("%d lines", len(lines))
			}
			if m.ID != "m" || m.Count != len(c.entries) || m.Facts == nil || (m.Link == "") != (c.base == "") || strings.Contains(m.Link, "//inbox") {
				t.Errorf("%+v", m)
			}
		})
	}
	t.Run("what is left out is counted", func(t *testing.T) {
		m := parcel{entries: flood, digest: true, dropped: 5}.compose(bilingual.English, "http://house")
		if !strings.Contains(m.Text, "\nSign-in refused: 1\n- Sign-in refused · alex\n") || !strings.Contains(m.Text, "\nNo account: 1\n") ||
			!strings.HasSuffix(m.Text, "more: see http://house/inbox\n5 older notices were not sent, for more than 2000 waited.") {
			t.Error(m.Text)
		}
		told := strings.Count(m.Text, "\n- ")
		if want := fmt.Sprintf("\nand %d more", len(flood)-told); !strings.Contains(m.Text, want) {
			t.Errorf("%s\nwant %q", m.Text, want)
		}
		if m.Kind != "" || m.Facts["type_name"] != "" || !m.At.Equal(flood[0].At) {
			t.Errorf("%+v", m)
		}
	})
	if m := (parcel{entries: mixed[:2], digest: true}).compose(bilingual.English, ""); m.Kind != "queued" || m.Facts["type_name"] != "Waits for Bangumi" || !m.At.Equal(noon.Add(time.Minute)) {
		t.Errorf("%+v", m)
	}
}
