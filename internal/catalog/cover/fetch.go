package cover

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/platform/httpx"
)

// longestRest bounds what a Retry-After of the image host may ask for.
const longestRest = time.Hour

// fetch gets the image of a subject from the image host. The error is ErrNone,
// errNotAsked, a *failure, or any other for this cover alone.
func (k *Cache) fetch(ctx context.Context, id catalog.SubjectID) ([]byte, error) {
	if k.resting() {
		return nil, errNotAsked
	}
	path, err := k.address(ctx, id)
	if err != nil {
		return nil, err
	}
	small := smaller(path)
	data, err := k.download(ctx, small)
	if errors.Is(err, ErrNone) && small != path { // not every mirror makes images smaller
		return k.download(ctx, path)
	}
	return data, err
}

// address is the path of the cover at the image host.
func (k *Cache) address(ctx context.Context, id catalog.SubjectID) (string, error) {
	k.mu.Lock()
	address, known := k.addresses[id]
	k.mu.Unlock()
	if !known {
		if !k.Reachable() || !k.lookUps.Allow() {
			return "", errNotAsked
		}
		subject, err := k.Subject(ctx, id)
		switch {
		case errors.Is(err, catalog.ErrNotFound): // unknown, or hidden from look-ups without a login
			return "", ErrNone
		case err != nil && !catalog.Asked(err):
			return "", errNotAsked
		case err != nil:
			return "", err
		case subject.NSFW || subject.Image == "":
			return "", ErrNone
		}
		address = subject.Image
	}
	u, err := url.Parse(address)
	if err != nil || u.Path == "" || u.Path[0] != '/' {
		return "", ErrNone
	}
	return u.EscapedPath(), nil
}

// original is the path of a cover in any of the sizes that the catalog names.
var original = regexp.MustCompile(`^(?:/r/\d+)?/pic/cover/[lcmsg]/(.+)$`)

// smaller is the path of an image 200 pixels wide, the width nearest to what pages show
// among those that the image host makes (100, 200, 400, 600, 800, 1200): some 15 kB. A
// path of another form stays as it is.
func smaller(path string) string { return original.ReplaceAllString(path, "/r/200/pic/cover/l/$1") }

// download asks the image host for a path.
func (k *Cache) download(ctx context.Context, path string) ([]byte, error) {
	resp, err := k.HTTP.Do(ctx, httpx.Request{URL: k.Host() + path, Header: http.Header{"Accept": {"image/webp, image/jpeg, image/png, image/gif"}}})
	switch {
	case errors.Is(err, httpx.ErrTooLarge):
		return nil, ErrNone
	case err != nil:
		return nil, &failure{err, restFor}
	case resp.Status == http.StatusOK && typeOf(resp.Body) != "":
		return resp.Body, nil
	case resp.Status == http.StatusOK && !isPage(resp.Body), resp.Status == http.StatusNotFound, resp.Status == http.StatusGone, resp.Status == http.StatusBadRequest:
		return nil, ErrNone
	}
	return nil, &failure{fmt.Errorf("the image host answered %d and no image", resp.Status), min(max(restFor, resp.RetryAfter()), longestRest)}
}

// isPage reports whether an answer is a web page: that of a CDN or a proxy in trouble.
func isPage(body []byte) bool { return strings.HasPrefix(http.DetectContentType(body), "text/html") }
