package bilingual

import (
	"net/http"

	"golang.org/x/text/language"
)

// Cookie keeps the language that somebody chose. It is no secret.
const Cookie = "watchmark_lang"

var matcher = language.NewMatcher([]language.Tag{language.English, language.SimplifiedChinese})

// Asked is the language of whoever sends a request: the one chosen, else the best of what the browser asks for.
func Asked(r *http.Request) Language {
	if cookie, err := r.Cookie(Cookie); err == nil && (cookie.Value == string(English) || cookie.Value == string(Chinese)) {
		return Language(cookie.Value)
	}
	_, index := language.MatchStrings(matcher, r.Header.Get("Accept-Language"))
	return []Language{English, Chinese}[index]
}
