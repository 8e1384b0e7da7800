package web

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"strconv"

	"watchmark/internal/door/auth"
	"watchmark/internal/platform/bilingual"
	"watchmark/internal/source"
	"watchmark/internal/tell/notify/channel"
)

// languages are the languages of the pages with their tags for <html lang>. The first is for readers who prefer none
// of them.
var languages = []struct{ Tag, Name string }{
	{"en", "English"},
	{"zh-CN", "简体中文"},
}

// catalogue holds the texts of the pages by language and key.
type catalogue map[string]map[string]string

// loadCatalogue reads the texts from locales, and takes those of push sources and channels from their adapters. A key
// that a language lacks is an error.
func loadCatalogue() (catalogue, error) {
	c := catalogue{}
	for _, lang := range languages {
		texts := map[string]string{}
		paths, err := fs.Glob(files, "locales/"+lang.Tag+"/*.json")
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			text, err := files.ReadFile(path)
			if err != nil {
				return nil, err
			}
			part := map[string]string{}
			if err := json.Unmarshal(text, &part); err != nil {
				return nil, fmt.Errorf("read %s: %w", path, err)
			}
			for key, text := range part {
				if texts[key] != "" {
					return nil, fmt.Errorf("%s has %q, which another file has too", path, key)
				}
				texts[key] = text
			}
		}
		for key, text := range adapterTexts() {
			texts[key] = words{lang: lang.Tag}.choose(text.English, text.Chinese)
		}
		c[lang.Tag] = texts
	}
	for tag, texts := range c {
		for key := range texts {
			for other, theirs := range c {
				if theirs[key] == "" {
					return nil, fmt.Errorf("locales/%s lacks %q, which locales/%s has", other, key, tag)
				}
			}
		}
	}
	return c, nil
}

// adapterTexts returns the texts of all adapters by key.
func adapterTexts() map[string]bilingual.Text {
	all := map[string]bilingual.Text{}
	for _, src := range source.All {
		all["source.name."+string(src)], _ = source.Name(src)
	}
	for _, a := range source.Adapters {
		maps.Copy(all, sourceTexts(a))
	}
	for _, a := range channel.Adapters {
		maps.Copy(all, channelTexts(a))
	}
	return all
}

// sourceTexts returns the texts of a push source by key.
func sourceTexts(a source.Adapter) map[string]bilingual.Text {
	guide := "connect." + string(a.Source)
	texts := map[string]bilingual.Text{guide + ".needs": a.Guide.Needs, guide + ".note": a.Guide.Note}
	for i, step := range a.Guide.Steps {
		texts[stepKey(a.Source, i)] = step
	}
	if a.Guide.Body != "" {
		texts[guide+".body"] = a.Guide.BodyTitle
	}
	return texts
}

// choose returns the text in the language of w.
func (w words) choose(en, zh string) string {
	if w.lang == "zh-CN" {
		return zh
	}
	return en
}

// words are the texts of the pages in one language.
type words struct {
	lang  string
	texts map[string]string // by key
}

// in returns the texts in a language.
func (c catalogue) in(lang string) words { return words{lang, c[lang]} }

// text formats the text of key with args as fmt does. Integers are written with separators between the thousands, so
// a number that is a name, such as the number of a record, must be a string. An unknown key is an error.
func (w words) text(key string, args ...any) (string, error) {
	text, known := w.texts[key]
	if !known {
		return "", fmt.Errorf("no text %q in language %s", key, w.lang)
	}
	if len(args) == 0 {
		return text, nil
	}
	for i, arg := range args {
		switch n := arg.(type) {
		case int:
			args[i] = figure(n)
		case int64:
			args[i] = figure(n)
		}
	}
	return fmt.Sprintf(text, args...), nil
}

// count formats key.one when n is 1, otherwise key.other. n is the first argument of the text.
func (w words) count(key string, n int, args ...any) (string, error) {
	form := ".other"
	if n == 1 {
		form = ".one"
	}
	return w.text(key+form, append([]any{n}, args...)...)
}

// figure is a number with separators between the thousands: 12345 is written 12,345 in both languages.
type figure int64

func (f figure) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, f.String()) } // of fmt's own buffer

func (f figure) String() string {
	digits := strconv.FormatInt(int64(f), 10)
	for at := len(digits) - 3; at > 0 && digits[at-1] != '-'; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// word is the text of prefix.name, or name itself when there is no such text: a newer version may have stored names
// that this one does not know.
func (w words) word(prefix, name string) string {
	if text, known := w.texts[prefix+"."+name]; known {
		return text
	}
	return name
}

// themeCookie keeps the colours that a reader chose. It is not secret.
const themeCookie = "watchmark_theme"

// themes are the choices of colours; "system" follows the device.
var themes = []struct{ ID, Icon string }{{"system", "monitor"}, {"light", "sun"}, {"dark", "moon"}}

func themeOf(r *http.Request) string {
	if cookie, err := r.Cookie(themeCookie); err == nil {
		for _, theme := range themes {
			if theme.ID == cookie.Value {
				return theme.ID
			}
		}
	}
	return themes[0].ID
}

// preferences stores a choice of language or theme in a cookie and redirects back.
func (s *site) preferences(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 16<<10)
	if err := r.ParseForm(); err != nil {
		http.Error(w, "This form cannot be read. Go back and try again.", http.StatusBadRequest)
		return
	}
	keep := func(name, value string) {
		http.SetCookie(w, &http.Cookie{ //nolint:gosec // without HTTPS a Secure cookie would never come back
			Name: name, Value: value, Path: s.BasePath + "/", MaxAge: 365 * 24 * 3600, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: auth.ClientOf(r.Context()).HTTPS})
	}
	if lang := r.PostForm.Get("lang"); s.texts[lang] != nil {
		keep(bilingual.Cookie, lang)
	}
	for _, theme := range themes {
		if theme.ID == r.PostForm.Get("theme") {
			keep(themeCookie, theme.ID)
		}
	}
	http.Redirect(w, r, s.BasePath+auth.LocalPath(r.PostForm.Get("back")), http.StatusSeeOther) //nolint:gosec // LocalPath never leaves this site
}
