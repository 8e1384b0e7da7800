package channeltest

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	netmail "net/mail"
	"slices"
	"sync"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// MailConfig is how a mail server is set up.
type MailConfig struct {
	// TLS is implicit, starttls or none.
	TLS string
	// User and Password sign in; without a user nobody has to, or can.
	User, Password string
	// Ways are the ways to sign in that are offered; none = PLAIN and LOGIN.
	Ways []string
	// Expired has a certificate that has ended.
	Expired bool
}

// Letter is a mail that was taken.
type Letter struct {
	// From and To are those of the envelope.
	From   string
	To     []string
	Header netmail.Header
	Text   string
	HTML   string
	Raw    []byte
	// Encrypted says how it came, Way how its sender signed in.
	Encrypted bool
	Way       string
}

// Mail is a mail server. Its methods may be used by several goroutines.
type Mail struct {
	// Host and Port are where it listens. Host is the name in its certificate.
	Host string
	Port int

	cfg MailConfig

	done chan struct{}

	mu      sync.Mutex
	changed *sync.Cond
	letters []Letter
	refuse  map[string]int
	hang    bool
	logins  int
}

// NewMail is a mail server that runs until the test ends.
func NewMail(t TB, cfg MailConfig) *Mail {
	t.Helper()
	if len(cfg.Ways) == 0 {
		cfg.Ways = []string{sasl.Plain, loginWay}
	}
	m := &Mail{Host: "localhost", cfg: cfg, done: make(chan struct{}), refuse: map[string]int{}}
	m.changed = sync.NewCond(&m.mu)
	server := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		s := &session{server: m, conn: c}
		if cfg.User == "" {
			return s, nil
		}
		return &signedSession{s}, nil
	}))
	server.Domain = m.Host
	server.AllowInsecureAuth = cfg.TLS == "none"
	server.ErrorLog = log.New(io.Discard, "", 0)
	config := &tls.Config{Certificates: []tls.Certificate{certificates().good}}
	if cfg.Expired {
		config.Certificates[0] = certificates().expired
	}
	if cfg.TLS == "starttls" {
		server.TLSConfig = config
	}
	door, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	m.Port = door.Addr().(*net.TCPAddr).Port
	var inner net.Listener = &doorman{door, m}
	if cfg.TLS == "implicit" {
		inner = tls.NewListener(inner, config)
	}
	ended := make(chan struct{})
	go func() { _ = server.Serve(inner); close(ended) }()
	t.Cleanup(func() {
		close(m.done)
		_ = server.Close()
		_ = door.Close() // which the server does not know yet when the test was very short
		<-ended
	})
	return m
}

// Messages are the mails that were taken.
func (m *Mail) Messages() []Letter {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]Letter(nil), m.letters...)
}

// Logins is how often somebody tried to sign in.
func (m *Mail) Logins() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.logins
}

// Wait is Messages once there are n.
func (m *Mail) Wait(t TB, n int) []Letter {
	t.Helper()
	if !await(m.changed, func() bool { return len(m.letters) >= n }) {
		t.Fatalf("%d mails came, not %d", len(m.Messages()), n)
	}
	return m.Messages()
}

// Refuse has something answered with code from now on, 0 ends it: "greeting", "login", "sender", "data"
// (the whole mail), or the address of a recipient.
func (m *Mail) Refuse(what string, code int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refuse[what] = code
}

// Hang never greets.
func (m *Mail) Hang() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hang = true
}

// refusal of what; nil when it is welcome.
func (m *Mail) refusal(what string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	code := m.refuse[what]
	if code == 0 {
		return nil
	}
	text := map[int]string{
		421: "Service not available, closing transmission channel", 451: "Greylisted, please try again later", 535: "Login Fail. Please enter your authorization code to login",
		550: "User not found: " + what, 552: "Message too large", 553: "Mail from must equal authorized user", 554: "DT:SPM message looks like spam",
	}[code]
	return &smtp.SMTPError{Code: code, EnhancedCode: smtp.EnhancedCode{code / 100, 7, 1}, Message: text}
}

// doorman sends callers away before the server greets them.
type doorman struct {
	net.Listener
	server *Mail
}

func (d *doorman) Accept() (net.Conn, error) {
	for {
		conn, err := d.Listener.Accept()
		if err != nil {
			return nil, err
		}
		d.server.mu.Lock()
		code, hang := d.server.refuse["greeting"], d.server.hang
		d.server.mu.Unlock()
		switch {
		case hang:
			go func() { <-d.server.done; _ = conn.Close() }()
		case code != 0:
			_, _ = fmt.Fprintf(conn, "%d 4.3.2 too many connections\r\n", code) // who is gone needs no answer
			_ = conn.Close()
		default:
			return conn, nil
		}
	}
}

// session is what one caller says.
type session struct {
	server *Mail
	conn   *smtp.Conn
	way    string
	from   string
	to     []string
}

