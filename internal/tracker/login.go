package tracker

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
)

const (
	// MaxOTPAttempts is how many wrong codes a sign-in bears; one more voids it.
	MaxOTPAttempts = 5
	// MailCooldown is how long the next mail of the same sign-in has to wait.
	MailCooldown = 60 * time.Second
	// loginLife is that of the code in a mail, from before it was sent.
	loginLife = 5 * time.Minute
	// loginsMost bounds how many sign-ins may wait.
	loginsMost = 100
)

var (
	// mailForm is what the sign-in page checks before it sends (upstreams/tracker.md section 8).
	mailForm = regexp.MustCompile(`^[^\s@]+@[^\s@]+\.[^\s@]+$`)
	otpForm  = regexp.MustCompile(`^[0-9]{6}$`)
)

// CooldownError refuses a mail that comes too soon after the last one.
type CooldownError struct{ RetryAfter time.Duration }

// Error says how long to wait.
func (e *CooldownError) Error() string {
	return fmt.Sprintf("a mail was asked for just now: use its code, or ask again in %d seconds", int((e.RetryAfter+time.Second-1)/time.Second))
}

// WrongCodeError is ErrWrongCode with how many more wrong codes the sign-in bears.
type WrongCodeError struct{ Left int }

// Error says how many tries are left.
func (e *WrongCodeError) Error() string {
	return fmt.Sprintf("%v: %d more of MAX_OTP_ATTEMPTS (%d) may be wrong", ErrWrongCode, e.Left, MaxOTPAttempts)
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

// logins are the sign-ins that wait. They live in memory only.
type logins struct {
	mu      sync.Mutex
	waiting map[loginKey]*login
}

// add makes room for a sign-in before its mail is sent, and gives the one it replaces, if any.
// Old ones go.
func (l *logins) add(key loginKey, fresh *login) (old *login, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for other, one := range l.waiting {
		if time.Since(one.begun) >= loginLife {
			delete(l.waiting, other)
		}
	}
	if old = l.waiting[key]; old != nil {
		if wait := MailCooldown - time.Since(old.begun); wait > 0 {
			return nil, &CooldownError{wait}
		}
	} else if len(l.waiting) >= loginsMost {
		return nil, ErrLoginsFull
	}
	l.waiting[key] = fresh
	return old, nil
}

// drop forgets a sign-in, if it is still the one that waits, for instead; nil is none.
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
	if found == nil || time.Since(found.begun) >= loginLife {
		return key, nil
	}
	return key, found
}

// StartLogin has the tracker mail a code to email, for the caller, who is whoever is signed
// in at this service. It returns how long the code is good. Errors: ErrNoClient, *FieldError,
// *CooldownError, ErrLoginsFull, *Error; after an error the sign-in from before waits on, if there is one.
func (k *Keeper) StartLogin(ctx context.Context, caller, email string) (time.Duration, error) {
	o := k.Options()
	if o.ClientID == "" {
		return 0, ErrNoClient
	}
	email = normalMail(email)
	if !mailForm.MatchString(email) || len(email) > 254 {
		return 0, &FieldError{"email", "is not an e-mail address"}
	}
	key, one := loginKey{caller, email}, &login{proof: newProof(), begun: time.Now(), o: o}
	old, err := k.logins.add(key, one)
	if err != nil {
		return 0, err
	}
	// A caller who goes away still gets the mail, and may come back with its code.
	if err := k.askMail(context.WithoutCancel(ctx), o, email); err != nil {
		k.logins.drop(key, one, old)
		return 0, err
	}
	return loginLife - time.Since(one.begun), nil
}

func normalMail(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

// CompleteLogin ends the sign-in of the caller for email with the code of the mail and
// stores the credential; an empty email is the caller's newest sign-in. A code that is not
// six digits is a *FieldError and does not count, nor does a failure of the network. Other
// errors: ErrNoLogin, *WrongCodeError, ErrTooManyCodes after more than MaxOTPAttempts, and,
// with a code that was right, ErrState and *Error; then too a new mail is needed.
func (k *Keeper) CompleteLogin(ctx context.Context, caller, email, otp string) (User, error) {
	if !otpForm.MatchString(otp) {
		return User{}, &FieldError{"otp", "is not a code of six digits"}
	}
	key, one := k.logins.find(loginKey{caller, normalMail(email)})
	if one == nil {
		return User{}, ErrNoLogin
	}
	ctx = context.WithoutCancel(ctx) // a caller who goes away must not have the code used up for nothing
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.voided || time.Since(one.begun) >= loginLife {
		return User{}, ErrNoLogin
	}
	cookie, err := k.submitCode(ctx, one.o, key.email, otp)
	if errors.Is(err, ErrWrongCode) {
		if one.wrong++; one.wrong <= MaxOTPAttempts {
			return User{}, &WrongCodeError{MaxOTPAttempts - one.wrong}
		}
		err = ErrTooManyCodes
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
		return User{}, &Error{Op: "sign in at the tracker", Kind: ErrRefused, Detail: "the tracker took the code and opened no session: ask for a new mail"}
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
