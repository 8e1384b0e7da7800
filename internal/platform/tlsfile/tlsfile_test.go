package tlsfile_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"watchmark/internal/platform/tlsfile"
)

// made is a certificate for name and its key, both PEM, that ends at a time.
func made(t *testing.T, name string, ends time.Time) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: ends.Add(-90 * 24 * time.Hour), NotAfter: ends}
	der, err := x509.CreateCertificate(rand.Reader, leaf, leaf, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	bare, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: bare})
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// served is the name in the certificate that the next handshake gets.
func served(t *testing.T, p *tlsfile.Pair) string {
	t.Helper()
	got, err := p.Config().GetCertificate(&tls.ClientHelloInfo{})
	if err != nil {
		t.Fatal(err)
	}
	return got.Leaf.Subject.CommonName
}

func TestWhatCannotBeServedIsSaid(t *testing.T) {
	dir := t.TempDir()
	later := time.Now().Add(time.Hour)
	cert, key := made(t, "one", later)
	_, strange := made(t, "two", later)
	for name, content := range map[string][]byte{"cert": cert, "key": key, "strange": strange, "text": []byte("nothing")} {
		write(t, filepath.Join(dir, name), content)
	}
	for _, c := range []struct{ name, cert, key, want string }{
		{"no certificate", "none", "key", "server.tls_cert: "},
		{"no key", "cert", "none", "server.tls_key: "},
		{"the key of another", "cert", "strange", "the key is not that of the certificate"},
		{"no PEM", "text", "key", "both must be PEM files"},
		{"key and certificate exchanged", "key", "cert", "PEM"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := tlsfile.Load(filepath.Join(dir, c.cert), filepath.Join(dir, c.key), slog.New(slog.DiscardHandler))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func TestExpiredCertificateIsToldAndServed(t *testing.T) {
	dir, log := t.TempDir(), &bytes.Buffer{}
	cert, key := made(t, "old", time.Now().Add(-time.Hour))
	write(t, filepath.Join(dir, "cert"), cert)
	write(t, filepath.Join(dir, "key"), key)
	p, err := tlsfile.Load(filepath.Join(dir, "cert"), filepath.Join(dir, "key"), slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	if at, soon := p.Ends(); !strings.Contains(log.String(), "has expired") || served(t, p) != "old" || time.Now().Before(at) || !soon {
		t.Errorf("it ends at %v, soon is %v, and the log is %q", at, soon, log)
	}
}

func TestEndIsSoonWhenRenewalMustHaveFailed(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		left time.Duration
		soon bool
	}{{20 * 24 * time.Hour, false}, {13 * 24 * time.Hour, true}} {
		cert, key := made(t, "one", time.Now().Add(c.left))
		write(t, filepath.Join(dir, "cert"), cert)
		write(t, filepath.Join(dir, "key"), key)
		p, err := tlsfile.Load(filepath.Join(dir, "cert"), filepath.Join(dir, "key"), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if _, soon := p.Ends(); soon != c.soon {
			t.Errorf("with %v left soon is %v", c.left, soon)
		}
	}
}

// A renewal writes one file after the other; between them, and when it goes wrong, the old certificate serves.
func TestRenewedFilesAreFollowed(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	synctest.Test(t, func(t *testing.T) {
		log := &bytes.Buffer{}
		later := time.Now().Add(time.Hour)
		c, k := made(t, "first", later)
		write(t, cert, c)
		write(t, key, k)
		p, err := tlsfile.Load(cert, key, slog.New(slog.NewTextHandler(log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		renew := func(path string, content []byte) {
			write(t, path, content)
			if err := os.Chtimes(path, time.Now(), time.Now()); err != nil { // the clock of the files is not that of the test
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		c, k = made(t, "second", later.Add(time.Hour))
		renew(cert, c)
		for range 3 {
			if got := served(t, p); got != "first" {
				t.Fatalf("with one file of two renewed %s is served", got)
			}
			time.Sleep(time.Minute)
		}
		if got := strings.Count(log.String(), "the old one stays"); got != 1 {
			t.Errorf("it was told %d times", got)
		}
		renew(key, k)
		at, _ := p.Ends()
		if got := served(t, p); got != "second" || !at.After(later) {
			t.Errorf("%s is served, until %v", got, at)
		}
		renew(cert, []byte("broken"))
		time.Sleep(time.Minute)
		if got := served(t, p); got != "second" {
			t.Errorf("with a broken file %s is served", got)
		}
		renew(cert, c)
		time.Sleep(time.Minute)
		told := strings.Count(log.String(), "the old one stays")
		for _, move := range [][2]string{{key, key + ".old"}, {key + ".old", key}, {key, key + ".old"}} {
			if got := served(t, p); got != "second" {
				t.Errorf("%s is served", got)
			}
			if err := os.Rename(move[0], move[1]); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
		}
		if got := served(t, p); got != "second" {
			t.Errorf("without a file %s is served", got)
		}
		if got := strings.Count(log.String(), "the old one stays") - told; got != 2 {
			t.Errorf("a file that was gone twice was told %d times", got)
		}
	})
}
