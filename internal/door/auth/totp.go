package auth

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // RFC 6238 and every authenticator app want it; HMAC does not suffer from its weakness
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"net/url"
	"time"
)

// One-time codes as of RFC 6238, with what every authenticator app takes for granted: HMAC-SHA-1,
// six digits, steps of thirty seconds.
const (
	totpSecretBytes = 20 // as long as the hash (RFC 4226, section 4)
	totpDigits      = 6
	totpStep        = 30 * time.Second
	// totpSkew is how many steps the clock of a phone may be ahead or behind.
	totpSkew = 1
)

var base32Plain = base32.StdEncoding.WithPadding(base32.NoPadding)

// stepOf is the time step that a moment lies in.
func stepOf(t time.Time) int64 { return t.Unix() / int64(totpStep/time.Second) }

// totp is the code of a step (RFC 4226, section 5.3).
func totp(secret []byte, step int64) string {
	mac := hmac.New(sha1.New, secret)
	_ = binary.Write(mac, binary.BigEndian, step) // a hash takes everything
	sum := mac.Sum(nil)
	at := sum[len(sum)-1] & 0xf
	number := binary.BigEndian.Uint32(sum[at:]) & 0x7fffffff
	return fmt.Sprintf("%0*d", totpDigits, number%1_000_000)
}

// matchTOTP is the step whose code was given, of those around now that come after used.
func matchTOTP(secret []byte, code string, now time.Time, used int64) (step int64, ok bool) {
	for s := stepOf(now) - totpSkew; s <= stepOf(now)+totpSkew; s++ {
		if s > used && subtle.ConstantTimeCompare([]byte(totp(secret, s)), []byte(code)) == 1 {
			return s, true
		}
	}
	return 0, false
}

// totpURI is what an authenticator app reads from a QR code.
func totpURI(name string, secret []byte) string {
	return "otpauth://totp/Watchmark:" + url.PathEscape(name) + "?" + url.Values{"secret": {base32Plain.EncodeToString(secret)}, "issuer": {"Watchmark"}}.Encode()
}
