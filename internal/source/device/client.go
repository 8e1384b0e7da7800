// Package device asks TV boxes with FongMi TV, or a fork of it, what they play, and makes
// events of what was watched to the end (upstreams/device.md). A box pushes nothing and
// tells no user: it is looked at, often while it plays, and its name is the user name.
//
// What it promises: nothing but GET /device and GET /media is sent, to private addresses
// that the settings name only; what is not certain to be an episode or a film is not
// counted, and nothing counts twice, also over restarts.
package device

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/lan"
	"watchmark/internal/platform/secret"
	"watchmark/internal/source/payload"
)

// Players listen at the first free of these ports (upstreams/device.md, section 1).
const (
	firstPort = 9978
	lastPort  = 9998
)

const (
	// pollTimeout bounds one request to a known box, scanTimeout one to an address at
	// which there may be a box: those on a sleeping Wi-Fi take their time.
	pollTimeout = 4 * time.Second
	scanTimeout = 1200 * time.Millisecond
	// maxBody bounds an answer, in bytes.
	maxBody = 64 << 10
)

// info is what GET /device tells (section 2). The field type is not read: its meaning
// differs, and hardware ids are not kept.
type info struct {
	uuid, name string
}

// State is what the player does, by its newer numbering (section 3).
type State string

// The states. Stopped stands for ended, idle, failed and unknown too.
const (
	Playing   State = "playing"
	Paused    State = "paused"
	Buffering State = "buffering"
	Stopped   State = "stopped"
)

// media is what GET /media tells (section 3).
type media struct {
	title, label, url string
	state             State
	// position and duration are 0 when the player does not know them.
	position, duration time.Duration
	speed              float64 // above 0
}

// client asks players. It sends GET /device and GET /media and nothing else, follows no
// redirect, and connects to private addresses only, whatever a name leads to.
type client struct{ http *httpx.Client }

// newClient is a client whose requests take timeout at most. loopback lets it connect to
// this machine, for tests.
func newClient(timeout time.Duration, loopback bool, masker *secret.Masker, log *slog.Logger) (*client, error) {
	h, err := httpx.New(httpx.Config{Timeout: timeout, MaxBody: maxBody, PerMinute: 600, Burst: 20, Allow: allow(loopback)}, masker, log)
	return &client{h}, err
}

// allow is the rule for every connection to a box.
func allow(loopback bool) func(netip.Addr) error {
	return func(addr netip.Addr) error {
		if loopback && addr.Unmap().IsLoopback() {
			return nil
		}
		return lan.Check(addr)
	}
}

// get is the JSON object at a path; the content type is not looked at, for players say
// text/plain. The error wraps errNoPlayer when something else answers.
func (c *client) get(ctx context.Context, host string, port uint16, path string) (payload.Object, error) {
	answer, err := c.http.Do(ctx, httpx.Request{
		URL:           "http://" + net.JoinHostPort(host, strconv.Itoa(int(port))) + path,
		Header:        http.Header{"Connection": {"close"}}, // the player has a thread for each connection
		StayOnAddress: true,
	})
	if err != nil {
		return nil, err
	}
	if answer.Status != http.StatusOK {
		return nil, badStatus.With(path, answer.Status, errNoPlayer)
	}
	object, err := payload.ParseObject(answer.Body)
	if err != nil {
		return nil, notJSON.With(path, errNoPlayer)
	}
	return object, nil
}

// device asks who is there.
func (c *client) device(ctx context.Context, host string, port uint16) (info, error) {
	o, err := c.get(ctx, host, port, "/device")
	if err != nil {
		return info{}, err
	}
	i := info{uuid: payload.Clean(o.Text("uuid"), maxUUID), name: o.Line("name")}
	if i.uuid == "" && i.name == "" {
		return info{}, nameless.With(errNoPlayer)
	}
	return i, nil
}

// maxUUID bounds an Android id, which has 16 characters.
const maxUUID = 64

// media asks what is played. A player that plays nothing gives the zero title.
func (c *client) media(ctx context.Context, host string, port uint16) (media, error) {
	o, err := c.get(ctx, host, port, "/media")
	if err != nil {
		return media{}, err
	}
	return readMedia(o), nil
}

// readMedia reads numbers leniently: forks leave them out or send them as fractions or text.
func readMedia(o payload.Object) media {
	m := media{
		title: o.Line("title"), label: o.Line("artist"), url: o.Path("url"), state: Stopped,
		position: milliseconds(o, "position"), duration: milliseconds(o, "duration"), speed: 1,
	}
	switch state, _ := o.Int("state"); state {
	case 3:
		m.state = Playing
	case 2:
		m.state = Paused
	case 6:
		m.state = Buffering
	}
	if speed, ok := o.Number("speed"); ok && speed > 0 {
		m.speed = min(max(speed, 0.1), 16)
	}
	return m
}

// milliseconds is a length of time; 0 when it is unknown, below 0 or longer than anything
// that is played, as the sentinels of live streams are.
func milliseconds(o payload.Object, key string) time.Duration {
	const longest = 48 * time.Hour
	n, ok := o.Number(key)
	if !ok || n <= 0 || n > float64(longest.Milliseconds()) {
		return 0
	}
	return time.Duration(n) * time.Millisecond
}
