package web_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/door/auth"
	"watchmark/internal/door/web"
	"watchmark/internal/engine/review"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/scope"
	"watchmark/internal/platform/secret"
	"watchmark/internal/record"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/notify/channel"
	"watchmark/internal/tell/summary"
	"watchmark/internal/watch"
)

// asPerson has the pages read by a person, who has an account, beside one of somebody else. It answers the ids of both.
func (g *rig) asPerson(t *testing.T) (own, other account.Account) {
	t.Helper()
	g.exec(t, `INSERT INTO people (id, name, role, password_hash, created_at, updated_at) VALUES (1, 'bench', 'owner', '', 0, 0), (?, 'mira', 'person', '', 0, 0), (3, 'alex', 'person', '', 0, 0)`, personOfRig)
	own = g.addAccount(t, account.Draft{Username: "mira", Method: account.ByToken, Tokens: token("secret-token-of-mira"), MediaUserNames: []string{"mira"}, Enabled: true})
	other = g.addAccount(t, account.Draft{Username: "alex", Method: account.ByToken, Tokens: token("secret-token-of-alex"), MediaUserNames: []string{"alex"}, Enabled: true})
	g.exec(t, `UPDATE accounts SET person_id = ? WHERE id = ?`, personOfRig, own.ID)
	g.exec(t, `UPDATE accounts SET person_id = 3 WHERE id = ?`, other.ID)
	g.role = auth.RolePerson
	return own, other
}

// asOwner is asPerson with the pages read by the owner of both.
func (g *rig) asOwner(t *testing.T) (one, another account.Account) {
	t.Helper()
	one, another = g.asPerson(t)
	g.role = auth.RoleOwner
	return one, another
}

// marked adds a record of an account.
func (g *rig) marked(t *testing.T, of account.Account, title string) int64 {
	t.Helper()
	id := g.insert(t, episode(watch.Plex, of.Username, title, "", 1, 1, ""), time.Now())
	g.write(t, func(ctx context.Context, tx *sql.Tx) error {
		return record.SettleTx(ctx, tx, record.Outcome{RecordID: id, AccountID: of.ID, Status: record.Success, Trace: []byte("{}")})
	})
	return id
}

