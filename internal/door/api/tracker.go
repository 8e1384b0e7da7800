package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/door/auth"
	"watchmark/internal/door/problem"
	"watchmark/internal/platform/reason"
	"watchmark/internal/source/tracker"
)

const trackerCallbackPath = "/api/tracker/oauth/callback"

// Tracker is the watch tracker: signing in there, and reading what was watched.
type Tracker struct{ Service *tracker.Service }

func (t Tracker) register(s *server) {
	const tag = "Tracker"
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/tracker/status", OperationID: "get-tracker-status", Tags: []string{tag},
		Summary: "Get who is connected to Trakt",
	}, func(ctx context.Context, _ *none) (*JSON[tracker.Status], error) {
		return answer(t.Service.Status(ctx))
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/tracker/email-login/start", OperationID: "start-tracker-email-login", Tags: []string{tag},
		Summary: "Sign in at Trakt by e-mail",
		Description: "Trakt mails a code of six digits, which is good for five minutes; a new mail voids the one before. Asking again within a minute is refused with 429 and retry_after, " +
			"whoever asks, for whatever address, and however the sign-in before ended; a restart changes nothing about that. A mail that was not sent starts no wait. " +
			"Sign-ins of different callers and addresses are kept apart. A restart forgets them.",
		Errors: []int{http.StatusConflict, http.StatusTooManyRequests, http.StatusBadGateway},
	}, t.startTrackerLogin)
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/tracker/email-login/complete", OperationID: "complete-tracker-email-login", Tags: []string{tag},
		Summary: "Enter the code of the mail",
		Description: "A wrong code is answered 401 and may be tried again; the sixth (MAX_OTP_ATTEMPTS is 5) ends the sign-in, as an expired code does: 401 with retry_after, the seconds until a new code can be requested. " +
			"Without a sign-in that waits the answer is 409. What is not six digits, and a failure of the network, count as no try. After a right code the sign-in is used up, however it ended.",
		Errors: []int{http.StatusConflict, http.StatusBadGateway},
	}, t.completeTrackerLogin)
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/tracker/oauth/start", OperationID: "start-tracker-oauth", Tags: []string{tag},
		Summary:     "Sign in at Trakt by browser",
		Description: "Needs an application of your own, which has the callback below as its redirect address. Answers the address where the person agrees; it is good for ten minutes.",
		Errors:      []int{http.StatusConflict},
	}, func(ctx context.Context, _ *none) (*JSON[oauthAddress], error) {
		address, err := t.Service.StartOAuth(ctx, caller(ctx), s.PublicURL(ctx)+trackerCallbackPath)
		return answer(oauthAddress{address}, err)
	})
	registerOther(s, huma.Operation{
		Method: http.MethodGet, Path: trackerCallbackPath, OperationID: "finish-tracker-oauth", Tags: []string{tag},
		Summary: "The way back from Trakt",
		Description: "Browsers come here from Trakt and are sent on to Trakt page, with tracker_connected=ID, or with tracker_error=" +
			"denied, state (too late, or begun elsewhere), not_configured, refused, unreachable or internal.",
		DefaultStatus: http.StatusSeeOther,
	}, func(ctx context.Context, in *struct {
		Code  string `query:"code" maxLength:"2000" doc:"The code to be exchanged for tokens."`
		State string `query:"state" maxLength:"200" doc:"What start gave Trakt to bring back."`
		Error string `query:"error" maxLength:"200" doc:"Set when the person did not agree."`
	}) (*redirect, error) {
		if in.Error != "" {
			return s.toPage("/sources/tracker", "tracker_error", "denied"), nil
		}
		u, err := t.Service.FinishOAuth(ctx, caller(ctx), in.State, in.Code)
		if err == nil {
			return s.toPage("/sources/tracker", "tracker_connected", strconv.FormatInt(u.ID, 10)), nil
		}
		reason := trackerReason(err)
		s.logWayBack(ctx, trackerCallbackPath, "a tracker user could not be connected", reason, err)
		return s.toPage("/sources/tracker", "tracker_error", reason), nil
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/tracker/device/start", OperationID: "start-tracker-device", Tags: []string{tag},
		Summary:     "Sign in at Trakt by device code",
		Description: "Needs an application of your own. Show the code and the address; the task waits until the person typed it in there.",
		Errors:      []int{http.StatusConflict, http.StatusBadGateway},
	}, func(ctx context.Context, _ *none) (*JSON[tracker.Device], error) {
		return answer(t.Service.StartDevice(ctx))
	})
	register(s, huma.Operation{
		Method: http.MethodDelete, Path: "/api/tracker/credential", OperationID: "disconnect-tracker", Tags: []string{tag},
		Summary:     "Disconnect from Trakt",
		Description: "Revokes the sign-in at Trakt and forgets it. What was taken in stays known, so that nothing is doubled after signing in again.",
		Errors:      []int{http.StatusNotFound, http.StatusConflict},
	}, t.disconnectTracker)
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/tracker/sync/status", OperationID: "get-tracker-sync-status", Tags: []string{tag},
		Summary: "Get how reading the history stands",
	}, func(ctx context.Context, _ *none) (*JSON[tracker.SyncStatus], error) {
		return answer(t.Service.SyncStatus(ctx))
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/tracker/sync/manual", OperationID: "sync-tracker", Tags: []string{tag},
		Summary: "Read the history now",
		Description: "Starts a task. Without more it takes in what is new since the last time; with full_sync all that is no record yet, also what was watched before the connection. " +
			"With preview nothing is taken in: the result of the task lists what a full sync would mark.",
		DefaultStatus: http.StatusAccepted, Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, t.syncTracker)
}

