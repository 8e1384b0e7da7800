package channel

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/netip"
	"net/textproto"
	"slices"
	"strings"
	"syscall"

	"github.com/wneessen/go-mail/smtp"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
)

type mailer struct {
	Email
	tools *Tools
}

// maxConversation is how much a server may say, in bytes.
const maxConversation = 256 << 10

// Send is taken when the server has taken the mail for every recipient. Those whose server
// takes it get it also when others are refused; it is not tried again then.
func (e mailer) Send(ctx context.Context, m Message) error {
	letter, err := e.compose(m.tidy())
	if err != nil {
		return &Failure{Blame: OfChannel, Problem: mailCannotBeWritten.With(e.tools.masker.Mask(err.Error())), Advice: checkMailAddresses.With()}
	}
	bounded, cancel := context.WithTimeout(ctx, e.tools.patience)
	defer cancel()
	failure := e.deliver(bounded, letter)
	if failure == nil {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return failure
}

// deliver speaks with the server until it has taken the letter.
func (e mailer) deliver(ctx context.Context, letter []byte) *Failure {
	dialer := net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return connectAddressUnreadable.With(err)
		}
		return allow(to.Addr())
	}}
	raw, err := dialer.DialContext(ctx, "tcp", e.Where())
	if err != nil {
		return e.failed(toConnect, err)
	}
	defer func() { _ = raw.Close() }() // whether the mail was taken is known by then
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	defer stop()
	client, failure := e.greet(ctx, &bounded{raw, ctx, maxConversation})
	if failure != nil {
		return failure
	}
	return e.hand(client, letter)
}

// greet comes to the point where mails are taken: encrypted, and signed in.
func (e mailer) greet(ctx context.Context, conn net.Conn) (*smtp.Client, *Failure) {
	config := &tls.Config{ServerName: e.Host, RootCAs: e.tools.roots.Load(), InsecureSkipVerify: e.SkipVerify, MinVersion: tls.VersionTLS12} //nolint:gosec // what the person chose, and was warned of
	if e.TLS == Implicit {
		secured := tls.Client(conn, config)
		if err := secured.HandshakeContext(ctx); err != nil {
			return nil, e.failed(toEncrypt, err)
		}
		conn = secured
	}
	client, err := smtp.NewClient(conn, e.Host)
	if err != nil {
		return nil, e.failed(toGreet, err)
	}
	client.SkipSMTPUTF8(true) // addresses are ASCII
	if err := client.Hello(literal(conn.LocalAddr())); err != nil {
		return nil, e.failed(toGreet, err)
	}
	if e.TLS == STARTTLS {
		if offered, _ := client.Extension("STARTTLS"); !offered {
			return nil, &Failure{Blame: OfChannel, Problem: noSTARTTLS.With(), Advice: useImplicitTLS.With()}
		}
		if err := client.StartTLS(config); err != nil {
			return nil, e.failed(toEncrypt, err)
		}
	}
	if e.User != "" {
		if err := client.Auth(&login{email: e.Email}); err != nil {
			return nil, e.failed(toSignIn, err)
		}
	}
	return client, nil
}

// hand gives the letter over.
func (e mailer) hand(client *smtp.Client, letter []byte) *Failure {
	if err := client.Mail("<" + bare(e.From) + ">"); err != nil {
		return e.failed(toSend, err)
	}
	var refused []string
	var temporary, permanent *Failure
	for _, to := range e.To {
		err := client.Rcpt("<" + bare(to) + ">")
		if err == nil {
			continue
		}
		f := e.failed(toAddress, err)
		refused = append(refused, hint(bare(to)))
		if f.Blame == Temporary {
			temporary = f
		} else {
			permanent = f
		}
	}
	if len(refused) == len(e.To) {
		_ = client.Quit() // nothing was sent
		return cmp.Or(temporary, permanent)
	}
	if err := put(client, letter); err != nil {
		return e.failed(toTake, err)
	}
	_ = client.Quit() // the mail is taken
	if len(refused) > 0 {
		f := cmp.Or(permanent, temporary)
		return &Failure{Blame: OfMessage, Problem: someRecipientsFailed.With(len(refused), len(e.To), strings.Join(refused, ", "), f.Problem), Advice: f.Advice}
	}
	return nil
}

func put(client *smtp.Client, letter []byte) error {
	w, err := client.Data()
	if err != nil {
		return err
	}
	if _, err := w.Write(letter); err != nil {
		return err
	}
	return w.Close()
}

// step is what was to be done when something went wrong.
type step int

const (
	toConnect step = iota
	toGreet
	toEncrypt
	toSignIn
	toSend    // the sender was named
	toAddress // a recipient was named
	toTake    // the mail itself was sent
)

