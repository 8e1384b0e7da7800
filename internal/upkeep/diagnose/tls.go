package diagnose

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"time"

	"watchmark/internal/platform/reason"
)

// namesMost is how many names of a certificate are told.
const namesMost = 20

// secure does the TLS handshake with host and judges its certificate. The verdict is empty when all is well.
func (d *Doctor) secure(ctx context.Context, r *Route, conn net.Conn, host string) (secured net.Conn, verdict Problem) {
	client := tls.Client(conn, &tls.Config{
		ServerName: host,
		// What is wrong with a certificate is found below, where the chain is there to be told; nothing is sent before.
		InsecureSkipVerify: true, //nolint:gosec // see above
		NextProtos:         []string{"http/1.1"},
	})
	d.attempt(ctx, r, TLS, func(ctx context.Context) (reason.Reason, Problem, error) {
		if err := client.HandshakeContext(ctx); err != nil {
			verdict = handshakeProblem(err)
			return reason.Reason{}, verdict, err
		}
		state := client.ConnectionState()
		r.TLSVersion = tls.VersionName(state.Version)
		r.Chain = chain(state.PeerCertificates)
		var err error
		verdict, err = d.trust(state.PeerCertificates, host)
		return issuedBy.With(r.TLSVersion, r.Chain[0].Issuer), verdict, err
	})
	return client, verdict
}

// roots are the authorities that are trusted; nil is those of the system.
func (d *Doctor) roots() *x509.CertPool {
	if d.Roots == nil {
		return nil
	}
	return d.Roots()
}

func handshakeProblem(err error) Problem {
	var plain tls.RecordHeaderError
	switch {
	case errors.As(err, &plain):
		return NotTLS
	case silent(err):
		return TLSSilent
	case cut(err):
		return TLSCut
	}
	return TLSFailed
}

// trust says what is wrong with a chain, what a person can do most about first.
func (d *Doctor) trust(sent []*x509.Certificate, host string) (Problem, error) {
	now, leaf := time.Now(), sent[0]
	if err := leaf.VerifyHostname(host); err != nil {
		return WrongName, err
	}
	between := x509.NewCertPool()
	for _, c := range sent[1:] {
		between.AddCert(c)
	}
	_, err := leaf.Verify(x509.VerifyOptions{Roots: d.roots(), Intermediates: between, CurrentTime: now})
	if err == nil {
		return "", nil
	}
	for _, c := range sent {
		switch {
		case now.After(c.NotAfter):
			return Expired, fmt.Errorf("%s was valid until %s: %w", name(c), c.NotAfter.UTC().Format(time.RFC3339), err)
		case now.Before(c.NotBefore):
			return NotYetValid, fmt.Errorf("%s is valid from %s: %w", name(c), c.NotBefore.UTC().Format(time.RFC3339), err)
		}
	}
	if leaf.CheckSignatureFrom(leaf) == nil || leaf.Issuer.String() == leaf.Subject.String() {
		return SelfSigned, err
	}
	return Untrusted, err
}

func chain(sent []*x509.Certificate) []Certificate {
	all := make([]Certificate, 0, len(sent))
	for _, c := range sent {
		sum := sha256.Sum256(c.Raw)
		names := append([]string{}, c.DNSNames[:min(len(c.DNSNames), namesMost)]...)
		for _, ip := range c.IPAddresses[:min(len(c.IPAddresses), namesMost-len(names))] {
			names = append(names, ip.String())
		}
		all = append(all, Certificate{
			Subject: name(c), Issuer: c.Issuer.String(), Names: names, NotBefore: c.NotBefore, NotAfter: c.NotAfter, Fingerprint: hex.EncodeToString(sum[:]),
		})
	}
	return all
}

func name(c *x509.Certificate) string { return c.Subject.String() }
