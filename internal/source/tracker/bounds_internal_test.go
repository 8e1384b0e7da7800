package tracker

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

func TestExpiredSignInsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := logins{waiting: map[loginKey]*login{}}
		for n := range 100 {
			l.add(loginKey{caller: "mira", email: fmt.Sprintf("%d@example.org", n)}, &login{begun: time.Now()})
			time.Sleep(loginLife / 4)
		}
		if len(l.waiting) > 4 {
			t.Errorf("%d sign-ins wait", len(l.waiting))
		}
	})
}
