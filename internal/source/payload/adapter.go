package payload

import (
	"watchmark/internal/platform/bilingual"
	"watchmark/internal/watch"
)

// Adapter is one push source: all that the service and its pages know of it.
type Adapter struct {
	// Source is the last part of the webhook's path, and what its records are filed under. It never changes.
	Source watch.Source
	// Name is what people call it.
	Name bilingual.Text
	// Parse reads one request. Its errors are a *BadRequest, and one that wraps ErrUnsupportedMedia.
	Parse func(Request) (Delivery, error)
	Guide Guide
	// ByAPIKey is set for a source whose requests come to a path of their own with the API key of a person, whose watch it then is. All
	// others come to /webhook/SOURCE with the webhook key.
	ByAPIKey bool
}

// Guide is what the page Webhooks says of a source. Its texts may hold **bold** and `code`.
type Guide struct {
	// Document is its chapter of the documents, such as "sources/plex".
	Document string
	// Needs is what somebody must have first.
	Needs bilingual.Text
	// Steps are what to click, one after the other.
	Steps []bilingual.Text
	Note  bilingual.Text
	// Body is a text to paste into the media server, under BodyTitle; empty where there is none.
	// BodyOptional folds it away.
	BodyTitle    bilingual.Text
	Body         string
	BodyOptional bool
}
