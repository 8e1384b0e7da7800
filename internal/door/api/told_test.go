package api_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/scope"
	"watchmark/internal/tell/notify"
	"watchmark/internal/testkit/channeltest"
)

// tell adds a notice of somebody's account, and answers its id.
func (h *house) tell(i *inhabitant, title string) int64 {
	h.t.Helper()
	h.notices.Add(h.t.Context(), notify.Notice{Kind: notify.MarkFailed, User: i.name, AccountID: i.account, Account: i.name, About: title, Facts: map[string]string{"title": title}})
	return h.newestNotice()
}

// newestNotice is the id of the newest notice of all.
func (h *house) newestNotice() int64 {
	h.t.Helper()
	entries, _, err := h.notices.List(h.t.Context(), notify.Filter{Limit: 1})
	if err != nil || len(entries) == 0 {
		h.t.Fatalf("no notice: %v", err)
	}
	return entries[0].ID
}

// noticesOf are the ids of the notices that somebody sees at a path, the oldest first.
func (h *house) noticesOf(path string, as ...string) []int64 {
	h.t.Helper()
	var page struct {
		Items []struct {
			ID     int64 `json:"id"`
			Unread bool  `json:"unread"`
		} `json:"items"`
	}
	h.send("GET", path, nil, as...).want(200).into(&page)
	ids := []int64{}
	for _, n := range page.Items {
		ids = append(ids, n.ID)
	}
	slices.Sort(ids)
	return ids
}

// reach gives somebody a channel, with the first rule, and answers their ids, and that of a delivery to the channel.
func (h *house) reach(i *inhabitant) (channel, rule, delivery int64) {
	h.t.Helper()
	h.send("POST", "/api/notification/webhooks", map[string]any{"name": "phone of " + i.name, "config": map[string]any{"url": "https://ntfy.example/" + i.name}}, i.bySession()...).want(201).pick(map[string]any{"id": &channel})
	var rules struct {
		Items []struct {
			ID int64 `json:"id"`
		} `json:"items"`
	}
	h.send("GET", "/api/notification/rules", nil, i.bySession()...).want(200).into(&rules)
	if len(rules.Items) != 1 {
		h.t.Fatalf("%s has %d rules with the first channel", i.name, len(rules.Items))
	}
	h.hold(channel)
	return channel, rules.Items[0].ID, h.delivery(h.tell(i, "told to "+i.name), channel)
}

// hold keeps messages from a channel for now.
func (h *house) hold(channel int64) {
	h.t.Helper()
	h.exec(`UPDATE notification_channels SET paused = 'held by the test' WHERE id = ?`, channel)
}

