package oidc

import "testing"

func TestIssuer(t *testing.T) {
	tests := map[string]struct {
		want, issuer string
		ok           bool
	}{
		"the same":                  {"https://id.example", "https://id.example", true},
		"another":                   {"https://id.example", "https://other.example", false},
		"with a slash":              {"https://id.example", "https://id.example/", false},
		"without its scheme":        {"https://id.example", "id.example", false},
		"Google without its scheme": {"https://accounts.google.com", "accounts.google.com", true},
		"Google elsewhere":          {"https://id.example", "accounts.google.com", false},
		"not told":                  {"https://id.example", "", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := issuedBy(test.want, test.issuer); got != test.ok {
				t.Errorf("got %v", got)
			}
		})
	}
}
