package webpush

import (
	"bytes"
	"crypto/ecdh"
	"encoding/base64"
	"strings"
	"testing"
)

func raw(t *testing.T, text string) []byte {
	t.Helper()
	bytes, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

// The keys of RFC 8291, appendix A.
const (
	rfcPublic = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
	rfcAuth   = "BTBZMqHH6r4Tts7J_aSIgg"
)

func TestTheExampleOfTheStandard(t *testing.T) {
	t.Parallel()
	receiver, err := ParseReceiver(rfcPublic, rfcAuth)
	if err != nil {
		t.Fatal(err)
	}
	sender, err := ecdh.P256().NewPrivateKey(raw(t, "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := receiver.encrypt([]byte("When I grow up, I want to be a watermelon"), sender, raw(t, "DGv6ra1nlYgDCS1FRnbzlw"))
	if err != nil {
		t.Fatal(err)
	}
	want := "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
	if !bytes.Equal(got, raw(t, want)) {
		t.Errorf("it is %s", base64.RawURLEncoding.EncodeToString(got))
	}
}

func TestKeysOfASubscription(t *testing.T) {
	t.Parallel()
	offCurve := base64.RawURLEncoding.EncodeToString(append([]byte{4}, make([]byte, 64)...))
	for name, c := range map[string]struct {
		public, auth string
		good, inAuth bool
	}{
		"as browsers write them": {rfcPublic, rfcAuth, true, false},
		"padded":                 {rfcPublic + "=", rfcAuth + "==", true, false},
		"no point":               {"", rfcAuth, false, false},
		"a short point":          {rfcPublic[:40], rfcAuth, false, false},
		"not on the curve":       {offCurve, rfcAuth, false, false},
		"compressed":             {base64.RawURLEncoding.EncodeToString(append([]byte{2}, raw(t, rfcPublic)[1:33]...)), rfcAuth, false, false},
		"no auth":                {rfcPublic, "", false, true},
		"a long auth":            {rfcPublic, rfcAuth + "AAAA", false, true},
		"not base64":             {rfcPublic, "*", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseReceiver(c.public, c.auth)
			if (err == nil) != c.good || IsAuthWrong(err) != c.inAuth {
				t.Errorf("it says %v", err)
			}
		})
	}
}

func TestTheLongestMessageFits(t *testing.T) {
	t.Parallel()
	receiver, err := ParseReceiver(rfcPublic, rfcAuth)
	if err != nil {
		t.Fatal(err)
	}
	if body, err := receiver.Encrypt(make([]byte, MaxPlain)); err != nil || len(body) != MaxBody {
		t.Errorf("the longest has %d bytes (%v)", len(body), err)
	}
	if _, err := receiver.Encrypt(make([]byte, MaxPlain+1)); err == nil {
		t.Error("a longer one is taken")
	}
}

func TestAKeyIsReadBack(t *testing.T) {
	t.Parallel()
	key, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	text, err := key.Private()
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseKey(text)
	if err != nil || again.Public() != key.Public() {
		t.Errorf("%v", err)
	}
	for _, wrong := range []string{"", "x", strings.Repeat("A", 43), text + "AA"} {
		if _, err := ParseKey(wrong); err == nil {
			t.Errorf("%q is a key", wrong)
		}
	}
}

func FuzzParseReceiver(f *testing.F) {
	f.Add(rfcPublic, rfcAuth)
	f.Add("", "=")
	f.Fuzz(func(t *testing.T, public, auth string) {
		receiver, err := ParseReceiver(public, auth)
		if err != nil {
			return
		}
		if body, err := receiver.Encrypt([]byte("x")); err != nil || len(body) != headerSize+1+1+tagSize {
			t.Errorf("%d bytes, %v", len(body), err)
		}
	})
}
