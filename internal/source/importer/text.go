package importer

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/rowread"
	"watchmark/internal/source/payload"
)

const (
	// membersMost is how many files a zip may hold, directoryMost how long their list may be, and memberMost how large a file of plays
	// may be, in bytes.
	membersMost   = 1000
	directoryMost = 1 << 20
	memberMost    = 32 << 20
	// depthMost is how deep what is skipped may go.
	depthMost = 100
)

// unpackedMost is how much there may be in a file, in bytes; tests lower it.
var unpackedMost int64 = 500 << 20

// text is what a file or a member of a zip holds.
type text struct{ *rowread.Reader }

// opener opens a part of a file.
type opener func(from io.Reader, begins string) (text, error)

// unpacked bounds what is read of a file or archive, in all. What begins otherwise than it should is a file of another kind.
func unpacked() opener {
	left := unpackedMost
	return func(from io.Reader, begins string) (text, error) {
		r, err := rowread.New(from, &left, fileUnpacks.With(unpackedMost>>20))
		if err != nil {
			return text{r}, err
		}
		head, err := r.Begins()
		if err == nil && strings.IndexByte(begins, head) < 0 {
			err = fileOtherForm.With()
		}
		return text{r}, err
	}
}

// open is the file by itself, or what a zip holds.
func (x *export) open() (single io.Reader, archive []*zip.File, err error) {
	head := make([]byte, 4)
	if _, err := x.file.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	info, err := x.file.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !bytes.HasPrefix(head, []byte("PK")) {
		return io.NewSectionReader(x.file, 0, info.Size()), nil, nil
	}
	list := &directory{ReaderAt: x.file, left: directoryMost}
	r, err := zip.NewReader(list, info.Size())
	if err != nil {
		return nil, nil, err
	}
	list.read = true
	if len(r.File) > membersMost {
		return nil, nil, fileMembers.With(membersMost)
	}
	// Finder adds files of its own.
	return nil, slices.DeleteFunc(r.File, func(f *zip.File) bool {
		return strings.Contains(f.Name, "__MACOSX/") || f.FileInfo().IsDir()
	}), nil
}

// directory bounds how much of a zip is read before its list is known: that list has no length that can be believed.
type directory struct {
	io.ReaderAt
	left int
	read bool // it is known
}

func (d *directory) ReadAt(into []byte, at int64) (int, error) {
	n, err := d.ReaderAt.ReadAt(into, at)
	if d.left -= n; d.left < 0 && !d.read {
		return 0, fileMembers.With(membersMost)
	}
	return n, err
}

// member reads one file of a zip.
func member(f *zip.File, read func(io.Reader) error) error {
	r, err := f.Open()
	if err != nil {
		return fileBroken.With(payload.Clean(f.Name, 80), err)
	}
	defer func() { _ = r.Close() }()
	return read(r)
}

// list reads a list of JSON, an item at a time.
func (t text) list(d *json.Decoder, take func(raw json.RawMessage) error) error {
	token, err := d.Token()
	if err == nil && token == nil { // a list without items, to some
		return nil
	}
	if err == nil && token != json.Delim('[') {
		err = fileOtherForm.With()
	}
	for err == nil && d.More() {
		t.Row()
		var raw json.RawMessage
		if err = d.Decode(&raw); err == nil {
			err = take(raw)
		}
	}
	if err == nil {
		_, err = d.Token()
	}
	return err
}

// skip passes over a value of JSON.
func (t text) skip(d *json.Decoder) error {
	for depth := 0; ; {
		t.Row()
		token, err := d.Token()
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('['), json.Delim('{'):
			depth++
		case json.Delim(']'), json.Delim('}'):
			depth--
		}
		switch {
		case depth == 0:
			return nil
		case depth > depthMost:
			return fileOtherForm
		}
	}
}

// broken is an error of reading a file as what is told to people.
func (x *export) broken(err error) error {
	var place *json.SyntaxError
	var line *xml.SyntaxError
	switch {
	case reason.Of(err).Class() == reason.Invalid:
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &place) && strings.HasPrefix(place.Error(), "unexpected end"), errors.As(err, &line) && line.Msg == "unexpected EOF":
		return fileEnds.With(x.Product())
	}
	return fileBroken.With(x.Product(), err)
}
