package movein_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/secret"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/testkit/movetest"
	"watchmark/internal/upkeep/movein"
)

func TestOpensWhatTheToolEncrypted(t *testing.T) {
	const ofPython = "BGS1:gAAAAABrAfoYOw7Lbei4gQwXDnNHz0CqIbCIRvPxfa6sURukUSxor5c2JXOSGgZhI02WvMLmrqvdXmcb9meWZVYrzod06t8Bzi8tISkksIY4icQcYFHFLP4=" // by its library cryptography
	if got, err := movein.OpenForTest("a master key", ofPython); err != nil || got != "令牌 token-0123" {
		t.Errorf("what Python encrypted is opened as %q, %v", got, err)
	}
	for _, text := range []string{"", "short", "sixteen letters!", strings.Repeat("长的令牌", 50)} {
		if got, err := movein.OpenForTest("key", movetest.Seal("key", text)); err != nil || got != text {
			t.Errorf("%q is opened as %q, %v", text, got, err)
		}
	}
	sealed := movetest.Seal("key", "token")
	for name, c := range map[string]struct{ master, stored string }{
		"no key": {"", sealed}, "another key": {"keys", sealed}, "damaged": {"key", sealed[:len(sealed)-6] + "AAAAAA"}, "cut": {"key", sealed[:40]}, "no base64": {"key", "BGS1:!"}, "empty": {"key", "BGS1:"},
	} {
		if got, err := movein.OpenForTest(c.master, c.stored); err == nil || !strings.Contains(err.Error(), "secret_key") || got != "" {
			t.Errorf("%s: opened as %q, %v", name, got, err)
		}
	}
	if got, err := movein.OpenForTest("", "plain"); err != nil || got != "plain" {
		t.Errorf("what is not encrypted is opened as %q, %v", got, err)
	}
}

func TestDamagedFoldersAreToldByFile(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(t *testing.T, dir string)
		want []string
	}{
		{"no folder", func(t *testing.T, dir string) { must(t, os.RemoveAll(dir)) }, []string{"is no folder"}},
		{"an empty folder", func(*testing.T, string) {}, []string{"config.ini", "bangumi_mapping.json", "sync_records.db"}},
		{"a line that is none", func(t *testing.T, dir string) { movetest.Write(t, dir, "config.ini", "[a]\nsecret-word\n") }, []string{"config.ini: line 2"}},
		{"no text", func(t *testing.T, dir string) { movetest.Write(t, dir, "config/config.ini", "[a]\nk = \xff\xfe\n") }, []string{"config.ini", "UTF-8"}},
		{"a folder in the place of a file", func(t *testing.T, dir string) { must(t, os.Mkdir(filepath.Join(dir, "config.ini"), 0o700)) }, []string{"config.ini"}},
		{"a broken mapping file", func(t *testing.T, dir string) { movetest.Write(t, dir, "bangumi_mapping.json", `{"mappings": [`) }, []string{"bangumi_mapping.json"}},
		{"mappings of another form", func(t *testing.T, dir string) { movetest.Write(t, dir, "bangumi_mapping.json", `{"mappings": [1]}`) }, []string{"bangumi_mapping.json", "mappings"}},
		{"no database", func(t *testing.T, dir string) { movetest.Write(t, dir, "sync_records.db", "secret-word") }, []string{"sync_records.db"}},
		{"half a database", func(t *testing.T, dir string) {
			movetest.Database(t, dir, "sync_records.db", false, "CREATE TABLE sync_records (id INTEGER)", "CREATE TABLE filled AS SELECT zeroblob(100000)")
			text, err := os.ReadFile(filepath.Join(dir, "sync_records.db"))
			must(t, err)
			movetest.Write(t, dir, "sync_records.db", string(text[:100])+strings.Repeat("x", 5000))
		}, []string{"sync_records.db"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, temp := filepath.Join(t.TempDir(), "tool"), t.TempDir()
			must(t, os.Mkdir(dir, 0o700))
			c.make(t, dir)
			p, err := movein.Open(t.Context(), dir, temp)
			if err == nil {
				must(t, p.Close())
				t.Fatal("it is opened")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error does not tell %s: %v", want, err)
				}
			}
			if strings.Contains(err.Error(), "secret-word") {
				t.Errorf("the error quotes the file: %v", err)
			}
			empty(t, temp)
		})
	}
}

func TestACopyIsRemoved(t *testing.T) {
	temp := t.TempDir()
	p, err := movein.Open(t.Context(), movetest.Newest(t), temp)
	must(t, err)
	if left, _ := filepath.Glob(filepath.Join(temp, movein.CopyPattern)); len(left) != 1 {
		t.Errorf("the database with a journal is read from %v", left)
	}
	must(t, p.Close())
	empty(t, temp)
}

