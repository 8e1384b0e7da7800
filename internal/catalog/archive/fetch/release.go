package fetch

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
)

const (
	// maxPointer bounds the pointer file, which has some 540 bytes.
	maxPointer = 64 << 10
	// VersionLayout is how a version writes the time of its dump, in UTC.
	VersionLayout = "2006-01-02.150405Z"
)

var (
	versionForm = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}\.\d{6}Z$`)
	digestForm  = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// Release is a published dump, as the pointer file announces it.
type Release struct {
	// Version is when it was made, in VersionLayout: later dumps have larger ones.
	Version string
	// URL is the original address of the file, http or https.
	URL string
	// Digest is "sha256:" with 64 lower-case hex digits; empty when none was announced.
	Digest string
	// Size of the file in bytes.
	Size int64
}

// isVersion reports whether text is a time in VersionLayout and no other form of one.
func isVersion(text string) bool {
	_, err := time.Parse(VersionLayout, text)
	return err == nil && versionForm.MatchString(text)
}

// check says what of r cannot be believed.
func (r Release) check(maxSize int64) error {
	if !isVersion(r.Version) {
		return badVersion
	}
	if r.Size <= 0 || r.Size > maxSize {
		return badSize.With(r.Size, maxSize)
	}
	if r.Digest != "" && !digestForm.MatchString(r.Digest) {
		return badDigest
	}
	u, err := url.Parse(r.URL)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return badAddress
	}
	return nil
}

// Latest is the newest dump. The error says for each source why it could not tell.
func Latest(ctx context.Context, cfg Config) (Release, error) {
	var reasons []error
	for _, s := range cfg.sources(cfg.PointerURL) {
		r, err := askPointer(ctx, cfg, s.address)
		if err == nil {
			cfg.passed("the pointer to the newest dump", reasons)
			return r, nil
		}
		if ended := ctx.Err(); ended != nil {
			return Release{}, lookForNewest.With(ended)
		}
		reasons = append(reasons, reason.Because.With(s.name, err))
	}
	return Release{}, lookForNewest.With(allOf(reasons))
}

func askPointer(ctx context.Context, cfg Config, address string) (Release, error) {
	resp, err := cfg.HTTP.Do(ctx, httpx.Request{URL: address})
	if err != nil {
		return Release{}, err
	}
	if resp.Status != http.StatusOK {
		return Release{}, statusError(resp.Status)
	}
	if len(resp.Body) > maxPointer {
		return Release{}, longPointer.With(maxPointer)
	}
	return parsePointer(resp.Body, cfg.MaxSize)
}

func statusError(status int) error {
	return answered.With(status, http.StatusText(status))
}

// parsePointer reads a release-asset object of GitHub (upstreams/archive.md section 1). The version is
// the time in the name, dump-2026-01-06.210306Z.zip, else that of the last change. What a download
// does not need may be missing or anything.
func parsePointer(text []byte, maxSize int64) (Release, error) {
	var raw struct {
		Name      any
		URL       string `json:"browser_download_url"`
		Digest    *string
		Size      int64
		UpdatedAt any `json:"updated_at"`
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return Release{}, unreadablePointer.With(err)
	}
	r := Release{URL: raw.URL, Size: raw.Size}
	if raw.Digest != nil {
		r.Digest = strings.ToLower(*raw.Digest)
	}
	name, _ := raw.Name.(string)
	name, begins := strings.CutPrefix(name, "dump-")
	name, ends := strings.CutSuffix(name, ".zip")
	if begins && ends && isVersion(name) {
		r.Version = name
	} else {
		updated, _ := raw.UpdatedAt.(string)
		at, err := time.Parse(time.RFC3339, updated)
		if err != nil {
			return Release{}, namelessPointer
		}
		r.Version = at.UTC().Format(VersionLayout)
	}
	if err := r.check(maxSize); err != nil {
		return Release{}, unusablePointer.With(err)
	}
	return r, nil
}
