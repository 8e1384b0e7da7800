package channeltest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Push is a push service of browsers (RFC 8030), by https with the certificate of Certificate. It refuses what real ones refuse: a proof of the
// sender that is not for it, too old, lasts too long, or signed by another key than the browser subscribed with (RFC 8292), a body above 4096
// bytes, a message without TTL, a wrong topic. What it takes it decrypts with the key of the browser (RFC 8291), which a real one cannot.
type Push struct {
	URL string

	mu       sync.Mutex
	changed  *sync.Cond
	browsers map[string]*PushBrowser
	reply    Reply
	wantsSub bool
	cut      bool
}

// PushBrowser is a browser that subscribed.
type PushBrowser struct {
	// Endpoint, P256dh and Auth are what it tells whom it subscribes to.
	Endpoint, P256dh, Auth string

	service *Push
	key     string // of who may send
	private *ecdh.PrivateKey
	secret  []byte
	gone    bool
	got     []Pushed
}

// Pushed is a message that was taken.
type Pushed struct {
	Header http.Header
	// Plain is what the browser reads, Err why it cannot.
	Plain []byte
	Err   error
	// Claims are those of the proof.
	Claims map[string]any
}

// NewPush runs until the test ends.
func NewPush(t TB) *Push {
	t.Helper()
	p := &Push{browsers: map[string]*PushBrowser{}}
	p.changed = sync.NewCond(&p.mu)
	web := httptest.NewUnstartedServer(p)
	web.TLS = &tls.Config{Certificates: []tls.Certificate{certificates().good}, MinVersion: tls.VersionTLS12}
	web.StartTLS()
	t.Cleanup(web.Close)
	p.URL = strings.Replace(web.URL, "127.0.0.1", "localhost", 1) // the certificate is for that name
	return p
}

// Subscribe is a browser that lets the holder of a key send, given in base64url as applicationServerKey.
func (p *Push) Subscribe(applicationServerKey string) *PushBrowser {
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	b := &PushBrowser{service: p, key: applicationServerKey, private: private, secret: make([]byte, 16)}
	_, _ = rand.Read(b.secret)
	path := "/push/" + rand.Text()
	b.Endpoint = p.URL + path
	b.P256dh = base64.RawURLEncoding.EncodeToString(private.PublicKey().Bytes())
	b.Auth = base64.RawURLEncoding.EncodeToString(b.secret)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.browsers[path] = b
	return b
}

// Reply is given from now on to what would be taken; a status of 0 is 201 without a body, as real ones answer.
func (p *Push) Reply(r Reply) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reply = r
}

// WantsSender refuses proofs without an address of the sender, as Apple does.
func (p *Push) WantsSender() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wantsSub = true
}

// CutAnswers has the service take messages and end the connection in place of an answer.
func (p *Push) CutAnswers() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = true
}

// Unsubscribe ends what the browser takes: the service answers 410.
func (b *PushBrowser) Unsubscribe() {
	b.service.mu.Lock()
	defer b.service.mu.Unlock()
	b.gone = true
}

// Wait are the messages that the browser got, once there are n.
func (b *PushBrowser) Wait(t TB, n int) []Pushed {
	t.Helper()
	if !await(b.service.changed, func() bool { return len(b.got) >= n }) {
		t.Fatalf("%d messages were pushed, not %d", len(b.Got()), n)
	}
	return b.Got()
}

// Got are the messages that the browser got.
func (b *PushBrowser) Got() []Pushed {
	b.service.mu.Lock()
	defer b.service.mu.Unlock()
	return append([]Pushed(nil), b.got...)
}

var topic = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)

// ServeHTTP takes a message.
func (p *Push) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	refuse := func(status int, reason string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]string{"reason": reason}) // the sender sees when it is gone
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.browsers[r.URL.Path]
	switch {
	case r.Method != http.MethodPost:
		refuse(http.StatusMethodNotAllowed, "MethodNotAllowed")
		return
	case b == nil:
		refuse(http.StatusNotFound, "BadPath")
		return
	case b.gone:
		refuse(http.StatusGone, "Unregistered")
		return
	}
	claims, key, err := p.proved(r.Header.Get("Authorization"))
	seconds, ttl := strconv.Atoi(r.Header.Get("TTL"))
	switch {
	case err != nil:
		refuse(http.StatusForbidden, "BadJwtToken: "+err.Error())
	case key != b.key:
		refuse(http.StatusForbidden, "the key in the authorization header does not correspond to the sender ID used to subscribe this user")
	case ttl != nil || seconds < 0:
		refuse(http.StatusBadRequest, "missing TTL")
	case len(body) > 4096:
		refuse(http.StatusRequestEntityTooLarge, "PayloadTooLarge")
	case r.Header.Get("Content-Encoding") != "aes128gcm":
		refuse(http.StatusBadRequest, "unsupported encoding")
	case r.Header.Get("Topic") != "" && !topic.MatchString(r.Header.Get("Topic")):
		refuse(http.StatusBadRequest, "BadWebPushTopic")
	case p.reply.Status != 0:
		for name, values := range p.reply.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(p.reply.Status)
		_, _ = io.WriteString(w, p.reply.Body)
	default:
		plain, err := b.decrypt(body)
		b.got = append(b.got, Pushed{r.Header.Clone(), plain, err, claims})
		p.changed.Broadcast()
		if p.cut {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Location", p.URL+"/message/"+rand.Text())
		w.WriteHeader(http.StatusCreated)
	}
}