// caller tells apart who signs in at the tracker.
func caller(ctx context.Context) string {
	who, _ := auth.IdentityOf(ctx) // the door let nobody else through
	return string(who.Kind) + "/" + who.Name
}

type trackerMail struct {
	Email string `json:"email" maxLength:"254" doc:"The address of Trakt account." example:"mira@home.example"`
}

// trackerMailSent says that a mail is on its way.
type trackerMailSent struct {
	ExpiresIn  int `json:"expires_in" doc:"Seconds for which the code is good." example:"300"`
	RetryAfter int `json:"retry_after" doc:"Seconds until another mail may be asked for." example:"60"`
}

func (t Tracker) startTrackerLogin(ctx context.Context, in *JSON[trackerMail]) (*JSON[trackerMailSent], error) {
	life, err := t.Service.StartLogin(ctx, caller(ctx), in.Body.Email)
	return answer(trackerMailSent{seconds(life), seconds(tracker.MailCooldown)}, err)
}

type trackerCode struct {
	Email string    `json:"email,omitempty" maxLength:"254" doc:"The address of the sign-in; left out it is the newest one of the caller."`
	OTP   digitCode `json:"otp" writeOnly:"true" doc:"The code of the mail, six digits, as text or as a number." example:"\"123456\""`
}

func (t Tracker) completeTrackerLogin(ctx context.Context, in *JSON[trackerCode]) (*JSON[tracker.User], error) {
	return answer(t.Service.CompleteLogin(ctx, caller(ctx), in.Body.Email, in.Body.OTP.Reveal()))
}

// trackerReason is the word for what went wrong on the way back.
func trackerReason(err error) string {
	var refused *tracker.Error
	switch {
	case errors.Is(err, tracker.ErrState):
		return "state"
	case errors.Is(err, tracker.ErrNoApp):
		return "not_configured"
	case errors.Is(err, tracker.ErrUnreachable), errors.Is(err, tracker.ErrBusy):
		return "unreachable"
	case errors.As(err, &refused):
		return "refused"
	}
	return unforeseen
}

// trackerDisconnected says how disconnecting came out.
type trackerDisconnected struct {
	Revoked bool `json:"revoked" doc:"Whether Trakt agreed. If not, end the sign-in on its website too."`
}

func (t Tracker) disconnectTracker(ctx context.Context, in *struct {
	UserID int64 `query:"user_id" minimum:"0" doc:"Who; left out it is the only one."`
}) (*JSON[trackerDisconnected], error) {
	revoked, err := t.Service.Disconnect(ctx, in.UserID)
	return answer(trackerDisconnected{revoked}, err)
}

// looseBool is yes or no however it is written: true, 1, "yes", "on".
type looseBool bool

func parseLooseBool(text string) (looseBool, error) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "1", "yes", "y", "on", "t":
		return true, nil
	case "false", "0", "no", "n", "off", "f", "", "null":
		return false, nil
	}
	return false, notYesOrNo
}

