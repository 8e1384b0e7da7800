package dump

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/catalog"
)

func TestInfobox(t *testing.T) {
	for name, c := range map[string]struct {
		wiki string
		want infobox
	}{
		"a text":                      {"{{Infobox animanga/TVAnime\r\n|别名= Foo = Bar\r\n|话数= 12\r\n}}", infobox{[]string{"Foo = Bar"}, 12}},
		"a list":                      {"{{Infobox animanga/TVAnime\n|别名={\n[One]\n\n[Two|Three]\n[英文名|a|b]\n[]\n[ ]\n}\n}}", infobox{[]string{"One", "Three", "a|b"}, 0}},
		"brackets in a value":         {"{{Infobox x\n|别名={\n[[C] The Money]\n[英文名|[C]]\n}\n}}", infobox{[]string{"[C] The Money", "[C]"}, 0}},
		"keys that repeat":            {"{{Infobox x\n|别名= A\n|别名= B\n|别名= A\n}}", infobox{[]string{"A", "B"}, 0}},
		"other titles":                {"{{Infobox x\n|中文名= 名\n|英文名= E\n|台湾名称= T\n|导演= D\n}}", infobox{[]string{"名", "E", "T"}, 0}},
		"entities":                    {"{{Infobox x\n|别名= Tom &amp; Jerry\n}}", infobox{[]string{"Tom & Jerry"}, 0}},
		"what a template left":        {"{{Infobox x\n|别名= *\n|话数= *\n}}", infobox{nil, 0}},
		"a known title":               {"{{Infobox x\n|别名={\n[Known]\n[New]\n}\n}}", infobox{[]string{"New"}, 0}},
		"a count with words":          {"{{Infobox x\n|集数= 24集\n}}", infobox{nil, 24}},
		"no end":                      {"{{Infobox x\n|别名={\n[One]\n", infobox{[]string{"One"}, 0}},
		"no beginning":                {"|别名= A\n}}", infobox{[]string{"A"}, 0}},
		"a line without |":            {"{{Infobox x\n别名= A\n|别名= B\n}}", infobox{[]string{"B"}, 0}},
		"a line without =":            {"{{Infobox x\n|别名\n|别名= B\n}}", infobox{[]string{"B"}, 0}},
		"a list that nobody closed":   {"{{Infobox x\n|别名={\n[A]\n|话数= 3\n|别名= B\n}}", infobox{[]string{"A", "B"}, 3}},
		"an item without brackets":    {"{{Infobox x\n|别名={\nA\n[B]\n}\n}}", infobox{[]string{"B"}, 0}},
		"an item that is not closed":  {"{{Infobox x\n|别名={\n[A\n[B]\n}\n}}", infobox{[]string{"A", "B"}, 0}},
		"the end on the last line":    {"{{Infobox x\n|话数= 3\n|别名= B}}", infobox{[]string{"B"}, 3}},
		"nothing":                     {"", infobox{}},
		"a very long value is no one": {"{{Infobox x\n|别名= " + strings.Repeat("x", 5000) + "\n|话数= 3\n}}", infobox{nil, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			got := readInfobox([]byte(c.wiki), "Known")
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(infobox{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzInfobox(f *testing.F) {
	f.Add([]byte("{{Infobox animanga/TVAnime\r\n|别名={\r\n[One]\r\n[k|Two]\r\n}\r\n|话数= 12\r\n}}"))
	f.Add([]byte("|别名={\n[\xff]\n["))
	f.Fuzz(func(t *testing.T, wiki []byte) {
		box := readInfobox(wiki, "known")
		if len(box.aliases) > catalog.MaxAliases || box.eps < 0 {
			t.Errorf("%d aliases, %d episodes", len(box.aliases), box.eps)
		}
		for _, alias := range box.aliases {
			if alias == "" || alias == "known" || strings.Contains(alias, "\n") || len(alias) > 3*maxTitle {
				t.Errorf("an alias is %q", alias)
			}
		}
	})
}

// FuzzLines holds the reading of lines against the standard library: what it
// takes for an episode, that one takes for JSON too.
func FuzzLines(f *testing.F) {
	f.Add([]byte(`{"id":1,"subject_id":2,"sort":7.5,"name":"\u003ca\u003e","airdate":"2020-01-02"}` + "\n"))
	f.Add([]byte("{\"id\":1,\"subject_id\":2}\r\n\r\n{\"id\":2,\"subject_id\":2}"))
	f.Add([]byte(`{"id":1,"subject_id":2,"name":"` + "\xff" + `"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var buf bytes.Buffer
		w := zip.NewWriter(&buf)
		for _, name := range []string{Subjects, Episodes, Relations} {
			m, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
			if err == nil {
				_, err = m.Write(text)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		d, err := Open(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var names []string
		err = d.EachEpisode(context.Background(), 2, &Progress{}, func(_ int, e *Episode) error {
			mu.Lock()
			defer mu.Unlock()
			names = append(names, string(e.Name))
			return nil
		})
		_ = d.EachSubject(context.Background(), 2, &Progress{}, func(int, Subject) error { return nil })   // must not panic
		_ = d.EachRelation(context.Background(), 2, &Progress{}, func(int, Relation) error { return nil }) // must not panic
		if err != nil {
			return
		}
		var want []string
		for line := range bytes.SplitSeq(text, newline) {
			if line = bytes.TrimSuffix(line, []byte("\r")); len(line) == 0 {
				continue
			}
			var row map[string]any
			if json.Unmarshal(line, &row) != nil {
				return // the library is a little more lenient in numbers and control characters
			}
			name, _ := row["name"].(string)
			if len(name) > maxTitle || !utf8.ValidString(name) || strings.ContainsRune(name, utf8.RuneError) || bytes.Count(line, []byte(`"name"`)) > 1 {
				return
			}
			want = append(want, name)
		}
		slices.Sort(names)
		slices.Sort(want)
		if !slices.Equal(names, want) {
			t.Errorf("read %q, want %q", names, want)
		}
	})
}
