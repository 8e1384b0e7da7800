package api_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"watchmark/internal/door/access"
	"watchmark/internal/door/auth"
	"watchmark/internal/platform/scope"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

// accessRows are the rows of a table of docs/design/access.md: what a person and nobody may do, by operation or path.
func accessRows(t *testing.T) map[string][3]string {
	t.Helper()
	text := string(must(os.ReadFile("../../../docs/design/access.md"))(t))
	rows := map[string][3]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ([^|]+) \\| ([^|]+) \\| ([^|]+) \\|$").FindAllStringSubmatch(text, -1) {
		if _, twice := rows[row[1]]; twice {
			t.Errorf("docs/design/access.md has two rows for %s", row[1])
		}
		rows[row[1]] = [3]string{row[2], row[3], row[4]}
	}
	return rows
}

// rowOf is a rule as the document has it.
func rowOf(rule access.Rule) [3]string {
	said := func(right access.Right) string {
		if right == access.Nothing {
			return "–"
		}
		return string(right)
	}
	person := said(rule.Person)
	if rule.Of != "" {
		person += " " + string(rule.Of)
	}
	return [3]string{"all", person, said(rule.Nobody)}
}

func TestTheTableOfAccessIsWhole(t *testing.T) {
	rows, doc := accessRows(t), described()
	var served []string
	for path, item := range doc.Paths {
		for method, op := range methodsOf(item) {
			served = append(served, op.OperationID)
			rule, named := access.Operation(op.OperationID)
			if !named {
				t.Errorf("%s %s (%s) has no entry in the table: say who may do it, or that it is the owner's", method, path, op.OperationID)
			}
			if got, want := rows[op.OperationID], rowOf(rule); got != want {
				t.Errorf("docs/design/access.md says %q of %s, the program %q", got, op.OperationID, want)
			}
			if rule.Of != "" && !strings.Contains(path, "{id}") && !strings.Contains(path, "{name}") {
				t.Errorf("%s names no thing that could be somebody's own", path)
			}
			if rule.Person == access.Own && rule.Of == "" && strings.Contains(path, "{") {
				t.Errorf("%s %s names something that nobody looks for in the scope of the caller", method, path)
			}
		}
	}
	for _, path := range access.Paths() {
		rule, _ := access.Path(path)
		if got, want := rows[path], rowOf(rule); got != want {
			t.Errorf("docs/design/access.md says %q of %s, the program %q", got, path, want)
		}
		served = append(served, path)
	}
	for _, id := range slices.Concat(access.Operations(), slices.Collect(maps.Keys(rows))) {
		if !slices.Contains(served, id) {
			t.Errorf("the table names %s, which is not served", id)
		}
	}
}

// house is a household over real HTTP: the owner, two people and a guest, each person with an account, records and an API key.
type house struct {
	*rig
	strangers int
	people    map[string]*inhabitant
}

// inhabitant is somebody of the house.
type inhabitant struct {
	name    string
	id      int64
	account int64
	records []int64
	key     string // an API key in plain
	keyID   int64
	cookie  string // of a session
}

// what anybody shows of themselves, as headers.
func (i *inhabitant) bySession() []string {
	return []string{"Cookie", auth.CookieName + "=" + i.cookie}
}
func (i *inhabitant) byKey() []string { return []string{"Authorization", "Bearer " + i.key} }

const housePassword = "correct horse battery"

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{rig: newRig(t), people: map[string]*inhabitant{}}
	token := must(h.store.SetupToken(t.Context()))(t)
	h.anonymous("POST", "/api/setup", map[string]any{"token": token, "name": "bench", "password": housePassword}).want(200)
	for _, name := range []string{"mira", "alex"} {
		h.moveIn(name)
	}
	h.do("POST", "/api/people", map[string]any{"name": "visitor", "role": "guest", "media_user_names": []string{"visitor"}}).want(201)
	return h
}