// UnmarshalJSON takes booleans, numbers and texts.
func (b *looseBool) UnmarshalJSON(text []byte) (err error) {
	var plain string
	if json.Unmarshal(text, &plain) != nil {
		plain = string(text)
	}
	*b, err = parseLooseBool(plain)
	return err
}

// Schema describes it.
func (looseBool) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{{Type: huma.TypeBoolean}, {Type: huma.TypeInteger}, {Type: huma.TypeString}}}
}

// trackerUser names a tracker user by id or by name; empty is nobody in particular.
type trackerUser string

// UnmarshalJSON takes numbers and texts.
func (u *trackerUser) UnmarshalJSON(text []byte) error {
	var id int64
	if json.Unmarshal(text, &id) == nil {
		if *u = ""; id != 0 {
			*u = trackerUser(strconv.FormatInt(id, 10))
		}
		return nil
	}
	return json.Unmarshal(text, (*string)(u))
}

// Schema describes it.
func (trackerUser) Schema(huma.Registry) *huma.Schema {
	longest := 200
	return &huma.Schema{OneOf: []*huma.Schema{{Type: huma.TypeInteger}, {Type: huma.TypeString, MaxLength: &longest}}}
}

// userID is the id of a tracker user; 0 for nobody in particular. It returns tracker.ErrNotFound.
func (t Tracker) userID(ctx context.Context, u trackerUser) (int64, error) {
	if u == "" {
		return 0, nil
	}
	status, err := t.Service.Status(ctx)
	if err != nil {
		return 0, err
	}
	for _, user := range status.Users {
		if user.Name == string(u) || strconv.FormatInt(user.ID, 10) == string(u) {
			return user.ID, nil
		}
	}
	return 0, tracker.ErrNotFound
}

type trackerSync struct {
	FullSync looseBool   `json:"full_sync,omitempty" doc:"Take in all of the history; true, 1, yes and on mean yes."`
	Preview  looseBool   `json:"preview,omitempty" doc:"Take in nothing, list what a full sync would mark."`
	UserID   trackerUser `json:"user_id,omitempty" doc:"Whose history, by id or by name; left out it is everybody's."`
}

func (t Tracker) syncTracker(ctx context.Context, in *struct {
	FullSync string `query:"full_sync" maxLength:"20" doc:"As in the body."`
	Preview  string `query:"preview" maxLength:"20" doc:"As in the body."`
	Body     *trackerSync
}) (*JSON[startedTask], error) {
	full, err := parseLooseBool(in.FullSync)
	if err != nil {
		return nil, fieldProblem("query.full_sync", err)
	}
	preview, err := parseLooseBool(in.Preview)
	if err != nil {
		return nil, fieldProblem("query.preview", err)
	}
	var userID int64
	if in.Body != nil {
		full, preview = full || in.Body.FullSync, preview || in.Body.Preview
		if userID, err = t.userID(ctx, in.Body.UserID); err != nil {
			return nil, err
		}
	}
	if preview {
		return started(t.Service.PreviewSync(ctx, userID))
	}
	return started(t.Service.Sync(ctx, userID, bool(full)))
}

// trackerProblem is the Problem for what the tracker or its sign-in has against a request; nil
// for other errors.
func trackerProblem(err error) *problem.Document {
	var soon *tracker.CooldownError
	var wrong *tracker.WrongCodeError
	var over *tracker.OverError
	var said *tracker.Error
	switch {
	case errors.As(err, &soon):
		p := problem.With(http.StatusTooManyRequests, reason.Of(soon))
		if !soon.Waiting {
			p.Errors = []problem.Field{problem.At("body.email", soon)}
		}
		return p.After(seconds(soon.RetryAfter))
	case errors.As(err, &wrong):
		return codeProblem(wrong)
	case errors.As(err, &over):
		return codeProblem(over).After(seconds(over.RetryAfter))
	case errors.As(err, &said):
		p := problem.With(http.StatusBadGateway, reason.Of(said))
		if said.RetryAfter > 0 {
			p.RetryAfter = seconds(said.RetryAfter)
		}
		return p
	}
	return nil
}

// codeProblem is the Problem for a code of the mail that was not taken.
func codeProblem(err error) *problem.Document {
	p := problem.With(http.StatusUnauthorized, reason.Of(err))
	p.Errors = []problem.Field{problem.At("body.otp", err)}
	return p
}
