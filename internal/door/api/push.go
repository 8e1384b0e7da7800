package api

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/door/problem"
	"watchmark/internal/engine/review"
	"watchmark/internal/platform/reason"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/notify/channel"
)

// Push is the notifications of browsers: subscribing, and answering from one. The channels that come of it are those of Notifications.
type Push struct {
	Notices *notify.Notifier
	Taps    *review.Taps
}

// subscription is what a browser tells that subscribes, PushSubscription.toJSON(), with a name.
type subscription struct {
	Endpoint       string           `json:"endpoint" maxLength:"2048" doc:"The address of the push service."`
	ExpirationTime *float64         `json:"expirationTime,omitempty" nullable:"true" doc:"Not used: a push service says itself when it is over."`
	Keys           subscriptionKeys `json:"keys"`
	Name           string           `json:"name,omitempty" maxLength:"100" doc:"What people call the device; left out, browser and system."`
}

type subscriptionKeys struct {
	P256dh string `json:"p256dh" maxLength:"200" doc:"The public key of the browser, in base64url." example:"BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"`
	Auth   string `json:"auth" maxLength:"100" doc:"The secret of the browser, in base64url." example:"BTBZMqHH6r4Tts7J_aSIgg"`
}

// subscribed is the channel that a subscription became.
type subscribed struct {
	ID   int64  `json:"id" doc:"The id of the channel, below /api/notification/browsers."`
	Name string `json:"name"`
}

// tapInput is an answer from a notification.
type tapInput struct {
	Token string `json:"token" maxLength:"100" doc:"The token of the button, from the message."`
}

func (p Push) register(s *server) {
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/push/subscriptions", OperationID: "subscribe-browser", Tags: []string{notificationTag},
		Summary:       "Notify a browser",
		Description:   "Adds a channel for the browser that sends its subscription to push messages (Web Push), or renews the one it has. The applicationServerKey to subscribe with stands on the page that adds channels. A browser belongs to whoever subscribed in it last.",
		DefaultStatus: http.StatusCreated, Errors: []int{http.StatusConflict},
	}, func(ctx context.Context, in *struct {
		UserAgent string `header:"User-Agent" hidden:"true"`
		JSON[subscription]
	}) (*JSON[subscribed], error) {
		b := in.Body
		config := channel.BrowserOf(b.Endpoint, b.Keys.P256dh, b.Keys.Auth, s.PublicURL(ctx), languageOf(ctx))
		checked, wrong := config.Check()
		if len(wrong) > 0 {
			fields := make([]problem.Field, len(wrong))
			for i, w := range wrong {
				at := "body." + w.Field
				if w.Field != "endpoint" {
					at = "body.keys." + w.Field
				}
				fields[i] = problem.At(at, w.What)
			}
			return nil, problem.OfFields(fields...)
		}
		name := strings.TrimSpace(b.Name)
		if name == "" {
			name = browserName(in.UserAgent)
		}
		c, err := p.Notices.Subscribe(ctx, name, checked.(channel.Browser)) //nolint:forcetypeassert // Check keeps the type
		var field *reason.FieldError
		if errors.As(err, &field) && strings.HasPrefix(field.Field, "config") {
			return nil, fieldProblem("body.endpoint", field.What)
		}
		return answer(subscribed{c.ID, c.Name}, err)
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/push/answers", OperationID: "answer-notification", Tags: []string{notificationTag},
		Summary:     "Answer from a notification",
		Description: "Does what a button of a notification stands for. The token is the right to it: it is good once, for two days, and only while what the notification showed is still so.",
		Errors:      []int{http.StatusNotFound, http.StatusConflict, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable},
	}, func(ctx context.Context, in *JSON[tapInput]) (*JSON[review.Tapped], error) {
		return answer(p.Taps.Take(ctx, in.Body.Token))
	})
	s.endBrowser = p.Notices.EndBrowser
}

// browserName is what a browser is called by its User-Agent: "Chrome · Android". Versions of others have the words of those before them.
func browserName(agent string) string {
	first := func(names [][2]string, otherwise string) string {
		for _, one := range names {
			if strings.Contains(agent, one[0]) {
				return one[1]
			}
		}
		return otherwise
	}
	browser := first([][2]string{
		{"Edg", "Edge"}, {"OPR/", "Opera"}, {"SamsungBrowser/", "Samsung Internet"}, {"Firefox/", "Firefox"}, {"FxiOS/", "Firefox"},
		{"CriOS/", "Chrome"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}, {"AppleWebKit/", "Safari"},
	}, "")
	system := first([][2]string{
		{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"}, {"Mac OS X", "Mac"}, {"CrOS", "ChromeOS"}, {"Linux", "Linux"},
	}, "")
	switch {
	case browser == "" && system == "":
		return "Browser"
	case browser == "" || system == "":
		return browser + system
	}
	return browser + " · " + system
}