// ownMessages has the pages read by a person who was told something and has a summary, beside one of somebody else and one of the owner. It
// answers the ids of a notice, of a channel and of a rule.
func (g *rig) ownMessages(t *testing.T) (notice, added, rule int64) {
	t.Helper()
	own, _ := g.asPerson(t)
	ctx := scope.In(t.Context(), scope.Of(personOfRig))
	c, err := g.notices.CreateChannel(ctx, notify.Channel{Type: channel.TypeWebhook, Name: "Phone of Mira", Enabled: true,
		Config: secret.Text(channel.Webhook{URL: "https://ntfy.example/x", Method: http.MethodPost}.Plain())})
	if err != nil {
		t.Fatal(err)
	}
	rules, err := g.notices.Rules(ctx)
	if err != nil {
		t.Fatal(err)
	}
	tell := func(kind notify.Kind, facts map[string]string) {
		g.notices.Add(t.Context(), notify.Notice{Kind: kind, User: own.Username, AccountID: own.ID, Account: own.Username, About: facts["title"], Facts: facts})
	}
	tell(notify.Marked, map[string]string{"title": "葬送的芙莉莲", "season": "1", "episode": "27", "subject_name": "葬送的芙莉莲", "source": "plex"})
	tell(notify.NotMatched, map[string]string{"title": "灯塔守望者", "season": "2", "episode": "7", "source": "jellyfin"})
	tell(notify.MarkFailed, map[string]string{"title": "迷宫饭", "season": "1", "episode": "12", "subject_name": "迷宫饭", "source": "plex"})
	entries, _, err := g.notices.List(ctx, notify.Filter{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	g.exec(t, `UPDATE deliveries SET state = 'failed', tries = 3, problem = ? WHERE notice_id = ?`, value("channel_receiver_answered", 400), entries[0].ID)
	if err := g.settings.Patch(t.Context(), map[string]map[string]any{"llm": {"base_url": "http://192.168.1.5:11434/v1", "model": "qwen3:8b"}}); err != nil {
		t.Fatal(err)
	}
	for ctx, d := range map[context.Context]summary.Draft{
		ctx:                                {Name: "evening", Enabled: true, Cron: "0 21 * * *", DaysBack: 1, Channels: []int64{c.ID}, SkipEmpty: true},
		scope.In(t.Context(), scope.Of(3)): {Name: "of-alex", Enabled: true, Cron: "0 21 * * *", DaysBack: 1},
		t.Context():                        {Name: "of-bench", Enabled: true, Cron: "0 21 * * *", DaysBack: 1},
	} {
		if _, err := g.summaries.Create(ctx, d); err != nil {
			t.Fatal(err)
		}
	}
	at := time.Now().Add(-2 * time.Hour)
	g.exec(t, `INSERT INTO summary_results (job_id, at, started_by, outcome, span_from, span_to, records, body, model, prompt_tokens, completion_tokens, problem)
		SELECT id, ?, 'cron', 'done', ?, ?, 2, ?, 'qwen3:8b', 912, 61, '' FROM summary_jobs WHERE name = 'evening'`, at.UnixMilli(), at.Add(-24*time.Hour).UnixMilli(), at.UnixMilli(), "Two episodes of 葬送的芙莉莲 before midnight.")
	return entries[0].ID, c.ID, rules[0].ID
}

func TestAPersonHasSummaries(t *testing.T) {
	g := newRig(t)
	g.ownMessages(t)
	in := g.client(t, true)
	for path, want := range map[string]struct {
		status int
		text   string
	}{
		"/messages":                    {http.StatusOK, `href="/messages/summaries"`},
		"/messages/summaries":          {http.StatusOK, `href="/messages/summaries/evening"`},
		"/messages/summaries/evening":  {http.StatusOK, "Two episodes of 葬送的芙莉莲"},
		"/messages/summaries/of-alex":  {http.StatusNotFound, ""},
		"/messages/summaries/of-bench": {http.StatusNotFound, ""},
	} {
		for _, lang := range []string{"en", "zh-CN"} {
			page := g.get(t, in, path, lang)
			if page.status != want.status || !strings.Contains(page.body, want.text) {
				t.Errorf("%s answers %d without %q", path, page.status, want.text)
			}
			if want.status != http.StatusOK {
				continue
			}
			for _, leak := range []string{"alex", "bench", "192.168.1.5", `href="/messages/llm"`, `href="/settings`, `id="airing"`} {
				if strings.Contains(page.body, leak) {
					t.Errorf("%s shows %s", path, leak)
				}
			}
		}
	}
	g.role = auth.RoleOwner
	if page := g.get(t, in, "/messages/summaries", "en"); strings.Contains(page.body, "summaries/evening") || !strings.Contains(page.body, "summaries/of-bench") || !strings.Contains(page.body, `id="airing"`) {
		t.Error("the owner sees the summary of a person, or not the own")
	}
}

func TestLiveTellsAPersonTheirOwn(t *testing.T) {
	g := newRig(t)
	own, other := g.asPerson(t)
	mine, theirs, unowned := g.marked(t, own, "one"), g.marked(t, other, "two"), g.insert(t, episode(watch.Plex, "visitor", "three", "", 1, 1, ""), time.Now())
	ago := time.Now().Add(-time.Hour).UnixMilli()
	g.exec(t, `UPDATE records SET updated_at = ? WHERE id = ?`, ago, mine)
	lines := g.listen(t)
	feed := g.records.Feed
	next := func(want ...string) {
		t.Helper()
		for _, line := range want {
			if got := nextLine(t, lines); got != line {
				t.Fatalf("is told %q, not %q", got, line)
			}
		}
	}
	feed.Publish(theirs)
	feed.Publish(unowned)
	feed.Publish(record.Arrival)
	feed.Publish(record.Anything)
	feed.Publish(987654)
	feed.Publish(theirs)
	feed.Publish(mine)
	next("event: records", fmt.Sprintf("data: [%d]", mine))

	// What was missed is told when something of one's own changed.
	g.exec(t, `UPDATE records SET updated_at = ? WHERE id = ?`, time.Now().UnixMilli(), mine)
	feed.Publish(record.Anything)
	next("event: anything")

	// Whose account it is counts when it is told.
	g.exec(t, `UPDATE records SET updated_at = ?`, ago)
	g.exec(t, `UPDATE accounts SET person_id = NULL WHERE id = ?`, own.ID)
	g.exec(t, `UPDATE accounts SET person_id = ? WHERE id = ?`, personOfRig, other.ID)
	feed.Publish(mine)
	feed.Publish(theirs)
	next("data:", "event: records", fmt.Sprintf("data: [%d]", theirs))
}

// Of more than one message holds, what is a person's own is told, and the rest makes no message.
func TestManyChangesOfOthers(t *testing.T) {
	g := newRig(t)
	own, other := g.asPerson(t)
	mine, theirs := g.marked(t, own, "one"), g.marked(t, other, "two")
	ctx := scope.In(t.Context(), scope.Of(personOfRig))
	changed := []int64{theirs, mine}
	for id := range int64(1000) {
		changed = append(changed, 10_000+id)
	}
	if told, anything := web.Heard(ctx, g.records, changed...); anything || !slices.Equal(told, []int64{mine}) {
		t.Errorf("is told of %v, or anything: %t", told, anything)
	}
	if told, anything := web.Heard(t.Context(), nil, changed...); !anything {
		t.Errorf("who is told everything hears of %d alone", len(told))
	}
}

func TestAPersonReadsTheirInbox(t *testing.T) {
	g := newRig(t)
	own, other := g.asPerson(t)
	in := g.client(t, true)
	tell := func(of account.Account, title string) int64 {
		g.notices.Add(t.Context(), notify.Notice{Kind: notify.MarkFailed, User: of.Username, AccountID: of.ID, Account: of.Username, RecordID: 1, About: title, Facts: map[string]string{"title": title}})
		entries, _, err := g.notices.List(t.Context(), notify.Filter{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		return entries[0].ID
	}
	mine, theirs := tell(own, "葬送的芙莉莲"), tell(other, "迷宫饭")
	g.notices.Add(t.Context(), notify.Notice{Kind: notify.NoAccount, User: "visitor", About: "visitor"})
	for path, status := range map[string]int{"/inbox": 200, "/inbox?view=all": 200, "/inbox?view=unread": 200, "/inbox?q=迷宫饭": 200, fmt.Sprintf("/inbox/%d", mine): 200, fmt.Sprintf("/inbox/%d", theirs): 404, "/inbox/4711": 404} {
		for _, lang := range []string{"en", "zh-CN"} {
			page := g.get(t, in, path, lang)
			if page.status != status {
				t.Errorf("%s answers %d", path, page.status)
			}
			for _, leak := range []string{fmt.Sprintf("notice-%d", theirs), "alex", "visitor", `href="/records"`, `href="/people`, `href="/settings`} {
				if strings.Contains(page.body, leak) {
					t.Errorf("%s shows %s", path, leak)
				}
			}
			if status == http.StatusOK && !strings.Contains(page.body, `<span aria-hidden="true">1</span>`) {
				t.Errorf("%s counts something else than the one own notice", path)
			}
		}
	}
	if page := g.get(t, in, "/inbox", "en"); !strings.Contains(page.body, "葬送的芙莉莲") || !strings.Contains(page.body, `data-live="/live"`) {
		t.Error("the own notice is missing, or the page is not live")
	}
}

func TestAPersonHasChannelsAndRules(t *testing.T) {
	g := newRig(t)
	g.asPerson(t)
	in := g.client(t, true)
	add := func(person int64, name string) (added, rule int64) {
		t.Helper()
		ctx := scope.In(t.Context(), scope.Of(person))
		if person == 0 {
			ctx = t.Context()
		}
		c, err := g.notices.CreateChannel(ctx, notify.Channel{Type: channel.TypeWebhook, Name: name, Enabled: true, Config: secret.Text(channel.Webhook{URL: "https://ntfy.example/x", Method: "POST"}.Plain())})
		if err != nil {
			t.Fatal(err)
		}
		rules, err := g.notices.Rules(ctx)
		if err != nil || len(rules) != 1 {
			t.Fatal(rules, err)
		}
		return c.ID, rules[0].ID
	}
	ofOwner, ruleOfOwner := add(0, "Phone of bench")
	mine, ruleOfMine := add(personOfRig, "Phone of mira")
	theirs, ruleOfTheirs := add(3, "Phone of alex")
	for path, status := range map[string]int{
		"/messages": 200, "/messages/channels/new?type=webhook": 200, "/messages/channels/new?type=email": 404, "/messages/rules/new": 200,
		fmt.Sprintf("/messages/channels/%d", mine): 200, fmt.Sprintf("/messages/channels/%d", theirs): 404, fmt.Sprintf("/messages/channels/%d", ofOwner): 404,
		fmt.Sprintf("/messages/rules/%d", ruleOfMine): 200, fmt.Sprintf("/messages/rules/%d", ruleOfTheirs): 404, fmt.Sprintf("/messages/rules/%d", ruleOfOwner): 404,
		"/messages/llm": 403,
	} {
		for _, lang := range []string{"en", "zh-CN"} {
			page := g.get(t, in, path, lang)
			if page.status != status {
				t.Errorf("%s answers %d", path, page.status)
			}
			for _, leak := range []string{"alex", "bench", `name="own_only"`, `href="/messages/channels/new?type=email"`, "login_locked", `href="/settings`, `href="/people"`, `href="/messages/llm"`} {
				if strings.Contains(page.body, leak) {
					t.Errorf("%s shows %s", path, leak)
				}
			}
		}
	}
	if page := g.get(t, in, "/messages", "en"); !strings.Contains(page.body, "Phone of mira") || !strings.Contains(page.body, "type=webhook") || !strings.Contains(page.body, `href="/messages" aria-current="page"`) {
		t.Error("the own channel, the way to another one or the door is missing")
	}
	g.role = auth.RoleOwner
	if page := g.get(t, in, "/messages", "en"); strings.Contains(page.body, "Phone of mira") || !strings.Contains(page.body, "Phone of bench") {
		t.Error("the owner sees the channels of a person, or not the own")
	}
	if page := g.get(t, in, "/messages/rules/new", "en"); !strings.Contains(page.body, `name="own_only"`) {
		t.Error("the owner cannot leave out what is people's")
	}
}

// waiting has records of two people wait for one question, beside mappings of each and one for all; it answers the records, the question and
// the mappings of both.
func (g *rig) waiting(t *testing.T, own, other account.Account) (records, mappings [2]int64, question int64) {
	t.Helper()
	for i, of := range []account.Account{own, other} {
		person := []int64{personOfRig, 3}[i]
		e := episode(watch.Plex, of.Username, "灯塔守望者", "of "+of.Username, 2, float64(7+i), "")
		records[i] = g.insert(t, e, time.Now())
		trace := reviewTrace()
		trace.Steps[0].Output = map[string]any{"accounts": []string{"mira", "alex"}}
		g.write(t, func(ctx context.Context, tx *sql.Tx) error {
			if _, err := review.AskTx(ctx, tx, record.Work{Record: record.Record{ID: records[i], UpdatedAt: time.Now()}, Event: e}, person, trace); err != nil {
				return err
			}
			if err := tx.QueryRowContext(ctx, `SELECT question_id FROM records WHERE id = ?`, records[i]).Scan(&question); err != nil {
				return err
			}
			return record.SettleTx(ctx, tx, record.Outcome{RecordID: records[i], AccountID: of.ID, AccountName: of.Username, Status: record.Review, Message: value("perhaps", "灯塔守望者 第二季", value("fits_title_similar")), Trace: encode(t, trace)})
		})
		ctx := scope.In(t.Context(), scope.Of(person))
		m, err := g.mappings.Create(ctx, mapping.Mapping{Title: "rule of " + of.Username, SubjectID: 265, SubjectName: "灯塔守望者", Origin: mapping.ByPerson})
		if err != nil {
			t.Fatal(err)
		}
		mappings[i] = m.ID
		if _, err := g.mappings.Block(ctx, mapping.Blocked{Keyword: "keyword of " + of.Username, Kind: mapping.Contains, Source: mapping.ByPerson}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := g.mappings.Create(t.Context(), mapping.Mapping{Title: "rule of the house", SubjectID: 266, Origin: mapping.ByPerson}); err != nil {
		t.Fatal(err)
	}
	return records, mappings, question
}

// strangers watch something without an account.
func (g *rig) strangers(t *testing.T, users ...string) {
	t.Helper()
	for _, user := range users {
		g.addRecord(t, episode(watch.Plex, user, "灯塔守望者", "", 1, 1, "2024-01-01"), time.Now(), record.Outcome{Status: record.Failed, ErrorKind: record.NoAccount}, account.Account{})
	}
}

// given has a person answer a question of their own.
func (g *rig) given(t *testing.T, person int64, of account.Account, title string) {
	t.Helper()
	e := episode(watch.Plex, of.Username, title, "", 1, 3, "")
	id := g.insert(t, e, time.Now())
	var question int64
	g.write(t, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := review.AskTx(ctx, tx, record.Work{Record: record.Record{ID: id, UpdatedAt: time.Now()}, Event: e}, person, reviewTrace()); err != nil {
			return err
		}
		if err := tx.QueryRowContext(ctx, `SELECT question_id FROM records WHERE id = ?`, id).Scan(&question); err != nil {
			return err
		}
		return record.SettleTx(ctx, tx, record.Outcome{RecordID: id, AccountID: of.ID, AccountName: of.Username, Status: record.Review, Trace: encode(t, reviewTrace())})
	})
	if _, err := g.questions.Confirm(scope.In(t.Context(), scope.Of(person)), question, 0, review.Choice{SubjectID: 265, Name: "灯塔守望者"}); err != nil {
		t.Fatal(err)
	}
}

// The owner sees what each person answered, and undoes it there; a person sees no answer of another.
func TestTheOwnerSeesTheAnswersOfPeople(t *testing.T) {
	g := newRig(t)
	own, other := g.asPerson(t)
	g.given(t, personOfRig, own, "灯塔守望者 II")
	g.given(t, 3, other, "灯塔守望者 III")
	in := g.client(t, true)
	for _, lang := range []string{"en", "zh-CN"} {
		if page := g.get(t, in, "/review", lang); strings.Contains(page.body, "alex") || strings.Contains(page.body, "灯塔守望者 III") || strings.Contains(page.body, "person_id=") || !strings.Contains(page.body, "灯塔守望者 II") {
			t.Errorf("a person sees %s", page.body)
		}
	}
	g.role = auth.RoleOwner
	for lang, confirm := range map[string]string{"en": "Undo the answer of alex to “灯塔守望者 III”?", "zh-CN": "撤销 alex 对“灯塔守望者 III”的答复？"} {
		page := g.get(t, in, "/review", lang)
		for _, text := range []string{confirm, "/undo?person_id=3", fmt.Sprintf("/undo?person_id=%d", personOfRig), "<bdi>mira</bdi>"} {
			if !strings.Contains(page.body, text) {
				t.Errorf("the owner's page lacks %s", text)
			}
		}
	}
}

func TestAPersonAnswersAndMapsOnTheSamePages(t *testing.T) {
	g := newRig(t)
	own, other := g.asPerson(t)
	records, mappings, question := g.waiting(t, own, other)
	in := g.client(t, true)
	for path, want := range map[string]struct {
		status int
		text   string
	}{
		"/review":                              {http.StatusOK, "of mira"},
		"/titles":                              {http.StatusOK, "rule of mira"},
		"/titles/blocked":                      {http.StatusOK, "keyword of mira"},
		"/titles?q=rule":                       {http.StatusOK, "rule of mira"},
		"/titles/new":                          {http.StatusOK, "mapping-form"},
		"/titles/import":                       {http.StatusOK, "rules-import"},
		"/titles/4711":                         {http.StatusNotFound, ""},
		"/records/4711":                        {http.StatusNotFound, ""},
		"/mine":                                {http.StatusOK, fmt.Sprintf(`href="/records/%d"`, records[0])},
		fmt.Sprintf("/titles/%d", mappings[0]): {http.StatusOK, "rule of mira"},
		fmt.Sprintf("/titles/%d", mappings[1]): {http.StatusNotFound, ""},
		fmt.Sprintf("/records/%d", records[0]): {http.StatusOK, fmt.Sprintf("#question-%d", question)},
		fmt.Sprintf("/records/%d", records[1]): {http.StatusNotFound, ""},
	} {
		for _, lang := range []string{"en", "zh-CN"} {
			page := g.get(t, in, path, lang)
			if page.status != want.status || !strings.Contains(page.body, want.text) {
				t.Errorf("%s answers %d without %q", path, page.status, want.text)
			}
			for _, leak := range []string{"alex", "of the house", `href="/people"`, `href="/settings`, `href="/records"`, "/share", "data-whom", `href="/titles/archive"`, `name="personal"`} {
				if strings.Contains(page.body, leak) {
					t.Errorf("%s shows %s", path, leak)
				}
			}
		}
	}
	g.role = auth.RoleOwner
	for path, texts := range map[string][]string{
		"/titles":                              {"only for alex", "only for mira", "rule of the house", fmt.Sprintf(`/api/mappings/%d/share`, mappings[1])},
		"/titles/blocked":                      {"only for alex", "keyword of mira"},
		"/review":                              {"data-whom", "alex only", "mira only", "2 records"},
		fmt.Sprintf("/titles/%d", mappings[1]): {"only for alex", "/share"},
		fmt.Sprintf("/records/%d", records[1]): {`name="personal"`, `href="/records"`},
	} {
		page := g.get(t, in, path, "en")
		for _, text := range texts {
			if !strings.Contains(page.body, text) {
				t.Errorf("the owner's %s lacks %q", path, text)
			}
		}
	}
}
