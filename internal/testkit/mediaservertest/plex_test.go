package mediaservertest

import (
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestPlexSignIn(t *testing.T) {
	rig := newPlexRig(t, nil)
	tv := rig.s.PlexTV()
	code := func(status int, o object) float64 {
		t.Helper()
		errors, _ := o["errors"].([]any)
		if len(errors) == 0 {
			t.Fatalf("status %d and no error: %v", status, o)
		}
		return errors[0].(object)["code"].(float64)
	}
	_, pin := rig.ask("POST", "/api/v2/pins?strong=true", "")
	path := "/api/v2/pins/" + jsonText(pin["id"])
	if len(pin["code"].(string)) != 25 || pin["authToken"] != nil {
		t.Errorf("a new PIN is %v", pin)
	}
	if status, o := rig.ask("GET", path, ""); status != http.StatusOK || o["authToken"] != nil {
		t.Errorf("before it is confirmed: %d %v", status, o)
	}
	tv.PollEvery = time.Hour
	if status, o := rig.ask("GET", path, ""); status != http.StatusTooManyRequests || code(status, o) != 1003 {
		t.Errorf("polled too fast: %d %v", status, o)
	}
	tv.PollEvery = time.Nanosecond
	tv.ExpirePins(http.StatusGone)
	if status, _ := rig.ask("GET", path, ""); status != http.StatusGone {
		t.Errorf("expired: %d", status)
	}
	account := rig.account("mira")
	token := rig.token(account)
	if status, o := rig.ask("GET", "/api/v2/user", account); status != http.StatusOK || o["username"] != "mira" || o["homeAdmin"] != true {
		t.Errorf("user: %d %v", status, o)
	}
	if status, o := rig.ask("GET", "/api/v2/user", token); status != http.StatusUnauthorized || code(status, o) != 1001 {
		t.Errorf("the server's token at plex.tv: %d %v", status, o)
	}
	_, home := rig.ask("GET", "/api/v2/home/users", account)
	member := home["users"].([]any)[1].(object)
	if status, o := rig.ask("POST", "/api/v2/home/users/"+member["uuid"].(string)+"/switch?pin=1", account); status != http.StatusForbidden || code(status, o) != 1041 {
		t.Errorf("a wrong PIN: %d %v", status, o)
	}
	status, switched := rig.ask("POST", "/api/v2/home/users/"+member["uuid"].(string)+"/switch?pin=1234", account)
	if status != http.StatusCreated {
		t.Fatalf("the right PIN: %d", status)
	}
	asMember := switched["authToken"].(string)
	for name, c := range map[string]struct {
		token string
		want  int
	}{
		"the server's own": {token, 200}, "the owner's account": {account, 200}, "a member's account": {asMember, 401},
		"the member's at the server": {rig.token(asMember), 200}, "a made-up one": {"x", 401}, "no token": {"", 401},
		"a friend's account": {rig.account("alex"), 401},
	} {
		if status, _ := rig.ask("GET", "/library/sections", c.token); status != c.want {
			t.Errorf("%s: status %d, want %d", name, status, c.want)
		}
	}
	tv.Refuse("mira", 498)
	if status, _ := rig.ask("GET", "/api/v2/ping", account); status != 498 {
		t.Errorf("an expired token: %d", status)
	}
	tv.Refuse("mira", 0)
	if status, _ := rig.ask("DELETE", "/api/v2/users/signout", account); status != http.StatusNoContent {
		t.Errorf("sign out: %d", status)
	}
	if status, _ := rig.ask("GET", "/api/v2/ping", account); status != http.StatusUnauthorized {
		t.Errorf("after signing out: %d", status)
	}
}

func TestPlexConnections(t *testing.T) {
	rig := newPlexRig(t, nil)
	for name, c := range map[string]struct {
		who   string
		owned bool
		local []any // of each connection
	}{"owner": {"mira", true, []any{true, false}}, "friend": {"alex", false, []any{true, false, false}}} {
		_, list := rig.ask("GET", "/api/v2/resources?includeHttps=1&includeRelay=1", rig.account(c.who))
		server := list["list"].([]any)[1].(object)
		var local []any
		for _, one := range server["connections"].([]any) {
			local = append(local, one.(object)["local"])
			if !strings.Contains(one.(object)["uri"].(string), ".plex.direct:") {
				t.Errorf("%s: %v", name, one)
			}
		}
		if server["owned"] != c.owned || !slices.Equal(local, c.local) || server["clientIdentifier"] != "machine-1" {
			t.Errorf("%s: %v", name, server)
		}
	}
}

func TestPlexLists(t *testing.T) {
	rig := newPlexRig(t, func(cfg *Config) {
		for n := range cfg.Items {
			cfg.Items[n].ID = string(rune('1'+n)) + "0"
			if n < 3 {
				cfg.Items[n].Watched = map[string]time.Time{"mira": time.Unix(1779192000+int64(n), 0)}
			}
		}
	})
	if err := rig.s.Start("mira", "40"); err != nil {
		t.Fatal(err)
	}
	if err := rig.s.Stop("mira", "40", 30); err != nil {
		t.Fatal(err)
	}
	owner, friend := rig.token(rig.account("mira")), rig.token(rig.account("alex"))
	page := "&X-Plex-Container-Start=1&X-Plex-Container-Size=1"
	for name, c := range map[string]struct {
		path, token string
		want        []string
	}{
		"all episodes":            {"/library/sections/3/all?type=4", owner, []string{"10", "20", "30", "40", "50"}},
		"a begun one has a date":  {"/library/sections/3/all?type=4&sort=lastViewedAt:desc&limit=2", owner, []string{"40", "30"}},
		"after a time":            {"/library/sections/3/all?type=4&lastViewedAt%3E%3E=1779192001&sort=lastViewedAt:asc", owner, []string{"30", "40"}},
		"the watched ones":        {"/library/sections/3/all?type=4&unwatched=0", owner, []string{"10", "20", "30"}},
		"another person's":        {"/library/sections/3/all?type=4&unwatched=0", friend, nil},
		"a page":                  {"/library/sections/3/all?type=4" + page, owner, []string{"20"}},
		"half a page is no page":  {"/library/sections/3/all?type=4&unwatched=0&X-Plex-Container-Size=1", owner, []string{"10", "20", "30"}},
		"shows":                   {"/library/sections/3/all", owner, []string{"4700"}},
		"some, one of them gone":  {"/library/metadata/10,999,4700", owner, []string{"10", "4700"}},
		"history":                 {"/status/sessions/history/all?sort=viewedAt:asc&viewedAt%3E=1779192001", owner, []string{"20", "30"}},
		"history of another user": {"/status/sessions/history/all?accountID=1", friend, nil},
	} {
		if got := rig.rows(c.path, c.token); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	for path, want := range map[string]int{
		"/library/sections/4/all": 404, "/library/metadata/999": 404, "/status/sessions": 403, "/accounts": 403, "/status/sessions/history/all": 200,
	} {
		if status, _ := rig.ask("GET", path, friend); status != want {
			t.Errorf("%s for a friend: status %d, want %d", path, status, want)
		}
	}
	_, o := rig.ask("GET", "/library/metadata/40?includeGuids=1", owner)
	row := o["MediaContainer"].(object)["Metadata"].([]any)[0].(object)
	if row["viewCount"] != nil || row["lastViewedAt"] == nil || row["viewOffset"] != 432000.0 || row["Guid"] == nil {
		t.Errorf("a begun episode is %v", row)
	}
	guid := row["guid"]
	again, err := rig.s.Replace("10")
	if err != nil {
		t.Fatal(err)
	}
	if keys := rig.rows("/status/sessions/history/all", owner); keys[0] != "" {
		t.Errorf("the history names what was deleted: %v", keys)
	}
	if keys := rig.rows("/library/sections/3/all?type=4&unwatched=0", owner); !slices.Contains(keys, again.ID) || again.ID == "10" {
		t.Errorf("what was added again is not watched: %v", keys)
	}
	_, o = rig.ask("GET", "/library/metadata/40", owner)
	if got := o["MediaContainer"].(object)["Metadata"].([]any)[0].(object)["guid"]; got != guid {
		t.Errorf("the guid was %v and is %v", guid, got)
	}
}

func TestPlexMarks(t *testing.T) {
	rig := newPlexRig(t, nil)
	token := rig.token(rig.account("alex"))
	i, err := rig.s.Find("灯塔守望者", 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	path := "scrobble?identifier=com.plexapp.plugins.library&key="
	for range 2 {
		if status, _ := rig.ask("PUT", "/:/"+path+i.ID, token); status != http.StatusOK {
			t.Fatalf("status %d", status)
		}
	}
	if d, _ := rig.s.Data("alex", i.ID); d.Count != 2 || d.At.IsZero() {
		t.Errorf("marked twice: %+v", d)
	}
	if status, _ := rig.ask("GET", "/:/"+path+"4700", token); status != http.StatusOK || len(rig.s.Played()) != 5 {
		t.Errorf("a show: status %d, %d are played", status, len(rig.s.Played()))
	}
	if keys := rig.rows("/status/sessions/history/all", token); keys != nil {
		t.Errorf("marks stand in the history: %v", keys)
	}
	if rig.ask("PUT", "/:/un"+path+i.ID, token); len(rig.s.Played()) != 4 {
		t.Error("unmarked, and played all the same")
	}
}

func TestPlexPushes(t *testing.T) {
	rig := newPlexRig(t, func(cfg *Config) { cfg.Settle = 50 * time.Millisecond })
	mira, alex := rig.token(rig.account("mira")), rig.token(rig.account("alex"))
	ofMira, ofAlex := rig.socket(mira), rig.socket(alex)
	i, _ := rig.s.Find("灯塔守望者", 2, 1)
	other, _ := rig.s.Find("灯塔守望者", 2, 2)
	if err := rig.s.Start("alex", other.ID); err != nil {
		t.Fatal(err)
	}
	if o := ofAlex(); o["size"] != 1.0 {
		t.Errorf("alex is told %v", o)
	}
	if o := ofMira(); o["size"] != 1.0 {
		t.Errorf("the owner is told %v", o)
	}
	if status, o := rig.ask("GET", "/status/sessions", mira); status != 200 || o["MediaContainer"].(object)["Metadata"].([]any)[0].(object)["User"].(object)["title"] != "alex" {
		t.Errorf("what plays: %d %v", status, o)
	}
	go func() { _ = rig.s.Watch("mira", i.ID) }()
	for {
		o := ofMira()
		if o["size"] != 2.0 {
			t.Fatalf("the owner is told %v, want both sessions", o)
		}
		one := o["PlaySessionStateNotification"].([]any)[0].(object)
		if one["state"] != "stopped" {
			continue
		}
		if d, _ := rig.s.Data("mira", i.ID); d.Count != 0 {
			t.Errorf("at stopped the play is counted already: %+v", d)
		}
		break
	}
	for d, _ := rig.s.Data("mira", i.ID); d.Count == 0; d, _ = rig.s.Data("mira", i.ID) {
		time.Sleep(time.Millisecond)
	}
	rig.s.SetQuirks(PlexQuirks{Seconds: true})
	if err := rig.s.Progress("alex", other.ID, 50); err != nil {
		t.Fatal(err)
	}
	if one := ofAlex()["PlaySessionStateNotification"].([]any)[0].(object); one["time"] != 720.0 || one["viewOffset"] != nil || one["sessionKey"] != "1" {
		t.Errorf("in seconds: %v", one)
	}
	rig.s.Starting(true)
	if ofAlex() != nil {
		t.Error("a restart leaves connections open")
	}
	if status, _ := rig.ask("GET", "/identity", ""); status != http.StatusServiceUnavailable {
		t.Errorf("while it starts: %d", status)
	}
	if status, _ := rig.ask("GET", "/api/v2/user", rig.account("alex")); status != http.StatusOK {
		t.Errorf("plex.tv while the server starts: %d", status)
	}
}

func TestPlexEventStream(t *testing.T) {
	rig := newPlexRig(t, nil)
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, rig.s.URL+"/:/eventsource/notifications?filters=playing", nil)
	r.Header.Set("X-Plex-Token", rig.token(rig.account("mira")))
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	i, _ := rig.s.Find("灯塔守望者", 2, 1)
	if err := rig.s.Watch("mira", i.ID); err != nil {
		t.Fatal(err)
	}
	if err := rig.s.Mark("mira", i.ID, time.Time{}); err != nil { // nobody is told
		t.Fatal(err)
	}
	rig.s.Cut()
	text, _ := io.ReadAll(answer.Body)
	if got := strings.Count(string(text), "event: playing\n"); got != 4 || strings.Contains(string(text), "timeline") {
		t.Errorf("%d events: %s", got, text)
	}
}

func TestPlexAnswersXML(t *testing.T) {
	rig := newPlexRig(t, nil)
	for path, want := range map[string]string{
		"/identity": `machineIdentifier="machine-1"`,
		"/library/sections?X-Plex-Token=" + url.QueryEscape(rig.token(rig.account("mira"))): `<Directory `,
	} {
		answer, err := http.Get(rig.s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if !strings.Contains(string(text), want) || !strings.Contains(string(text), "<MediaContainer") {
			t.Errorf("%s: %s", path, text)
		}
	}
}

func TestPlexTwoServers(t *testing.T) {
	rig := newPlexRig(t, nil)
	tv := StartPlexTV(t)
	first := Start(t, Config{Kind: Plex, TV: tv, ID: "machine-2", Users: []User{{Name: "alex", Password: "pw2"}}})
	Start(t, Config{Kind: Plex, TV: tv, ID: "machine-3", Users: []User{{Name: "mira", Password: "pw"}, {Name: "alex", Libraries: []string{}}}})
	own := plexRig{t, first, tv.URL}
	tv.PollEvery = time.Nanosecond
	account := own.account("alex")
	_, list := own.ask(http.MethodGet, "/api/v2/resources", account)
	tokens := map[any]string{}
	for _, one := range list["list"].([]any)[1:] {
		one := one.(object)
		tokens[one["clientIdentifier"]], _ = one["accessToken"].(string)
		if owned := one["clientIdentifier"] == "machine-2"; one["owned"] != owned || (one["sourceTitle"] == nil) != owned {
			t.Errorf("%v", one)
		}
	}
	at := plexRig{t, first, first.URL}
	for name, c := range map[string]struct {
		token string
		want  int
	}{"its own": {tokens["machine-2"], 200}, "that of another server": {tokens["machine-3"], 401}, "the owner's account": {account, 200}} {
		if status, _ := at.ask(http.MethodGet, "/library/sections", c.token); status != c.want {
			t.Errorf("%s: status %d, want %d", name, status, c.want)
		}
	}
	if status, _ := rig.ask(http.MethodGet, "/library/sections", tokens["machine-2"]); status != http.StatusUnauthorized {
		t.Errorf("at a stranger: %d", status)
	}
	first.Down(true)
	if status, _ := own.ask(http.MethodGet, "/api/v2/user", account); status != http.StatusOK {
		t.Errorf("plex.tv while a server is down: %d", status)
	}
}

func TestPlexGoesOnToTheNextEpisode(t *testing.T) {
	rig := newPlexRig(t, nil)
	told := rig.socket(rig.token(rig.account("alex")))
	for n := range 2 {
		i, err := rig.s.Find("灯塔守望者", 2, n+1)
		if err != nil {
			t.Fatal(err)
		}
		if err := rig.s.Start("alex", i.ID); err != nil {
			t.Fatal(err)
		}
		if err := rig.s.Progress("alex", i.ID, 95); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			one := told()["PlaySessionStateNotification"].([]any)[0].(object)
			if one["ratingKey"] != i.ID || one["sessionKey"] != "1" || one["state"] != "playing" {
				t.Errorf("told: %v", one)
			}
		}
	}
	if played := rig.s.Played(); len(played) != 1 || played[0].Episode != 1 || played[0].Count != 1 {
		t.Errorf("played: %v", played)
	}
}

func TestPlexQuirks(t *testing.T) {
	watched := func(cfg *Config) {
		for n := range cfg.Items {
			cfg.Items[n].ID, cfg.Items[n].Watched = string(rune('1'+n))+"0", map[string]time.Time{"mira": time.Unix(1779192000, 0)}
		}
		cfg.Items[4].Watched = nil
	}
	const page = "/library/sections/3/all?type=4&unwatched=0&X-Plex-Container-Start=0&X-Plex-Container-Size=3"
	for name, c := range map[string]struct {
		change func(*Config)
		want   []string
	}{
		"usual":                 {func(*Config) {}, []string{"10", "20", "30"}},
		"pages capped":          {func(cfg *Config) { cfg.PageMost = 2 }, []string{"10", "20"}},
		"no pages":              {func(cfg *Config) { cfg.Quirks.Unpaged = true }, []string{"10", "20", "30", "40"}},
		"unwatched not known":   {func(cfg *Config) { cfg.Quirks.NoUnwatched = true }, nil},
		"no filters, and a cap": {func(cfg *Config) { cfg.NoFilters, cfg.PageMost = true, 9; cfg.Quirks.Unpaged = true }, []string{"10", "20", "30", "40", "50"}},
	} {
		rig := newPlexRig(t, func(cfg *Config) { watched(cfg); c.change(cfg) })
		if got := rig.rows(page, rig.token(rig.account("mira"))); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	rig := newPlexRig(t, func(cfg *Config) { cfg.Quirks.NoSessions = true })
	if status, _ := rig.ask(http.MethodGet, "/status/sessions", rig.token(rig.account("mira"))); status != http.StatusForbidden {
		t.Errorf("/status/sessions: status %d", status)
	}
}
