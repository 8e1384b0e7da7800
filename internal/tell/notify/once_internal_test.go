package notify

import (
	"fmt"
	"testing"
)

func TestRememberedStatesAreBounded(t *testing.T) {
	n := &Notifier{states: map[string]string{}}
	for id := range 3 * statesMost {
		n.keep(fmt.Sprintf("account %d", id), "expired")
		if len(n.states) > statesMost || n.states[fmt.Sprintf("account %d", id)] != "expired" {
			t.Fatalf("%d states, the last one is %q", len(n.states), n.states[fmt.Sprintf("account %d", id)])
		}
	}
}
