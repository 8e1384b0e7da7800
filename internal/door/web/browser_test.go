package web_test

import (
	"os"
	"testing"

	"github.com/chromedp/cdproto/network"

	"watchmark/internal/door/auth"
	"watchmark/internal/testkit/browsertest"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Main(m)) }

// signIn gives the browser a session.
func (g *rig) signIn() browsertest.Step {
	return browsertest.Send(network.SetCookie, network.SetCookieParams{Name: auth.CookieName, Value: sessionValue, URL: g.server.URL})
}

// speak makes the browser ask for a language.
func speak(lang string) browsertest.Step {
	return browsertest.Send(network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": lang}})
}
