package settings

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"watchmark/internal/platform/lan"
	"watchmark/internal/platform/reason"
)

// optional lets a text be empty and checks it otherwise.
func optional(check func(string) (string, error)) func(string) (string, error) {
	return func(text string) (string, error) {
		if strings.TrimSpace(text) == "" {
			return "", nil
		}
		return check(text)
	}
}

// checkListen takes host:port; the host may be empty, a name or an address.
func checkListen(text string) (string, error) {
	host, port, err := net.SplitHostPort(strings.TrimSpace(text))
	if err != nil {
		return "", notListenAddress.With(shown(text))
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return "", badListenPort.With(shown(port))
	}
	if _, err := netip.ParseAddr(host); err != nil && !isHostName(host) {
		return "", badListenHost.With(shown(host))
	}
	return net.JoinHostPort(host, port), nil
}

// alphanumeric are the letters and digits that names are made of.
const alphanumeric = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// checkEgress takes the name of a way out.
func checkEgress(text string) (string, error) {
	const longest = 40
	text = strings.TrimSpace(text)
	if text == "" || len(text) > longest || !isUnreserved(text) {
		return "", notEgress.With(longest)
	}
	return text, nil
}

// madeOf reports whether text has no character outside of allowed.
func madeOf(text, allowed string) bool { return strings.Trim(text, allowed) == "" }

// isHostName takes "" too, which stands for every address.
func isHostName(host string) bool { return madeOf(host, alphanumeric+"-._") }

// checkBasePath gives a leading and no trailing slash; the root is "".
func checkBasePath(text string) (string, error) {
	path := strings.Trim(strings.TrimSpace(text), "/")
	if path == "" {
		return "", nil
	}
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || part == "." || part == ".." || !isUnreserved(part) {
			return "", notBasePath.With(shown(text))
		}
	}
	return "/" + path, nil
}

// isUnreserved reports whether text needs no escaping anywhere in a URL (RFC 3986, 2.3).
func isUnreserved(text string) bool { return madeOf(text, alphanumeric+"-._~") }

// checkCron accepts what the scheduler's parser does.
func checkCron(text string) (string, error) {
	_, err := parseCron(text)
	return text, err
}

// checkURL takes an absolute http or https address and drops its trailing slashes.
func checkURL(text string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Opaque != "":
		return "", notURL
	case u.User != nil:
		return "", urlWithUser
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", urlWithQuery
	}
	if !validPort(u) {
		return "", badURLPort
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// checkIssuer takes the issuer of an OpenID Connect provider as it is, for it is compared to the
// letter. Without TLS anybody on the way could sign in, so that is for a home network only.
func checkIssuer(text string) (string, error) {
	plain, err := checkURL(text)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(plain)
	if err == nil && u.Scheme == "http" && !lan.IsHome(u.Hostname()) {
		return "", issuerWithoutTLS
	}
	return strings.TrimSpace(text), nil
}

// checkPerson takes a subject or an e-mail address of a provider.
func checkPerson(text string) (string, error) {
	const longest = 255 // of a subject (OpenID Connect Core, section 2)
	text = strings.TrimSpace(text)
	if text == "" || len(text) > longest || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", notOIDCPerson
	}
	if strings.Contains(text, "@") {
		text = strings.ToLower(text)
	}
	return text, nil
}

// checkGroup takes the name of a group, or of the claim with the groups, to the letter.
func checkGroup(text string) (string, error) {
	const longest = 200
	text = strings.TrimSpace(text)
	if text == "" || len(text) > longest || strings.ContainsFunc(text, unicode.IsControl) {
		return "", notGroup
	}
	return text, nil
}

// checkServerID takes what a media server calls itself.
func checkServerID(text string) (string, error) {
	const longest = 128
	text = strings.TrimSpace(text)
	if text == "" || len(text) > longest || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", notServerID
	}
	return text, nil
}

// checkLine takes a short text for a button.
func checkLine(text string) (string, error) {
	const longest = 40
	text = strings.TrimSpace(text)
	if len([]rune(text)) > longest {
		return "", tooManyLetters.With(longest)
	}
	return text, nil
}

// checkCallback takes an absolute http or https address as it is: others compare it to the letter.
func checkCallback(text string) (string, error) {
	_, err := checkURL(text)
	return strings.TrimSpace(text), err
}

// checkMirror takes an address that others are appended to, and gives it a trailing slash.
func checkMirror(text string) (string, error) {
	prefix, err := checkURL(text)
	return prefix + "/", err
}

// checkAPIKey takes a key that can stand in a header, and drops what people copy with it. It
// never repeats it.
func checkAPIKey(text string) (string, error) {
	key := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "Bearer "))
	if key == "" || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", notAPIKey
	}
	return key, nil
}

// checkTemperature takes a number from 0 to 2.
func checkTemperature(text string) (string, error) {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(n >= 0 && n <= 2) {
		return "", notTemperature
	}
	return strconv.FormatFloat(n, 'f', -1, 64), nil
}

// checkFolder takes the path of a folder.
func checkFolder(text string) (string, error) {
	if text = strings.TrimSpace(text); text == "" {
		return "", notFolder
	}
	return text, nil
}

// checkFile takes the path of a file.
func checkFile(text string) (string, error) {
	if text = strings.TrimSpace(text); text == "" {
		return "", notFilePath
	}
	return text, nil
}