// failed says what an error at a step means.
func (e mailer) failed(at step, err error) *Failure {
	var answer *textproto.Error
	if errors.As(err, &answer) {
		return e.refused(at, answer)
	}
	var notTLS tls.RecordHeaderError
	var certificate *tls.CertificateVerificationError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.Is(err, errMetadata):
		return &Failure{Blame: OfChannel, Problem: mailServerForbidden.With(errMetadata), Advice: enterAnotherHost.With()}
	case errors.Is(err, errNoLogin):
		return &Failure{Blame: OfChannel, Problem: errNoLogin.With(), Advice: checkTLSAndPort.With()}
	case errors.As(err, &notTLS):
		return &Failure{Blame: OfChannel, Problem: noTLSAtPort.With(), Advice: useSTARTTLS.With()}
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return &Failure{Problem: mailCertificateExpired.With(), Advice: checkClockToo.With()}
	case errors.As(err, &certificate):
		return &Failure{Blame: OfChannel, Problem: mailCertificateUntrusted.With(cut(clean(certificate.Err.Error()), maxExcerpt)), Advice: useNameInCertificate.With()}
	}
	kind := httpx.Classify(err)
	f := &Failure{Problem: reason.WithDetail.With(kind.Explain(e.Where()), cut(clean(e.tools.masker.Mask(err.Error())), maxExcerpt))}
	if kind == httpx.Timeout && at == toGreet && e.TLS != Implicit {
		f.Advice = tryImplicitTLS.With()
	}
	return f
}

// refused says what an answer of the server means: 4xx passes, 5xx does not.
func (e mailer) refused(at step, answer *textproto.Error) *Failure {
	text := strings.Join(strings.Fields(clean(answer.Msg)), " ")
	f := &Failure{Problem: mailServerAnswered.With(answer.Code, cut(e.tools.masker.Mask(text), maxExcerpt))}
	switch {
	case answer.Code/100 != 5:
		return f
	case at == toTake && answer.Code != 530 && answer.Code != 535 && answer.Code != 553:
		f.Blame, f.Advice = OfMessage, mailRefused.With()
		return f
	}
	f.Blame = OfChannel
	switch {
	case at == toSignIn || answer.Code == 535 || answer.Code == 534:
		f.Advice = checkPassword.With()
	case answer.Code == 530:
		f.Advice = signInWanted.With()
	case at == toSend || at == toTake:
		f.Advice = senderRefused.With()
	case at == toAddress:
		f.Advice = checkRecipients.With()
	}
	return f
}

// login signs in by the way that the server offers, PLAIN before LOGIN. Whether it may be sent
// unencrypted was decided by Check.
type login struct {
	email Email
	by    smtp.Auth
}

// Start chooses the way.
func (l *login) Start(server *smtp.ServerInfo) (string, []byte, error) {
	offers := func(way string) bool {
		return slices.ContainsFunc(server.Auth, func(s string) bool { return strings.EqualFold(s, way) })
	}
	unencrypted := l.email.TLS == None
	switch {
	case offers("PLAIN"):
		l.by = smtp.PlainAuth("", l.email.User, l.email.Password.Reveal(), l.email.Host, unencrypted)
	case offers("LOGIN"):
		l.by = smtp.LoginAuth(l.email.User, l.email.Password.Reveal(), l.email.Host, unencrypted)
	default:
		return "", nil, errNoLogin
	}
	return l.by.Start(server)
}

// Next goes on in it.
func (l *login) Next(fromServer []byte, more bool) ([]byte, error) {
	return l.by.Next(fromServer, more)
}

// bounded is a connection whose other end may say only so much, and that ctx closes.
type bounded struct {
	net.Conn
	ctx  context.Context
	left int
}

func (b *bounded) Read(buf []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooMuchText
	}
	n, err := b.Conn.Read(buf[:min(len(buf), b.left)])
	b.left -= n
	return n, b.explain(err)
}

func (b *bounded) Write(buf []byte) (int, error) {
	n, err := b.Conn.Write(buf)
	return n, b.explain(err)
}

// explain is what lies behind err.
func (b *bounded) explain(err error) error {
	if cause := b.ctx.Err(); err != nil && cause != nil {
		return cause
	}
	return err
}

// literal names this machine by its address, as who has no public name does (RFC 5321, section 4.1.3).
func literal(local net.Addr) string {
	at, err := netip.ParseAddrPort(local.String())
	switch addr := at.Addr().Unmap().WithZone(""); {
	case err != nil:
		return "localhost"
	case addr.Is6():
		return "[IPv6:" + addr.String() + "]"
	default:
		return "[" + addr.String() + "]"
	}
}

// hint names an address without telling it.
func hint(address string) string {
	user, domain, _ := strings.Cut(address, "@")
	return user[:min(len(user), 1)] + "…@" + domain
}
