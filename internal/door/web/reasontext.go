package web

import (
	"encoding/json"
	"html/template"
	"net/http"

	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/reason"
)

// reasonText is a reason on a page.
type reasonText struct {
	Text string
	// Lang is the language of Text: English where the program has no other words, such as for a text of another service.
	Lang string
}

// textOf is a reason in a language; nil for the reason that says nothing, which is what templates ask.
func textOf(r reason.Reason, lang string) *reasonText {
	if r.Code == "" {
		r = reason.Plain(r.Text)
	}
	switch {
	case r.IsZero():
		return nil
	case r.Known():
		return &reasonText{r.In(bilingual.Language(lang)), lang}
	}
	return &reasonText{r.In(bilingual.Language(lang)), languages[0].Tag}
}

// saidText is a reason on a page, in which documents are links.
type saidText struct {
	Text template.HTML
	Lang string
}

// said is a reason for a template; nil for the one that says nothing.
func (s *site) said(r reason.Reason, lang string) *saidText {
	shown := textOf(r, lang)
	if shown == nil {
		return nil
	}
	return &saidText{s.linked(shown.Text), shown.Lang}
}

// What a script may send at once, in bytes: that of a reader, and that of a stranger at the page of the sign-in.
const (
	mostOfReader   = 64 << 10
	mostOfStranger = 2 << 10
)

// reasons answers the reasons that a script sends, a JSON list of reasons or of their texts, with their texts in the language of
// its page. The API itself speaks English alone.
func (s *site) reasons(w http.ResponseWriter, r *http.Request) {
	most := int64(mostOfStranger)
	if _, signedIn := s.Viewer(r); signedIn {
		most = mostOfReader
	}
	var all []reason.Reason
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, most)).Decode(&all); err != nil {
		http.Error(w, "Send the reasons as a JSON list.", http.StatusBadRequest)
		return
	}
	texts := make([]string, len(all))
	for i, one := range all {
		if shown := textOf(one, string(bilingual.Asked(r))); shown != nil {
			texts[i] = shown.Text
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(texts) // a reader that went away needs no answer
}
