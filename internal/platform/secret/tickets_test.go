package secret_test

import (
	"testing"
	"testing/synctest"
	"time"

	"watchmark/internal/platform/secret"
)

func anyone(int) bool { return true }

func TestTicketsAreGoodOnceAndForATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tickets := secret.NewTickets[int](time.Minute, 10)
		name := tickets.Give(7)
		if _, found := tickets.Take(name, func(int) bool { return false }); found {
			t.Error("it was given to somebody else")
		}
		if value, found := tickets.Take(name, anyone); !found || value != 7 {
			t.Errorf("it gives %d, %t", value, found)
		}
		if _, found := tickets.Take(name, anyone); found {
			t.Error("it is good twice")
		}
		late := tickets.Give(8)
		time.Sleep(time.Minute)
		if _, found := tickets.Take(late, anyone); found {
			t.Error("it is good for longer than its life")
		}
	})
}

func TestTicketsAreBounded(t *testing.T) {
	tickets := secret.NewTickets[int](time.Minute, 10)
	var names []string
	for n := range 100 {
		names = append(names, tickets.Give(n))
	}
	kept := 0
	for n, name := range names {
		value, found := tickets.Take(name, anyone)
		if found {
			kept++
		}
		if n == 99 && (!found || value != 99) {
			t.Error("the newest made room")
		}
	}
	if kept > 10 {
		t.Errorf("%d are kept", kept)
	}
}