// checkGUID takes the id of a user of a NAS, or all.
func checkGUID(text string) (string, error) {
	const longest = 64
	text = strings.TrimSpace(text)
	if text == "" || len(text) > longest || !madeOf(text, alphanumeric+"-_") {
		return "", notNASUser
	}
	return text, nil
}

func validPort(u *url.URL) bool {
	if u.Port() == "" {
		return !strings.HasSuffix(u.Host, ":")
	}
	n, err := strconv.ParseUint(u.Port(), 10, 16)
	return err == nil && n > 0
}

// checkProxy takes a proxy's address; it never repeats it, for it may hold a password.
func checkProxy(text string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	schemes := []string{"http", "https", "socks5", "socks5h"}
	if err != nil || !slices.Contains(schemes, u.Scheme) || u.Hostname() == "" || !validPort(u) {
		return "", notProxy.With(strings.Join(schemes, ", "))
	}
	if strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return "", proxyWithPath
	}
	u.Path, u.RawPath = "", ""
	return u.String(), nil
}

// checkDatabaseURL leaves what follows the scheme to the one who opens the database. What is wrong never tells the text: it has a password.
func checkDatabaseURL(text string) (string, error) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "postgres://") && !strings.HasPrefix(text, "postgresql://") {
		return "", notDatabaseURL
	}
	return text, nil
}

// checkWebhookKey takes what fits into a path segment and a query unescaped.
func checkWebhookKey(text string) (string, error) {
	const longest = 128
	text = strings.TrimSpace(text)
	if len(text) > longest || !isUnreserved(text) || strings.Trim(text, ".") == "" {
		return "", badKeyCharacters.With(longest)
	}
	return text, nil
}

// shortestKey is how many characters a key of webhooks has at least: so many nobody guesses.
const shortestKey = 12

// StrongKey reports whether a key of webhooks is long enough to keep anybody out.
func StrongKey(key string) bool { return len(key) >= shortestKey }

func strongKey(text string) error {
	if !StrongKey(text) {
		return keyTooShort.With(shortestKey)
	}
	return nil
}

// checkNetwork takes a network in CIDR form or a single address. IPv4 in IPv6 form becomes what it means: peers are known
// by their IPv4 address.
func checkNetwork(text string) (string, error) {
	text = strings.TrimSpace(text)
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()).String(), nil
	}
	prefix, err := netip.ParsePrefix(text)
	if err == nil && prefix.Addr().Is4In6() {
		prefix = netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-96)
	}
	if err != nil || !prefix.IsValid() {
		return "", notNetwork.With(shown(text))
	}
	return prefix.Masked().String(), nil
}

// checkBox takes host or host:port of a home network.
func checkBox(text string) (string, error) {
	host, port, err := lan.ParseHost(text)
	if err != nil || port == 0 {
		return host, err
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port))), nil
}

// checkSubnet takes a private network that is small enough to be scanned.
func checkSubnet(text string) (string, error) {
	network, err := lan.ParseNetwork(text)
	return network.String(), err
}

// publicCatalog is the host whose rate ban the limits must stay away from, and
// publicCatalogMost how many requests ten minutes may hold at most: its ban
// comes above 3000 (upstreams/catalog.md, "Errors, limits, retry").
const (
	publicCatalog     = "api.bgm.tv"
	publicCatalogMost = 2400
)

// RequestsMost is how many requests ten minutes may hold at most at a host; 0 when that is not known.
func RequestsMost(host string) int {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if strings.EqualFold(host, publicCatalog) {
		return publicCatalogMost
	}
	return 0
}

// check holds the rules between keys.
func check(s Settings) Errors {
	var errs Errors
	if !s.Auth.Enabled && !staysPrivate(s.Server.Listen) {
		errs = append(errs, &reason.FieldError{Field: "auth.enabled", What: openToInternet.With(s.Server.Listen)})
	}
	if s.Server.UpdateCheck && s.Server.UpdateURL == "" {
		errs = append(errs, &reason.FieldError{Field: "server.update_url", What: updateURLMissing.With()})
	}
	if (s.Server.TLSCert == "") != (s.Server.TLSKey == "") {
		missing, other := "server.tls_cert", "server.tls_key"
		if s.Server.TLSKey == "" {
			missing, other = other, missing
		}
		errs = append(errs, &reason.FieldError{Field: missing, What: neededTogether.With(other)})
	}
	if s.Matching.ReviewScore > s.Matching.AcceptScore {
		errs = append(errs, &reason.FieldError{Field: "matching.review_score", What: aboveAcceptScore.With(s.Matching.ReviewScore, s.Matching.AcceptScore)})
	}
	if u, err := url.Parse(s.Catalog.APIURL); err == nil {
		allowed := RequestsMost(u.Host)
		if most := 10*s.Catalog.RequestsPerMinute + s.Catalog.Burst; allowed > 0 && most > allowed {
			errs = append(errs, &reason.FieldError{Field: "catalog.requests_per_minute", What: tooManyRequests.With(most, publicCatalog, allowed)})
		}
	}
	return errs
}

// staysPrivate reports whether a listen address can be reached from this
// machine or its private network only. A host name other than localhost is not
// trusted to stay what it is.
func staysPrivate(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	return addr.IsLoopback() || addr.IsPrivate() || addr.IsLinkLocalUnicast()
}
