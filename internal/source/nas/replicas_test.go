package nas_test

import (
	"testing"
	"time"

	"watchmark/internal/source/nas"
)

// A replica that does not find the library says so when it is told to read it, at all replicas; what was read stays, and who finds it
// goes on from there.
func TestAReplicaWithoutTheLibrarySaysSo(t *testing.T) {
	l := sample(t)
	defer l.Stop()
	has := newRig(t, l.Path)
	has.round()
	l.Play("mira-guid", "lamp-1", time.Now().UnixMilli(), nil)
	has.sync(nas.Manual{})
	has.expect("mira: 灯塔守望者 s1 e1")
	before := has.status()

	lacks := newReplica(t, has.dir, l.Path+".elsewhere")
	l.Play("mira-guid", "lamp-2", time.Now().UnixMilli(), nil)
	lacks.problem(nas.Missing, "there is no file")
	lacks.expect("")
	if s := has.status(); s.LastErrorKind != nas.Missing || !s.Since.Equal(*before.Since) || !s.Watermark.Equal(*before.Watermark) {
		t.Errorf("afterwards the status is %+v, before it was %+v", s, before)
	}
	has.sync(nas.Manual{})
	has.expect("mira: 灯塔守望者 s1 e2")
	if s := lacks.status(); !s.LastError.IsZero() {
		t.Errorf("once it was read again the status is %+v", s)
	}
}
