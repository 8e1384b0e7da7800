package device

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"testing"
	"time"

	"watchmark/internal/platform/lan"
	"watchmark/internal/platform/secret"
	"watchmark/internal/testkit/devicetest"
)

// The boxes are at the ports that players take, on addresses of loopback that nobody else has.
func TestScansFindPlayersOnly(t *testing.T) {
	devicetest.Start(t, fmt.Sprintf("127.9.7.1:%d", firstPort), "7c1de0aa55ab90f1", "Living Box").Play(devicetest.Episode("灯塔守望者", "第07集", 600, 1440))
	devicetest.Start(t, fmt.Sprintf("127.9.7.1:%d", firstPort+1), "7c1de0aa55ab90f1", "Living Box") // a second app
	devicetest.Start(t, fmt.Sprintf("127.9.7.2:%d", firstPort), "x", "x").Fail(devicetest.Page, "") // something else, and a player behind it
	devicetest.Start(t, fmt.Sprintf("127.9.7.2:%d", firstPort+1), "90f1", "Bed Box")
	devicetest.Start(t, fmt.Sprintf("127.9.7.3:%d", firstPort+1), "55ab", "Alone") // nothing at the first port: not found by a scan
	devicetest.Start(t, fmt.Sprintf("127.9.7.4:%d", firstPort), "55ac", "Old Box").Fail(devicetest.Old, "")
	devicetest.Start(t, fmt.Sprintf("127.9.7.5:%d", firstPort), "z", "z").Fail(devicetest.Cut, "") // something that speaks no HTTP
	devicetest.Start(t, fmt.Sprintf("127.9.7.5:%d", firstPort+1), "ab90", "Kitchen Box")
	outside := devicetest.Start(t, fmt.Sprintf("127.9.7.9:%d", firstPort), "y", "y")
	h := newHome(t)
	h.config.Enabled = false // it works while switched off
	h.config.Subnets = []netip.Prefix{netip.MustParsePrefix("127.9.7.0/29"), netip.MustParsePrefix("8.8.8.0/30")}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	got, err := h.DebugScan(ctx)
	if err != nil || !got.Complete {
		t.Fatal(got, err)
	}
	var found []string
	for _, d := range got.Devices {
		found = append(found, d.Name+" "+d.Address)
		if d.Address == "127.9.7.1:9978" && (d.Now == nil || d.Now.Reading.Episodes[0] != 7 || d.Now.Reading.How != "第…集") {
			t.Errorf("what plays is %+v", d.Now)
		}
	}
	slices.Sort(found)
	if want := []string{"Bed Box 127.9.7.2:9979", "Kitchen Box 127.9.7.5:9979", "Living Box 127.9.7.1:9978", "Living Box 127.9.7.1:9979"}; !slices.Equal(found, want) {
		t.Errorf("found is %q, want %q", found, want)
	}
	if outside.Asked("/device") > 0 {
		t.Error("the scan left its network")
	}
	if s := h.Status(); len(s.Devices) != 4 || s.LastScan == nil || s.Found != 4 || s.Enabled {
		t.Errorf("the status is %+v", s)
	}
	if len(h.events) > 0 || h.Status().Devices[0].LastEvent != nil {
		t.Error("a scan for testing has counted")
	}
	// By its address without a port the lone one is found, too.
	h.mu.Lock()
	h.config = Config{Enabled: true, Addresses: []string{"127.9.7.3"}, Threshold: 0.8}
	h.mu.Unlock()
	if ports, err := h.walk(t.Context(), "127.9.7.3", true); err != nil && len(ports) == 0 || !slices.Equal(ports, []uint16{firstPort + 1}) {
		t.Errorf("patiently found is %v, %v", ports, err)
	}
	if s := h.Status(); len(s.Devices) != 0 {
		t.Errorf("what lies in no network any more stays: %+v", s.Devices)
	}
}

// An address without a port stands for every player there.
func TestAllPlayersOfAnAddressAreAsked(t *testing.T) {
	for port := firstPort + 2; port < firstPort+4; port++ {
		devicetest.Start(t, fmt.Sprintf("127.9.8.1:%d", port), "7c1de0aa55ab90f1", fmt.Sprintf("Box %d", port))
	}
	h := newHome(t)
	h.poll(t.Context(), h.named("127.9.8.1"))
	for _, p := range h.due(time.Now()) {
		h.poll(t.Context(), p)
	}
	if s := h.Status(); len(s.Devices) != 2 || s.Devices[0].Name != "Box 9980" || s.Devices[1].Name != "Box 9981" || !s.Devices[1].Online {
		t.Errorf("the status is %+v", s)
	}
	if due := len(h.due(time.Now())) + 10*len(h.due(time.Now().Add(time.Hour))); due != 20 {
		t.Errorf("asked again are %d", due)
	}
}