func TestWithoutItsKeyTheTokensAreLeftAndTheRestIsTaken(t *testing.T) {
	folder := movetest.Newest(t)
	must(t, os.Remove(filepath.Join(folder, "config", "config.ini")))
	p, err := movein.Open(t.Context(), folder, t.TempDir())
	must(t, err)
	defer func() { must(t, p.Close()) }()
	if len(p.Accounts) != 2 || p.Accounts[0].Tokens.Access != "" || !strings.Contains(p.Accounts[0].Note, "enter one") || !slices.Equal(p.Accounts[0].MediaUserNames, []string{"Mira", "mira TV"}) {
		t.Errorf("the accounts are %+v", p.Accounts)
	}
	for _, what := range []string{"the token of mira", "the token of alex", "the sign-in at Trakt of default_user"} {
		at := slices.IndexFunc(p.Left, func(l movein.Left) bool { return l.What == what })
		if at < 0 || !strings.Contains(p.Left[at].Why, "config.ini") {
			t.Errorf("%s is not told as left: %+v", what, p.Left)
		}
	}
}

func TestAccountsAsTheyStandInConfigIni(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"single mode passes other sections over", "[bangumi]\nusername=mira\naccess_token=t\nmedia_server_username=a，b, c\n[bangumi-alex]\nusername=alex\naccess_token=u\n[sync]\nmode=single\n",
			[]string{"mira [a b c] on", "alex [] off"}},
		{"multi mode passes the single one over", "[bangumi]\nusername=mira\n[bangumi-alex]\nusername=alex\n[sync]\nmode=multi\nx=bangumi-alex\ny=BANGUMI-ALEX\nz=bangumi-nobody\n",
			[]string{"mira [] off", "alex [x y] on"}},
		{"one user by two sections", "[bangumi-a]\nusername=mira\n[bangumi-b]\nusername=mira\n[sync]\nmode=multi\nx=bangumi-a\ny=bangumi-b\n", []string{"mira [x y] on"}},
		{"the oldest name of the user", "[bangumi]\nusername=mira\nmedia_server_username=\n[sync]\nsingle_username=Old Name\n", []string{"mira [Old Name] on"}},
		{"no account", "[bangumi]\nusername=\n[bangumi-data]\nenabled=true\n[bangumi-oauth]\nusername=x\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			movetest.Write(t, dir, "config.ini", c.text)
			p, err := movein.Open(t.Context(), dir, t.TempDir())
			must(t, err)
			var got []string
			for _, a := range p.Accounts {
				state := map[bool]string{true: "on", false: "off"}[a.Enabled]
				got = append(got, a.Username+" ["+strings.Join(a.MediaUserNames, " ")+"] "+state)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("the accounts are %q, want %q", got, c.want)
			}
		})
	}
}

func TestASignInAtTheCatalogIsRenewedOnlyByItsApplication(t *testing.T) {
	const account = "[bangumi]\nusername=mira\nauth_method=oauth\naccess_token=a\nrefresh_token=r\nexpires_at=4102444800\n"
	for _, c := range []struct {
		name, text string
		lasting    bool
	}{
		{"its own application", account + "[bangumi-oauth]\nclient_id=i\nclient_secret=s\nredirect_uri=http://nas:8000/back\n", true},
		{"that of the tool", account, false},
		{"without the address it came back to", account + "[bangumi-oauth]\nclient_id=i\nclient_secret=s\n", false},
		{"with a secret that cannot be read", account + "[bangumi-oauth]\nclient_id=i\nclient_secret=BGS1:x\nredirect_uri=http://nas:8000/back\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			movetest.Write(t, dir, "config.ini", c.text)
			p, err := movein.Open(t.Context(), dir, t.TempDir())
			must(t, err)
			a := p.Accounts[0]
			if (a.Method == "oauth") != c.lasting || (a.Tokens.Refresh != "") != c.lasting || (a.Tokens.RedirectURL != "") != c.lasting || a.Tokens.Access != "a" || a.Tokens.ExpiresAt.Unix() != 4102444800 {
				t.Errorf("the account is %s until %v: %s", a.Method, a.Tokens.ExpiresAt, a.Note)
			}
			if strings.Contains(a.Note, "cannot be renewed") == c.lasting {
				t.Errorf("its note is %q", a.Note)
			}
		})
	}
}

func TestAUserOfSeveralAccountsHidesNoOther(t *testing.T) {
	d := dbtest.Open(t)
	box, err := secret.OpenBox(t.TempDir(), "", false)
	must(t, err)
	accounts := account.NewStore(d, box)
	for name, users := range map[string][]string{"mira": {"living room", "mira"}, "alex": {"alex", "living room", "tablet"}} {
		_, err := accounts.Create(t.Context(), account.Draft{Username: name, Enabled: true, MediaUserNames: users})
		must(t, err)
	}
	owners, err := movein.OwnersForTest(t.Context(), accounts)
	must(t, err)
	got := map[string]string{}
	for user, owner := range owners {
		got[user] = owner.Username
	}
	if want := map[string]string{"mira": "mira", "alex": "alex", "tablet": "alex", "living room": ""}; !maps.Equal(got, want) {
		t.Errorf("the owners are %v, want %v", got, want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func empty(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	if len(entries) > 0 {
		t.Errorf("left behind: %v", entries)
	}
}
