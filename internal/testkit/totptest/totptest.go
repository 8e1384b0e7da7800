// Package totptest is an authenticator app for tests.
package totptest

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // RFC 6238 wants it
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"time"
)

// Code is what an app shows at a time that was given the secret (RFC 6238, RFC 4226 section 5.3).
// It panics for a secret that is no base32.
func Code(secret string, at time.Time) string {
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret)
	if err != nil {
		panic(err)
	}
	mac := hmac.New(sha1.New, key)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(at.Unix()/30)))
	sum := mac.Sum(nil)
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[sum[19]&15:])&0x7fffffff%1_000_000)
}
