package main

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
)

// plainWords has kong tell a wrong value in words, where it tells tokens and bits, and the help say what
// counts when a flag is not given.
func plainWords() []kong.Option {
	kinds := kong.NewRegistry().RegisterDefaults()
	options := []kong.Option{kong.ValueFormatter(withDefault)}
	for _, mapped := range []struct {
		kind reflect.Type
		want string
	}{
		{reflect.TypeFor[string](), "a text"},
		{reflect.TypeFor[int](), "a whole number"},
		{reflect.TypeFor[int64](), "a whole number"},
		{reflect.TypeFor[float64](), "a number"},
		{reflect.TypeFor[[]string](), "a text"},
		{reflect.TypeFor[map[string]string](), "of the form KEY=VALUE"},
	} {
		options = append(options, kong.KindMapper(mapped.kind.Kind(), worded{kinds.ForType(mapped.kind), mapped.want}))
	}
	return append(options,
		kong.KindMapper(reflect.Bool, wordedSwitch{worded{kinds.ForType(reflect.TypeFor[bool]()), "true or false"}}),
		kong.NamedMapper("path", worded{kinds.ForNamedType("path", nil), "a path"}),
		kong.NamedMapper("existingfile", worded{kinds.ForNamedType("existingfile", nil), "a file that is there"}),
	)
}

// worded decodes as another does; want is what a value must be.
type worded struct {
	kong.Mapper
	want string
}

// Decode tells a value that is missing or wrong in words.
func (w worded) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	text := ctx.Scan.Peek()
	if !text.IsValue() {
		return errors.New("its value is missing: write it behind the name and =")
	}
	if w.Mapper.Decode(ctx, target) != nil {
		return fmt.Errorf("%q is not %s", fmt.Sprint(text.Value), w.want)
	}
	return nil
}

// wordedSwitch decodes what needs no value.
type wordedSwitch struct{ worded }

// Decode switches on where there is no value.
func (w wordedSwitch) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	if ctx.Scan.Peek().Type != kong.FlagValueToken {
		target.SetBool(true)
		return nil
	}
	return w.worded.Decode(ctx, target)
}

// IsBool has kong know that.
func (wordedSwitch) IsBool() bool { return true }

// withDefault is the help of a value with its default and its variable.
func withDefault(v *kong.Value) string {
	var more []string
	if v.HasDefault && !v.IsBool() {
		more = append(more, "default "+cmp.Or(v.Default, `""`))
	}
	for _, name := range v.Tag.Envs {
		more = append(more, "$"+name)
	}
	if len(more) == 0 {
		return v.Help
	}
	return strings.TrimSuffix(v.Help, ".") + " (" + strings.Join(more, "; ") + ")."
}
