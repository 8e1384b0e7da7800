package auth

import (
	"context"
	"crypto/rand"
	"net/http"
	"strings"
	"time"
)

// DeviceCookie is the cookie of a browser in which somebody has signed in before. It opens nothing: its attempts are
// counted by themselves, so that strangers who guess cannot shut them out, whatever name or address they come by.
const DeviceCookie = "watchmark_device"

// deviceLife is as long as browsers keep a cookie at most.
const deviceLife = 400 * 24 * time.Hour

// devicePlace is what the values of the cookie are sealed for.
const devicePlace = "device"

// device is the id and the person's name in a value of the cookie; false when this service did not make it.
func (s *Store) device(value string) (id, name string, known bool) {
	const longest = 1000
	if value == "" || len(value) > longest {
		return "", "", false
	}
	plain, err := s.box.Open(value, devicePlace)
	if err != nil { // of another key, or made up
		return "", "", false
	}
	id, name, known = strings.Cut(plain, " ")
	return id, name, known
}

// deviceOf is the value for the browser of somebody who has shown to be the person of that name: the one it has, or a new one.
func (s *Store) deviceOf(value, name string) string {
	if _, whose, known := s.device(value); known && whose == name {
		return value
	}
	return s.box.Seal(rand.Text()+" "+name, devicePlace)
}

// doors are what an attempt of v counts for: a browser that is known for itself, everybody else for the address and the name. name is
// empty where the attempt names nobody.
func (s *Store) doors(name string, v Visitor) (own bool, keys []string) {
	if id, whose, known := s.device(v.Device); known && (name == "" || strings.EqualFold(name, whose)) {
		return true, []string{KnownBrowser + id}
	}
	keys = []string{addressKey(v.Addr)}
	if name != "" {
		keys = append(keys, nameKey(name))
	}
	return false, keys
}

// KnownBrowser begins what Locked tells of a browser that is known.
const KnownBrowser = "browser "

// callerKey is what the requests of somebody who is not signed in are counted for.
func (s *Store) callerKey(r *http.Request) string {
	if cookie, err := r.Cookie(DeviceCookie); err == nil {
		if id, _, known := s.device(cookie.Value); known {
			return KnownBrowser + id
		}
	}
	return addressKey(ClientOf(r.Context()).Addr)
}

// DeviceCookie is the cookie with the Device of a session that was opened.
func (g *Guard) DeviceCookie(ctx context.Context, value string) *http.Cookie {
	return g.cookie(ctx, DeviceCookie, value, time.Now().Add(deviceLife))
}

// remember gives a browser with a session the cookie, unless it has it.
func (g *Guard) remember(w http.ResponseWriter, r *http.Request, name string) {
	had := ""
	if cookie, err := r.Cookie(DeviceCookie); err == nil {
		had = cookie.Value
	}
	if value := g.Store.deviceOf(had, name); value != had {
		http.SetCookie(w, g.DeviceCookie(r.Context(), value))
	}
}
