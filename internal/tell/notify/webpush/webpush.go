// Package webpush writes what a push service of a browser takes: messages that the browser alone can read (RFC 8291, with the coding
// aes128gcm of RFC 8188), and the proof of who sends them (VAPID, RFC 8292). It sends nothing.
package webpush

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"
)

const (
	// MaxBody is what every push service takes of a body, in bytes (RFC 8030, section 7.2).
	MaxBody = 4096
	// MaxPlain is how long a message may be before it is encrypted, in bytes.
	MaxPlain = MaxBody - headerSize - 1 - tagSize

	saltSize, tagSize = 16, 16
	// publicSize is that of a point of P-256, not compressed.
	publicSize = 65
	// headerSize is salt, record size, length of the key and the key (RFC 8188, section 2.1).
	headerSize = saltSize + 4 + 1 + publicSize
	// tokenLife is below the 24 hours that RFC 8292 allows, so that clocks may differ.
	tokenLife = 12 * time.Hour
)

var (
	errKey     = errors.New("webpush: the key is not a private key of P-256")
	errPublic  = errors.New("webpush: p256dh is not a point of P-256 in 65 bytes, written in base64url")
	errAuth    = errors.New("webpush: auth is not 16 bytes, written in base64url")
	errTooLong = errors.New("webpush: the message is too long")
)

// Key is what this service signs with, so that nobody else can send to who subscribed.
type Key struct{ private *ecdsa.PrivateKey }

// NewKey is a random key.
func NewKey() (Key, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return Key{private}, err
}

// ParseKey reads what Private told.
func ParseKey(text string) (Key, error) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return Key{}, errKey
	}
	private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), raw)
	if err != nil {
		return Key{}, errKey
	}
	return Key{private}, nil
}

// Private is the key as text. It is a secret.
func (k Key) Private() (string, error) {
	raw, err := k.private.Bytes()
	return base64.RawURLEncoding.EncodeToString(raw), err
}

// Public is what a browser needs to subscribe, its applicationServerKey, in base64url.
func (k Key) Public() string {
	raw, err := k.private.PublicKey.Bytes()
	if err != nil { // not for a key of P-256
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// Authorization is the header that proves to the push service of an endpoint who sends. contact is a mailto: or https: address that
// its operator finds the sender by; Apple refuses what has none. It may be empty.
func (k Key) Authorization(endpoint, contact string, now time.Time) (string, error) {
	if k.private == nil {
		return "", errKey
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return "", err
	}
	who := map[string]any{"aud": u.Scheme + "://" + u.Host, "exp": now.Add(tokenLife).Unix()}
	if contact != "" {
		who["sub"] = contact
	}
	claims, err := json.Marshal(who)
	if err != nil {
		return "", err
	}
	encode := base64.RawURLEncoding.EncodeToString
	signed := encode([]byte(`{"typ":"JWT","alg":"ES256"}`)) + "." + encode(claims)
	sum := sha256.Sum256([]byte(signed))
	r, s, err := ecdsa.Sign(rand.Reader, k.private, sum[:])
	if err != nil {
		return "", fmt.Errorf("sign for a push service: %w", err)
	}
	// JWS wants both numbers in 32 bytes each (RFC 7518, section 3.4).
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return "vapid t=" + signed + "." + encode(signature) + ", k=" + k.Public(), nil
}

// Receiver is a browser that subscribed.
type Receiver struct {
	public *ecdh.PublicKey
	auth   []byte
}

// ParseReceiver reads the keys of a subscription. The point must lie on the curve.
func ParseReceiver(p256dh, auth string) (Receiver, error) {
	raw, err := decode(p256dh)
	if err != nil || len(raw) != publicSize {
		return Receiver{}, errPublic
	}
	public, err := ecdh.P256().NewPublicKey(raw)
	if err != nil {
		return Receiver{}, errPublic
	}
	secret, err := decode(auth)
	if err != nil || len(secret) != 16 {
		return Receiver{}, errAuth
	}
	return Receiver{public, secret}, nil
}

// IsAuthWrong reports whether an error of ParseReceiver is about auth.
func IsAuthWrong(err error) bool { return errors.Is(err, errAuth) }

// decode reads base64url, with = at the end or without.
func decode(text string) ([]byte, error) {
	for len(text) > 0 && text[len(text)-1] == '=' {
		text = text[:len(text)-1]
	}
	return base64.RawURLEncoding.Strict().DecodeString(text)
}

// Encrypt is the body of a message that the receiver alone can read, at most MaxBody long.
func (r Receiver) Encrypt(plain []byte) ([]byte, error) {
	sender, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt) // documented never to return an error
	return r.encrypt(plain, sender, salt)
}

func (r Receiver) encrypt(plain []byte, sender *ecdh.PrivateKey, salt []byte) ([]byte, error) {
	if len(plain) > MaxPlain {
		return nil, errTooLong
	}
	shared, err := sender.ECDH(r.public)
	if err != nil {
		return nil, err
	}
	own := sender.PublicKey().Bytes()
	ikm, err := hkdf.Key(sha256.New, shared, r.auth, "WebPush: info\x00"+string(r.public.Bytes())+string(own), 32)
	if err != nil {
		return nil, err
	}
	key, err := hkdf.Key(sha256.New, ikm, salt, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, err
	}
	nonce, err := hkdf.Key(sha256.New, ikm, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	body := append(make([]byte, 0, headerSize+len(plain)+1+tagSize), salt...)
	body = binary.BigEndian.AppendUint32(body, MaxBody) // the record size; there is one record
	body = append(append(body, byte(len(own))), own...)
	return gcm.Seal(body, nonce, append(append([]byte{}, plain...), 2), nil), nil // 2 ends the last record
}
