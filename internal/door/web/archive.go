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

// archivePage shows the state of the offline archive and the result of a search in it.
type archivePage struct {
	archive.Status
	Display display
	// Text was searched for; Found is nil without a search.
	Text  string
	Found []archive.Found
}

// mostFound is how many subjects a search shows.
const mostFound = 20

func (g Archive) show(r *request) (content, error) {
	page := archivePage{Status: g.Status(), Text: strings.TrimSpace(r.URL.Query().Get("q"))}
	page.Display = archiveDisplay(page.Status)
	if page.Text == "" || !page.IndexReady {
		return content{Data: page}, nil
	}
	var err error
	page.Found, err = g.Find(r.Context(), archive.Query{Text: page.Text, Limit: mostFound})
	return content{Data: page}, err
}

// archiveDisplay shows the state of the archive.
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
