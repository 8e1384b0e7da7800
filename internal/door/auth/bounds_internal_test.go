package auth

import (
	"net/netip"
	"testing"
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
