package api_test

import (
	"fmt"
	"slices"
	"testing"

	"watchmark/internal/platform/scope"
	"watchmark/internal/tell/notify"
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