// moveIn adds a person, who accepts the invitation, adds an account and makes an API key.
func (h *house) moveIn(name string) {
	h.t.Helper()
	i := &inhabitant{name: name}
	h.people[name] = i
	h.do("POST", "/api/people", map[string]any{"name": name, "role": "person", "media_user_names": []string{name}}).want(201).pick(map[string]any{"id": &i.id})
	var link string
	h.do("POST", fmt.Sprintf("/api/people/%d/invitation", i.id), nil).want(200).pick(map[string]any{"url": &link})
	token := must(url.Parse(link))(h.t).Query().Get("token")
	accepted := h.anonymous("POST", "/api/invitation", map[string]any{"token": token, "password": housePassword}).want(200, `"name":"`+name+`"`)
	i.cookie = sessionOf(h.t, accepted)
	h.send("POST", "/api/accounts", map[string]any{"username": name, "access_token": "token-of-" + name}, i.bySession()...).want(201).pick(map[string]any{"id": &i.account})
	h.send("POST", "/api/api-keys", map[string]any{"name": "script"}, i.bySession()...).want(201).pick(map[string]any{"id": &i.keyID, "key": &i.key})
}

// watch adds records of somebody's account.
func (h *house) watch(i *inhabitant, titles ...string) {
	h.t.Helper()
	for _, title := range titles {
		episode := 1.0
		e := watch.Event{Source: watch.Custom, Action: watch.Watched, Media: watch.Episode, Title: title, Episode: &episode, UserName: i.name}
		w := must(h.records.InsertClaimed(h.t.Context(), e, false, 0))(h.t)
		err := h.db.Write(h.t.Context(), func(ctx context.Context, tx *sql.Tx) error {
			return record.SettleTx(ctx, tx, record.Outcome{RecordID: w.ID, AccountID: i.account, Status: record.Failed, Method: "archive", Trace: []byte(`{}`)})
		})
		if err != nil {
			h.t.Fatal(err)
		}
		i.records = append(i.records, w.ID)
	}
}

// sessionOf is the token of the session that an answer opened.
func sessionOf(t *testing.T, r reply) string {
	t.Helper()
	for _, cookie := range (&http.Response{Header: r.header}).Cookies() {
		if cookie.Name == auth.CookieName {
			return cookie.Value
		}
	}
	t.Fatalf("%s opened no session", r.what)
	return ""
}

// pick reads fields of an answer.
func (r reply) pick(fields map[string]any) {
	r.t.Helper()
	var whole map[string]json.RawMessage
	r.into(&whole)
	for name, to := range fields {
		if err := json.Unmarshal(whole[name], to); err != nil {
			r.t.Fatalf("%s: %s: %v in %s", r.what, name, err, r.body)
		}
	}
}

// kept is all that the database has, but for what only says when somebody was here.
func (h *house) kept() map[string]string {
	h.t.Helper()
	kept := map[string]string{}
	for _, table := range []string{"people", "person_media_users", "accounts", "account_media_users", "ignored_users", "records", "traces", "record_marks", "mappings",
		"blocked_keywords", "settings", "pending_candidates", "person_answers", "corrections", "notices", "notification_channels", "notification_rules", "summary_jobs", "tasks", "second_factors", "snapshots", "listed_entries", "restores",
		"unwatched", "asked_words", "pending_sync_queue"} {
		kept[table] = h.rows(table)
	}
	var keys int
	if err := h.db.Read().QueryRowContext(h.t.Context(), `SELECT COUNT(*) FROM person_keys`).Scan(&keys); err != nil {
		h.t.Fatal(err)
	}
	kept["keys"] = fmt.Sprint(keys)
	return kept
}

// rows are all rows of a table.
func (h *house) rows(table string) string {
	h.t.Helper()
	var text strings.Builder
	rows, err := h.db.Read().QueryContext(h.t.Context(), `SELECT * FROM `+table+` ORDER BY 1, 2`)
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = rows.Close() }() // its error is that of rows.Err
	values := make([]any, len(must(rows.Columns())(h.t)))
	for i := range values {
		values[i] = new(any)
	}
	for rows.Next() {
		if err := rows.Scan(values...); err != nil {
			h.t.Fatal(err)
		}
		for _, value := range values {
			fmt.Fprintf(&text, "%v|", *value.(*any)) //nolint:forcetypeassert // made above
		}
		text.WriteByte('\n')
	}
	if err := rows.Err(); err != nil {
		h.t.Fatal(err)
	}
	return text.String()
}

