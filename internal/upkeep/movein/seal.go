package movein

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
)

// sealedPrefix begins a value that is encrypted.
const sealedPrefix = "BGS1:"

var (
	errNoKey = errors.New("it is encrypted, and the key to it, secret_key below [auth] of config.ini, is not there: " +
		"put the config.ini in that belongs to this folder, or enter it by hand")
	errWrongKey = errors.New("it is encrypted with another key than secret_key below [auth] of config.ini, or damaged: " +
		"put the config.ini in that belongs to this folder, or enter it by hand")
)

// vault opens what was encrypted with the secret_key of a config.ini.
type vault struct{ master string }

// open is the text of a stored value, which may be encrypted or not. It returns errNoKey or errWrongKey.
func (v vault) open(stored string) (string, error) {
	token, sealed := strings.CutPrefix(stored, sealedPrefix)
	if !sealed {
		return stored, nil
	}
	if v.master == "" {
		return "", errNoKey
	}
	key, err := hkdf.Key(sha256.New, []byte(v.master), []byte("bangumi-syncer-config-v1"), "config-secret-fernet-v1", 32)
	if err != nil { // 32 bytes can always be derived
		return "", err
	}
	return openFernet(token, key[:16], key[16:])
}

// openFernet opens a Fernet token: in URL-safe base64 the version 0x80, 8 bytes of time, 16 of the initial vector, AES-128-CBC
// of the text padded as PKCS #7, and HMAC-SHA256 of all that.
func openFernet(token string, signing, encryption []byte) (string, error) {
	const head = 1 + 8 + aes.BlockSize
	raw, err := base64.URLEncoding.DecodeString(strings.TrimSpace(token))
	if err != nil || len(raw) < head+aes.BlockSize+sha256.Size || raw[0] != 0x80 {
		return "", errWrongKey
	}
	signed, sum := raw[:len(raw)-sha256.Size], raw[len(raw)-sha256.Size:]
	mac := hmac.New(sha256.New, signing)
	mac.Write(signed)
	text := signed[head:]
	if !hmac.Equal(mac.Sum(nil), sum) || len(text)%aes.BlockSize != 0 {
		return "", errWrongKey
	}
	block, err := aes.NewCipher(encryption)
	if err != nil { // 16 bytes are a key
		return "", err
	}
	cipher.NewCBCDecrypter(block, signed[9:head]).CryptBlocks(text, text)
	pad := int(text[len(text)-1])
	if pad < 1 || pad > aes.BlockSize {
		return "", errWrongKey
	}
	return string(text[:len(text)-pad]), nil
}
