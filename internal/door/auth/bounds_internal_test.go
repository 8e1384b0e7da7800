package auth

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

func TestAllowancesOfAddressesAreBounded(t *testing.T) {
	now := time.Now()
	s := NewAllowances(2, 1)
	address := func(n int) netip.Addr { return netip.AddrFrom4([4]byte{198, 51, byte(n >> 8), byte(n)}) }
	s.Allow(address(0), now) // has all of it back when the memory is full
	for n := 1; n < 3*maxTracked; n++ {
		at := now.Add(time.Duration(n) * time.Millisecond / 2)
		if !s.Allow(address(n), at) {
			t.Fatalf("address %d may ask nothing", n)
		}
		if len(s.seen) > maxTracked {
			t.Fatalf("%d addresses are remembered", len(s.seen))
		}
	}
	if _, known := s.seen[addressKey(address(0))]; known {
		t.Error("an address that has all of its allowance back is remembered in place of another one")
	}
}

func TestFailuresAtTheDoorAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := Policy{LockoutAttempts: 2, LockoutTime: time.Hour}
		d := newDoor()
		failed := func(key string) error { return d.knock(p, true, key) }
		for n := range 2 * maxTracked {
			if err := failed(fmt.Sprintf("name %d", n)); err != nil {
				t.Fatal(err)
			}
			if len(d.failures) > maxTracked {
				t.Fatalf("%d failures are remembered", len(d.failures))
			}
			time.Sleep(100 * time.Millisecond)
		}
		newest := fmt.Sprintf("name %d", 2*maxTracked-1)
		var locked *LockedError
		if err := errors.Join(failed(newest), failed(newest)); !errors.As(err, &locked) {
			t.Errorf("the newest is forgotten: %v", err)
		}
		if _, known := d.failures["name 0"]; known {
			t.Error("the oldest is remembered")
		}
	})
}