func (h *house) exec(statement string, args ...any) {
	h.t.Helper()
	err := h.db.Write(h.t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, statement, args...)
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

// delivery is the id of that of a notice to a channel; 0 for none.
func (h *house) delivery(notice, channel int64) int64 {
	h.t.Helper()
	ids := must(db.Values[int64](h.t.Context(), h.db.Read(), "read deliveries", `SELECT id FROM deliveries WHERE notice_id = ? AND channel_id = ?`, notice, channel))(h.t)
	if len(ids) == 0 {
		return 0
	}
	return ids[0]
}

// A person's channel is told what is theirs, the owner's everything unless a rule leaves out what is people's.
func TestMessagesGoToWhomTheyAreAbout(t *testing.T) {
	h := newHouse(t)
	mira, alex := h.people["mira"], h.people["alex"]
	ofMira, ruleOfMira, _ := h.reach(mira)
	ofAlex, ruleOfAlex, _ := h.reach(alex)
	var ofOwner int64
	h.do("POST", "/api/notification/webhooks", map[string]any{"name": "phone of bench", "config": map[string]any{"url": "https://ntfy.example/bench"}}).want(201).pick(map[string]any{"id": &ofOwner})
	h.hold(ofOwner)
	goesTo := func(notice int64, channels ...int64) {
		t.Helper()
		for _, c := range []int64{ofMira, ofAlex, ofOwner} {
			if is := h.delivery(notice, c) != 0; is != slices.Contains(channels, c) {
				t.Errorf("notice %d goes to channel %d: %t", notice, c, is)
			}
		}
	}
	one := h.tell(mira, "one")
	goesTo(one, ofMira, ofOwner)
	goesTo(h.tell(alex, "two"), ofAlex, ofOwner)
	h.notices.Add(t.Context(), notify.Notice{Kind: notify.ArchiveFailed, About: "of the service"})
	goesTo(h.newestNotice(), ofOwner)
	h.notices.Add(t.Context(), notify.Notice{Kind: notify.NoAccount, User: "mira", About: "mira", AccountID: mira.account, Account: "mira"})
	goesTo(h.newestNotice(), ofOwner)

	// What a person reads of where it went.
	at := func(notice int64) string { return fmt.Sprintf("/api/notification/inbox/%d", notice) }
	if got := h.send("GET", at(one), nil, mira.byKey()...).want(200, "phone of mira"); strings.Contains(got.body, "bench") {
		t.Errorf("a person sees where the owner is told: %s", got.body)
	}
	if got := h.do("GET", at(one), nil).want(200, "phone of bench"); strings.Contains(got.body, "phone of mira") {
		t.Errorf("the owner sees where a person is told: %s", got.body)
	}

	// The rules of each are their own.
	rule := map[string]any{"name": "all", "own_only": true}
	h.do("PUT", fmt.Sprintf("/api/notification/rules/%d", firstRule), rule).want(200, `"own_only":true`)
	goesTo(h.tell(mira, "three"), ofMira)
	h.notices.Add(t.Context(), notify.Notice{Kind: notify.ArchiveFailed, About: "again"})
	goesTo(h.newestNotice(), ofOwner)
	h.send("PUT", fmt.Sprintf("/api/notification/rules/%d", ruleOfMira), map[string]any{"name": "all", "own_only": true, "kinds": []string{"token_dead"}}, mira.byKey()...).want(200, `"own_only":false`)
	goesTo(h.tell(mira, "four"))
	for _, body := range []map[string]any{{"name": "to another", "channels": []int64{ofAlex}}, {"name": "to the owner", "channels": []int64{ofOwner}}, {"name": "to nobody", "channels": []int64{4711}}} {
		h.send("POST", "/api/notification/rules", body, mira.byKey()...).problem(422, "body.channels")
	}
	h.do("PUT", fmt.Sprintf("/api/notification/rules/%d", ruleOfAlex), rule).problem(404)
	h.do("GET", fmt.Sprintf("/api/notification/webhooks/%d", ofAlex), nil).problem(404)

	// What waits for a person whose account it is not any more is not sent.
	waiting := h.tell(alex, "five")
	h.do("PATCH", fmt.Sprintf("/api/accounts/%d", alex.account), map[string]any{"person_id": 0}).want(200)
	h.exec(`UPDATE notification_channels SET paused = '', updated_at = updated_at WHERE id = ?`, ofAlex)
	h.notices.Wake()
	h.soonState(h.delivery(waiting, ofAlex), "dropped")

	// With a person go the channels and rules.
	h.do("DELETE", fmt.Sprintf("/api/people/%d", mira.id), nil).want(204)
	h.tell(&inhabitant{name: "alex", account: alex.account}, "six")
	if left := h.rows("notification_channels"); strings.Contains(left, "phone of mira") {
		t.Error("the channel of somebody who was removed is left")
	}
}

// soonState waits until a delivery stands so.
func (h *house) soonState(delivery int64, state string) {
	h.t.Helper()
	for {
		states := must(db.Values[string](h.t.Context(), h.db.Read(), "read a delivery", `SELECT state FROM deliveries WHERE id = ?`, delivery))(h.t)
		if slices.Contains(states, state) {
			return
		}
		select {
		case <-h.t.Context().Done():
			h.t.Fatalf("the delivery is %v", states)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// firstRule is the id of the owner's first rule, which is there at first.
const firstRule = 1

// People reach the internet alone with what they enter, and try it only so often.
func TestPeopleSendToTheInternet(t *testing.T) {
	h := newHouse(t)
	mira := h.people["mira"]
	hook := channeltest.NewHook(t)
	at := strings.Replace(hook.URL, "127.0.0.1", "localtest.example", 1)
	for _, address := range []string{hook.URL, "http://localhost/x", "http://nas/x", "http://printer.local/", "http://192.168.1.5/", "http://10.0.0.1:8080/", "http://[::1]/", "http://[fd00::1]/", "http://[fe80::1]/",
		"http://169.254.169.254/latest", "http://100.64.0.1/", "http://[::ffff:192.168.1.5]/", "http://[64:ff9b::c0a8:105]/", "http://0.0.0.0/", "http://198.18.0.1/"} {
		h.send("POST", "/api/notification/webhooks", map[string]any{"name": "x", "config": map[string]any{"url": address}}, mira.byKey()...).problem(422)
	}
	h.send("POST", "/api/notification/wecoms", map[string]any{"name": "x", "config": map[string]any{"url": "https://192.168.1.5/cgi-bin/webhook/send?key=693a91f6-7xxx-4bc4-97a0-0ec2sifa5aaa"}}, mira.byKey()...).problem(422)
	h.send("POST", "/api/notification/emails", map[string]any{}, mira.byKey()...).problem(403, "owner_only")
	var c int64
	h.send("POST", "/api/notification/webhooks", map[string]any{"name": "x", "config": map[string]any{"url": at}}, mira.byKey()...).want(201).pick(map[string]any{"id": &c})

	// What was stored before it was forbidden, and a name that leads home, are judged when it is connected to.
	h.set("notification", "people_home_network", true)
	h.send("PUT", fmt.Sprintf("/api/notification/webhooks/%d", c), map[string]any{"name": "x", "config": map[string]any{"url": hook.URL}}, mira.byKey()...).want(200)
	test := fmt.Sprintf("/api/notification/webhooks/%d/test", c)
	h.send("POST", test, nil, mira.byKey()...).want(200, `"ok":true`)
	h.set("notification", "people_home_network", false)
	got := h.send("POST", test, nil, mira.byKey()...).want(200, `"ok":false`)
	if len(hook.Requests()) != 1 {
		t.Errorf("the home network is reached: %s", got.body)
	}
	for range 3 {
		h.send("POST", test, nil, mira.byKey()...).want(200)
	}
	h.send("POST", test, nil, mira.byKey()...).problem(429, "notify_too_often")
	h.send("POST", "/api/notification/test", nil, mira.byKey()...).problem(429)
	for range 4 {
		h.send("POST", "/api/notification/webhooks", map[string]any{"name": "x", "config": map[string]any{"url": at}}, mira.byKey()...).want(201)
	}
	h.send("POST", "/api/notification/webhooks", map[string]any{"name": "x", "config": map[string]any{"url": at}}, mira.byKey()...).problem(409)
}

// People make channels of every service; those of a server at home only where the owner lets them. Nobody else sees them.
func TestPeopleHaveEveryService(t *testing.T) {
	const home = "http://192.168.1.5:8000"
	webhook := "/api/webhooks/123456789012/fake-fake-fake-fake-fake"
	for plural, c := range map[string]struct{ outside, athome map[string]any }{
		"telegrams":   {map[string]any{"token": "123456789:AAfake-fake-fake-fake", "chat": "1"}, map[string]any{"token": "123456789:AAfake-fake-fake-fake", "chat": "1", "url": home}},
		"discords":    {map[string]any{"url": "https://discord.com" + webhook}, map[string]any{"url": home + webhook}},
		"slacks":      {map[string]any{"url": "https://hooks.slack.com/services/T0/B0/fakefakefake"}, map[string]any{"url": home + "/services/T0/B0/fakefakefake"}},
		"ntfys":       {map[string]any{"topic": "mira-7319"}, map[string]any{"topic": home + "/mira-7319"}},
		"gotifys":     {map[string]any{"url": "https://gotify.example.org", "token": "AfakeFake.0123"}, map[string]any{"url": home, "token": "AfakeFake.0123"}},
		"barks":       {map[string]any{"key": "fakeKey7319"}, map[string]any{"key": home + "/fakeKey7319"}},
		"serverchans": {map[string]any{"key": "SCTfakeFake0123"}, map[string]any{"key": "SCTfakeFake0123", "url": home}},
		"pushdeers":   {map[string]any{"key": "PDUfakeFake0123"}, map[string]any{"key": "PDUfakeFake0123", "url": home}},
		"apprises":    {map[string]any{"url": "https://apprise.example.org", "key": "mira"}, map[string]any{"url": home, "key": "mira"}},
		"homeassistants": {map[string]any{"url": "https://ha.example.org", "webhook": "mira-7319"},
			map[string]any{"url": "http://homeassistant.local:8123", "webhook": "mira-7319"}},
		"matrixs": {map[string]any{"room": "!r:example.org", "token": "syt_fakefake"}, map[string]any{"room": "!r:example.org", "token": "syt_fakefake", "url": home}},
	} {
		t.Run(plural, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			mira, path := h.people["mira"], "/api/notification/"+plural
			var c1, c2 int64
			h.send("POST", path, map[string]any{"name": "mine", "config": c.outside}, mira.byKey()...).want(201).pick(map[string]any{"id": &c1})
			h.send("POST", path, map[string]any{"name": "mine", "config": c.athome}, mira.byKey()...).problem(422, "body.config.url")
			h.set("notification", "people_home_network", true)
			h.send("POST", path, map[string]any{"name": "mine", "config": c.athome}, mira.byKey()...).want(201).pick(map[string]any{"id": &c2})
			one := fmt.Sprintf("%s/%d", path, c1)
			for name, other := range h.people {
				if name == "mira" {
					continue
				}
				h.send("GET", path, nil, other.byKey()...).want(200, `"items":[]`)
				h.send("GET", one, nil, other.byKey()...).problem(404)
				h.send("PUT", one, map[string]any{"name": "theirs", "config": c.outside}, other.byKey()...).problem(404)
				h.send("POST", one+"/test", nil, other.byKey()...).problem(404)
				h.send("DELETE", one, nil, other.byKey()...).problem(404)
			}
			h.send("GET", one, nil, mira.byKey()...).want(200, `"name":"mine"`)
		})
	}
}

func TestNoticesArePeoplesOwn(t *testing.T) {
	h := newHouse(t)
	mira, alex := h.people["mira"], h.people["alex"]
	const inbox = "/api/notification/inbox"
	owner := []string{"Authorization", "Bearer " + h.key}
	unread := func(as []string, all, attention int) {
		t.Helper()
		h.send("GET", inbox+"/unread", nil, as...).want(200, fmt.Sprintf(`"all":%d,"attention":%d`, all, attention))
	}
	sees := func(as []string, ids ...int64) {
		t.Helper()
		if got := h.noticesOf(inbox+"?limit=200", as...); !slices.Equal(got, append([]int64{}, ids...)) {
			t.Errorf("sees the notices %v, not %v", got, ids)
		}
	}
	of, ofAlex, again := h.tell(mira, "one"), h.tell(alex, "two"), h.tell(mira, "three")
	h.notices.Add(t.Context(), notify.Notice{Kind: notify.ArchiveImported, Facts: map[string]string{"archive": "of May"}})
	ofService := h.newestNotice()
	// Of a user without an account, where an account of old is known.
	h.notices.Add(t.Context(), notify.Notice{Kind: notify.NoAccount, User: "visitor", AccountID: mira.account, Account: "mira", About: "visitor"})
	ofVisitor := h.newestNotice()

	sees(mira.bySession(), of, again)
	sees(mira.byKey(), of, again)
	sees(alex.byKey(), ofAlex)
	sees(owner, of, ofAlex, again, ofService, ofVisitor)
	unread(mira.byKey(), 2, 2)
	unread(alex.byKey(), 1, 1)
	unread(owner, 2, 1) // what is a person's is for that one to read
	h.do("GET", fmt.Sprintf("%s/%d", inbox, of), nil).want(200, `"unread":false`)

	// Reading and removing reaches one's own, whatever is asked for.
	h.send("POST", inbox+"/read", map[string]any{"ids": []int64{of, ofAlex, ofService, 4711}}, mira.byKey()...).want(204)
	h.send("POST", inbox+"/read", map[string]any{"up_to": ofService}, alex.byKey()...).want(204)
	unread(mira.byKey(), 1, 1)
	unread(alex.byKey(), 0, 0)
	unread(owner, 2, 1)
	h.do("POST", inbox+"/read", map[string]any{"up_to": ofVisitor, "ids": []int64{again}}).want(204)
	unread(owner, 0, 0)
	unread(mira.byKey(), 1, 1)
	for _, other := range []int64{ofAlex, ofService, ofVisitor, 4711} {
		h.send("DELETE", fmt.Sprintf("%s/%d", inbox, other), nil, mira.byKey()...).problem(404, "notify_not_found")
	}
	if err := h.notices.Delete(scope.In(t.Context(), scope.Of(mira.id)), ofAlex, ofService); err != nil {
		t.Fatal(err)
	}
	if err := h.notices.Delete(scope.In(t.Context(), scope.Scope{}), ofAlex, ofService); err != nil {
		t.Fatal(err)
	}
	sees(owner, of, ofAlex, again, ofService, ofVisitor)
	h.send("DELETE", fmt.Sprintf("%s/%d", inbox, again), nil, mira.byKey()...).want(204)
	sees(owner, of, ofAlex, ofService, ofVisitor)

	// What was told of an account goes when the account does, and nobody else gets it.
	h.do("PATCH", fmt.Sprintf("/api/accounts/%d", alex.account), map[string]any{"person_id": mira.id}).want(200)
	sees(alex.byKey())
	sees(mira.byKey(), of)
	now := h.tell(&inhabitant{name: "alex", account: alex.account}, "four")
	sees(mira.byKey(), of, now)
	h.do("PATCH", fmt.Sprintf("/api/accounts/%d", alex.account), map[string]any{"person_id": alex.id}).want(200)
	sees(alex.byKey(), ofAlex)
	sees(mira.byKey(), of)
	h.do("DELETE", fmt.Sprintf("/api/people/%d", alex.id), nil).want(204)
	sees(mira.byKey(), of)
	sees(owner, of, ofAlex, ofService, ofVisitor, now)

	// A guest is told nothing, and what comes is the owner's to read.
	h.do("PATCH", fmt.Sprintf("/api/people/%d", mira.id), map[string]any{"role": "guest"}).want(200)
	h.do("POST", inbox+"/read", map[string]any{"up_to": now}).want(204)
	h.tell(mira, "five")
	unread(owner, 1, 1)
}

// An account with the id of one that is gone has nothing of what was told of that.
func TestAnAccountInheritsNoNotices(t *testing.T) {
	h := newHouse(t)
	mira, alex := h.people["mira"], h.people["alex"]
	h.tell(alex, "two")
	h.do("DELETE", fmt.Sprintf("/api/accounts/%d", alex.account), nil).want(204)
	var id int64
	h.send("POST", "/api/accounts", map[string]any{"username": "second", "access_token": "token-of-second"}, mira.bySession()...).want(201).pick(map[string]any{"id": &id})
	if id != alex.account {
		t.Logf("the ids of this database are never given again: %d after %d", id, alex.account)
	}
	if seen := h.noticesOf("/api/notification/inbox", mira.byKey()...); len(seen) != 0 {
		t.Errorf("sees what was told of another account: %v", seen)
	}
}

// set changes a setting.
func (h *house) set(section, key string, value any) {
	h.t.Helper()
	if err := h.settings.Patch(h.t.Context(), map[string]map[string]any{section: {key: value}}); err != nil {
		h.t.Fatal(err)
	}
}
