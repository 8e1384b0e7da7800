package auth

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
)

// The bounds of a password, in characters.
const (
	minPassword = 10
	maxPassword = 200
)

func checkPassword(password string) error {
	if !utf8.ValidString(password) {
		return &FieldError{"password", "is not valid UTF-8 text"}
	}
	switch n := utf8.RuneCountInString(password); {
	case n < minPassword:
		return &FieldError{"password", fmt.Sprintf("has %d characters; use at least %d", n, minPassword)}
	case n > maxPassword:
		return &FieldError{"password", fmt.Sprintf("has %d characters; use at most %d", n, maxPassword)}
	}
	return nil
}

// cost is what one argon2id hash takes. It is stored with each hash, so that
// a later change of currentCost leaves old passwords working.
type cost struct {
	memory  uint32 // KiB
	passes  uint32
	threads uint8
}

// currentCost is the first choice of OWASP's password storage advice: 19 MiB,
// two passes, one thread; small enough for the memory of a NAS.
var currentCost = cost{memory: 19 * 1024, passes: 2, threads: 1}

// maxCost bounds what a stored hash may ask for, so that a damaged row cannot take all memory.
var maxCost = cost{memory: 256 * 1024, passes: 16, threads: 8}

const (
	saltBytes = 16
	hashBytes = 32
)

// hasher makes and checks password hashes, two at once at most: memory stays
// below 40 MiB however many people try to sign in.
type hasher struct {
	slots chan struct{}
}

func newHasher() hasher { return hasher{slots: make(chan struct{}, 2)} }

// hash is the PHC string of the password with a new salt. It fails only when ctx ends while waiting.
func (h hasher) hash(ctx context.Context, password string) (string, error) {
	salt := randomBytes(saltBytes)
	key, err := h.derive(ctx, password, salt, currentCost, hashBytes)
	if err != nil {
		return "", err
	}
	return encodeHash(currentCost, salt, key), nil
}

// matches tells whether stored is a hash of the password. It fails when ctx ends
// while waiting or stored is not a hash of ours.
func (h hasher) matches(ctx context.Context, stored, password string) (bool, error) {
	c, salt, want, err := decodeHash(stored)
	if err != nil {
		return false, fmt.Errorf("read the stored password hash: %w; set the password anew with: watchmark password", err)
	}
	got, err := h.derive(ctx, password, salt, c, len(want))
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(got, want) == 1, nil
}

func (h hasher) derive(ctx context.Context, password string, salt []byte, c cost, size int) ([]byte, error) {
	select {
	case h.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("wait to check a password: %w", ctx.Err())
	}
	defer func() { <-h.slots }()
	return argon2.IDKey([]byte(password), salt, c.passes, c.memory, c.threads, uint32(size)), nil
}

// decoyHash is a hash that no password matches. Checking against it makes an
// unknown name take as long as a wrong password.
func decoyHash() string {
	return encodeHash(currentCost, randomBytes(saltBytes), randomBytes(hashBytes))
}

func encodeHash(c cost, salt, key []byte) string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, c.memory, c.passes, c.threads,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(key))
}

var errHashFormat = errors.New("it is not an argon2id hash in PHC format")

func decodeHash(stored string) (c cost, salt, key []byte, err error) {
	parts := strings.Split(stored, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return cost{}, nil, nil, errHashFormat
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &c.memory, &c.passes, &c.threads); err != nil {
		return cost{}, nil, nil, errHashFormat
	}
	if c.passes < 1 || c.threads < 1 || c.memory > maxCost.memory || c.passes > maxCost.passes || c.threads > maxCost.threads {
		return cost{}, nil, nil, errHashFormat
	}
	salt, saltErr := base64.RawStdEncoding.DecodeString(parts[4])
	key, keyErr := base64.RawStdEncoding.DecodeString(parts[5])
	if saltErr != nil || keyErr != nil || len(salt) < 8 || len(key) < 16 || len(key) > 64 {
		return cost{}, nil, nil, errHashFormat
	}
	return c, salt, key, nil
}