// Every operation of the document is tried by everybody: what the table keeps from them is refused, and nothing is changed.
func TestEveryOperationHoldsTheTable(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and does one thing after the other")
	}
	h := newHouse(t)
	mira, alex := h.people["mira"], h.people["alex"]
	h.watch(alex, "灯塔守望者")
	question, _ := h.waits(alex, "unsure")
	theirs := h.listOf(alex)
	h.listOf(mira)
	foreign := map[access.Thing]int64{access.Account: alex.account, access.Record: alex.records[0], access.Key: alex.keyID,
		access.Mapping: h.maps(alex.byKey(), "mapped", 265), access.Keyword: h.blocks(alex.byKey(), "blocked"), access.Question: question, access.Notice: h.tell(alex, "灯塔守望者"),
		access.Snapshot: theirs.snapshot, access.Restore: theirs.restore, access.Task: theirs.task, access.Summary: 4712}
	h.send("POST", "/api/summary/jobs", map[string]any{"name": fmt.Sprint(foreign[access.Summary])}, alex.byKey()...).want(201)
	foreign[access.Channel], foreign[access.MessageRule], foreign[access.Delivery] = h.reach(alex)
	const missing = 987654321
	whole := map[string]any{"replace-mapping": map[string]any{"title": "x", "subject_id": 265}, "replace-blocked-keyword": map[string]any{"keyword": "x"},
		"confirm-pending-candidate": map[string]any{"subject_id": 265}, "correct-record": map[string]any{"subject_id": 265}}
	before := h.kept()
	for path, item := range h.doc.Paths {
		if !strings.HasPrefix(path, "/api/") {
			continue
		}
		for method, op := range methodsOf(item) {
			rule, _ := access.Operation(op.OperationID)
			at := func(id int64) string {
				return parameter.ReplaceAllString(strings.ReplaceAll(path, "{source}", "custom"), fmt.Sprint(id))
			}
			var body any
			if method != http.MethodGet {
				body = map[string]any{}
			}
			if rule.Nobody == access.Nothing {
				if status := h.stranger(method, at(1)); status != 401 && status != 303 {
					t.Errorf("nobody gets %d of %s", status, op.OperationID)
				}
			}
			for how, as := range map[string][]string{"session": mira.bySession(), "key": mira.byKey()} {
				switch {
				case rule.Person == access.Nothing:
					for _, id := range []int64{1, alex.account, alex.records[0], missing} {
						h.send(method, at(id), body, as...).problem(403, "owner_only")
					}
				case rule.Of != "":
					if method != http.MethodGet {
						body = whole[op.OperationID]
					}
					theirs, nobodys := h.send(method, at(foreign[rule.Of]), body, as...), h.send(method, at(missing), body, as...)
					theirs.problem(404)
					if theirs.body != nobodys.body || theirs.status != nobodys.status || !maps.EqualFunc(lasting(theirs.header), lasting(nobodys.header), slices.Equal) {
						t.Errorf("%s by %s tells what exists: %s of somebody else's, %s of what is not there", op.OperationID, how, theirs.body, nobodys.body)
					}
				}
			}
		}
	}
	for table, after := range h.kept() {
		if before[table] != after {
			t.Errorf("%s was changed:\n%s\nbefore\n%s", table, after, before[table])
		}
	}
}

// stranger is the status that somebody gets who is not signed in. Each comes from an address of its own, for those of one are counted.
func (h *house) stranger(method, path string) int {
	h.t.Helper()
	h.strangers++
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 9, byte(h.strangers>>8), byte(h.strangers))}}
	transport := &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true}
	req := must(http.NewRequestWithContext(h.t.Context(), method, h.url+path, strings.NewReader("{}")))(h.t)
	req.Header.Set("Content-Type", "application/json")
	res := must(transport.RoundTrip(req))(h.t)
	_ = res.Body.Close()
	return res.StatusCode
}

// lasting are the headers without those that differ from one answer to the next.
func lasting(h http.Header) http.Header {
	h = h.Clone()
	for _, name := range []string{"Date", "X-Request-Id"} {
		h.Del(name)
	}
	return h
}

