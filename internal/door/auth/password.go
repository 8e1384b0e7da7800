package auth

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"
	"golang.org/x/crypto/argon2"

	"watchmark/internal/platform/reason"
)

// The bounds of a password, in characters.
const (
	minPassword = 10
	maxPassword = 200
)

func checkPassword(password string) error {
	if !utf8.ValidString(password) {
		return reason.At("password", notUTF8)
	}
	switch n := utf8.RuneCountInString(password); {
	case n < minPassword:
		return reason.At("password", passwordShort.With(n, minPassword))
	case n > maxPassword:
		return reason.At("password", passwordLong.With(n, maxPassword))
	}
	return nil
}

// currentCost is the first choice of OWASP's password storage advice: 19 MiB,
// two passes, one thread; small enough for the memory of a NAS. It is stored with each hash, so that
// a later change leaves old passwords working.
var currentCost = argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// maxCost bounds what a stored hash may ask for, so that a damaged row cannot take all memory.
var maxCost = argon2id.Params{Memory: 256 * 1024, Iterations: 16, Parallelism: 8, KeyLength: 64}

// hasher makes and checks password hashes, two at once at most: memory stays
// below 40 MiB however many people try to sign in.
type hasher struct {
	slots chan struct{}
}

func newHasher() hasher { return hasher{slots: make(chan struct{}, 2)} }

// hash is the PHC string of the password with a new salt. It fails only when ctx ends while waiting.
func (h hasher) hash(ctx context.Context, password string) (hash string, err error) {
	if err := h.wait(ctx); err != nil {
		return "", err
	}
	defer func() { <-h.slots }()
	return argon2id.CreateHash(password, &currentCost)
}

// matches tells whether stored is a hash of the password. It fails when ctx ends
// while waiting or stored is not a hash of ours.
func (h hasher) matches(ctx context.Context, stored, password string) (bool, error) {
	c, salt, _, err := argon2id.DecodeHash(stored)
	if err != nil || len(salt) < 8 || c.KeyLength < 16 || c.KeyLength > maxCost.KeyLength || c.Iterations < 1 || c.Parallelism < 1 ||
		c.Memory > maxCost.Memory || c.Iterations > maxCost.Iterations || c.Parallelism > maxCost.Parallelism {
		return false, hashUnreadable.With(errHashFormat)
	}
	if err := h.wait(ctx); err != nil {
		return false, err
	}
	defer func() { <-h.slots }()
	return argon2id.ComparePasswordAndHash(password, stored)
}

var errHashFormat = errors.New("it is not an argon2id hash in PHC format")

// wait takes a slot.
func (h hasher) wait(ctx context.Context) error {
	select {
	case h.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait to check a password: %w", ctx.Err())
	}
}

// decoyHash is a hash that no password matches. Checking against it makes an
// unknown name take as long as a wrong password.
func decoyHash() string {
	encode := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, currentCost.Memory, currentCost.Iterations, currentCost.Parallelism,
		encode(randomBytes(16)), encode(randomBytes(32)))
}
