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

	"watchmark/internal/lan"
	"watchmark/internal/secret"
	"watchmark/internal/source/device/devicetest"
)

// The boxes are at the ports that players take, on addresses of loopback that nobody else has.
func TestScansFindPlayersOnly(t *testing.T) {
	devicetest.Start(t, fmt.Sprintf("127.9.7.1:%d", FirstPort), "7c1de0aa55ab90f1", "Living Box").Play(devicetest.Episode("灯塔守望者", "第07集", 600, 1440))
	devicetest.Start(t, fmt.Sprintf("127.9.7.1:%d", FirstPort+1), "7c1de0aa55ab90f1", "Living Box") // a second app
	devicetest.Start(t, fmt.Sprintf("127.9.7.2:%d", FirstPort), "x", "x").Fail(devicetest.Page, "") // something else, and a player behind it
	devicetest.Start(t, fmt.Sprintf("127.9.7.2:%d", FirstPort+1), "90f1", "Bed Box")
	devicetest.Start(t, fmt.Sprintf("127.9.7.3:%d", FirstPort+1), "55ab", "Alone") // nothing at the first port: not found by a scan
	outside := devicetest.Start(t, fmt.Sprintf("127.9.7.9:%d", FirstPort), "y", "y")
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
	if want := []string{"Bed Box 127.9.7.2:9979", "Living Box 127.9.7.1:9978", "Living Box 127.9.7.1:9979"}; !slices.Equal(found, want) {
		t.Errorf("found is %q, want %q", found, want)
	}
	if outside.Asked("/device") > 0 {
		t.Error("the scan left its network")
	}
	if s := h.Status(); len(s.Devices) != 3 || s.LastScan == nil || s.Found != 3 || s.Enabled {
		t.Errorf("the status is %+v", s)
	}
	if len(h.events) > 0 || h.Status().Devices[0].LastEvent != nil {
		t.Error("a scan for testing has counted")
	}
	// By its address without a port the lone one is found, too.
	h.mu.Lock()
	h.config = Config{Enabled: true, Addresses: []string{"127.9.7.3"}, Threshold: 0.8}
	h.mu.Unlock()
	if ports, err := h.walk(t.Context(), "127.9.7.3", true); err != nil && len(ports) == 0 || !slices.Equal(ports, []uint16{FirstPort + 1}) {
		t.Errorf("patiently found is %v, %v", ports, err)
	}
	if s := h.Status(); len(s.Devices) != 0 {
		t.Errorf("what lies in no network any more stays: %+v", s.Devices)
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
