package app_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/tell/notify"
)

// badges are the numbers at the doors of the navigation: what failed, questions, and notices.
type badges struct{ Failed, Asked, Notices int }

var badge = regexp.MustCompile(`class="badge (error|review|notice)" title="(\d+)`)

// ofRecord is in a notice that leads to a record.
var ofRecord = regexp.MustCompile(`href="/records/\d`)

var recordRow = regexp.MustCompile(`id="record-\d+"`)

// badgesOn are those that a page shows.
func badgesOn(page string) (b badges) {
	for _, m := range badge.FindAllStringSubmatch(page, -1) {
		*map[string]*int{"error": &b.Failed, "review": &b.Asked, "notice": &b.Notices}[m[1]], _ = strconv.Atoi(m[2])
	}
	return b
}

// shown counts what the pages behind the badges show as open: failed records and users without an account, questions, and unread notices that
// need somebody, but for those of what another of these pages shows.
func shown(get func(path string) answer) (b badges) {
	records, isOwner := get("/records?status=error"), true
	if records.status == http.StatusForbidden {
		isOwner = false
	} else {
		unrouted, _, _ := strings.Cut(records.body, `id="ignored"`)
		b.Failed = len(recordRow.FindAllString(records.body, -1)) + strings.Count(unrouted, `class="line user-line"`)
	}
	b.Asked = strings.Count(get("/review").body, `class="card question" id="question-`)
	for _, row := range strings.Split(get("/inbox?view=attention").body, `<li class="line`)[1:] {
		if strings.HasPrefix(row, " unread") && !strings.Contains(row, `href="/review"`) && (!isOwner || !ofRecord.MatchString(row)) {
			b.Notices++
		}
	}
	return b
}

