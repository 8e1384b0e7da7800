package auth

import (
	"net/http"
	"strings"
)

// CrossOrigin refuses, with 403, unsafe requests that a browser sends on behalf of another
// site. Requests with an API key pass: no other site can add one, and with it a session cookie does not
// count. exempt is the ServeMux pattern of a door that has no use for a session, such as "/webhook/"; a
// malformed one panics. It works behind Clients, which tells the host a proxy was asked for.
func CrossOrigin(next http.Handler, exempt string) http.Handler {
	protection := http.NewCrossOriginProtection()
	protection.AddInsecureBypassPattern(exempt)
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refuse(w, r, otherSite)
	}))
	protected := protection.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, script := bearer(r); script {
			next.ServeHTTP(w, r)
			return
		}
		protected.ServeHTTP(w, r)
	})
}

// contentPolicy lets pages load only what the service serves; no inline script or style, no frame, no form to elsewhere.
var contentPolicy = strings.Join([]string{
	"default-src 'none'",
	"script-src 'self'",
	"style-src 'self'",
	"img-src 'self'",
	"connect-src 'self'",
	"font-src 'self'",
	"form-action 'self'",
	"frame-ancestors 'none'",
	"base-uri 'none'",
	"manifest-src 'self'",
}, "; ")

// SecurityHeaders sets what browsers need to keep a page to itself. Caching is left to the handlers.
func SecurityHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()")
		next.ServeHTTP(w, r)
	})
}
