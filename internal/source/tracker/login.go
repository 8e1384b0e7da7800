package tracker

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync"
	"time"

	"watchmark/internal/platform/reason"
)

const (
	// MaxOTPAttempts is how many wrong codes a sign-in bears; one more voids it.
	MaxOTPAttempts = 5
	// MailCooldown is how long the next mail has to wait, whoever asks, for whatever address, and however the
	// sign-in before it ended.
	MailCooldown = 60 * time.Second
	// loginLife is that of the code in a mail, from before it was sent.
	loginLife = 5 * time.Minute
)

var (
	// mailForm is what the sign-in page checks before it sends (upstreams/tracker.md section 8).
	mailForm = regexp.MustCompile(`^[^\s@]+@[^\s@]+\.[^\s@]+$`)
	otpForm  = regexp.MustCompile(`^[0-9]{6}$`)
)

// CooldownError refuses a mail that comes too soon after the last one.
type CooldownError struct {
	RetryAfter time.Duration
	// Waiting is set when that mail was the caller's for the same address, and its code is still waited for.
	Waiting bool
}

// Error is the reason in English.
func (e *CooldownError) Error() string { return e.Reason().Text }

// Reason says how long to wait.
func (e *CooldownError) Reason() reason.Reason {
	wait := int((e.RetryAfter + time.Second - 1) / time.Second)
	if e.Waiting {
		return mailWaits.With(wait)
	}
	return mailTooSoon.With(wait)
}

// OverError ends a sign-in by its code: ErrTooManyCodes or ErrCodeExpired.
type OverError struct {
	Reason error
	// RetryAfter is when a new mail may be asked for, at least a second.
	RetryAfter time.Duration
}

// Error is the reason.
func (e *OverError) Error() string { return e.Reason.Error() }

// Unwrap gives the reason.
func (e *OverError) Unwrap() error { return e.Reason }

// WrongCodeError is ErrWrongCode with how many more wrong codes the sign-in bears.
type WrongCodeError struct{ Left int }

// Error is the reason in English.
func (e *WrongCodeError) Error() string { return e.Reason().Text }

// Reason says how many tries are left.
func (e *WrongCodeError) Reason() reason.Reason {
	return wrongCodeLeft.With(ErrWrongCode, e.Left, MaxOTPAttempts)
}

// Is makes it ErrWrongCode.
func (e *WrongCodeError) Is(target error) bool { return target == ErrWrongCode }

// loginKey keeps the sign-ins of different callers and addresses apart.
type loginKey struct{ caller, email string }

// login is one sign-in that waits for its code.
type login struct {
	proof
	begun time.Time
	o     Options // it ends where it began, whatever the settings became

	// mu is held while a code is tried, so that tries at the same time count one by one.
	mu     sync.Mutex
	wrong  int
	voided bool
}

func (l *login) expired() bool { return time.Since(l.begun) >= loginLife }

// logins are the sign-ins that wait. They live in memory only.
type logins struct {
	mu      sync.Mutex
	waiting map[loginKey]*login
}

// add puts a sign-in in the place of the caller's last one for the address, and returns that, if any. Those whose
// code has expired go.
func (l *logins) add(key loginKey, fresh *login) (old *login) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for other, one := range l.waiting {
		if one.expired() {
			delete(l.waiting, other)
		}
	}
	old = l.waiting[key]
	l.waiting[key] = fresh
	return old
}

// drop removes the pending sign-in gone and, when instead is not nil, puts that in its place. It does nothing if
// another one is pending by now.
func (l *logins) drop(key loginKey, gone, instead *login) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.waiting[key] != gone:
	case instead == nil:
		delete(l.waiting, key)
	default:
		l.waiting[key] = instead
	}
}

// find is the sign-in of a caller for an address; without an address the newest of the caller.
func (l *logins) find(key loginKey) (loginKey, *login) {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := l.waiting[key]
	if key.email == "" {
		for other, one := range l.waiting {
			if other.caller == key.caller && (found == nil || one.begun.After(found.begun)) {
				key, found = other, one
			}
		}
	}
	return key, found
}

