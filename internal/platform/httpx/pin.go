package httpx

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"strings"
)

// Fingerprint is the SHA-256 of the certificate that err, an error of a Client, is about, in hex: one that no trusted authority has
// signed for this host, or another than the pinned one. It is empty for other errors, and for the certificate of a proxy.
func Fingerprint(err error) string {
	var wrong *tls.CertificateVerificationError
	if Classify(err) != TLS || !errors.As(err, &wrong) || len(wrong.UnverifiedCertificates) == 0 {
		return ""
	}
	return fingerprint(wrong.UnverifiedCertificates[0])
}

func fingerprint(c *x509.Certificate) string {
	sum := sha256.Sum256(c.Raw)
	return hex.EncodeToString(sum[:])
}

// pinned is the check of a connection that takes the certificate with this fingerprint and no other.
func pinned(pin string) func(tls.ConnectionState) error {
	return func(state tls.ConnectionState) error {
		if len(state.PeerCertificates) > 0 && strings.EqualFold(fingerprint(state.PeerCertificates[0]), pin) {
			return nil
		}
		return &tls.CertificateVerificationError{UnverifiedCertificates: state.PeerCertificates, Err: ErrWrongPin}
	}
}
