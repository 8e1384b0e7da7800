package tracker

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
)

const (
	// MaxOTPAttempts is how many wrong codes a sign-in bears; one more voids it.
	MaxOTPAttempts = 5
	// MailCooldown is how long the next mail has to wait, whoever asks, for whatever address, and however the
	// sign-in before it ended.
	MailCooldown = 60 * time.Second
	// loginLife is that of the code in a mail, from before it was sent; loginKept how long it can be told that it is over.
	loginLife = 5 * time.Minute
	loginKept = time.Hour
	// loginsMost bounds how many sign-ins may wait; there is a mail a minute.
	loginsMost = 100
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

// login is one sign-in that waits for its code. Its ticket has the state as its name.
type login struct {
	Caller, Email   string // sign-ins of different callers and addresses are kept apart
	Verifier, State string // of its proof
	Begun           time.Time
	// AuthURL, ClientID and RedirectURI are those of the settings: it ends where it began, whatever they became.
	AuthURL, ClientID, RedirectURI string
}

func (l login) proof() proof { return proof{secret.Text(l.Verifier), l.State} }

// of is o with what the sign-in began with.
func (l login) of(o Options) Options {
	o.AuthURL, o.ClientID, o.RedirectURI = l.AuthURL, l.ClientID, l.RedirectURI
	return o
}

// expired reports whether the code is over at a time of the database's clock.
func (l login) expired(now time.Time) bool { return now.Sub(l.Begun) >= loginLife }

// waiting are the sign-ins of a caller for an address, the newest first; without an address all of the caller.
func (k *Service) waiting(ctx context.Context, caller, email string) ([]login, error) {
	all, err := k.logins.All(ctx)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(l login) bool { return l.Caller != caller || email != "" && l.Email != email })
	slices.SortFunc(all, func(a, b login) int { return b.Begun.Compare(a.Begun) })
	return all, nil
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
	ctx = context.WithoutCancel(ctx) // a caller who goes away still gets the mail, and may come back with its code
	now, err := k.DB.Now(ctx)
	if err != nil {
		return 0, err
	}
	at, wait, err := k.store.claimMail(ctx)
	if err != nil {
		return 0, err
	}
	before, err := k.waiting(ctx, caller, email)
	if err != nil {
		return 0, err
	}
	if wait > 0 {
		return 0, &CooldownError{wait, len(before) > 0 && !before[0].expired(now)}
	}
	p := newProof()
	one := login{
		Caller: caller, Email: email, Verifier: p.verifier.Reveal(), State: p.state, Begun: now,
		AuthURL: o.AuthURL, ClientID: o.ClientID, RedirectURI: o.RedirectURI,
	}
	if err := k.logins.Put(ctx, one.State, one); err != nil {
		return 0, errors.Join(err, k.store.freeMail(ctx, at))
	}
	if err := k.askMail(ctx, o, email); err != nil {
		return 0, errors.Join(err, k.logins.Drop(ctx, one.State), k.store.freeMail(ctx, at))
	}
	for _, old := range before {
		if err := k.logins.Drop(ctx, old.State); err != nil {
			return 0, err
		}
	}
	if now, err = k.DB.Now(ctx); err != nil {
		return 0, err
	}
	return loginLife - now.Sub(one.Begun), nil
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
	ctx = context.WithoutCancel(ctx) // a caller who goes away must not have the code used up for nothing
	all, err := k.waiting(ctx, caller, normalMail(email))
	if err != nil {
		return User{}, err
	}
	if len(all) == 0 {
		return User{}, ErrNoLogin
	}
	one := all[0]
	now, err := k.DB.Now(ctx)
	if err != nil {
		return User{}, err
	}
	if one.expired(now) {
		return User{}, k.over(ctx, ErrCodeExpired)
	}
	// Counted before it is sent, so that tries at the same time count one by one, at whatever replica.
	tries, found, err := k.logins.Try(ctx, one.State, MaxOTPAttempts+1)
	if err != nil {
		return User{}, err
	}
	if !found {
		return User{}, ErrNoLogin
	}
	o := one.of(k.Options())
	cookie, err := k.submitCode(ctx, o, one.Email, otp)
	if errors.Is(err, ErrWrongCode) {
		if tries <= MaxOTPAttempts {
			return User{}, &WrongCodeError{MaxOTPAttempts - tries}
		}
		err = k.over(ctx, ErrTooManyCodes)
	} else if err != nil {
		return User{}, errors.Join(err, k.logins.Withdraw(ctx, one.State))
	}
	// The code is used up, or was guessed at too often.
	if err := errors.Join(err, k.logins.Drop(ctx, one.State)); err != nil {
		return User{}, err
	}
	if cookie == "" {
		return User{}, &Error{Op: opSignIn, Kind: ErrRefused, Detail: noSession.With()}
	}
	code, err := k.authorize(ctx, o, cookie, one.proof())
	if err != nil {
		return User{}, err
	}
	c, err := k.tradeCode(ctx, o, code, one.proof())
	if err != nil {
		return User{}, err
	}
	return k.connect(ctx, ByMail, o.ClientID, o.RedirectURI, c)
}

// over is the error of a sign-in that ended by its code.
func (k *Service) over(ctx context.Context, reason error) error {
	_, wait, err := mailWait(ctx, k.store.db.Read())
	if err != nil {
		k.Log.ErrorContext(ctx, "cannot tell when a new mail may be asked for", "error", err)
	}
	return &OverError{reason, max(wait, time.Second)}
}
