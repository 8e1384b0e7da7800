package importer

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"watchmark/internal/platform/reason"
	"watchmark/internal/source/payload"
	"watchmark/internal/watch"
)

const (
	// membersMost is how many files a zip may hold, and memberMost how large one may be, in bytes.
	membersMost = 1000
	memberMost  = 32 << 20
)

// historyMember are the plays of Trakt's export, and errorsMember what Trakt failed to export (upstreams/exports.md section 1).
// The zip holds much more, personal data among it, which is not opened.
var (
	historyMember = regexp.MustCompile(`(?:^|/)watched-history(?:-(\d{1,6}))?\.json$`)
	errorsMember  = regexp.MustCompile(`(?:^|/)_errors\.json$`)
	simklMember   = regexp.MustCompile(`(?:^|/)SimklBackup\.json$`)
)

// trakt reads the plays of Trakt's export, the oldest first: a zip, or one file of it.
func (x *export) trakt(take func(row) error) error {
	open := unpacked()
	single, archive, err := x.open()
	if err != nil {
		return err
	}
	if archive == nil {
		return x.traktPlays(open(single), take)
	}
	type numbered struct {
		*zip.File
		number int
	}
	var parts []numbered
	for _, f := range archive {
		if m := historyMember.FindStringSubmatch(f.Name); m != nil {
			n, _ := strconv.Atoi(m[1])
			parts = append(parts, numbered{f, n})
		} else if errorsMember.MatchString(f.Name) {
			if err := member(f, open, func(r io.Reader) error { return x.traktErrors(r, take) }); err != nil {
				return err
			}
		}
	}
	if len(parts) == 0 {
		return fileNoHistory
	}
	// The newest plays stand in the file with the lowest number.
	slices.SortStableFunc(parts, func(a, b numbered) int { return cmp.Compare(b.number, a.number) })
	for _, part := range parts {
		if err := member(part.File, open, func(r io.Reader) error { return x.traktPlays(r, take) }); err != nil {
			return err
		}
	}
	return nil
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
	r, err := zip.NewReader(x.file, info.Size())
	if err != nil {
		return nil, nil, fileBroken.With(x.Product(), err)
	}
	if len(r.File) > membersMost {
		return nil, nil, fileMembers.With(membersMost)
	}
	// Finder adds files of its own.
	return nil, slices.DeleteFunc(r.File, func(f *zip.File) bool {
		return strings.Contains(f.Name, "__MACOSX/") || f.FileInfo().IsDir()
	}), nil
}

// member reads one file of a zip, bounded whatever the zip declares.
func member[R io.Reader](f *zip.File, open func(io.Reader) R, read func(io.Reader) error) error {
	r, err := f.Open()
	if err != nil {
		return fileBroken.With(payload.Clean(f.Name, 80), err)
	}
	defer func() { _ = r.Close() }()
	return read(open(io.LimitReader(r, memberMost)))
}

// traktPlays reads one file of plays, which has the newest first.
func (x *export) traktPlays(r io.Reader, take func(row) error) error {
	var plays []json.RawMessage
	if err := json.NewDecoder(r).Decode(&plays); err != nil {
		return x.broken(err)
	}
	for _, raw := range slices.Backward(plays) {
		id, e, err := x.Files.Play(raw, x.user)
		if id == "" {
			id = "?"
		}
		one := row{id: id, title: e.Title, event: e}
		if err != nil {
			one.why = fileRow.With()
		}
		if err := take(one); err != nil {
			return err
		}
	}
	return nil
}

// traktErrors tells which parts Trakt failed to export.
func (x *export) traktErrors(r io.Reader, take func(row) error) error {
	var failed []struct {
		Endpoint string `json:"endpoint"`
	}
	if json.NewDecoder(r).Decode(&failed) != nil {
		return nil //nolint:nilerr // what it says is for information only
	}
	for _, f := range failed {
		if err := take(row{id: "?", title: payload.Clean(f.Endpoint, watch.MaxText), why: fileIncomplete.With()}); err != nil {
			return err
		}
	}
	return nil
}

// broken is an error of reading a file as what is told to people.
func (x *export) broken(err error) error {
	var told reason.Reason
	if errors.As(err, &told) {
		return told
	}
	return fileBroken.With(x.Product(), err)
}
