package mediaserver_test

import (
	"errors"
	"strings"
	"testing"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/secret"
	"watchmark/internal/source/mediaserver"
	"watchmark/internal/testkit/mediaservertest"
)

// A proof by password is a sign-in of its own, which is ended at once and ends no other.
func TestProofByPassword(t *testing.T) {
	for _, cfg := range families[:7] {
		t.Run(string(cfg.Kind)+" "+cfg.Version, func(t *testing.T) {
			s, d := simulate(t, cfg), newDialer(t)
			login, client := signIn(t, d, s)
			login.Server.Account = "not to be sent"
			proof, err := d.Prove(t.Context(), login.Server, " MIRA ", "open sesame")
			if err != nil || proof.UserID != login.Server.UserID || proof.Name != "mira" || !proof.Unique || proof.Server.ID != login.Server.ID || proof.Server.Token != "" {
				t.Fatalf("the proof is %+v, %v", proof, err)
			}
			if ended := strings.Count(strings.Join(s.Requests(), "\n"), "/Sessions/Logout"); ended != 1 {
				t.Errorf("%d sign-ins were ended", ended)
			}
			if _, err := client.Who(t.Context()); err != nil {
				t.Errorf("the login of Sources afterwards: %v", err)
			}
			for name, test := range map[string]struct {
				change         func(*mediaserver.Server)
				user, password string
				want           error
			}{
				"a wrong password":  {nil, "mira", "wrong", mediaserver.ErrWrongPassword},
				"nobody":            {nil, "nobody", "wrong", mediaserver.ErrWrongPassword},
				"an empty password": {nil, "alex", "", mediaserver.ErrWrongPassword},
				"a long one":        {nil, "alex", strings.Repeat("a", 513), mediaserver.ErrWrongPassword},
				"another server":    {func(s *mediaserver.Server) { s.ID = "other" }, "mira", "open sesame", mediaserver.ErrOther},
				"one never asked":   {func(s *mediaserver.Server) { s.ID = "" }, "mira", "open sesame", mediaserver.ErrCannot},
				"another kind":      {func(s *mediaserver.Server) { s.Kind = mediaserver.Plex }, "mira", "open sesame", mediaserver.ErrCannot},
				"nobody there":      {func(s *mediaserver.Server) { s.URL = "http://127.0.0.1:1" }, "mira", "open sesame", nil},
			} {
				t.Run(name, func(t *testing.T) {
					at := login.Server
					if test.change != nil {
						test.change(&at)
					}
					if proof, err := d.Prove(t.Context(), at, test.user, secret.Text(test.password)); err == nil || test.want != nil && !errors.Is(err, test.want) || test.want == nil && errors.Is(err, mediaserver.ErrWrongPassword) {
						t.Errorf("%+v, %v", proof, err)
					}
				})
			}
			if err := s.ChangeUser(login.Server.UserID, func(u *mediaservertest.User) { u.Disabled = true }); err != nil {
				t.Fatal(err)
			}
			if _, err := d.Prove(t.Context(), login.Server, "mira", "open sesame"); !errors.Is(err, mediaserver.ErrUserRefused) {
				t.Errorf("a disabled user: %v", err)
			}
		})
	}
}

// An empty password opens a server where a user has none, and proves nothing.
func TestAnEmptyPasswordProvesNothing(t *testing.T) {
	s := mediaservertest.Start(t, mediaservertest.Config{Kind: mediaservertest.Jellyfin, Users: []mediaservertest.User{{Name: "mira"}}})
	d := newDialer(t)
	login, err := d.SignIn(t.Context(), mediaserver.Server{Kind: mediaserver.Jellyfin, URL: s.URL}, "mira", "")
	if err != nil {
		t.Fatal(err)
	}
	s.ForgetRequests()
	if _, err := d.Prove(t.Context(), login.Server, "mira", ""); !errors.Is(err, mediaserver.ErrWrongPassword) || len(s.Requests()) != 0 {
		t.Errorf("%v after %v", err, s.Requests())
	}
}