// Two people with random data, and the owner: whatever one asks for, nothing of the other is in the answer.
func TestNobodySeesAnythingOfAnother(t *testing.T) {
	h := newHouse(t)
	random := rand.New(rand.NewPCG(27, 27))
	for range 40 {
		who := h.people[[]string{"mira", "alex"}[random.IntN(2)]]
		title := fmt.Sprintf("secret of %s %d", who.name, random.IntN(5))
		h.watch(who, title)
		h.tell(who, title)
	}
	h.do("POST", "/api/accounts", map[string]any{"username": "bench", "access_token": token, "media_user_names": []string{"bench"}}).want(201)
	for _, pair := range [][2]string{{"mira", "alex"}, {"alex", "mira"}} {
		me, other := h.people[pair[0]], h.people[pair[1]]
		for _, as := range [][]string{me.bySession(), me.byKey()} {
			for _, path := range []string{"/api/accounts", "/api/records?limit=200", "/api/records?q=secret&limit=200", "/api/records?user=" + other.name, "/api/records?q=" + other.name,
				"/api/records?status=error", "/api/api-keys", "/api/me", "/api/session", "/api/two-factor", fmt.Sprintf("/api/accounts/%d", me.account),
				fmt.Sprintf("/api/records?before=%d", other.records[0]),
				"/api/notification/inbox?limit=200", "/api/notification/inbox?q=secret&limit=200", "/api/notification/inbox?unread=true", "/api/notification/inbox?q=" + other.name,
				"/api/notification/inbox/unread"} {
				got := h.send("GET", path, nil, as...)
				if got.status != 200 && got.status != 422 {
					t.Fatalf("%s: %d", path, got.status)
				}
				if strings.Contains(got.body, other.name) || strings.Contains(got.body, "bench") {
					t.Errorf("%s of %s tells of %s: %s", path, me.name, other.name, got.body)
				}
			}
			var page struct {
				Items []struct {
					ID int64 `json:"id"`
				} `json:"items"`
				Next string `json:"next_cursor"`
			}
			var seen []int64
			for cursor := ""; ; cursor = "&cursor=" + page.Next {
				page.Next, page.Items = "", nil
				h.send("GET", "/api/records?limit=3"+cursor, nil, as...).want(200).into(&page)
				for _, r := range page.Items {
					seen = append(seen, r.ID)
				}
				if page.Next == "" {
					break
				}
			}
			slices.Reverse(seen)
			if !slices.Equal(seen, me.records) {
				t.Errorf("%s sees the records %v, has %v", me.name, seen, me.records)
			}
		}
		// What a store answers in the scope of a person, whatever it is asked for.
		ctx := scope.In(t.Context(), scope.Of(me.id))
		if counts := must(h.records.Stats(ctx, time.Now()))(t).Total; counts[record.Failed] != len(me.records) {
			t.Errorf("%s counts %v, has %d", me.name, counts, len(me.records))
		}
		if ids := must(h.records.IDs(ctx, record.Filter{}))(t); !slices.Equal(ids, me.records) {
			t.Errorf("%s lists %v, has %v", me.name, ids, me.records)
		}
		if names := must(h.records.UserNames(ctx))(t); !slices.Equal(names, []string{me.name}) {
			t.Errorf("%s sees the users %v", me.name, names)
		}
		if some := must(h.records.Some(ctx, other.records))(t); len(some) != 0 {
			t.Errorf("%s sees %v", me.name, some)
		}
		if some := must(h.records.Statuses(ctx, other.records))(t); len(some) != 0 {
			t.Errorf("%s sees %v", me.name, some)
		}
		for _, id := range other.records {
			if _, err := h.records.Trace(ctx, id); err == nil {
				t.Errorf("%s reads the trace of %d", me.name, id)
			}
			if _, err := h.records.Work(ctx, id); err == nil {
				t.Errorf("%s reads the event of %d", me.name, id)
			}
		}
	}
	if nobody := must(h.records.IDs(scope.In(t.Context(), scope.Scope{}), record.Filter{}))(t); len(nobody) != 0 {
		t.Errorf("nobody sees %v", nobody)
	}
}

