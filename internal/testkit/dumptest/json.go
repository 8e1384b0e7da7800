package dumptest

import (
	"strconv"
	"time"
	"unicode/utf8"
)

// appendQuoted appends a JSON string escaped as Go's encoder does.
func appendQuoted[T string | []byte](b []byte, text T) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	start := 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&' {
			continue
		}
		if c >= utf8.RuneSelf && (c != 0xe2 || i+2 >= len(text) || text[i+1] != 0x80 || text[i+2]&^1 != 0xa8) {
			continue
		}
		b = append(b, text[start:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\r':
			b = append(b, '\\', 'r')
		case '\n':
			b = append(b, '\\', 'n')
		case '\t':
			b = append(b, '\\', 't')
		case 0xe2:
			b = append(b, `\u202`...)
			b = append(b, hex[text[i+2]&0xf])
			i += 2
		default:
			b = append(b, `\u00`...)
			b = append(b, hex[c>>4], hex[c&0xf])
		}
		start = i + 1
	}
	b = append(b, text[start:]...)
	return append(b, '"')
}

func appendInt(b []byte, key string, n int) []byte {
	b = append(b, key...)
	return strconv.AppendInt(b, int64(n), 10)
}

func appendString(b []byte, key, value string) []byte {
	b = append(b, key...)
	return appendQuoted(b, value)
}

func date(day int) (year, month, dayOfMonth int) {
	y, m, d := time.Unix(int64(day)*86400, 0).UTC().Date()
	return y, int(m), d
}

// appendDay appends a day like 2006-01-02.
func appendDay(b []byte, day int) []byte {
	y, m, d := date(day)
	b = strconv.AppendInt(b, int64(y), 10)
	return append(b, '-', byte('0'+m/10), byte('0'+m%10), '-', byte('0'+d/10), byte('0'+d%10))
}

// appendDayCN appends a day like 2006年1月2日.
func appendDayCN(b []byte, day int) []byte {
	y, m, d := date(day)
	b = strconv.AppendInt(b, int64(y), 10)
	b = append(b, "年"...)
	b = strconv.AppendInt(b, int64(m), 10)
	b = append(b, "月"...)
	b = strconv.AppendInt(b, int64(d), 10)
	return append(b, "日"...)
}
