package channel

import "time"

// For tests of single rules.
var (
	Sign           = sign
	EscapeMarkdown = escapeMarkdown
	Cut            = cut
	RenderTo       = render
	ParseTemplate  = parseTemplate
)

// SetPatience has messages given up after d.
func (t *Tools) SetPatience(d time.Duration) { t.patience = d }
