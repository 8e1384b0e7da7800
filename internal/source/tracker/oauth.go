package tracker

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/task"
)

// DeviceTask is the kind of the tasks that wait for a device code to be approved.
const DeviceTask = "tracker_device"

// deviceRedirect is what applications without an address give with a refresh (upstreams/tracker.md section 6).
const deviceRedirect = "urn:ietf:wg:oauth:2.0:oob"

const (
	// stateLife is how long a person may take to approve in the browser.
	stateLife = 10 * time.Minute
	// statesMost bounds how many browsers may be waited for.
	statesMost = 100
	// deviceLife and deviceEvery are for a tracker that does not say how long a device code is good
	// and how often to ask, in seconds.
	deviceLife, deviceEvery = 600, 5
	// deviceLongest bounds a wait for a device code, whatever the tracker says.
	deviceLongest = 30 * time.Minute
	// deviceSlowest bounds the time between two questions.
	deviceSlowest = time.Minute
	// devicesMost bounds how many device codes may be waited for: each is asked about all the time.
	devicesMost = 5
)

// appLogin is a sign-in with an application that a browser was sent away for.
type appLogin struct{ Caller, ClientID, RedirectURI string }

// app is the application of the settings, or ErrNoApp.
func (k *Service) app() (Options, error) {
	o := k.Options()
	if o.AppClientID == "" || o.AppClientSecret == "" {
		return o, ErrNoApp
	}
	return o, nil
}

// StartOAuth is the address where a person allows the application of the settings to read
// their history, and which leads back to redirectURI. It returns ErrNoApp.
func (k *Service) StartOAuth(ctx context.Context, caller, redirectURI string) (string, error) {
	o, err := k.app()
	if err != nil {
		return "", err
	}
	state, err := k.states.Give(ctx, appLogin{caller, o.AppClientID, redirectURI})
	if err != nil {
		return "", err
	}
	return o.AuthURL + "/oauth/authorize?" + url.Values{
		"response_type": {"code"}, "client_id": {o.AppClientID}, "redirect_uri": {redirectURI}, "state": {state},
	}.Encode(), nil
}

// FinishOAuth takes what a browser brought back and stores the credential. It returns
// ErrState for a state that this caller was not given or that is too old, ErrNoApp, or *Error.
func (k *Service) FinishOAuth(ctx context.Context, caller, state, code string) (User, error) {
	l, found, err := k.states.Take(ctx, state, func(l appLogin) bool { return l.Caller == caller })
	if err != nil {
		return User{}, err
	}
	if !found {
		return User{}, ErrState
	}
	o, err := k.app()
	if err != nil {
		return User{}, err
	}
	c, err := k.trade(ctx, opTradeCode, o.AuthURL+"/oauth/token", map[string]string{
		"grant_type": "authorization_code", "code": code, "client_id": l.ClientID, "client_secret": o.AppClientSecret.Reveal(), "redirect_uri": l.RedirectURI,
	})
	if err != nil {
		return User{}, err
	}
	return k.connect(ctx, ByCode, l.ClientID, l.RedirectURI, c)
}

// Device is a sign-in that waits for a person to type a code in at the tracker.
type Device struct {
	UserCode        string    `json:"user_code" doc:"What to type in there."`
	VerificationURL string    `json:"verification_url" doc:"Where to type it in."`
	ExpiresAt       time.Time `json:"expires_at"`
	TaskID          int64     `json:"task_id" doc:"The task that waits for it: done when the person agreed."`
}

// StartDevice asks for a code that a person types in at the tracker, and starts the task that
// waits for that (upstreams/tracker.md section 6). It returns ErrNoApp, ErrLoginsFull, *Error, or
// task.ErrStopping.
func (k *Service) StartDevice(ctx context.Context) (Device, error) {
	o, err := k.app()
	if err != nil {
		return Device{}, err
	}
	waiting := 0
	running, err := k.Tasks.Running(ctx)
	if err != nil {
		return Device{}, err
	}
	for _, t := range running {
		if t.Kind == DeviceTask {
			waiting++
		}
	}
	if waiting >= devicesMost {
		return Device{}, ErrLoginsFull
	}
	resp, err := k.postJSON(ctx, opAskDeviceCode, o.AuthURL+"/oauth/device/code", map[string]string{"client_id": o.AppClientID})
	if err != nil {
		return Device{}, err
	}
	if resp.Status != http.StatusOK {
		return Device{}, tokenRefusal(opAskDeviceCode, resp)
	}
	var said struct {
		DeviceCode      secret.Text `json:"device_code"`
		UserCode        string      `json:"user_code"`
		VerificationURL string      `json:"verification_url"`
		ExpiresIn       number      `json:"expires_in"`
		Interval        number      `json:"interval"`
	}
	if resp.JSON(&said, mostValues) != nil || said.DeviceCode == "" || said.UserCode == "" || said.VerificationURL == "" {
		return Device{}, &Error{Op: opAskDeviceCode, Kind: ErrUnreachable, Status: resp.Status, Detail: noCode.With()}
	}
	k.Masker.Add(said.DeviceCode.Reveal())
	life := min(time.Duration(cmp.Or(said.ExpiresIn, deviceLife))*time.Second, deviceLongest)
	every := min(time.Duration(cmp.Or(said.Interval, deviceEvery))*time.Second, deviceSlowest)
	d := Device{UserCode: said.UserCode, VerificationURL: said.VerificationURL, ExpiresAt: time.Now().Add(life).UTC()}
	t, err := k.Tasks.Start(ctx, task.Spec{Kind: DeviceTask}, func(ctx context.Context, t *task.Task) error {
		bounded, cancel := context.WithTimeout(ctx, life)
		defer cancel()
		t.Progress(0, 1, waitingForCode.With())
		u, err := k.awaitDevice(bounded, o, said.DeviceCode, every)
		if errors.Is(err, context.DeadlineExceeded) {
			return errCodeEnded
		}
		if err != nil {
			return err
		}
		t.Progress(1, 1, signedIn.With(u.Name))
		t.SetResult(u)
		return nil
	})
	if err != nil {
		return Device{}, err
	}
	d.TaskID = t.Status().ID
	return d, nil
}

// awaitDevice asks every so often whether the code was approved. What fails in passing is asked again.
func (k *Service) awaitDevice(ctx context.Context, o Options, code secret.Text, every time.Duration) (User, error) {
	address := o.AuthURL + "/oauth/device/token"
	body := map[string]string{"code": code.Reveal(), "client_id": o.AppClientID, "client_secret": o.AppClientSecret.Reveal()}
	for {
		select {
		case <-ctx.Done():
			return User{}, ctx.Err()
		case <-time.After(every):
		}
		c, err := k.trade(ctx, opAwaitApproval, address, body)
		if err == nil {
			return k.connect(ctx, ByDevice, o.AppClientID, deviceRedirect, c)
		}
		var said *Error
		if !errors.As(err, &said) {
			return User{}, err
		}
		switch said.Status {
		case http.StatusBadRequest: // not approved yet
		case http.StatusTooManyRequests:
			every = min(every*2, deviceSlowest)
		case http.StatusTeapot:
			return User{}, errDenied
		case http.StatusGone:
			return User{}, errCodeEnded
		case http.StatusNotFound, http.StatusConflict:
			return User{}, errCodeUsed
		default:
			if !passing(err) {
				return User{}, err
			}
			k.Log.DebugContext(ctx, "Trakt does not tell about a device code", "error", err)
		}
	}
}
