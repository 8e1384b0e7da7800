package mediaservertest

import (
	"net/http"
	"os"
	"testing"

	"github.com/chromedp/chromedp"

	"watchmark/internal/testkit/browsertest"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Main(m)) }

func TestPlexPage(t *testing.T) {
	tab := browsertest.Start(t)
	rig := newPlexRig(t, nil)
	_, pin := rig.ask(http.MethodPost, "/api/v2/pins?strong=true", "")
	address := rig.s.URL + "/auth#?clientID=client-1&code=" + pin["code"].(string) + "&context%5Bdevice%5D%5Bproduct%5D=Watchmark"
	browsertest.Run(t, tab, chromedp.Navigate(address), browsertest.Until(browsertest.Says("#what", "Watchmark asks")),
		browsertest.Type("#name", "mira"), browsertest.Type("#password", "wrong"), browsertest.Click("#allow"), browsertest.Until(browsertest.Says("#answer", "wrong name or password")),
		browsertest.Type("#password", "pw"), browsertest.Click("#allow"), browsertest.Until(browsertest.Says("#answer", "You are signed in")))
	if _, pin = rig.ask(http.MethodGet, "/api/v2/pins/"+jsonText(pin["id"]), ""); pin["authToken"] == nil {
		t.Error("the person signed in, and the PIN has no token")
	}
}
