package app_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"watchmark/internal/app"
	"watchmark/internal/door/auth"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/testkit/logtest"
)

// certificate writes one for 127.0.0.1 and its key into dir, and returns who trusts it.
func certificate(t *testing.T, dir string) (cert, key string, trusted *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, leaf, leaf, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	bare, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key, trusted = filepath.Join(dir, "chain.pem"), filepath.Join(dir, "key.pem"), x509.NewCertPool()
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: bare}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	trusted.AppendCertsFromPEM(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return cert, key, trusted
}

func TestServiceSpeaksTLSWithItsOwnCertificate(t *testing.T) {
	dir := dbtest.Folder(t)
	cert, key, trusted := certificate(t, dir)
	out := &logtest.Buffer{}
	ctx, cancel := context.WithCancel(t.Context())
	service, err := app.New(ctx, app.Options{DataDir: dir, Logs: out, Environ: append(dbtest.Environ(t, dir), "WATCHMARK_SERVER_TLS_CERT="+cert, "WATCHMARK_SERVER_TLS_KEY="+key)})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- service.Serve(ctx, listener) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	address := listener.Addr().String()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}, ForceAttemptHTTP2: true}}
	defer client.CloseIdleConnections()

	answer, err := client.Get("https://" + address + "/health")
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if err := app.Health(ctx, dir); err != nil {
		t.Errorf("the health check does not understand it: %v", err)
	}
	if answer.ProtoMajor != 2 || answer.TLS.Version < tls.VersionTLS12 || answer.Header.Get("Strict-Transport-Security") != "" {
		t.Errorf("the answer comes by %s, %x, with %v", answer.Proto, answer.TLS.Version, answer.Header)
	}
	if !strings.Contains(out.String(), "    https://"+address+"/setup?token=") {
		t.Errorf("the setup link does not begin with https: %s", out)
	}

	if err := service.SetUp(ctx, "mira", password); err != nil {
		t.Fatal(err)
	}
	answer, err = client.Post("https://"+address+"/api/login", "application/json", strings.NewReader(`{"name":"mira","password":"`+password+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	for _, cookie := range answer.Cookies() {
		if cookie.Name == auth.CookieName && (!cookie.Secure || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode) {
			t.Errorf("the session cookie is %v", cookie)
		}
	}
	if len(answer.Cookies()) != 2 { // of the session and of the browser
		t.Errorf("the login answers %s with %v", answer.Status, answer.Cookies())
	}

	old := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, MaxVersion: tls.VersionTLS11}}}
	if _, err := old.Get("https://" + address + "/health"); err == nil {
		t.Error("TLS 1.1 is spoken")
	}
	answer, err = http.Get("http://" + address + "/health")
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusBadRequest || !strings.Contains(string(body), "HTTPS") {
		t.Errorf("plain HTTP is answered %s: %s", answer.Status, body)
	}
}

func TestUnusableCertificateStopsTheStart(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and does one thing after the other")
	}
	dir := t.TempDir()
	cert, key, _ := certificate(t, dir)
	for name, c := range map[string]struct {
		environ []string
		want    string
	}{
		"a missing file":         {[]string{"WATCHMARK_SERVER_TLS_CERT=" + cert, "WATCHMARK_SERVER_TLS_KEY=" + key + ".old"}, "server.tls_key: "},
		"one of the two":         {[]string{"WATCHMARK_SERVER_TLS_CERT=" + cert}, "server.tls_key: is needed together with server.tls_cert"},
		"a key in the place":     {[]string{"WATCHMARK_SERVER_TLS_CERT=" + key, "WATCHMARK_SERVER_TLS_KEY=" + key}, "server.tls_cert"},
		"the other one, the key": {[]string{"WATCHMARK_SERVER_TLS_KEY=" + key}, "server.tls_cert: is needed together with server.tls_key"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := app.New(t.Context(), app.Options{DataDir: t.TempDir(), Logs: &logtest.Buffer{}, Environ: c.environ})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}