// proveAtPlex signs somebody in as the page of Plex does, and asks who it was.
func proveAtPlex(t *testing.T, d *mediaserver.Dialer, tv *mediaservertest.PlexTV, name string, servers ...mediaserver.Server) (mediaserver.Proof, error) {
	t.Helper()
	code, err := d.StartProof(t.Context(), "http://127.0.0.1/back?a=b&c")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(code.Address, "&forwardUrl=http%3A%2F%2F127.0.0.1%2Fback%3Fa%3Db%26c") {
		t.Errorf("the address is %s", code.Address)
	}
	if _, done, err := d.FinishProof(t.Context(), code, servers); done || err != nil {
		t.Errorf("before it was confirmed: %t, %v", done, err)
	}
	if err := tv.Approve(code.Text, name); err != nil {
		t.Fatal(err)
	}
	proof, done, err := d.FinishProof(t.Context(), code, servers)
	if done != (err == nil) {
		t.Errorf("confirmed: %t, %v", done, err)
	}
	return proof, err
}

func TestProofByPlex(t *testing.T) {
	tv := mediaservertest.StartPlexTV(t)
	tv.PollEvery = 0
	start := func(id string, users ...mediaservertest.User) *mediaservertest.Server {
		return mediaservertest.Start(t, mediaservertest.Config{Kind: mediaservertest.Plex, ID: id, Name: "attic", TV: tv, Users: users})
	}
	start("machine-1", mediaservertest.User{Name: "mira", Password: "pw"}, mediaservertest.User{Name: "alex", Password: "pw"})
	// Anybody can run a server that calls itself like another one.
	start("machine-1", mediaservertest.User{Name: "bench", Password: "pw"})
	start("machine-2", mediaservertest.User{Name: "eve", Password: "pw"})
	d := newDialer(t)
	d.Plex = func() mediaserver.PlexAddresses {
		return mediaserver.PlexAddresses{Account: tv.URL, Clients: tv.URL, Page: tv.URL + "/auth"}
	}
	code, err := d.StartCode(t.Context(), mediaserver.Server{Kind: mediaserver.Plex})
	if err == nil {
		err = tv.Approve(code.Text, "mira")
	}
	if err != nil {
		t.Fatal(err)
	}
	owner, _, err := d.FinishCode(t.Context(), mediaserver.Server{Kind: mediaserver.Plex}, code)
	if err != nil {
		t.Fatal(err)
	}
	server := mediaserver.Server{Kind: mediaserver.Plex, ID: "machine-1", Account: owner.Server.Token}
	alex, err := proveAtPlex(t, d, tv, "alex", server)
	if err != nil || alex.Name != "alex" || !alex.Unique || alex.UserID == "" || alex.Server.ID != "machine-1" {
		t.Errorf("alex is %+v, %v", alex, err)
	}
	mira, err := proveAtPlex(t, d, tv, "mira", server)
	if err != nil || mira.Name != "mira" || mira.UserID == alex.UserID {
		t.Errorf("mira is %+v, %v", mira, err)
	}
	for _, name := range []string{"bench", "eve"} {
		if proof, err := proveAtPlex(t, d, tv, name, server); !errors.Is(err, mediaserver.ErrNoAccess) {
			t.Errorf("%s, who has another server, is %+v, %v", name, proof, err)
		}
	}
	if err := d.KeepAlive(t.Context(), server.Account); err != nil {
		t.Errorf("the login of Sources afterwards: %v", err)
	}
	ended := 0
	for _, r := range tv.Requests() {
		if r == "DELETE /api/v2/users/signout" {
			ended++
		}
	}
	if ended != 4 {
		t.Errorf("%d sign-ins were ended", ended)
	}
	tv.RemoveDevices("mira")
	if _, err := proveAtPlex(t, d, tv, "alex", server); !errors.Is(err, mediaserver.ErrOwnerSignedOut) {
		t.Errorf("without the login of the owner: %v", err)
	}
	if _, err := proveAtPlex(t, d, tv, "alex"); !errors.Is(err, mediaserver.ErrNoAccess) {
		t.Errorf("with no server: %v", err)
	}
	code, err = d.StartProof(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	tv.ExpirePins(404)
	if _, _, err := d.FinishProof(t.Context(), code, nil); !errors.Is(err, mediaserver.ErrCodeExpired) {
		t.Errorf("too late: %v", err)
	}
	d.HTTP = func() httpx.Config { return httpx.Config{Proxy: "http://127.0.0.1:1"} }
	d.Plex = func() mediaserver.PlexAddresses {
		return mediaserver.PlexAddresses{Account: "http://127.0.0.1:1", Clients: "http://127.0.0.1:1"}
	}
	if _, err := d.StartProof(t.Context(), ""); !errors.Is(err, mediaserver.ErrUnreachable) {
		t.Errorf("without plex.tv: %v", err)
	}
}
