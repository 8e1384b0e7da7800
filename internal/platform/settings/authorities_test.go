package settings_test

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"watchmark/internal/platform/settings"
)

func TestAuthoritiesAreReadAndChecked(t *testing.T) {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	der := server.Certificate().Raw
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	key := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("no certificate")})
	dir := t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("mixed/README", []byte("what lies here"))
	write("mixed/below/other.pem", text)
	write("mixed/ca.cer", der)
	write("empty/README", []byte("nothing"))
	for name, c := range map[string]struct{ path, wrong string }{
		"a file":                 {write("ca.pem", text), ""},
		"a file with more in it": {write("both.pem", append(key, text...)), ""},
		"a file in DER":          {write("ca.der", der), ""},
		"a folder":               {filepath.Join(dir, "mixed"), ""},
		"no file":                {filepath.Join(dir, "none.pem"), "network.ca_certificates: cannot be read: stat "},
		"a key":                  {write("key.pem", key), "network.ca_certificates: holds no certificate"},
		"a broken certificate":   {write("broken.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der[:40]})), "holds no certificate"},
		"a folder without one":   {filepath.Join(dir, "empty"), "holds no certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			m := h.start(t)
			err := m.Patch(t.Context(), one("network.ca_certificates", c.path))
			if c.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), c.wrong) {
					t.Errorf("it answers %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			pool, err := settings.Authorities(m.Current().Network.CACertificates)
			if err != nil {
				t.Fatal(err)
			}
			system, err := settings.Authorities("")
			if err != nil || system != nil {
				t.Errorf("without a path: %v, %v", system, err)
			}
			if subjects := pool.Subjects(); !strings.Contains(string(subjects[len(subjects)-1]), "Acme") { //nolint:staticcheck // what it leaves out are those of the system
				t.Error("the certificate is not trusted")
			}
		})
	}
}
