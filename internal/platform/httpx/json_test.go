package httpx_test

import (
	"errors"
	"strings"
	"testing"

	"watchmark/internal/platform/httpx"
)

func TestAnswersAreBoundedInValues(t *testing.T) {
	for _, c := range []struct {
		name, body string
		most       int
		bad        error
	}{
		{"as many as allowed", `{"a":[1,2,3]}`, 4, nil},
		{"one more", `{"a":[1,2,3]}`, 3, httpx.ErrTooMany},
		{"empty rows", `[` + strings.Repeat(`{},`, 1000) + `{}]`, 1000, httpx.ErrTooMany},
		{"empty lists inside of lists", strings.Repeat(`[`, 1001) + strings.Repeat(`]`, 1001), 1000, httpx.ErrTooMany},
		{"what is in a text counts nothing", `["a,b,[{\",[,\\",1]`, 2, nil},
		{"a text that does not end", `["a,,,,,`, 2, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var v any
			err := (&httpx.Response{Body: []byte(c.body)}).JSON(&v, c.most)
			if errors.Is(err, httpx.ErrTooMany) != (c.bad != nil) {
				t.Errorf("%v", err)
			}
		})
	}
}
