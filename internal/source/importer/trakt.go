package importer

import (
	"archive/zip"
	"cmp"
	"encoding/json"
	"io"
	"regexp"
	"slices"
	"strconv"

	"watchmark/internal/source/payload"
	"watchmark/internal/watch"
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
	plays := func(r io.Reader) error { return x.traktPlays(r, open, take) }
	single, archive, err := x.open()
	if err != nil {
		return err
	}
	if archive == nil {
		return plays(single)
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
			if err := member(f, func(r io.Reader) error { return traktErrors(r, open, take) }); err != nil {
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
		if err := member(part.File, plays); err != nil {
			return err
		}
	}
	return nil
}

// traktPlays reads one file of plays, which has the newest first.
func (x *export) traktPlays(r io.Reader, open opener, take func(row) error) error {
	t, err := open(r, "[")
	if err != nil {
		return err
	}
	var plays []json.RawMessage
	size := 0
	err = t.list(json.NewDecoder(t), func(raw json.RawMessage) error {
		plays = append(plays, raw)
		switch size += len(raw); {
		case size > memberMost:
			return fileUnpacks.With(memberMost >> 20)
		case len(plays) > rowsMost:
			return fileTooMany.With(rowsMost)
		}
		return nil
	})
	if err != nil {
		return err
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
func traktErrors(r io.Reader, open opener, take func(row) error) error {
	t, err := open(r, "[")
	if err != nil {
		return nil //nolint:nilerr // what it says is for information only
	}
	var failed error
	_ = t.list(json.NewDecoder(t), func(raw json.RawMessage) error {
		var part struct {
			Endpoint string `json:"endpoint"`
		}
		if json.Unmarshal(raw, &part) == nil {
			failed = take(row{id: "?", title: payload.Clean(part.Endpoint, watch.MaxText), why: fileIncomplete.With()})
		}
		return failed
	})
	return failed
}
