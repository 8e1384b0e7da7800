package web

import (
	"context"
	"strings"

	"watchmark/internal/catalog/archive"
)

// Archive is the page of the offline archive.
type Archive struct {
	Status func() archive.Status
	Find   func(context.Context, archive.Query) ([]archive.Found, error)
}

// archivePage is the state of the offline archive, and what was looked for in it.
type archivePage struct {
	archive.Status
	Display display
	// Text was looked for; Found is nil when nothing was.
	Text  string
	Found []archive.Found
}

// foundMost is how many subjects a search shows.
const foundMost = 20

func (g Archive) show(r *request) (content, error) {
	page := archivePage{Status: g.Status(), Text: strings.TrimSpace(r.URL.Query().Get("q"))}
	page.Display = archiveDisplay(page.Status)
	if page.Text == "" || !page.IndexReady {
		return content{Title: "archive.title", Data: page}, nil
	}
	var err error
	page.Found, err = g.Find(r.Context(), archive.Query{Text: page.Text, Limit: foundMost})
	return content{Title: "archive.title", Data: page}, err
}

// archiveDisplay is how the archive stands, in one word.
func archiveDisplay(s archive.Status) display {
	switch {
	case s.ImportInProgress && !s.IndexReady:
		return display{"busy", "download", "archive.is.first"}
	case !s.Enabled:
		return display{"quiet", "power", "archive.is.off"}
	case !s.IndexReady:
		return display{"bad", "circle-x", "archive.is.missing"}
	case s.LastOutcome == archive.Failed, s.LastOutcome == archive.Skipped:
		return display{"warn", "triangle-alert", "archive.is.old"}
	}
	return display{"good", "circle-check", "archive.is.good"}
}
