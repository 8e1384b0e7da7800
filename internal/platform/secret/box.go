// Package secret keeps credentials from being read where they should not be: a
// Box seals them at rest, a Text does not print itself, and a Masker takes them
// out of everything that is logged, traced or shown.
//
// What it promises: a sealed value opens only with the key that sealed it and
// only in the place it was sealed for; no formatting verb, JSON encoder or log
// handler shows a Text; what a Masker has learnt appears in no text it masked,
// neither as it is nor URL-encoded, JSON-escaped or in base64. What it does not
// promise: a Text in an unexported field of a struct that is itself formatted
// with %v is out of reach of its methods; give such a struct a String method.
package secret

import (
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"watchmark/internal/platform/reason"

	"golang.org/x/crypto/chacha20poly1305"
)

// KeyEnv is the environment variable that may hold the key instead of the key file.
const KeyEnv = "WATCHMARK_SECRET_KEY"

const (
	// KeyFile is the name of the key file inside the data folder.
	KeyFile = "secret.key"
	// Prefix is how every sealed value begins.
	Prefix = "wm1:"
)

// The errors a caller branches on.
var (
	// ErrWrongKey is returned for a value that another key sealed.
	ErrWrongKey = reason.New("secret_wrong_key", "encrypted with another key: put the old secret.key back into the data folder (or the old key into WATCHMARK_SECRET_KEY) and start again, "+
		"or enter the password or key again", "内容是用另一个密钥加密的：请把旧的 secret.key 放回数据目录（或把旧密钥写入 WATCHMARK_SECRET_KEY）后重启，或重新填写密码或密钥")
	// ErrDamaged is returned for a value that was changed, cut, moved from another place, or never sealed.
	ErrDamaged = reason.New("secret_damaged", "the encrypted value is damaged or belongs elsewhere: restore the database from a backup, or enter the password or key again",
		"加密的内容已损坏或不属于这里：请从备份恢复数据库，或重新填写密码或密钥").Was("secret_sealed_value_damaged_or_belongs")
	// ErrNoKey is returned when there is no key although values were sealed with one.
	ErrNoKey = reason.New("secret_no_key", "the key for what is encrypted in the database is missing: put the old secret.key back into the data folder; if it is lost, "+
		"put 32 random bytes in hex into WATCHMARK_SECRET_KEY and enter all passwords and keys again",
		"缺少数据库中加密内容的密钥：请把旧的 secret.key 放回数据目录；如已丢失，请把 32 个随机字节以十六进制写入 WATCHMARK_SECRET_KEY，并重新填写所有密码和密钥")
	// ErrBadKey is returned for key material that is not 32 bytes in base64 or hex.
	ErrBadKey = reason.New("secret_bad_key", "a key must be 32 bytes, written in hex (64 characters) or base64 (44 characters)",
		"密钥应为 32 字节，以十六进制（64 个字符）或 base64（44 个字符）书写").Was("secret_key_32_bytes_written_hex")
)

// Box seals and opens credentials with one key. It may be used by several goroutines.
type Box struct {
	keyID string
	aead  cipher.AEAD
	marks []byte // the key of Mark
}

// OpenBox takes the key from env, the value of KeyEnv, or, where that is empty,
// from the file secret.key in dataDir. Where that does not exist it is created with a
// random key, but with inUse, which says that values are sealed already, the error is
// ErrNoKey. Other errors are ErrBadKey, wrapped with where the key came from, and those
// of the file.
func OpenBox(dataDir, env string, inUse bool) (*Box, error) {
	if env != "" {
		key, err := parseKey(env)
		if err != nil {
			return nil, fmt.Errorf("environment %s: %w", KeyEnv, err)
		}
		return newBox(key)
	}
	path := filepath.Join(dataDir, KeyFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if inUse {
			return nil, fmt.Errorf("key file %s: %w", path, ErrNoKey)
		}
		if err := createKey(dataDir, path); err != nil {
			return nil, fmt.Errorf("create the key file %s: %w", path, err)
		}
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("read the key file: %w", err)
	}
	// A network share may refuse to change modes; the key is usable all the same.
	_ = os.Chmod(path, 0o600)
	key, err := parseKey(string(text))
	if err != nil {
		return nil, fmt.Errorf("key file %s: %w", path, err)
	}
	return newBox(key)
}

