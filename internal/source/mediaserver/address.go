package mediaserver

import (
	"net"
	"net/netip"
	"net/url"
	"strings"
	"unicode"

	"watchmark/internal/platform/lan"
	"watchmark/internal/platform/reason"
)

// longestAddress bounds an address that a person enters, in bytes.
const longestAddress = 500

// CheckURL is the address of a server without a slash at its end, and without what its pages have in a browser. The error is a
// *reason.FieldError for url.
func CheckURL(text string) (string, error) {
	text = strings.TrimSpace(text)
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || len(u.String()) > longestAddress || !isHost(u.Hostname()):
		return "", reason.At("url", wrongAddress)
	case u.User != nil:
		return "", reason.At("url", withPassword)
	case u.RawQuery != "" || u.Fragment != "" || strings.Contains(u.Path, "/web"):
		return "", reason.At("url", withPath)
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil && lan.Forbidden(addr) {
		return "", reason.At("url", forbiddenAddress)
	}
	return strings.TrimRight(u.Scheme+"://"+u.Host+u.EscapedPath(), "/"), nil
}

// allow refuses what is forbidden to everybody, whatever a name leads to.
func allow(addr netip.Addr) error {
	if lan.Forbidden(addr) {
		return forbiddenAddress
	}
	return nil
}

// usual are the ports of media servers, in the order in which they are tried for an address without one.
var usual = []struct{ scheme, port string }{
	{"http", "8096"}, {"https", "8920"}, {"http", "32400"}, {"https", "9443"}, {"http", "8005"},
}

// candidates are the addresses that a person may mean, in the order in which they are believed.
func candidates(text string) ([]string, error) {
	text = strings.TrimSpace(text)
	scheme, rest, named := strings.Cut(text, "://")
	if !named {
		scheme, rest = "", text
	}
	// What a browser shows behind the address of a server is no part of it.
	if at := strings.IndexAny(rest, "?#"); at >= 0 {
		rest = rest[:at]
	}
	if at := strings.Index(rest, "/web"); at >= 0 {
		rest = rest[:at]
	}
	rest = strings.TrimSuffix(strings.TrimRight(strings.TrimSpace(rest), "/"), "/emby")
	host, path, _ := strings.Cut(rest, "/")
	if addr, err := netip.ParseAddr(host); err == nil && addr.Is6() {
		host = "[" + host + "]"
	}
	if path != "" {
		path = "/" + path
	}
	schemes := []string{scheme}
	if !named {
		schemes = []string{"https", "http"}
	}
	var all []string
	for _, s := range schemes {
		base, err := CheckURL(s + "://" + host + path)
		if err != nil {
			return nil, err
		}
		all = append(all, base)
	}
	u, err := url.Parse(all[0])
	if err != nil || u.Port() != "" || path != "" {
		return all, nil //nolint:nilerr // CheckURL has parsed it
	}
	for _, one := range usual {
		if !named || one.scheme == scheme {
			all = append(all, one.scheme+"://"+net.JoinHostPort(u.Hostname(), one.port))
		}
	}
	return all, nil
}

// isHost reports whether text is a name or an address of a host, as people write them.
func isHost(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-._:", r)
	})
}

// mostID bounds the id of an item, a library or a user, in bytes.
const mostID = 128

// validID reports whether an id that a server told can stand in a path and in a list with commas.
func validID(id string) bool {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:~"
	return id != "" && len(id) <= mostID && strings.Trim(id, allowed) == "" && strings.Trim(id, ".") != ""
}
