package mediaserver

import (
	"net"
	"net/netip"
	"net/url"
	"strings"

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
	case err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || len(text) > longestAddress:
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
	rest = strings.TrimSuffix(strings.TrimRight(rest, "/"), "/emby")
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
	if u, err := url.Parse(all[0]); err != nil || u.Port() != "" || path != "" {
		return all, nil //nolint:nilerr // CheckURL has parsed it
	}
	name := strings.Trim(host, "[]")
	for _, one := range usual {
		if !named || one.scheme == scheme {
			all = append(all, one.scheme+"://"+net.JoinHostPort(name, one.port))
		}
	}
	return all, nil
}

// mostID bounds the id of an item, a library or a user, in bytes.
const mostID = 128

// validID reports whether an id that a server told can stand in a path and in a list with commas.
func validID(id string) bool {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:~"
	return id != "" && len(id) <= mostID && strings.Trim(id, allowed) == "" && strings.Trim(id, ".") != ""
}
