package mediaservertest

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"time"
)

// quickConnect is a sign-in that waits for its code to be typed in elsewhere.
type quickConnect struct {
	secret, code, user string // user is an id, empty until it is confirmed
	client             map[string]string
	made               time.Time
}

// codeLife is how long a code of Quick Connect is good for (section 2.1).
const codeLife = 10 * time.Minute

// signsIn are the parts of the header that a sign-in needs, nil after an answer of 400.
func (c *call) signsIn() map[string]string {
	for _, name := range c.headers() {
		client := c.b.client(c.r.Header.Get(name))
		if client["Client"] != "" && client["Device"] != "" && client["DeviceId"] != "" && client["Version"] != "" {
			return client
		}
	}
	c.fail(http.StatusBadRequest, "Value cannot be null. (Parameter 'appName')")
	return nil
}

// headers are where this server reads who signs in.
func (c *call) headers() []string {
	switch {
	case c.b.is(Jellyfin) && !c.b.legacy():
		return []string{"Authorization"}
	case c.b.is(Jellyfin, Emby):
		return []string{"Authorization", "X-Emby-Authorization"}
	}
	return []string{"X-Emby-Authorization"}
}

func (c *call) signIn() {
	client := c.signsIn()
	if client == nil {
		return
	}
	var body struct {
		Username string
		Pw       *string
	}
	if err := json.NewDecoder(c.r.Body).Decode(&body); err != nil || body.Username == "" {
		c.fail(http.StatusBadRequest, "Error processing request.")
		return
	}
	b, pw := c.b, ""
	if body.Pw != nil {
		pw = *body.Pw
	}
	u, err := b.s.User(body.Username)
	switch {
	case err != nil || u.ID == body.Username && u.Name != u.ID, !u.Disabled && u.Password != pw:
		if err == nil {
			b.countWrong(u)
		}
		c.fail(http.StatusUnauthorized, "Invalid user or password entered.")
		return
	case u.Disabled || u.NotNow:
		c.fail(http.StatusForbidden, "The account is currently disabled. Please consult with your administrator.")
		return
	}
	c.letIn(u, client)
}

// countWrong counts a wrong password and disables the account after too many.
func (b *browser) countWrong(u User) {
	most := u.Lockout
	if most == 0 {
		most = 3
	}
	b.mu.Lock()
	b.wrong[u.ID]++
	locked := most > 0 && b.wrong[u.ID] >= most
	b.mu.Unlock()
	if locked {
		_ = b.s.ChangeUser(u.ID, func(u *User) { u.Disabled = true }) // it was found just now
	}
}

// letIn makes a token. The earlier one of the same person and device ends.
func (c *call) letIn(u User, client map[string]string) {
	b := c.b
	now := b.s.Now()
	b.mu.Lock()
	delete(b.wrong, u.ID)
	others := 0
	for _, t := range b.tokens {
		if t.user == u.ID && t.deviceID != client["DeviceId"] {
			others++
		}
	}
	if u.MaxSessions > 0 && others >= u.MaxSessions {
		b.mu.Unlock()
		c.fail(http.StatusForbidden, "User is at their maximum number of sessions.")
		return
	}
	for value, t := range b.tokens {
		if t.user == u.ID && t.deviceID == client["DeviceId"] {
			delete(b.tokens, value)
		}
	}
	t := &token{
		value: random(16), user: u.ID, client: client["Client"], device: client["Device"], deviceID: client["DeviceId"],
		agent: client["Version"], made: now,
	}
	b.tokens[t.value] = t
	b.mu.Unlock()
	c.ok(object{"User": b.userObject(u), "SessionInfo": b.session(t), "AccessToken": t.value, "ServerId": b.serverID()})
}

func random(bytes int) string {
	value := make([]byte, bytes)
	_, _ = rand.Read(value) // it never fails
	return hex.EncodeToString(value)
}

func (b *browser) userObject(u User) object {
	folders := u.Libraries
	if folders == nil {
		folders = []string{}
	}
	return object{
		"Name": u.Name, "ServerId": b.serverID(), "Id": u.ID, "HasPassword": u.Password != "", "EnableAutoLogin": false,
		"Policy": object{"IsAdministrator": u.Admin, "IsDisabled": u.Disabled, "EnableAllFolders": u.Libraries == nil,
			"EnabledFolders": folders, "EnableRemoteControlOfOtherUsers": u.Admin, "MaxActiveSessions": u.MaxSessions},
	}
}