func (s *session) Reset()        { s.from, s.to = "", nil }
func (s *session) Logout() error { return nil }

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	if s.server.cfg.User != "" && s.way == "" {
		return smtp.ErrAuthRequired
	}
	s.from = from
	return s.server.refusal("sender")
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	if err := s.server.refusal(to); err != nil {
		return err
	}
	s.to = append(s.to, to)
	return nil
}

func (s *session) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if err := s.server.refusal("data"); err != nil {
		return err
	}
	letter, err := readLetter(raw)
	if err != nil {
		return &smtp.SMTPError{Code: 554, EnhancedCode: smtp.EnhancedCode{5, 6, 0}, Message: "not a mail: " + err.Error()}
	}
	letter.From, letter.To, letter.Way = s.from, s.to, s.way
	_, letter.Encrypted = s.conn.TLSConnectionState()
	s.server.mu.Lock()
	s.server.letters = append(s.server.letters, letter)
	s.server.mu.Unlock()
	s.server.changed.Broadcast()
	return nil
}

// signedSession offers to sign in.
type signedSession struct{ *session }

func (s *signedSession) AuthMechanisms() []string { return s.server.cfg.Ways }

func (s *signedSession) Auth(way string) (sasl.Server, error) {
	if !slices.Contains(s.server.cfg.Ways, way) {
		return nil, smtp.ErrAuthUnknownMechanism
	}
	check := func(user, password string) error {
		s.server.mu.Lock()
		s.server.logins++
		s.server.mu.Unlock()
		if err := s.server.refusal("login"); err != nil {
			return err
		}
		if user != s.server.cfg.User || password != s.server.cfg.Password {
			return smtp.ErrAuthFailed
		}
		s.way = way
		return nil
	}
	switch way {
	case sasl.Plain:
		return sasl.NewPlainServer(func(_, user, password string) error { return check(user, password) }), nil
	case loginWay:
		return &loginServer{check: check}, nil
	}
	return nil, smtp.ErrAuthUnknownMechanism
}

const loginWay = "LOGIN"

// loginServer asks for the user, then for the password.
type loginServer struct {
	check func(user, password string) error
	asked int
	user  string
}

func (l *loginServer) Next(response []byte) (challenge []byte, done bool, err error) {
	l.asked++
	switch l.asked {
	case 1:
		return []byte("Username:"), false, nil
	case 2:
		l.user = string(response)
		return []byte("Password:"), false, nil
	}
	return nil, true, l.check(l.user, string(response))
}

// readLetter is strict: lines are short and end in CRLF, and there is a text before its HTML.
func readLetter(raw []byte) (Letter, error) {
	for line := range bytes.SplitSeq(raw, []byte("\r\n")) {
		if len(line) > 998 || bytes.ContainsAny(line, "\r\n") {
			return Letter{}, errors.New("a line is too long, or ends wrongly")
		}
	}
	m, err := netmail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return Letter{}, err
	}
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		return Letter{}, fmt.Errorf("it is %q, not text with HTML", kind)
	}
	letter := Letter{Header: m.Header, Raw: raw}
	parts := multipart.NewReader(m.Body, params["boundary"])
	for _, part := range []struct {
		kind string
		into *string
	}{{"text/plain", &letter.Text}, {"text/html", &letter.HTML}} {
		p, err := parts.NextRawPart()
		if err != nil {
			return Letter{}, err
		}
		if kind, _, err := mime.ParseMediaType(p.Header.Get("Content-Type")); err != nil || kind != part.kind {
			return Letter{}, fmt.Errorf("a part is %q, not %s", kind, part.kind)
		}
		if coding := p.Header.Get("Content-Transfer-Encoding"); coding != "quoted-printable" {
			return Letter{}, fmt.Errorf("a part is coded as %q", coding)
		}
		text, err := io.ReadAll(quotedprintable.NewReader(p))
		if err != nil {
			return Letter{}, err
		}
		*part.into = string(text)
	}
	return letter, nil
}

// Certificate is that of every mail server, in PEM. It is trusted by nobody: a test that wants
// it to be puts it where SSL_CERT_FILE says.
func Certificate() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificates().good.Certificate[0]})
}

type pair struct{ good, expired tls.Certificate }

// certificates are for the name localhost, and no address.
var certificates = sync.OnceValue(func() pair {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err) // there is no randomness
	}
	parent := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(48 * time.Hour),
		DNSNames: []string{"localhost"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	expired := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotBefore: parent.NotBefore, NotAfter: time.Now().Add(-24 * time.Hour),
		DNSNames: parent.DNSNames, KeyUsage: x509.KeyUsageDigitalSignature,
	}
	sign := func(c *x509.Certificate) tls.Certificate {
		der, err := x509.CreateCertificate(rand.Reader, c, parent, key.Public(), key)
		if err != nil {
			panic(err) // the templates above are fine
		}
		return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	}
	return pair{sign(parent), sign(expired)}
})
