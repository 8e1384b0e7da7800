package channel

import "time"

// For tests of single rules.
var (
	Sign           = sign
	EscapeMarkdown = escapeMarkdown
	Cut            = cut
	CutTo          = cutTo
	RenderTo       = render
	ParseTemplate  = parseTemplate
)

// SetPatience has messages given up after d.
func (t *Tools) SetPatience(d time.Duration) { t.patience = d }

// Learn has text masked in what is told.
func (t *Tools) Learn(text string) { t.masker.Add(text) }

// Escapes make texts of a service mean nothing but themselves, by the name of what it speaks.
var Escapes = map[string]func(string) string{"html": htmlText.Replace, "discord": escapeDiscord, "slack": escapeSlack, "templates": noTemplate}
