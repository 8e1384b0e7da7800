package web

import (
	"bytes"
	"fmt"
	"unicode"
	"unicode/utf8"
)

// isControl reports whether a character is invisible or changes the direction of the text around it: control characters
// other than line breaks and tabs, direction overrides, invisible separators, and tags. Joiners are allowed, because
// scripts and emoji need them.
func isControl(r rune) bool {
	switch {
	case r == '\n', r == '\r', r == '\t':
		return false
	case unicode.IsControl(r), r == 0x061c, r == 0x200b, r == 0x200e, r == 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f,
		r == 0xfeff, r >= 0xfff9 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe007f:
		return true
	}
	return false
}

// untouched are the attributes whose value is sent back to the service and must stay the same.
var untouched = map[string]bool{
	"value": true, "href": true, "src": true, "action": true, "name": true,
	"data-name": true, "data-body": true, "data-text": true, "data-url": true, "data-level": true,
}

// visible makes the control characters of a page visible: in text as an element with their code, in attributes, options
// and titles as their code in brackets. Fields that people edit stay the same. Every page passes through it, so that no
// template can forget it.
func visible(page []byte) []byte {
	if bytes.IndexFunc(page, isControl) < 0 {
		return page
	}
	var out bytes.Buffer
	attribute, inTag, inValue, whole := "", false, false, ""
	for at := 0; at < len(page); {
		r, size := utf8.DecodeRune(page[at:])
		rest := page[at:]
		switch {
		case !inTag && r == '<':
			for _, name := range []string{"textarea", "option", "title", "script"} {
				if bytes.HasPrefix(rest, []byte("<"+name)) {
					whole = name
				} else if bytes.HasPrefix(rest, []byte("</"+name)) {
					whole = ""
				}
			}
			inTag = true
		case inTag && r == '"':
			if inValue = !inValue; inValue {
				before := bytes.TrimSuffix(page[:at], []byte("="))
				attribute = string(before[bytes.LastIndexAny(before, " \n\t<")+1:])
			}
		case inTag && !inValue && r == '>':
			inTag = false
		case isControl(r) && (inTag && !untouched[attribute] || whole == "option" || whole == "title"):
			fmt.Fprintf(&out, "[U+%04X]", r)
			at += size
			continue
		case isControl(r) && !inTag && whole == "":
			fmt.Fprintf(&out, `<span class="unseen" title="U+%04[1]X">U+%04[1]X</span>`, r)
			at += size
			continue
		}
		out.Write(page[at : at+size])
		at += size
	}
	return out.Bytes()
}
