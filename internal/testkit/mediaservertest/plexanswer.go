package mediaservertest

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// plexAnswer writes an answer: JSON where it is asked for, XML in every other case. A list of a media server stands in an
// object named MediaContainer, which is the root of its XML.
func plexAnswer(w http.ResponseWriter, r *http.Request, status int, root string, v any) {
	if strings.Contains(r.Header.Get("Accept"), "application/json") {
		if root == "MediaContainer" {
			v = object{root: v}
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v) // a client that went away needs none
		return
	}
	var b strings.Builder
	b.WriteString(xml.Header)
	switch v := v.(type) {
	case object:
		plexElement(&b, root, v)
	case []object:
		plexElement(&b, root, object{"resource": v})
	}
	w.Header().Set("Content-Type", "text/xml;charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(b.String()))
}

// plexElement writes an object as an element: what is plain as its attributes, objects below it.
func plexElement(b *strings.Builder, name string, o object) {
	if name == "Metadata" {
		if name = "Video"; o["type"] == "show" || o["type"] == "season" {
			name = "Directory"
		}
	}
	b.WriteString("<" + name)
	var below []string
	for _, key := range slices.Sorted(maps.Keys(o)) {
		switch v := o[key].(type) {
		case nil:
		case object, []object:
			below = append(below, key)
		case bool:
			plexAttribute(b, key, map[bool]string{true: "1", false: "0"}[v])
		default:
			plexAttribute(b, key, fmt.Sprint(v))
		}
	}
	b.WriteString(">")
	for _, key := range below {
		switch v := o[key].(type) {
		case object:
			plexElement(b, key, v)
		case []object:
			for _, one := range v {
				plexElement(b, key, one)
			}
		}
	}
	b.WriteString("</" + name + ">")
}

func plexAttribute(b *strings.Builder, name, value string) {
	b.WriteString(" " + name + `="`)
	_ = xml.EscapeText(b, []byte(value)) // a builder takes everything
	b.WriteString(`"`)
}

// plexRefuse is how a media server refuses: with a page.
func plexRefuse(w http.ResponseWriter, status int) {
	title := http.StatusText(status)
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<html><head><title>%s</title></head><body><h1>%d %s</h1></body></html>", title, status, title) // a client that went away needs none
}

// number is an id as a number, 0 when it is none.
func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}