// proved checks the proof of a sender (RFC 8292), and answers what it claims and with which key.
func (p *Push) proved(header string) (claims map[string]any, key string, err error) {
	rest, vapid := strings.CutPrefix(header, "vapid ")
	fields := map[string]string{}
	for field := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		fields[name] = value
	}
	parts := strings.Split(fields["t"], ".")
	if !vapid || len(parts) != 3 {
		return nil, "", errors.New("no vapid token")
	}
	decode := func(text string, into any) {
		raw, failed := base64.RawURLEncoding.DecodeString(text)
		if failed == nil {
			failed = json.Unmarshal(raw, into)
		}
		err = errors.Join(err, failed)
	}
	var head struct{ Typ, Alg string }
	decode(parts[0], &head)
	decode(parts[1], &claims)
	signature, failed := base64.RawURLEncoding.DecodeString(parts[2])
	point, unreadable := base64.RawURLEncoding.DecodeString(fields["k"])
	if err = errors.Join(err, failed, unreadable); err != nil {
		return nil, "", err
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	exp, _ := claims["exp"].(float64)
	left := time.Until(time.Unix(int64(exp), 0))
	sub, _ := claims["sub"].(string)
	switch {
	case head.Alg != "ES256":
		return nil, "", fmt.Errorf("the algorithm is %q", head.Alg)
	case len(signature) != 64 || !ecdsa.Verify(public, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])):
		return nil, "", errors.New("the signature is wrong")
	case claims["aud"] != p.URL:
		return nil, "", fmt.Errorf("it is for %v", claims["aud"])
	case left <= 0 || left > 24*time.Hour:
		return nil, "", fmt.Errorf("it is good for %s", left)
	case p.wantsSub && !strings.HasPrefix(sub, "https://") && !strings.HasPrefix(sub, "mailto:"):
		return nil, "", fmt.Errorf("the sender is %q", sub)
	}
	return claims, fields["k"], nil
}

// decrypt reads a message as a browser does (RFC 8188, section 2; RFC 8291, section 3.4).
func (b *PushBrowser) decrypt(body []byte) ([]byte, error) {
	if len(body) < 21 || len(body) < 21+int(body[20]) {
		return nil, errors.New("the header is cut")
	}
	salt, size, sender, sealed := body[:16], binary.BigEndian.Uint32(body[16:20]), body[21:21+int(body[20])], body[21+int(body[20]):]
	if int(size) < len(sealed) {
		return nil, fmt.Errorf("a record of %d bytes holds %d", size, len(sealed))
	}
	public, err := ecdh.P256().NewPublicKey(sender)
	if err != nil {
		return nil, err
	}
	shared, err := b.private.ECDH(public)
	if err != nil {
		return nil, err
	}
	mac := func(key []byte, parts ...[]byte) []byte {
		h := hmac.New(sha256.New, key)
		for _, part := range parts {
			_, _ = h.Write(part) // a hash takes everything
		}
		return h.Sum(nil)
	}
	ikm := mac(mac(b.secret, shared), []byte("WebPush: info\x00"), b.private.PublicKey().Bytes(), sender, []byte{1})
	prk := mac(salt, ikm)
	block, err := aes.NewCipher(mac(prk, []byte("Content-Encoding: aes128gcm\x00\x01"))[:16])
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	plain, err := gcm.Open(nil, mac(prk, []byte("Content-Encoding: nonce\x00\x01"))[:12], sealed, nil)
	if err != nil {
		return nil, err
	}
	plain = []byte(strings.TrimRight(string(plain), "\x00")) // padding after the delimiter
	if len(plain) == 0 || plain[len(plain)-1] != 2 {
		return nil, errors.New("the last record has no delimiter")
	}
	return plain[:len(plain)-1], nil
}
