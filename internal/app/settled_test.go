package app_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"watchmark/internal/testkit/catalogtest"
)

// openMatters are the kinds of the notices that ask for somebody and are not settled, of everybody, in alphabetical order.
func (s *service) openMatters() string {
	s.t.Helper()
	open := []string{}
	for _, n := range list[struct {
		Kind, Severity string
		Replaced       bool
		SettledAt      *string `json:"settled_at"`
	}](s, "/api/notification/inbox?limit=200") {
		if (n.Severity == "warning" || n.Severity == "error") && !n.Replaced && n.SettledAt == nil {
			open = append(open, n.Kind)
		}
	}
	slices.Sort(open)
	return strings.Join(open, " ")
}

// What people were told of closes by itself, whichever way its matter is settled, and is open again where that is taken back.
func TestANoticeClosesWhenItsMatterIsSettled(t *testing.T) {
	t.Parallel()
	// rig is a house of mira, whose account is 1, and alex, whose account is 2.
	type rig struct {
		*service
		mira, alex member
	}
	const (
		sofa, review, episode, title = "no_account", "review_waiting", "episode_not_found", "not_matched"
		stranger                     = `{"title":"灯塔守望者","season":1,"episode":1,"user_name":"Sofa TV"}`
		missing                      = `{"title":"灯塔守望者","season":1,"episode":77,"user_name":"mira"}`
		unknown                      = `{"title":"无人知晓的节目","season":1,"episode":1,"user_name":"mira"}`
	)
	asks := func(user string) string {
		return fmt.Sprintf(`{"title":"Moonshade Teahouse","season":1,"episode":1,"user_name":%q}`, user)
	}
	task := func(r rig, method, path, body string) {
		var started struct {
			TaskID int64 `json:"task_id"`
		}
		r.api(method, path, body, http.StatusAccepted, &started)
		if end := r.taskEnds(started.TaskID).body; !strings.Contains(end, `"state":"done"`) {
			t.Errorf("%s ends as %s", path, end)
		}
	}
	question := func(r rig) string { return fmt.Sprintf("/api/pending-candidates/%d", r.questions()[0].ID) }
	for _, c := range []struct {
		name    string
		watched []string
		open    string
		settle  func(r rig)
		left    string
		// back takes settle back, where it can be, and then is what is open again.
		back func(r rig)
		then string
	}{
		{"a user is assigned, and that undone", []string{stranger, stranger}, sofa, func(r rig) {
			task(r, http.MethodPost, "/api/unknown-users/assign", `{"name":"Sofa TV","account_id":1}`)
		}, "", func(r rig) { r.undoes(fmt.Sprintf(`{"task_id":%d}`, r.taskOf("assign_user"))) }, sofa},
		{"a user is assigned whose plays fail otherwise, and that undone", []string{strings.Replace(stranger, `"episode":1`, `"episode":77`, 1)}, sofa, func(r rig) {
			task(r, http.MethodPost, "/api/unknown-users/assign", `{"name":"Sofa TV","account_id":1}`)
		}, episode, func(r rig) { r.undoes(fmt.Sprintf(`{"task_id":%d}`, r.taskOf("assign_user"))) }, sofa},
		{"a user is ignored, and heeded", []string{stranger}, sofa, func(r rig) {
			r.api(http.MethodPost, "/api/ignored-users", `{"name":"Sofa TV"}`, http.StatusNoContent, nil)
		}, "", func(r rig) {
			r.api(http.MethodDelete, "/api/ignored-users?name=Sofa+TV", "", http.StatusNoContent, nil)
		}, sofa},
		{"an account is given the user", []string{stranger}, sofa, func(r rig) {
			r.api(http.MethodPost, "/api/accounts/1/media_user_names", `{"name":"Sofa TV"}`, http.StatusOK, nil)
		}, "", nil, ""},
		{"an account is changed to name the user", []string{stranger}, sofa, func(r rig) {
			r.api(http.MethodPatch, "/api/accounts/1", `{"media_user_names":["mira","Sofa TV"]}`, http.StatusOK, nil)
		}, "", func(r rig) {
			r.api(http.MethodPatch, "/api/accounts/1", `{"media_user_names":["mira"]}`, http.StatusOK, nil)
			r.settled(r.custom(stranger))
		}, sofa},
		{"the owner has an account that names the user", []string{stranger}, sofa, func(r rig) {
			r.list.SetUser(catalogtest.User{Username: "bench", Token: tokenIn("bench")})
			r.api(http.MethodPost, "/api/accounts", fmt.Sprintf(`{"username":"bench","access_token":%q,"media_user_names":["Sofa TV"]}`, tokenIn("bench")), http.StatusCreated, nil)
		}, "", nil, ""},
		{"the user is a new guest", []string{stranger}, sofa, func(r rig) {
			r.api(http.MethodPost, "/api/people", `{"name":"visitor","role":"guest","media_user_names":["Sofa TV"]}`, http.StatusCreated, nil)
		}, "", nil, ""},
		{"the user is a guest's", []string{stranger}, sofa, func(r rig) {
			r.api(http.MethodPost, "/api/people", `{"name":"visitor","role":"guest"}`, http.StatusCreated, nil)
			r.api(http.MethodPatch, "/api/people/4", `{"media_user_names":["Sofa TV"]}`, http.StatusOK, nil)
		}, "", nil, ""},
		{"the person who is the user becomes a guest", []string{stranger}, sofa, func(r rig) {
			r.api(http.MethodPost, "/api/people", `{"name":"visitor","role":"person","media_user_names":["Sofa TV"]}`, http.StatusCreated, nil)
			r.api(http.MethodPatch, "/api/people/4", `{"role":"guest"}`, http.StatusOK, nil)
		}, "", nil, ""},
		{"the user is one of a person who adds an account", []string{stranger}, sofa, func(r rig) {
			r.list.SetUser(catalogtest.User{Username: "xela", Token: tokenIn("xela")})
			id, token := r.invites("xela", "Sofa TV")
			session, _ := r.enters("/api/invitation", `{"token":%q,"password":%q}`, token, password)
			member{s: r.service, id: id, cookie: session}.connectsAccount("xela", tokenIn("xela"))
			r.become([]int64{1}, "success")
		}, "", nil, ""},
		{"a person answers, and takes it back", []string{asks("mira")}, review, func(r rig) {
			r.mira.want(http.MethodPost, question(r)+"/confirm", `{"subject_id":900014}`, http.StatusAccepted)
			r.become([]int64{1}, "success")
		}, "", func(r rig) {
			r.mira.want(http.MethodPost, "/api/pending-candidates/1/undo", "", http.StatusAccepted)
			r.become([]int64{1}, "review")
		}, review},
		{"one of two answers", []string{asks("mira"), asks("alex")}, review + " " + review, func(r rig) {
			r.mira.want(http.MethodPost, question(r)+"/confirm", `{"subject_id":900014}`, http.StatusAccepted)
			r.become([]int64{1}, "success")
		}, review, nil, ""},
		{"the owner answers for all", []string{asks("mira"), asks("alex")}, review + " " + review, func(r rig) {
			r.api(http.MethodPost, question(r)+"/confirm", `{"subject_id":900014}`, http.StatusAccepted, nil)
			r.become([]int64{1, 2}, "success")
		}, "", nil, ""},
		{"a title is rejected", []string{asks("mira")}, review, func(r rig) {
			r.mira.want(http.MethodPost, question(r)+"/reject", "", http.StatusAccepted)
			r.become([]int64{1}, "ignored")
		}, "", nil, ""},
		{"a person puts the question off", []string{asks("mira"), asks("alex")}, review + " " + review, func(r rig) {
			r.mira.want(http.MethodDelete, question(r), "", http.StatusNoContent)
		}, review, func(r rig) { r.settled(r.custom(asks("mira"))) }, review + " " + review},
		{"the owner puts the question off", []string{asks("mira"), asks("alex")}, review + " " + review, func(r rig) {
			r.api(http.MethodDelete, question(r), "", http.StatusNoContent, nil)
		}, "", func(r rig) { r.settled(r.custom(asks("mira"))) }, review},
		{"a mapping settles it, and the next play", []string{asks("mira")}, review, func(r rig) {
			r.mira.want(http.MethodPost, "/api/mappings", `{"title":"Moonshade Teahouse","subject_id":900013}`, http.StatusCreated)
			task(r, http.MethodPost, "/api/records/1/retry", "")
		}, "", nil, ""},
		{"it is corrected, and that undone", []string{missing}, episode, func(r rig) {
			r.mira.want(http.MethodPost, "/api/records/1/correct", `{"subject_id":900001,"episode_offset":-76}`, http.StatusAccepted)
			r.idle()
			r.become([]int64{1}, "success")
		}, "", func(r rig) {
			r.mira.want(http.MethodPost, "/api/records/1/correction/undo", "", http.StatusAccepted)
			r.idle()
			r.become([]int64{1}, "error")
		}, episode},
		{"an episode is mapped, and retried", []string{missing, missing}, episode, func(r rig) {
			r.mira.want(http.MethodPost, "/api/mappings", `{"title":"灯塔守望者","season":1,"subject_id":900001,"episode_offset":-76}`, http.StatusCreated)
			task(r, http.MethodPost, "/api/records/2/retry", "")
		}, "", nil, ""},
		{"a title is mapped, and retried", []string{unknown}, title, func(r rig) {
			r.mira.want(http.MethodPost, "/api/mappings", `{"title":"无人知晓的节目","subject_id":900001}`, http.StatusCreated)
			task(r, http.MethodPost, "/api/records/1/retry", "")
		}, "", nil, ""},
		{"a title is blocked, and retried", []string{unknown}, title, func(r rig) {
			r.mira.want(http.MethodPost, "/api/blocked-keywords", `{"keyword":"无人知晓的节目","kind":"exact"}`, http.StatusCreated)
			task(r, http.MethodPost, "/api/records/1/retry", "")
		}, "", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := startEmpty(t, "WATCHMARK_MATCHING_DATASET_ENABLED=false")
			if err := s.app.SetUp(t.Context(), "bench", password); err != nil {
				t.Fatal(err)
			}
			r := rig{s, s.joins("mira", miraToken), s.joins("alex", alexToken)}
			for _, body := range c.watched {
				s.settled(s.custom(body))
			}
			is := func(when, want string) {
				t.Helper()
				if got := s.openMatters(); got != want {
					t.Errorf("%s %q is open, not %q", when, got, want)
				}
			}
			is("at first", c.open)
			c.settle(r)
			is("then", c.left)
			if c.back != nil {
				c.back(r)
				is("taken back,", c.then)
			}
		})
	}
}
