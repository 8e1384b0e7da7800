package idmap

import (
	"bytes"
	"context"
	"net/http"
	"path/filepath"
	"regexp"
	"time"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/task"
)

// leastShare is how much of the entries in use a fetched table must have: a smaller one
// is taken for a truncated one.
const leastShare = 0.9

// releaseIn finds the release in the address that answered: registries lead from a range
// such as @0.3 to a release.
var releaseIn = regexp.MustCompile(`/bangumi-data@(\d+\.\d+\.\d+)/`)

// fetch asks for the table, and takes it into use when it is a new one.
func (k *Dataset) fetch(ctx context.Context, t *task.Task) (Outcome, error) {
	inUse, why := k.Table()
	if inUse == nil {
		return Failed, why
	}
	url := k.URL()
	request := httpx.Request{URL: url, Header: http.Header{"Accept": {"application/json"}}}
	known := inUse.head.ETag != "" && inUse.head.URL == url
	if known {
		request.Header.Set("If-None-Match", inUse.head.ETag)
	}
	t.Progress(0, 0, reason.Text("fetch"))
	answer, err := k.HTTP.Stream(ctx, request)
	if err != nil {
		return Failed, fetchFailed.With(err)
	}
	defer func() { _ = answer.Body.Close() }() // it was read to the end, or given up
	switch {
	case answer.Status == http.StatusNotModified && known:
		return UpToDate, nil
	case answer.Status != http.StatusOK:
		return Failed, fetchAnswered.With(answer.Status, http.StatusText(answer.Status))
	}
	head := Head{FetchedAt: time.Now().UTC().Truncate(time.Second), URL: url, ETag: answer.Header.Get("ETag"), Judged: judgedBy}
	if m := releaseIn.FindStringSubmatch(answer.URL); m != nil {
		head.Version = m[1]
	}
	packed, err := Pack(answer.Body, head)
	if err != nil {
		return Failed, tableUnreadable.With(err)
	}
	next, err := Read(bytes.NewReader(packed))
	if err != nil {
		return Failed, err
	}
	if float64(next.Len()) < leastShare*float64(inUse.Len()) {
		return Failed, errSmaller.With(next.Len(), inUse.Len())
	}
	if err := judge(next); err != nil {
		return Refused, err
	}
	if err := ctx.Err(); err != nil {
		return Failed, err
	}
	// What is the same is stored all the same: with its ETag it need not come again.
	if err := replace(filepath.Join(k.Folder, fileName), packed); err != nil {
		return Failed, notSaved.With(err)
	}
	k.use(next)
	if next.head.Digest == inUse.head.Digest {
		return UpToDate, nil
	}
	return Refreshed, nil
}

// judge holds a fetched table against the one in the program.
func judge(next *Table) error {
	own, err := Snapshot()
	if err != nil {
		return builtInUnreadable.With(err)
	}
	return own.Judge(next)
}