// session is a sign-in as /Sessions shows it.
func (b *browser) session(t *token) object {
	o := object{"Id": "s" + t.value[:8], "UserId": t.user, "Client": t.client, "DeviceId": t.deviceID, "DeviceName": t.device,
		"ApplicationVersion": t.agent, "IsActive": true, "LastActivityDate": b.date(b.s.Now()), "AdditionalUsers": []any{},
		"PlayState": object{"CanSeek": false, "IsPaused": false}, "SupportsRemoteControl": false}
	if u, err := b.s.User(t.user); err == nil {
		o["UserName"] = u.Name
	}
	return o
}

func (c *call) signOut() {
	c.b.mu.Lock()
	delete(c.b.tokens, c.tok.value)
	c.b.mu.Unlock()
	c.b.each(func(s *socket) bool { return s.token == c.tok.value }, func(s *socket) { s.close() })
	c.w.WriteHeader(http.StatusNoContent)
}

// Quick Connect (section 2.1).

func (c *call) startCode() {
	if c.b.s.cfg.NoQuickConnect {
		c.fail(http.StatusUnauthorized, "Quick connect is disabled")
		return
	}
	client := c.signsIn()
	if client == nil {
		return
	}
	n, _ := rand.Int(rand.Reader, big.NewInt(900000)) // it never fails
	q := &quickConnect{secret: random(32), code: fmt.Sprint(100000 + n.Int64()), client: client, made: c.b.s.Now()}
	c.b.mu.Lock()
	c.b.codes[q.secret] = q
	c.b.mu.Unlock()
	c.ok(c.b.codeObject(q))
}

func (b *browser) codeObject(q *quickConnect) object {
	return object{"Authenticated": q.user != "", "Secret": q.secret, "Code": q.code, "DeviceId": q.client["DeviceId"], "DeviceName": q.client["Device"],
		"AppName": q.client["Client"], "AppVersion": q.client["Version"], "DateAdded": b.date(q.made)}
}

// code is a copy of the sign-in with the secret, nil when it is over.
func (b *browser) code(secret string) *quickConnect {
	now := b.s.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.codes[secret]
	if q == nil || now.Sub(q.made) > codeLife {
		delete(b.codes, secret)
		return nil
	}
	own := *q
	return &own
}

func (c *call) askCode() {
	q := c.b.code(c.q.Get("secret"))
	if q == nil {
		c.fail(http.StatusNotFound, "Unable to find request")
		return
	}
	c.ok(c.b.codeObject(q))
}

func (c *call) signInByCode() {
	var body struct{ Secret string }
	if err := json.NewDecoder(c.r.Body).Decode(&body); err != nil {
		c.fail(http.StatusBadRequest, "Error processing request.")
		return
	}
	q := c.b.code(body.Secret)
	if q == nil || q.user == "" {
		c.fail(http.StatusUnauthorized, "Quick connect request is not authorized")
		return
	}
	u, err := c.b.s.User(q.user)
	if err != nil || u.Disabled {
		c.fail(http.StatusUnauthorized, "Invalid user.")
		return
	}
	c.b.mu.Lock()
	delete(c.b.codes, body.Secret)
	c.b.mu.Unlock()
	c.letIn(u, q.client)
}

func (b *browser) confirm(code string, user User) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var waiting []string
	for _, q := range b.codes {
		if q.code == code {
			q.user = user.ID
			return nil
		}
		if q.user == "" {
			waiting = append(waiting, q.code)
		}
	}
	if len(waiting) == 0 {
		return errors.New("no sign-in waits for a code")
	}
	slices.Sort(waiting)
	return fmt.Errorf("no sign-in with the code %q: the codes are %s", code, some(waiting))
}

// ForgetCodes is what a restart of the server does: sign-ins that wait for a code are gone.
func (s *Server) ForgetCodes() {
	if b, ok := s.front.(*browser); ok {
		b.mu.Lock()
		defer b.mu.Unlock()
		clear(b.codes)
	}
}