func TestAPersonDecidesOnlyTheirOwn(t *testing.T) {
	h := newHouse(t)
	mira, alex := h.people["mira"], h.people["alex"]
	own := fmt.Sprintf("/api/accounts/%d", mira.account)
	for name, c := range map[string]struct {
		method, path string
		body         any
		field        string
	}{
		"the media-server user of somebody else":   {"PATCH", own, map[string]any{"media_user_names": []string{"mira", "alex"}}, "body.media_user_names"},
		"of nobody":                                {"PATCH", own, map[string]any{"media_user_names": []string{"stranger"}}, "body.media_user_names"},
		"in a new account":                         {"POST", "/api/accounts", map[string]any{"username": "two", "access_token": "token-of-two", "media_user_names": []string{"alex"}}, "body.media_user_names"},
		"another person's account":                 {"PATCH", own, map[string]any{"person_id": alex.id}, "body.person_id"},
		"the owner's":                              {"PATCH", own, map[string]any{"person_id": 0}, "body.person_id"},
		"another name":                             {"PATCH", own, map[string]any{"username": "alex"}, "body.username"},
		"another's token":                          {"PATCH", own, map[string]any{"access_token": "token-of-alex"}, "body.access_token"},
		"a wrong token":                            {"PATCH", own, map[string]any{"access_token": "wrong"}, "body.access_token"},
		"an account without a token":               {"POST", "/api/accounts", map[string]any{"username": "alex"}, "body.access_token"},
		"an account with another's name":           {"POST", "/api/accounts", map[string]any{"username": "alex", "access_token": "token-of-mira"}, "body.access_token"},
		"an account with a name that nobody has":   {"POST", "/api/accounts", map[string]any{"username": "zzz", "access_token": "token-of-mira"}, "body.access_token"},
		"the account that unknown users test with": {"POST", "/api/accounts", map[string]any{"username": "two", "access_token": "token-of-two", "preferred": true}, "body.preferred"},
	} {
		t.Run(name, func(t *testing.T) {
			before := h.kept()
			h.send(c.method, c.path, c.body, mira.bySession()...).problem(422, c.field)
			if !maps.Equal(before, h.kept()) {
				t.Error("something was changed")
			}
		})
	}
	h.send("PATCH", own, map[string]any{"enabled": false, "access_token": "token-of-mira"}, mira.bySession()...).want(200, `"enabled":false`, `"has_token":true`)
	for _, told := range []reply{h.send("GET", own, nil, mira.byKey()...), h.do("GET", own, nil), h.do("GET", "/api/accounts", nil)} {
		if strings.Contains(told.want(200).body, "token-of-") {
			t.Errorf("a token is told: %s", told.body)
		}
	}
}

func TestTheOwnerLooksAfterPeople(t *testing.T) {
	h := newHouse(t)
	mira, alex := h.people["mira"], h.people["alex"]
	of := func(i *inhabitant) string { return fmt.Sprintf("/api/people/%d", i.id) }
	h.watch(mira, "灯塔守望者")
	h.do("GET", "/api/people", nil).want(200, `"name":"bench"`, `"name":"mira"`, `"role":"guest"`)
	h.do("GET", "/api/ignored-users", nil).want(200, "visitor")
	h.send("GET", "/api/me", nil, mira.byKey()...).want(200, `"role":"person"`, `"name":"mira"`, `"kind":"apikey"`, `"media_user_names":["mira"]`)

	// Names.
	h.do("POST", "/api/people", map[string]any{"name": "MIRA", "role": "person"}).problem(409, "person_name_taken")
	h.do("POST", "/api/people", map[string]any{"name": "other", "role": "person", "media_user_names": []string{"mira"}}).problem(409, "person_media_user_taken")
	h.do("POST", "/api/people", map[string]any{"name": "other", "role": "owner"}).problem(422)
	h.do("PATCH", of(alex), map[string]any{"media_user_names": []string{"mira"}}).problem(409)
	h.do("PATCH", of(alex), map[string]any{"media_user_names": []string{"alex", "Alex TV"}}).want(200)
	h.do("GET", fmt.Sprintf("/api/accounts/%d", alex.account), nil).want(200, `"media_user_names":["Alex TV","alex"]`)
	h.do("PATCH", of(alex), map[string]any{"media_user_names": []string{"Alex TV"}}).want(200)
	h.do("GET", fmt.Sprintf("/api/accounts/%d", alex.account), nil).want(200, `"media_user_names":["Alex TV"]`)

	// Signing in, whatever the letters.
	in := h.anonymous("POST", "/api/login", map[string]any{"name": "Alex", "password": housePassword}).want(200, `"name":"alex"`)
	session := []string{"Cookie", auth.CookieName + "=" + sessionOf(t, in)}
	h.send("GET", "/api/records", nil, session...).want(200)

	// The password of one ends no session of another.
	h.send("POST", "/api/password", map[string]any{"old": housePassword, "new": "another horse battery"}, session...).want(200)
	h.send("GET", "/api/me", nil, session...).problem(401)
	h.send("GET", "/api/me", nil, mira.bySession()...).want(200)

	// A guest is out at once, and comes back as a person with the old password.
	h.do("PATCH", of(mira), map[string]any{"role": "guest"}).want(200)
	h.send("GET", "/api/me", nil, mira.bySession()...).problem(401)
	h.send("GET", "/api/me", nil, mira.byKey()...).problem(401)
	h.anonymous("POST", "/api/login", map[string]any{"name": "mira", "password": housePassword}).problem(401)
	h.do("POST", of(mira)+"/invitation", nil).problem(409)
	h.do("PATCH", of(mira), map[string]any{"role": "person"}).want(200)
	h.send("GET", "/api/me", nil, mira.byKey()...).want(200)

	// A new invitation ends the one before, and one that is taken back does not work.
	tokenOf := func() string {
		var link string
		h.do("POST", of(alex)+"/invitation", nil).want(200).pick(map[string]any{"url": &link})
		return must(url.Parse(link))(t).Query().Get("token")
	}
	accept := func(token, password string) reply {
		return h.anonymous("POST", "/api/invitation", map[string]any{"token": token, "password": password})
	}
	first, second := tokenOf(), tokenOf()
	accept(first, housePassword).problem(401)
	accept(second, "short").problem(422, "body.password")
	h.do("DELETE", of(alex)+"/invitation", nil).want(204)
	accept(second, housePassword).problem(401)

	// Who is removed is gone with keys and accounts; the records stay, with the owner.
	h.do("DELETE", of(mira), nil).want(204)
	h.send("GET", "/api/me", nil, mira.byKey()...).problem(401)
	h.do("GET", fmt.Sprintf("/api/accounts/%d", mira.account), nil).problem(404)
	h.do("GET", fmt.Sprintf("/api/records/%d", mira.records[0]), nil).want(200)
	h.send("GET", fmt.Sprintf("/api/records/%d", mira.records[0]), nil, alex.byKey()...).problem(404)

	// The owner stays.
	var me int64
	h.do("GET", "/api/me", nil).want(200, `"role":"owner"`).pick(map[string]any{"id": &me})
	h.do("DELETE", fmt.Sprintf("/api/people/%d", me), nil).problem(409, "owner_stays")
	h.do("PATCH", fmt.Sprintf("/api/people/%d", me), map[string]any{"role": "guest"}).problem(409, "owner_stays")
	h.do("POST", fmt.Sprintf("/api/people/%d/invitation", me), nil).problem(409)
}

