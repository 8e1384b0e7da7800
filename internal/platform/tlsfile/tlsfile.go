// Package tlsfile serves a certificate from two files and follows them: what renews them,
// such as certbot, needs to tell nobody.
package tlsfile

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"
)

// lookEvery is how long a look at the files holds; handshakes in between cost no look.
const lookEvery = 10 * time.Second

// mostLeft is the most that a certificate has left when it ends soon; one with a short life, a fifth of that.
const mostLeft = 14 * 24 * time.Hour

// Pair is the certificate of two files. It may be used by several goroutines.
type Pair struct {
	certFile, keyFile string
	log               *slog.Logger

	mu      sync.Mutex
	current *tls.Certificate
	loaded  [2]stamp // of the files that current was read from
	looked  time.Time
	problem string // of the last look; told once
}

// stamp tells one state of a file from another.
type stamp struct {
	modified time.Time
	size     int64
}

// Load reads the certificate chain and its private key, both PEM. Its error names the setting and
// the file at fault. A certificate that has ended, or not begun, is taken: the log tells.
func Load(certFile, keyFile string, log *slog.Logger) (*Pair, error) {
	p := &Pair{certFile: certFile, keyFile: keyFile, log: log, looked: time.Now()}
	var err error
	if p.loaded, err = p.stamps(); err != nil {
		return nil, err
	}
	if p.current, err = p.read(); err != nil {
		return nil, err
	}
	now := time.Now()
	switch leaf := p.current.Leaf; {
	case now.After(leaf.NotAfter):
		log.Warn("the TLS certificate has expired: browsers refuse it until it is renewed", "file", certFile, "expired", leaf.NotAfter)
	case now.Before(leaf.NotBefore):
		log.Warn("the TLS certificate is not valid yet: check the clock of this machine", "file", certFile, "valid_from", leaf.NotBefore)
	}
	return p, nil
}

// Config is for a server that speaks TLS 1.2 or newer, and HTTP/2.
func (p *Pair) Config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, GetCertificate: p.get}
}

// Ends is when the certificate in use expires, and whether that is so near that what renews it
// must have failed.
func (p *Pair) Ends() (at time.Time, soon bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reload()
	leaf := p.current.Leaf
	left := min(mostLeft, leaf.NotAfter.Sub(leaf.NotBefore)/5)
	return leaf.NotAfter, time.Until(leaf.NotAfter) < left
}

func (p *Pair) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reload()
	return p.current, nil
}

// reload takes over files that changed. While they cannot be used, as between the writing of one
// and the other, the certificate stays the old one.
func (p *Pair) reload() {
	if time.Since(p.looked) < lookEvery {
		return
	}
	p.looked = time.Now()
	now, err := p.stamps()
	if err == nil && now == p.loaded {
		p.problem = ""
		return
	}
	var fresh *tls.Certificate
	if err == nil {
		fresh, err = p.read()
	}
	if err != nil {
		if err.Error() != p.problem {
			p.log.Error("the renewed TLS certificate cannot be used; the old one stays", "error", err)
		}
		p.problem = err.Error()
		return
	}
	p.current, p.loaded, p.problem = fresh, now, ""
	p.log.Info("the TLS certificate was read anew", "file", p.certFile, "expires", fresh.Leaf.NotAfter)
}

func (p *Pair) stamps() ([2]stamp, error) {
	var stamps [2]stamp
	for i, file := range []struct{ setting, path string }{{"server.tls_cert", p.certFile}, {"server.tls_key", p.keyFile}} {
		info, err := os.Stat(file.path)
		if err != nil {
			return stamps, unreadable(file.setting, err)
		}
		stamps[i] = stamp{info.ModTime(), info.Size()}
	}
	return stamps, nil
}

func (p *Pair) read() (*tls.Certificate, error) {
	cert, err := os.ReadFile(p.certFile)
	if err != nil {
		return nil, unreadable("server.tls_cert", err)
	}
	key, err := os.ReadFile(p.keyFile)
	if err != nil {
		return nil, unreadable("server.tls_key", err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("server.tls_cert %s and server.tls_key %s: %w", p.certFile, p.keyFile, explained(cert, key, err))
	}
	return &pair, nil
}

func unreadable(setting string, err error) error {
	return fmt.Errorf("%s: %w; check the path and that the user of the service may read it", setting, err)
}

// explained says what to do where the library's words alone do not: two files that can be read, each by itself,
// do not belong together.
func explained(cert, key []byte, err error) error {
	if readsCertificate(cert) && readsKey(key) {
		return errors.New("the key is not that of the certificate: name the two files that were made together; in the chain the own certificate comes first")
	}
	return fmt.Errorf("%w; both must be PEM files, the key without a passphrase", err)
}

// readsCertificate reports whether the first certificate of a PEM file can be read.
func readsCertificate(file []byte) bool {
	for block, rest := pem.Decode(file); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			_, err := x509.ParseCertificate(block.Bytes)
			return err == nil
		}
	}
	return false
}

// readsKey reports whether the first private key of a PEM file can be read, in one of the forms that crypto/tls takes.
func readsKey(file []byte) bool {
	for block, rest := pem.Decode(file); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "PRIVATE KEY" && !strings.HasSuffix(block.Type, " PRIVATE KEY") {
			continue
		}
		_, pkcs8 := x509.ParsePKCS8PrivateKey(block.Bytes)
		_, pkcs1 := x509.ParsePKCS1PrivateKey(block.Bytes)
		_, sec1 := x509.ParseECPrivateKey(block.Bytes)
		return pkcs8 == nil || pkcs1 == nil || sec1 == nil
	}
	return false
}
