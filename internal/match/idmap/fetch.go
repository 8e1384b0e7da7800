package idmap

import (
	"bytes"
	"context"
	"io"
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

// download asks for a document, with the ETag of the one that is known; the answer is nil when that is still the newest.
func download(ctx context.Context, client *httpx.Client, url, etag string) (document []byte, newTag string, err error) {
	answer, err := stream(ctx, client, url, etag)
	if err != nil || answer == nil {
		return nil, "", err
	}
	defer func() { _ = answer.Body.Close() }() // it was read to the end, or given up
	document, err = io.ReadAll(&bounded{from: answer.Body, left: maxList})
	if err != nil {
		return nil, "", fetchFailed.With(err)
	}
	return document, answer.Header.Get("ETag"), nil
}

// stream begins to fetch a document; the answer is nil when the known one is still the newest.
func stream(ctx context.Context, client *httpx.Client, url, etag string) (*httpx.Stream, error) {
	request := httpx.Request{URL: url, Header: http.Header{}}
	if etag != "" {
		request.Header.Set("If-None-Match", etag)
	}
	answer, err := client.Stream(ctx, request)
	switch {
	case err != nil:
		return nil, fetchFailed.With(err)
	case answer.Status == http.StatusOK:
		return answer, nil
	}
	_ = answer.Body.Close()
	if answer.Status == http.StatusNotModified && etag != "" {
		return nil, nil
	}
	return nil, fetchAnswered.With(answer.Status, http.StatusText(answer.Status))
}

// fetch asks for the table, and takes it into use when it is a new one.
func (d *Dataset) fetch(ctx context.Context, t *task.Task) (Outcome, error) {
	inUse, why := d.ownTable()
	if inUse == nil {
		return Failed, why
	}
	url, etag := d.URL(), ""
	if inUse.head.URL == url {
		etag = inUse.head.ETag
	}
	t.Progress(0, 0, reason.Text("fetch"))
	answer, err := stream(ctx, d.HTTP, url, etag)
	if err != nil {
		return Failed, err
	}
	if answer == nil {
		return UpToDate, nil
	}
	defer func() { _ = answer.Body.Close() }() // it was read to the end, or given up
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
	if err := replace(filepath.Join(d.Folder, fileName), packed); err != nil {
		return Failed, notSaved.With(err)
	}
	d.use(next)
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
