package device

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/lan"
)

// What an address turned out to be.
type verdict uint8

const (
	silent  verdict = iota // nobody answers
	refused                // somebody is there, nothing listens
	other                  // something else listens
	aPlayer
)

// probe tells what listens at host and port. Only what answers both /device and /media as
// players do is one (upstreams/device.md, section 8).
func (k *Watcher) probe(ctx context.Context, host string, port uint16) (verdict, error) {
	_, err := k.quick.device(ctx, host, port)
	if err == nil {
		if _, err = k.client.media(ctx, host, port); err == nil {
			return aPlayer, nil
		}
		return other, err
	}
	var dial *net.OpError
	switch kind := httpx.Classify(err); {
	case kind == httpx.Timeout, kind == httpx.DNS, kind == httpx.Cancelled, errors.Is(err, lan.ErrNotPrivate):
		return silent, err
	case errors.As(err, &dial) && dial.Op == "dial":
		return refused, err
	}
	return other, err
}

// walk finds the ports of the players on a host. A second app on a box has the next port,
// and something else may have taken the first one; patient goes on although nothing
// listens at the first. err is why there is none, also when ctx has ended.
func (k *Watcher) walk(ctx context.Context, host string, patient bool) (ports []uint16, err error) {
	for port := uint16(firstPort); port <= lastPort && ctx.Err() == nil; port++ {
		v, failed := k.probe(ctx, host, port)
		if port == firstPort || v == other {
			err = failed
		}
		switch v {
		case aPlayer:
			ports = append(ports, port)
		case refused:
			if len(ports) > 0 || !patient {
				return ports, err
			}
		case silent:
			return ports, err
		}
	}
	return ports, cmp.Or(err, ctx.Err())
}

// scan looks through the networks that the settings name, and no others, and adds the
// players that it finds. It returns ErrScanning while one is under way, and the error of
// ctx when that ended it early; what was found until then stays.
func (k *Watcher) scan(ctx context.Context) (found int, err error) {
	k.mu.Lock()
	if k.scanning {
		k.mu.Unlock()
		return 0, ErrScanning
	}
	k.scanning = true
	k.mu.Unlock()
	defer func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.scanning = false; err == nil {
			k.scanned, k.scanFound = time.Now(), found
		}
	}()
	hosts := make(chan string)
	var looking sync.WaitGroup
	var counting sync.Mutex
	for range scansAtOnce {
		looking.Go(func() {
			for host := range hosts {
				ports, _ := k.walk(ctx, host, false) // most hosts are no boxes
				for _, port := range ports {
					k.add(host, port)
				}
				counting.Lock()
				found += len(ports)
				counting.Unlock()
			}
		})
	}
	k.each(ctx, hosts)
	close(hosts)
	looking.Wait()
	k.Kick()
	return found, ctx.Err()
}

// each sends every address of the networks once.
func (k *Watcher) each(ctx context.Context, hosts chan<- string) {
	sent := map[string]bool{}
	for _, network := range k.Config().Subnets {
		for addr := range lan.Hosts(network) {
			host := addr.String()
			if sent[host] || allow(k.Loopback)(addr) != nil {
				continue
			}
			sent[host] = true
			select {
			case hosts <- host:
			case <-ctx.Done():
				return
			}
		}
	}
}

// scanByItself scans when the boxes are switched on or the networks change, then as often
// as the settings say, and when a box has vanished, which may have got another address.
func (k *Watcher) scanByItself(ctx context.Context) {
	var scans scans
	for ctx.Err() == nil {
		if scans.due(k.Config(), time.Now()) {
			if found, err := k.scan(ctx); err == nil {
				k.Log.Debug("looked for TV boxes", "found", found)
			}
		}
		if k.rescan.Wait(ctx, lookEvery) {
			scans.vanished = true
		}
	}
}

// scans remembers the last scan.
type scans struct {
	at       time.Time // zero before the first
	networks []netip.Prefix
	vanished bool // a box has, since then
}

// due reports whether there is to be a scan now, which then is the last one.
func (s *scans) due(c Config, now time.Time) bool {
	if !c.Enabled || len(c.Subnets) == 0 || c.ScanEvery == 0 {
		return false
	}
	since := now.Sub(s.at)
	due := since >= c.ScanEvery || s.vanished && since >= rescanAfter || !slices.Equal(s.networks, c.Subnets)
	if due {
		*s = scans{at: now, networks: c.Subnets}
	}
	return due
}