// An account that the owner gives to a person goes with its records, and comes back.
func TestAnAccountIsGivenToAPerson(t *testing.T) {
	h := newHouse(t)
	mira, alex := h.people["mira"], h.people["alex"]
	h.watch(alex, "灯塔守望者")
	account, one := fmt.Sprintf("/api/accounts/%d", alex.account), fmt.Sprintf("/api/records/%d", alex.records[0])
	h.send("GET", one, nil, mira.byKey()...).problem(404)
	h.do("PATCH", account, map[string]any{"person_id": mira.id}).want(200)
	h.send("GET", one, nil, mira.byKey()...).want(200)
	h.send("GET", one, nil, alex.byKey()...).problem(404)
	h.do("PATCH", account, map[string]any{"person_id": 0}).want(200, `"person_id":0`)
	h.send("GET", one, nil, mira.byKey()...).problem(404)
	h.do("GET", one, nil).want(200)
	h.do("PATCH", account, map[string]any{"person_id": 4711}).problem(422, "body.person_id")
}

// Whatever stands where an id does leads to the person's own, or to nothing.
func TestGuessedIDs(t *testing.T) {
	h := newHouse(t)
	mira, alex := h.people["mira"], h.people["alex"]
	h.watch(alex, "one", "two")
	h.watch(mira, "three")
	h.watch(alex, "four")
	ids := []string{"0", "-1", "9223372036854775807", "9223372036854775808", "%31", "1%00", "%D9%A1", "1e3", "0x1", "%201", "+1", "01", "001", "1.0", "1,2", "%2e%2e", "1%2F2", "1;2", "null", "true"}
	random := rand.New(rand.NewPCG(2, 7))
	for range 60 {
		ids = append(ids, fmt.Sprint(random.IntN(12)), fmt.Sprint(random.Int64()))
	}
	own := 0
	for _, id := range ids {
		for _, path := range []string{"/api/accounts/", "/api/records/"} {
			got := h.send("GET", path+id, nil, mira.byKey()...)
			switch {
			case got.status == 200:
				own++
				if strings.Contains(got.body, "alex") || !strings.Contains(got.body, "mira") {
					t.Errorf("%s leads to %s", path+id, got.body)
				}
			case got.status < 400 || got.status >= 500:
				t.Errorf("%s answers %d", path+id, got.status)
			}
		}
	}
	if own == 0 {
		t.Error("nothing was guessed right: the test shows nothing")
	}
}
