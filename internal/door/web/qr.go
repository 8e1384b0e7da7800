package web

import (
	"fmt"
	"html/template"
	"strings"

	"rsc.io/qr"
)

// qrQuiet is the empty edge that readers need, in modules (ISO/IEC 18004).
const qrQuiet = 4

// qrCode draws text as a QR code, black on white in every theme. label describes the picture to screen readers.
func qrCode(text, label string) (template.HTML, error) {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return "", fmt.Errorf("draw a QR code: %w", err)
	}
	var path strings.Builder
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			if !code.Black(x, y) {
				continue
			}
			run := 1
			for code.Black(x+run, y) { // outside nothing is black
				run++
			}
			_, _ = fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", x+qrQuiet, y+qrQuiet, run, run)
			x += run
		}
	}
	side := code.Size + 2*qrQuiet
	svg := fmt.Sprintf(`<svg class="qr" role="img" aria-label="%s" viewBox="0 0 %d %d" shape-rendering="crispEdges">`+
		`<rect width="%d" height="%d" fill="#fff"/><path fill="#000" d="%s"/></svg>`,
		template.HTMLEscapeString(label), side, side, side, side, path.String())
	return template.HTML(svg), nil //nolint:gosec // numbers, and an escaped label
}