// named is a place as a setting without a port makes it.
func (h *home) named(host string) *place {
	h.config.Subnets = []netip.Prefix{netip.MustParsePrefix(host + "/32")} // for settings cannot name this machine
	p := h.add(host, 0)
	p.anyPort = true
	return p
}

// A look that had no time left has seen nobody.
func TestALookWithoutTimeSeesNobody(t *testing.T) {
	devicetest.Start(t, fmt.Sprintf("127.9.8.2:%d", firstPort), "7c1de0aa55ab90f1", "Living Box")
	h := newHome(t)
	p := h.named("127.9.8.2")
	ended, end := context.WithCancel(t.Context())
	end()
	h.poll(ended, p)
	if s := h.Status(); s.Devices[0].Online || s.Devices[0].LastSeen != nil {
		t.Errorf("the status is %+v", s)
	}
	if got, err := h.DebugScan(ended); err != nil || got.Complete || len(got.Devices) != 1 || got.Devices[0].Online || got.Devices[0].Problem.IsZero() {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestWhenNetworksAreScanned(t *testing.T) {
	home, garage := netip.MustParsePrefix("192.168.1.0/24"), netip.MustParsePrefix("192.168.2.0/24")
	c := Config{Enabled: true, Subnets: []netip.Prefix{home}, ScanEvery: 6 * time.Hour}
	at := time.Unix(1_700_000_000, 0)
	var s scans
	for _, step := range []struct {
		name  string
		after time.Duration
		but   func()
		want  bool
	}{
		{"at the start", 0, nil, true},
		{"soon again", time.Minute, nil, false},
		{"a box has vanished just after", time.Minute, func() { s.vanished = true }, false},
		{"and is not forgotten", rescanAfter, nil, true},
		{"once", rescanAfter, nil, false},
		{"in time", c.ScanEvery, nil, true},
		{"another network", time.Minute, func() { c.Subnets = []netip.Prefix{home, garage} }, true},
		{"on demand only", 10 * time.Hour, func() { c.ScanEvery = 0 }, false},
		{"switched off", 10 * time.Hour, func() { c.ScanEvery, c.Enabled = time.Hour, false }, false},
		{"no network", 10 * time.Hour, func() { c.Enabled, c.Subnets = true, nil }, false},
	} {
		at = at.Add(step.after)
		if step.but != nil {
			step.but()
		}
		if got := s.due(c, at); got != step.want {
			t.Errorf("%s: %v", step.name, got)
		}
	}
}

func TestFoundBoxesAreForgottenAfterADay(t *testing.T) {
	h := newHome(t)
	h.config.Subnets = []netip.Prefix{netip.MustParsePrefix("127.9.9.0/29")}
	for _, c := range []struct {
		offline time.Duration
		kept    int
	}{{forgetAfter - time.Hour, 1}, {forgetAfter + time.Hour, 0}} {
		h.add("127.9.9.1", firstPort).offline = time.Now().Add(-c.offline)
		if got := len(h.Status().Devices); got != c.kept {
			t.Errorf("offline for %v: %d devices", c.offline, got)
		}
	}
}

func TestOnlyOneScanAtATime(t *testing.T) {
	h := newHome(t)
	h.scanning = true
	if _, err := h.DebugScan(t.Context()); !errors.Is(err, ErrScanning) {
		t.Error(err)
	}
}

// What a name leads to is judged when it is connected to, and without the option for tests
// this machine is out of reach.
func TestNobodyIsAskedOutsideOfTheHome(t *testing.T) {
	b := box(t)
	h := newHome(t, named(b))
	for _, loopback := range []bool{false, true} {
		c, err := newClient(time.Second, loopback, &secret.Masker{}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		for _, host := range []string{"localhost", "127.0.0.1", "::ffff:127.0.0.1"} {
			_, err := c.device(t.Context(), host, b.Port)
			if refused := errors.Is(err, lan.ErrNotPrivate); refused == loopback || loopback && err != nil {
				t.Errorf("%s with loopback %v: %v", host, loopback, err)
			}
		}
		for _, host := range []string{"8.8.8.8", "169.254.169.254", "::ffff:8.8.8.8", "0.0.0.0"} {
			if _, err := c.device(t.Context(), host, 80); err == nil || host != "0.0.0.0" && !errors.Is(err, lan.ErrNotPrivate) {
				t.Errorf("%s: %v", host, err)
			}
		}
	}
	h.Loopback = false
	h.config.Subnets = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/29"), netip.MustParsePrefix("8.8.8.0/24")}
	hosts := make(chan string, 1000)
	h.each(t.Context(), hosts)
	if len(hosts) > 0 {
		t.Errorf("%s is scanned", <-hosts)
	}
}