// createKey writes a random key so that the file at path is either absent or
// whole, and never replaces one that another process just made.
func createKey(dir, path string) error {
	tmp, err := os.CreateTemp(dir, KeyFile+".*") // mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // gone already after a rename
	key := make([]byte, chacha20poly1305.KeySize)
	_, _ = rand.Read(key) // documented never to return an error
	_, err = fmt.Fprintln(tmp, base64.StdEncoding.EncodeToString(key))
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err != nil {
		return err
	}
	// A link cannot replace a file. File systems without links (exFAT, some shares) get a rename.
	if err := os.Link(tmp.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		if err := os.Rename(tmp.Name(), path); err != nil {
			return err
		}
	}
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync() // Windows cannot sync a folder
		_ = d.Close()
	}
	return nil
}

func parseKey(text string) ([]byte, error) {
	text = strings.TrimSpace(text)
	if key, err := hex.DecodeString(text); err == nil && len(key) == chacha20poly1305.KeySize {
		return key, nil
	}
	plain := strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(text), "=")
	if key, err := base64.RawStdEncoding.DecodeString(plain); err == nil && len(key) == chacha20poly1305.KeySize {
		return key, nil
	}
	return nil, ErrBadKey
}

func newBox(key []byte) (*Box, error) {
	aead, err := chacha20poly1305.NewX(key)
	if err != nil {
		return nil, fmt.Errorf("make the cipher: %w", err)
	}
	id := sha256.Sum256(append([]byte("watchmark key id\x00"), key...))
	marks := sha256.Sum256(append([]byte("watchmark marks\x00"), key...))
	return &Box{keyID: hex.EncodeToString(id[:4]), aead: aead, marks: marks[:]}, nil
}

// KeyID names the key, which an installation keeps for ever, and says nothing about it.
func (b *Box) KeyID() string { return b.keyID }

// Prefix is how the values begin that this key has sealed.
func (b *Box) Prefix() string { return Prefix + b.keyID + ":" }

// Seal encrypts plain for place, which says where it is kept ("accounts/12/access_token")
// and must be given again to open it. The result is text: scheme, key id, base64.
func (b *Box) Seal(plain, place string) string {
	nonce := make([]byte, b.aead.NonceSize(), b.aead.NonceSize()+len(plain)+b.aead.Overhead())
	_, _ = rand.Read(nonce) // documented never to return an error
	sealed := b.aead.Seal(nonce, nonce, []byte(plain), b.data(place))
	return b.Prefix() + base64.RawURLEncoding.EncodeToString(sealed)
}

// Open gives back what Seal was given. It returns ErrWrongKey or ErrDamaged.
func (b *Box) Open(sealed, place string) (string, error) {
	rest, ours := strings.CutPrefix(sealed, Prefix)
	id, text, ok := strings.Cut(rest, ":")
	if !ours || !ok {
		return "", ErrDamaged
	}
	if id != b.keyID {
		return "", ErrWrongKey
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) < b.aead.NonceSize() {
		return "", ErrDamaged
	}
	plain, err := b.aead.Open(nil, raw[:b.aead.NonceSize()], raw[b.aead.NonceSize():], b.data(place))
	if err != nil {
		return "", ErrDamaged
	}
	return string(plain), nil
}

// Mark is 16 characters that are the same for the same text and place, so that two can be compared by who may see neither. Without
// the key they say nothing.
func (b *Box) Mark(plain, place string) string {
	mac := hmac.New(sha256.New, b.marks)
	_, _ = fmt.Fprintf(mac, "%d %s%s", len(place), place, plain) // a hash takes everything
	return hex.EncodeToString(mac.Sum(nil)[:8])
}

// data is the additional data: the header too, so that it cannot be changed.
func (b *Box) data(place string) []byte {
	return []byte(b.Prefix() + place)
}
