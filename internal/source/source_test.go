package source_test

import (
	"encoding/json"
	"errors"
	"flag"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/platform/bilingual"
	"watchmark/internal/source"
	"watchmark/internal/watch"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestAdapters holds what the page Webhooks and the webhook's path need of every adapter.
func TestAdapters(t *testing.T) {
	seen := map[watch.Source]bool{}
	for _, a := range source.Adapters {
		if name := string(a.Source); name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || seen[a.Source] {
			t.Errorf("%q is no name for the path of a webhook, or another source has it", name)
		}
		seen[a.Source] = true
		texts := append([]bilingual.Text{a.Name, a.Guide.Needs, a.Guide.Note}, a.Guide.Steps...)
		if a.Guide.Body != "" {
			texts = append(texts, a.Guide.BodyTitle)
		}
		for _, text := range texts {
			if text.English == "" || text.Chinese == "" {
				t.Errorf("%s: a text lacks a language: %+v", a.Source, text)
			}
		}
		if len(a.Guide.Steps) == 0 {
			t.Errorf("%s: nothing says what to click", a.Source)
		}
	}
}

// What people paste into Tautulli is the same on the page and in the documents.
func TestTheBodyToPasteIsDocumented(t *testing.T) {
	for _, path := range []string{"docs/sources/tautulli.md", "docs/zh-CN/sources/tautulli.md"} {
		page, err := os.ReadFile(filepath.Join("..", "..", path))
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range source.Adapters {
			if a.Source == watch.Tautulli && !strings.Contains(string(page), a.Guide.Body) {
				t.Errorf("%s shows another body for Tautulli than the page Webhooks", path)
			}
		}
	}
}

// TestGolden reads testdata/<source>/<case>.<kind> and compares with <case>.<kind>.golden.
// The content type is none of the file's: adapters must not need it.
func TestGolden(t *testing.T) {
	for _, src := range source.Push {
		files, err := filepath.Glob(filepath.Join("testdata", string(src), "*"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no payloads of %s: %v", src, err)
		}
		for _, file := range files {
			if filepath.Ext(file) == ".golden" {
				continue
			}
			t.Run(string(src)+"/"+filepath.Base(file), func(t *testing.T) {
				body, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				got := outcome(t, src, source.Request{ContentType: "text/plain; charset=utf-8", Body: body})
				if *update {
					if err := os.WriteFile(file+".golden", []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(file + ".golden")
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

// outcome is what Parse made of req as text.
func outcome(t *testing.T, src watch.Source, req source.Request) string {
	t.Helper()
	d, err := source.Parse(src, req)
	var result any = struct {
		Events                           []watch.Event
		Ignored                          string
		Test                             bool
		UserName, Title, Label, RawEvent string
	}{d.Events, d.Ignored.Text, d.Test, d.UserName, d.Title, d.Label, d.RawEvent}
	if bad := (*source.BadRequest)(nil); errors.As(err, &bad) {
		result = map[string]any{"BadRequest": struct{ Field, Detail string }{bad.Field, bad.Detail.Text}}
	} else if err != nil {
		result = map[string]any{"error": err.Error()}
	} else {
		check(t, src, d)
	}
	var text strings.Builder
	out := json.NewEncoder(&text)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	if err := out.Encode(result); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// check holds the laws of every delivery.
func check(t *testing.T, src watch.Source, d source.Delivery) {
	t.Helper()
	if (len(d.Events) > 0) == (!d.Ignored.IsZero()) {
		t.Fatalf("not exactly one of events and reason: %+v", d)
	}
	for i, e := range d.Events {
		if err := e.Validate(); err != nil {
			t.Errorf("event %d: %v", i, err)
		}
		if e.Source != src {
			t.Errorf("event %d: source %q, want %q", i, e.Source, src)
		}
		if e.UserName != d.UserName || e.Title != d.Title || e.RawEvent != d.RawEvent {
			t.Errorf("event %d differs from what is logged: %+v", i, d)
		}
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatalf("event %d: %v", i, err)
		}
		var back watch.Event
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatalf("event %d: %v", i, err)
		}
		if diff := cmp.Diff(e, back); diff != "" {
			t.Errorf("event %d does not survive storing: %s", i, diff)
		}
	}
}

func TestParseOfUnknownSource(t *testing.T) {
	for _, src := range []watch.Source{"", "nas", "Plex"} {
		_, err := source.Parse(src, source.Request{Body: []byte(`{}`)})
		if bad := (*source.BadRequest)(nil); err == nil || errors.As(err, &bad) || errors.Is(err, source.ErrUnsupportedMedia) {
			t.Errorf("%q: %v", src, err)
		}
	}
}

func TestWhatIsNeitherJSONNorAFormIsUnsupported(t *testing.T) {
	for _, src := range source.Push {
		if _, err := source.Parse(src, source.Request{Body: []byte("<xml/>")}); !errors.Is(err, source.ErrUnsupportedMedia) {
			t.Errorf("%s: %v", src, err)
		}
	}
}

func TestCustomSourceQueryOverridesLabel(t *testing.T) {
	body := []byte(`{"title":"灯塔守望者","season":1,"episode":1,"source":"script"}`)
	for query, want := range map[string]string{"": "script", "source=": "script", "source=kodi": "kodi", "source=%ff%00x": "\uFFFD x"} {
		values, _ := url.ParseQuery(query) // a bad query is part of the test
		d, err := source.Parse(watch.Custom, source.Request{Query: values, Body: body})
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Events[0].Label; got != want {
			t.Errorf("?%s: label %q, want %q", query, got, want)
		}
	}
}

func TestBodyForms(t *testing.T) {
	event := `{"title":"灯塔守望者","season":1,"episode":1,"user_name":"mira"}`
	part := "Content-Disposition: form-data; name=\"payload\"\r\n\r\n" + event
	for name, req := range map[string]source.Request{
		"white space around":        {Body: []byte("\r\n\t " + event + " \r\n")},
		"byte order mark":           {Body: []byte("\uFEFF" + event)},
		"label says form":           {ContentType: "multipart/form-data; boundary=x", Body: []byte(event)},
		"label is broken":           {ContentType: "application/json; charset=\"", Body: []byte(event)},
		"line breaks without CR":    {Body: []byte(strings.ReplaceAll("--b\r\n"+part+"\r\n--b--\r\n", "\r\n", "\n"))},
		"text before the parts":     {ContentType: `multipart/form-data; boundary="b"`, Body: []byte("hello\r\n--b\r\n" + part + "\r\n--b--\r\n")},
		"cut in the picture":        {Body: []byte("--b\r\n" + part + "\r\n--b\r\nContent-Disposition: form-data; name=\"thumb\"; filename=\"t.jpg\"\r\n\r\n\xff\xd8")},
		"field after other fields":  {Body: []byte("a=1&b=%zz&payload=" + url.QueryEscape(event))},
		"fields instead of payload": {Body: []byte("title=%E7%81%AF%E5%A1%94%E5%AE%88%E6%9C%9B%E8%80%85&season=1&episode=1&user_name=mira")},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := source.Parse(watch.Custom, req)
			if err != nil {
				t.Fatal(err)
			}
			check(t, watch.Custom, d)
			if e := d.Events[0]; e.Title != "灯塔守望者" || *e.Season != 1 || *e.Episode != 1 || e.UserName != "mira" {
				t.Errorf("read %+v", e)
			}
		})
	}
}

func TestHostileBodies(t *testing.T) {
	deep := strings.Repeat(`{"Item":`, 20000)
	for name, body := range map[string]string{
		"deep objects":    deep,
		"deep and closed": deep + "1" + strings.Repeat("}", 20000),
		"deep lists":      `{"event":` + strings.Repeat("[", 50000),
		"NUL":             "{\x00}",
		"null":            "null",
		"bare text":       `"x"`,
		"bare boundary":   "--",
		"long boundary":   "--" + strings.Repeat("b", 300) + "\n",
		"equals":          "=",
		"percent":         "data=%",
		"two objects":     "{}{}",
		"lone backslash":  `{"\`,
	} {
		t.Run(name, func(t *testing.T) {
			for _, src := range source.Push {
				_, err := source.Parse(src, source.Request{Body: []byte(body)})
				if bad := (*source.BadRequest)(nil); !errors.As(err, &bad) && !errors.Is(err, source.ErrUnsupportedMedia) {
					t.Errorf("%s: %v", src, err)
				} else if len(err.Error()) > 300 {
					t.Errorf("%s: the error echoes the body: %.80s…", src, err)
				}
			}
		})
	}
}

func TestHostileFields(t *testing.T) {
	for name, fields := range map[string]string{
		"huge numbers":   `"season":1e400,"episode":1` + strings.Repeat("0", 400),
		"not a number":   `"season":"NaN","episode":"Infinity"`,
		"hexadecimal":    `"season":"0x1p4","episode":"0x7"`,
		"negative":       `"season":-1,"episode":-7`,
		"wrong types":    `"season":{},"episode":[1]`,
		"fraction":       `"season":1.5,"episode":true`,
		"beyond range":   `"season":1000,"episode":100000`,
		"text as number": `"season":"two","episode":"seven"`,
	} {
		t.Run(name, func(t *testing.T) {
			body := `{"event":"watched","media_type":"episode","title":"x","user_name":"mira",` + fields + `}`
			d, err := source.Parse(watch.Tautulli, source.Request{Body: []byte(body)})
			if err != nil || !strings.Contains(d.Ignored.Text, "without an episode number") {
				t.Errorf("tautulli: %+v, %v", d, err)
			}
			_, err = source.Parse(watch.Custom, source.Request{Body: []byte(body)})
			if bad := (*source.BadRequest)(nil); !errors.As(err, &bad) || bad.Field != "season" {
				t.Errorf("custom: %v", err)
			}
		})
	}
}

// What a person calls the kind of an item means what it says, in any case; a word that says nothing is told to whoever wrote it.
func TestWordsForTheKind(t *testing.T) {
	parse := func(src watch.Source, word, numbers string) (source.Delivery, error) {
		return source.Parse(src, source.Request{Body: []byte(`{"event":"watched","NotificationType":"PlaybackStop","PlayedToCompletion":true,"media_type":"` + word + `","title":"x","SeriesName":"x","Name":"x","user_name":"mira","NotificationUsername":"mira"` + numbers + `}`)})
	}
	for word, want := range map[string]watch.Media{
		"episode": watch.Episode, "Series": watch.Episode, "SHOW": watch.Episode, "tv": watch.Episode, "Film": watch.Movie, "MOVIE": watch.Movie,
		"OVA": watch.OVA, "Oad": watch.OVA, "Real_Action": watch.RealAction, " tv ": watch.Episode,
	} {
		for _, src := range []watch.Source{watch.Custom, watch.Tautulli} {
			d, err := parse(src, word, `,"season":2,"episode":7`)
			if err != nil || len(d.Events) != 1 || d.Events[0].Media != want {
				t.Errorf("%s: %q is %+v (%v), want %s", src, word, d, err, want)
			}
		}
	}
	var bad *source.BadRequest
	if _, err := parse(watch.Custom, "podcast", `,"season":2,"episode":7`); !errors.As(err, &bad) || bad.Field != "media_type" || !strings.Contains(bad.Detail.Text, `"podcast" is not episode`) {
		t.Errorf("a word that says nothing: %v", err)
	}
	// Of a media server it is an item that is not marked, and a series without numbers is all of its episodes.
	for _, d := range []string{"podcast", "show"} {
		if got, err := parse(watch.Tautulli, d, ""); err != nil || !strings.Contains(got.Ignored.Text, "only single episodes and films are marked") {
			t.Errorf("%s: %+v (%v)", d, got, err)
		}
	}
}

func TestOddTextsBecomeValid(t *testing.T) {
	body := "{\"title\":\"a\xff\\u0000b\\ud800\",\"title\":\"c\xff\\u0000\\nd\",\"season\":1,\"episode\":1,\"user_name\":\"mi\xffra\"}"
	d, err := source.Parse(watch.Custom, source.Request{Body: []byte(body)})
	if err != nil {
		t.Fatal(err)
	}
	check(t, watch.Custom, d)
	if d.Title != "c\uFFFD  d" || d.UserName != "mi\uFFFDra" {
		t.Errorf("title %q, user %q", d.Title, d.UserName)
	}
}
