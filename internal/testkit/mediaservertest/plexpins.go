package mediaservertest

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// plexPin is a sign-in that a person has to confirm.
type plexPin struct {
	id              int64
	code            string
	client, product string
	created, until  time.Time
	polled          time.Time
	token           string // once it was confirmed
}

// answer is the pin as plex.tv shows it; the token is null until somebody confirmed it.
func (pin *plexPin) answer(now time.Time) object {
	var token, registration any
	if pin.token != "" {
		token, registration = pin.token, false
	}
	return object{
		"id": pin.id, "code": pin.code, "product": pin.product, "trusted": false, "clientIdentifier": pin.client, "expiresIn": int(pin.until.Sub(now).Seconds()),
		"createdAt": pin.created.UTC().Format(time.RFC3339), "expiresAt": pin.until.UTC().Format(time.RFC3339), "authToken": token, "newRegistration": registration,
	}
}

func (tv *PlexTV) newPin(w http.ResponseWriter, r *http.Request, client string) {
	tv.lastPin++
	now := tv.now()
	pin := &plexPin{id: tv.lastPin, client: client, product: plexParameter(r, "X-Plex-Product"), created: now}
	if r.FormValue("strong") == "true" {
		pin.code, pin.until = strings.ToLower(rand.Text()[:25]), now.Add(30*time.Minute)
	} else {
		pin.code, pin.until = rand.Text()[:4], now.Add(15*time.Minute) // to be typed in at plex.tv/link
	}
	tv.pins[pin.id] = pin
	plexAnswer(w, r, http.StatusCreated, "pin", pin.answer(now))
}

func (tv *PlexTV) pollPin(w http.ResponseWriter, r *http.Request, client string) {
	id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64) // what is no number is no pin
	pin, now := tv.pins[id], tv.now()
	switch {
	case pin == nil || pin.client != client:
		plexFail(w, r, http.StatusNotFound, 1020, "Code not found or expired")
	case !now.Before(pin.until):
		plexFail(w, r, tv.expired, 1020, "Code not found or expired")
	case now.Sub(pin.polled) < tv.PollEvery:
		plexFail(w, r, http.StatusTooManyRequests, 1003, "API rate limit exceeded")
	default:
		pin.polled = now
		plexAnswer(w, r, http.StatusOK, "pin", pin.answer(now))
	}
}

// Why a sign-in cannot be confirmed.
var (
	errNoPin    = errors.New("this sign-in is unknown or has expired: begin again")
	errPassword = errors.New("wrong name or password")
)

// Approve confirms the sign-in with a code as the person does on the page.
func (tv *PlexTV) Approve(code, name string) error {
	tv.mu.Lock()
	defer tv.mu.Unlock()
	u, ok := tv.person(name)
	if !ok || u.Managed {
		return fmt.Errorf("%q has no login at Plex", name)
	}
	pin := tv.pinByCode(code)
	if pin == nil {
		return errNoPin
	}
	pin.token = tv.token(u.Name, pin.client)
	return nil
}

// pinByCode is a pin that waits, nil when there is none; tv.mu is held.
func (tv *PlexTV) pinByCode(code string) *plexPin {
	for _, pin := range tv.pins {
		if strings.EqualFold(pin.code, code) && pin.token == "" && tv.now().Before(pin.until) {
			return pin
		}
	}
	return nil
}

// ExpirePins ends every sign-in that waits; they answer status from then on, 404 or 410.
func (tv *PlexTV) ExpirePins(status int) {
	tv.mu.Lock()
	defer tv.mu.Unlock()
	tv.expired = status
	for _, pin := range tv.pins {
		pin.until = tv.now()
	}
}