// Each matter is counted once, by the page that shows it, for whoever it concerns, and no more once it is settled.
func TestEveryBadgeCountsWhatItsPageShows(t *testing.T) {
	t.Parallel()
	s := startEmpty(t)
	if err := s.app.SetUp(t.Context(), "bench", password); err != nil {
		t.Fatal(err)
	}
	mira, alex := s.joins("mira", miraToken), s.joins("alex", alexToken)
	s.api(http.MethodPost, "/api/people", `{"name":"visitor","role":"guest","media_user_names":["visitor"]}`, http.StatusCreated, nil)
	plays := func(user, title string, episode int) func(t *testing.T) {
		return func(*testing.T) {
			s.settled(s.custom(fmt.Sprintf(`{"title":%q,"season":1,"episode":%d,"user_name":%q}`, title, episode, user)))
		}
	}
	answers := func(of member) func(t *testing.T) {
		return func(t *testing.T) {
			open := s.questions()
			if len(open) != 1 {
				t.Fatalf("the questions are %+v", open)
			}
			of.want(http.MethodPost, fmt.Sprintf("/api/pending-candidates/%d/confirm", open[0].ID), `{"subject_id":900014}`, http.StatusAccepted)
			s.wait("the records of the answer", func() bool {
				return !strings.Contains(of.as(http.MethodGet, "/api/records?status=review", "").body, `"id":`)
			})
		}
	}
	tells := func(n notify.Notice) func(t *testing.T) {
		return func(t *testing.T) { s.app.Notices.Add(t.Context(), n) }
	}
	for _, c := range []struct {
		name              string
		happens           func(t *testing.T)
		owner, mira, alex badges
	}{
		{"nothing", func(*testing.T) {}, badges{}, badges{}, badges{}},
		{"what is marked", plays("mira", "灯塔守望者", 1), badges{}, badges{}, badges{}},
		{"an episode that is not there", plays("mira", "灯塔守望者", 77), badges{Failed: 1}, badges{Notices: 1}, badges{}},
		{"it again", plays("mira", "灯塔守望者", 77), badges{Failed: 2}, badges{Notices: 1}, badges{}},
		{"a question", plays("mira", "Moonshade Teahouse", 1), badges{Failed: 2, Asked: 1}, badges{Asked: 1, Notices: 1}, badges{}},
		{"another play that asks it", plays("mira", "Moonshade Teahouse", 2), badges{Failed: 2, Asked: 1}, badges{Asked: 1, Notices: 1}, badges{}},
		{"the same question of another", plays("alex", "Moonshade Teahouse", 1), badges{Failed: 2, Asked: 1}, badges{Asked: 1, Notices: 1}, badges{Asked: 1}},
		{"a user without an account", plays("Sofa TV", "灯塔守望者", 1), badges{Failed: 3, Asked: 1}, badges{Asked: 1, Notices: 1}, badges{Asked: 1}},
		{"that user again", plays("Sofa TV", "灯塔守望者", 2), badges{Failed: 3, Asked: 1}, badges{Asked: 1, Notices: 1}, badges{Asked: 1}},
		{"a guest", plays("visitor", "灯塔守望者", 1), badges{Failed: 3, Asked: 1}, badges{Asked: 1, Notices: 1}, badges{Asked: 1}},
		{"one answers", answers(mira), badges{Failed: 3, Asked: 1}, badges{Notices: 1}, badges{Asked: 1}},
		{"the other one, too", answers(alex), badges{Failed: 3}, badges{Notices: 1}, badges{}},
		{"the user is one of alex", func(*testing.T) {
			var started struct {
				TaskID int64 `json:"task_id"`
			}
			s.api(http.MethodPost, "/api/unknown-users/assign", `{"name":"Sofa TV","account_id":2}`, http.StatusAccepted, &started)
			s.taskEnds(started.TaskID)
		}, badges{Failed: 2}, badges{Notices: 1}, badges{}},
		{"a token that Bangumi refuses", tells(notify.Notice{Kind: notify.TokenDead, AccountID: 2, Account: "alex"}), badges{Failed: 2}, badges{Notices: 1}, badges{Notices: 1}},
		{"a job that fails", tells(notify.Notice{Kind: notify.JobFailed, About: "backup"}), badges{Failed: 2, Notices: 1}, badges{Notices: 1}, badges{Notices: 1}},
		{"the token is accepted", tells(notify.Notice{Kind: notify.TokenDead, AccountID: 2, Account: "alex", Over: true}), badges{Failed: 2, Notices: 1}, badges{Notices: 1}, badges{}},
		{"a summary of mira's fails", tells(notify.Notice{Kind: notify.JobFailed, Person: mira.id, About: "summary daily"}), badges{Failed: 2, Notices: 1}, badges{Notices: 2}, badges{}},
		{"the summary is written", tells(notify.Notice{Kind: notify.JobFailed, Person: mira.id, About: "summary daily", Over: true}), badges{Failed: 2, Notices: 1}, badges{Notices: 1}, badges{}},
		{"whether a mark of alex is to be taken back", tells(notify.Notice{Kind: notify.UnwatchedAsks, AccountID: 2, Account: "alex"}), badges{Failed: 2, Notices: 1}, badges{Notices: 1}, badges{Notices: 1}},
		{"more of that", tells(notify.Notice{Kind: notify.UnwatchedAsks, AccountID: 2, Account: "alex"}), badges{Failed: 2, Notices: 1}, badges{Notices: 1}, badges{Notices: 1}},
		{"alex has answered", tells(notify.Notice{Kind: notify.UnwatchedAsks, AccountID: 2, Account: "alex", Over: true}), badges{Failed: 2, Notices: 1}, badges{Notices: 1}, badges{}},
		{"a question for a rating, which needs nobody", tells(notify.Notice{Kind: notify.WordAsked, AccountID: 2, Account: "alex", About: "900001"}), badges{Failed: 2, Notices: 1}, badges{Notices: 1}, badges{}},
		{"Bangumi is away", tells(notify.Notice{Kind: notify.CatalogUnreachable}), badges{Failed: 2, Notices: 2}, badges{Notices: 1}, badges{}},
		{"Bangumi is back", tells(notify.Notice{Kind: notify.CatalogUnreachable, Over: true}), badges{Failed: 2, Notices: 1}, badges{Notices: 1}, badges{}},
		{"mira tries the episode again", func(t *testing.T) {
			mira.want(http.MethodPost, "/api/mappings", `{"title":"灯塔守望者","season":1,"subject_id":900001,"episode_offset":-70}`, http.StatusCreated)
			for _, r := range list[recordView](s, "/api/records?status=error&limit=200") {
				if r.UserName == "mira" {
					mira.want(http.MethodPost, fmt.Sprintf("/api/records/%d/retry", r.ID), "", http.StatusAccepted)
					s.settled(r.ID)
				}
			}
			s.idle()
		}, badges{Notices: 1}, badges{}, badges{}},
		{"the owner has read", func(*testing.T) {
			s.api(http.MethodPost, "/api/notification/inbox/read", `{"up_to":1000}`, http.StatusNoContent, nil)
		}, badges{}, badges{}, badges{}},
	} {
		c.happens(t)
		for _, who := range []struct {
			name string
			get  func(path string) answer
			want badges
		}{
			{"the owner", s.get, c.owner},
			{"mira", func(path string) answer { return mira.as(http.MethodGet, path, "") }, c.mira},
			{"alex", func(path string) answer { return alex.as(http.MethodGet, path, "") }, c.alex},
		} {
			if diff := cmp.Diff(who.want, badgesOn(who.get("/review").body)); diff != "" {
				t.Errorf("%s: the badges of %s (-want +got):\n%s", c.name, who.name, diff)
			}
			if diff := cmp.Diff(who.want, shown(who.get)); diff != "" {
				t.Errorf("%s: the pages of %s (-want +got):\n%s", c.name, who.name, diff)
			}
		}
		if t.Failed() {
			return
		}
	}
}
