// Package update looks whether a newer version of the program was announced. It never
// downloads or changes anything.
package update

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/schedule"
)

const (
	// every is how often it is asked, retryAfter how long after a failure; a quarter more at most, so that not
	// all services of the world ask at once.
	every      = 24 * time.Hour
	retryAfter = 3 * time.Hour
	// first is how long after the start it is asked: a service that is started again and again asks little.
	first = 2 * time.Minute
)

// Config is what a Checker is made of; every field must be set.
type Config struct {
	HTTP *httpx.Client
	// URL is asked before each look; empty is never.
	URL func() string
	// Version is that of the program, such as 1.2.3; an invalid one is never older.
	Version string
}

// Status is what is known of newer versions.
type Status struct {
	Enabled bool
	// Newer is the version announced, when it is newer than the program's; URL is its page, or empty.
	Newer, URL string
	// CheckedAt is when it was last asked; zero before the first time. Problem is why that failed.
	CheckedAt time.Time
	Problem   reason.Reason
}

// Checker asks once a day.
type Checker struct {
	Config
	began time.Time

	mu     sync.Mutex
	asked  string // the address that status is of
	status Status
}

// New is a Checker; its Job asks by schedule.
func New(c Config) *Checker { return &Checker{Config: c, began: time.Now()} }

// JobName is the name of the job.
const JobName = "update_check"

// Job asks once a day, and soon after the start or a change of the address: what is known is not kept over a restart.
func (c *Checker) Job() schedule.Job {
	return schedule.Job{
		Name: JobName, Own: true, Quiet: true, Run: c.check,
		Plan: func() schedule.Plan {
			if c.URL() == "" {
				return schedule.Plan{}
			}
			return schedule.Every(every)
		},
		Look: func(context.Context) (due bool, err error) {
			address := c.URL()
			c.mu.Lock()
			defer c.mu.Unlock()
			return address != c.asked && (c.asked != "" || time.Since(c.began) >= first), nil
		},
		Ready: func(context.Context) error {
			if c.URL() == "" {
				return ErrOff
			}
			return nil
		},
	}
}

// check asks once.
func (c *Checker) check(ctx context.Context, run *schedule.Run) error {
	address := c.URL()
	tag, page, err := c.ask(ctx, address)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if address != c.asked {
		c.status = Status{}
	}
	c.asked, c.status.CheckedAt, c.status.Problem = address, time.Now(), reason.Reason{}
	if err != nil {
		c.status.Problem = reason.Of(err)
		run.Again(retryAfter + rand.N(retryAfter/4))
		return err
	}
	run.Again(every + rand.N(every/4))
	c.status.Newer, c.status.URL = "", ""
	if Newer(tag, c.Version) {
		c.status.Newer, c.status.URL = strings.TrimPrefix(tag, "v"), page
	}
	return nil
}

// ask reads the newest release, in the form of the GitHub API.
func (c *Checker) ask(ctx context.Context, address string) (tag, page string, err error) {
	answer, err := c.HTTP.Do(ctx, httpx.Request{URL: address, Header: http.Header{"Accept": {"application/json"}}})
	if err != nil {
		return "", "", err
	}
	if answer.Status != http.StatusOK {
		return "", "", answers.With(answer.Status)
	}
	var release struct {
		Tag  string `json:"tag_name"`
		Page string `json:"html_url"`
	}
	if err := json.Unmarshal(answer.Body, &release); err != nil {
		return "", "", notJSON
	}
	if !versionForm.MatchString(release.Tag) {
		return "", "", noVersion
	}
	if u, err := url.Parse(release.Page); err == nil && len(release.Page) < 500 && (u.Scheme == "https" || u.Scheme == "http") {
		page = u.String()
	}
	return release.Tag, page, nil
}

var versionForm = regexp.MustCompile(`^v?(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?(-[0-9A-Za-z.-]{1,40})?(?:\+[0-9A-Za-z.-]{1,40})?$`)

// Newer reports whether version a is newer than b. An invalid version is neither newer nor
// older, and a release is newer than what came before it under its number (1.2.0-rc.1). Two such are not compared.
func Newer(a, b string) bool {
	x, y := versionForm.FindStringSubmatch(a), versionForm.FindStringSubmatch(b)
	if x == nil || y == nil {
		return false
	}
	for i := 1; i <= 3; i++ {
		m, _ := strconv.Atoi("0" + x[i]) // it is digits, or nothing
		n, _ := strconv.Atoi("0" + y[i])
		if m != n {
			return m > n
		}
	}
	return x[4] == "" && y[4] != ""
}

// Status is what is known now.
func (c *Checker) Status() Status {
	address := c.URL()
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.status
	if address == "" || address != c.asked {
		s = Status{}
	}
	s.Enabled = address != ""
	return s
}