// StartLogin has the tracker mail a code to email, for the caller, who is whoever is signed
// in at this service. It returns how long the code is good. Errors: ErrNoClient, *reason.FieldError,
// *CooldownError, *Error; after an error the sign-in from before waits on, if there is one, and a mail that was
// not sent starts no cooldown.
func (k *Service) StartLogin(ctx context.Context, caller, email string) (time.Duration, error) {
	o := k.Options()
	if o.ClientID == "" {
		return 0, ErrNoClient
	}
	email = normalMail(email)
	if !mailForm.MatchString(email) || len(email) > 254 {
		return 0, reason.At("email", notMail.With())
	}
	key := loginKey{caller, email}
	at, wait, err := k.store.claimMail(ctx)
	if err != nil {
		return 0, err
	}
	if wait > 0 {
		_, one := k.logins.find(key)
		return 0, &CooldownError{wait, one != nil && !one.expired()}
	}
	one := &login{proof: newProof(), begun: time.Now(), o: o}
	old := k.logins.add(key, one)
	// A caller who goes away still gets the mail, and may come back with its code.
	ctx = context.WithoutCancel(ctx)
	if err := k.askMail(ctx, o, email); err != nil {
		k.logins.drop(key, one, old)
		return 0, errors.Join(err, k.store.freeMail(ctx, at))
	}
	return loginLife - time.Since(one.begun), nil
}

func normalMail(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

// CompleteLogin ends the sign-in of the caller for email with the code of the mail and
// stores the credential; an empty email is the caller's newest sign-in. A code that is not
// six digits is a *reason.FieldError and does not count, nor does a failure of the network. Other
// errors: ErrNoLogin, *WrongCodeError, *OverError after more than MaxOTPAttempts and for an expired code, and,
// with a code that was right, ErrState and *Error; then too a new mail is needed.
func (k *Service) CompleteLogin(ctx context.Context, caller, email, otp string) (User, error) {
	if !otpForm.MatchString(otp) {
		return User{}, reason.At("otp", notOTP.With())
	}
	key, one := k.logins.find(loginKey{caller, normalMail(email)})
	if one == nil {
		return User{}, ErrNoLogin
	}
	ctx = context.WithoutCancel(ctx) // a caller who goes away must not have the code used up for nothing
	one.mu.Lock()
	defer one.mu.Unlock()
	switch {
	case one.voided:
		return User{}, ErrNoLogin
	case one.expired():
		return User{}, k.over(ctx, ErrCodeExpired)
	}
	cookie, err := k.submitCode(ctx, one.o, key.email, otp)
	if errors.Is(err, ErrWrongCode) {
		if one.wrong++; one.wrong <= MaxOTPAttempts {
			return User{}, &WrongCodeError{MaxOTPAttempts - one.wrong}
		}
		err = k.over(ctx, ErrTooManyCodes)
	} else if err != nil {
		return User{}, err
	}
	// The code is used up, or was guessed at too often.
	one.voided = true
	k.logins.drop(key, one, nil)
	if err != nil {
		return User{}, err
	}
	if cookie == "" {
		return User{}, &Error{Op: opSignIn, Kind: ErrRefused, Detail: noSession.With()}
	}
	code, err := k.authorize(ctx, one.o, cookie, one.proof)
	if err != nil {
		return User{}, err
	}
	c, err := k.tradeCode(ctx, one.o, code, one.proof)
	if err != nil {
		return User{}, err
	}
	return k.connect(ctx, ByMail, one.o.ClientID, one.o.RedirectURI, c)
}

// over is the error of a sign-in that ended by its code.
func (k *Service) over(ctx context.Context, reason error) error {
	wait, err := mailWait(ctx, k.store.db.Read(), time.Now())
	if err != nil {
		k.Log.ErrorContext(ctx, "cannot tell when a new mail may be asked for", "error", err)
	}
	return &OverError{reason, max(wait, time.Second)}
}
