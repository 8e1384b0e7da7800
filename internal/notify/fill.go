package notify

import "strings"

// expand puts values in the place of {placeholders}, names of lower-case letters, digits and _, in one pass: what a
// value holds is never expanded itself. Other braces stay as they are.
func expand(template string, value func(name string) string) string {
	var out strings.Builder
	for {
		open := strings.IndexByte(template, '{')
		if open < 0 {
			out.WriteString(template)
			return out.String()
		}
		out.WriteString(template[:open])
		template = template[open:]
		length := nameLength(template[1:])
		if length == 0 || 1+length == len(template) || template[1+length] != '}' {
			out.WriteByte('{')
			template = template[1:]
			continue
		}
		out.WriteString(value(template[1 : 1+length]))
		template = template[length+2:]
	}
}

// nameLength is how many bytes at the start of text can be the name of a placeholder.
func nameLength(text string) int {
	for i := range len(text) {
		if c := text[i]; c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return i
		}
	}
	return len(text)
}

// expandParts expands each part of a template between separators, and leaves those out in which a value is empty.
func expandParts(template, separator string, values map[string]string) string {
	var parts []string
	for part := range strings.SplitSeq(template, separator) {
		whole := true
		expanded := expand(part, func(name string) string {
			whole = whole && values[name] != ""
			return values[name]
		})
		if whole {
			parts = append(parts, expanded)
		}
	}
	return strings.Join(parts, separator)
}
