package mediaservertest

import (
	_ "embed"
	"net/http"
)

// signInPage asks for the name and the password of an account. What it is about stands behind the #, so that a script has to
// read it: `#?clientID=…&code=…&context[device][product]=…&forwardUrl=…`.
//
//go:embed plexpage.html
var signInPage []byte

func (tv *PlexTV) page(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(signInPage) // a client that went away needs none
}

// pageAsks tells the page whether a sign-in waits.
func (tv *PlexTV) pageAsks(w http.ResponseWriter, r *http.Request) {
	tv.mu.Lock()
	defer tv.mu.Unlock()
	pin := tv.pinByCode(r.FormValue("code"))
	if pin == nil || pin.client != r.FormValue("clientID") {
		http.Error(w, errNoPin.Error(), http.StatusNotFound)
		return
	}
	_, _ = w.Write([]byte(pin.product)) // a client that went away needs none
}

// pageAllows takes what a person typed in.
func (tv *PlexTV) pageAllows(w http.ResponseWriter, r *http.Request) {
	tv.mu.Lock()
	defer tv.mu.Unlock()
	u, ok := tv.person(r.FormValue("name"))
	pin := tv.pinByCode(r.FormValue("code"))
	switch {
	case !ok || u.Managed || u.Password != r.FormValue("password"):
		http.Error(w, errPassword.Error(), http.StatusUnauthorized)
	case pin == nil || pin.client != r.FormValue("clientID"):
		http.Error(w, errNoPin.Error(), http.StatusNotFound)
	default:
		pin.token = tv.token(u.Name, pin.client)
		w.WriteHeader(http.StatusNoContent)
	}
}
