package notify

import "strings"

// fill puts values in the place of {placeholders}, in one pass: a value is never read for placeholders itself.
// Unknown ones become empty; braces that hold no name stay as they are. empty is told of each one that has no value.
func fill(template string, values map[string]string, empty func(name string)) string {
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
		if length == 0 || 1+length >= len(template) || template[1+length] != '}' {
			out.WriteByte('{')
			template = template[1:]
			continue
		}
		name := template[1 : 1+length]
		if values[name] == "" && empty != nil {
			empty(name)
		}
		out.WriteString(values[name])
		template = template[length+2:]
	}
}

// nameLength is how many bytes at the start of text can be the name of a placeholder.
func nameLength(text string) int {
	for i := range len(text) {
		c := text[i]
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return i
		}
	}
	return len(text)
}

// fillParts fills each part of a template between separators and leaves those out in which a placeholder is empty.
func fillParts(template, separator string, values map[string]string) string {
	var parts []string
	for part := range strings.SplitSeq(template, separator) {
		whole := true
		filled := fill(part, values, func(string) { whole = false })
		if whole {
			parts = append(parts, filled)
		}
	}
	return strings.Join(parts, separator)
}
