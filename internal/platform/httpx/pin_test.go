package httpx_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"watchmark/internal/platform/httpx"
)

func TestPinTakesOneCertificateAlone(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) }))
	t.Cleanup(s.Close)
	sum := sha256.Sum256(s.Certificate().Raw)
	its := hex.EncodeToString(sum[:])
	for _, c := range []struct {
		name, pin string
		works     bool
	}{
		{"without a pin nobody trusted has signed it", "", false},
		{"the right pin", its, true},
		{"the right pin in capital letters", strings.ToUpper(its), true},
		{"another pin", strings.Repeat("ab", 32), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := fast
			cfg.Pin = c.pin
			resp, err := newClient(t, cfg).Do(t.Context(), httpx.Request{URL: s.URL})
			if c.works {
				if err != nil || string(resp.Body) != "ok" || httpx.Fingerprint(err) != "" {
					t.Fatalf("%v", err)
				}
				return
			}
			if got := httpx.Fingerprint(err); got != its {
				t.Errorf("fingerprint %q of %v, want %q", got, err, its)
			}
			if saysPin := strings.Contains(err.Error(), "was confirmed"); saysPin != (c.pin != "") {
				t.Errorf("error %q", err)
			}
		})
	}
}
