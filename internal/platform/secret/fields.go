package secret

import (
	"strings"
	"unicode"
)

// SensitiveField reports whether a field, header or parameter of this name holds
// something secret: its name contains token, authorization, cookie, password,
// secret, verifier or api key, or a word of it is otp or e-mail, or it is code or pin.
// Case and separators do not matter; status_code is not code.
func SensitiveField(name string) bool {
	words := splitWords(name)
	whole := strings.Join(words, "")
	for _, part := range []string{
		"token", "authorization", "cookie", "password", "passwd", "passphrase", "secret",
		"verifier", "apikey", "webhookkey", "privatekey", "accesskey", "credential",
	} {
		if strings.Contains(whole, part) {
			return true
		}
	}
	switch whole {
	case "code", "authcode", "authorizationcode", "devicecode", "usercode", "passcode", "pw", "pwd", "pass", "pin", "mail":
		return true
	}
	for i, word := range words {
		switch {
		case word == "otp", word == "totp", word == "email", word == "emails":
			return true
		case word == "mail" && i > 0 && words[i-1] == "e":
			return true
		}
	}
	return false
}

// sensitiveParameter is SensitiveField for a query or form parameter, where a
// bare "key" is a credential too. In JSON a "key" is most often a name.
func sensitiveParameter(name string) bool {
	return strings.EqualFold(name, "key") || SensitiveField(name)
}

// splitWords cuts a name at everything that is no letter or digit and where
// lower case turns to upper case, and gives the words in lower case.
func splitWords(name string) []string {
	var words []string
	var word strings.Builder
	flush := func() {
		if word.Len() > 0 {
			words = append(words, word.String())
			word.Reset()
		}
	}
	lower := false
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
			lower = false
			continue
		case unicode.IsUpper(r) && lower:
			flush()
		}
		lower = unicode.IsLower(r)
		word.WriteRune(unicode.ToLower(r))
	}
	flush()
	return words
}
