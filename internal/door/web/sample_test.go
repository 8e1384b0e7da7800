package web_test

import (
	"cmp"
	"context"
	"database/sql"
	"math/rand/v2"
	"testing"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/catalog/cover"
	"watchmark/internal/engine/queue"
	"watchmark/internal/engine/review"
	"watchmark/internal/match"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/reason"
	"watchmark/internal/record"
	"watchmark/internal/record/webhooklog"
	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/watch"
)

// sample is what a household's service might hold: records in every state, accounts in
// every health, requests of most sources.
type sample struct {
	success, review, noAccount, queued, hostile int64
	question                                    int64 // that review asks
}

const hostileTitle = `<script>alert(1)</script>" onmouseover="x`

func (g *rig) fill(t testing.TB) sample {
	t.Helper()
	ctx, now := t.Context(), time.Now()
	g.exec(t, `INSERT INTO ignored_users (name, ignored_at) VALUES ('Guest', ?)`, now.Add(-50*time.Hour).UnixMilli())
	mira := g.addAccount(t, account.Draft{Username: "mira", Nickname: "米拉", CatalogUserID: 7001, Method: account.ByOAuth, Tokens: token("secret-token-of-mira"),
		MediaUserNames: []string{"mira", "Mira TV"}, Enabled: true, Preferred: true, CompleteFilms: true})
	expired := token("secret-token-of-bench")
	expired.ExpiresAt = now.Add(-30 * time.Hour)
	g.addAccount(t, account.Draft{Username: "bench", Method: account.ByToken, Tokens: expired, MediaUserNames: []string{"bench"}, Enabled: true, Private: true, CompleteFilms: true, DryRun: true})
	g.addAccount(t, account.Draft{Username: "alex", Method: account.ByToken, Tokens: token("secret-token-of-alex"), Enabled: false})
	if err := g.accounts.SetOwner(ctx, mira.ID, catalog.User{ID: 7001, Username: "mira", Nickname: "米拉"}); err != nil {
		t.Fatal(err)
	}
	g.covers = map[catalog.SubjectID]cover.Image{}
	for _, id := range []catalog.SubjectID{400602, 395378, 362577, 413741, 900002, 900005, 900021, 900022, 900031} {
		g.covers[id] = cover.Image{Type: "image/jpeg", Data: catalogtest.DrawCover(id, 200), At: now.Add(-48 * time.Hour)}
	}
	g.network = networkSample(now)
	g.logLines()
	g.down = now.Add(-25 * time.Minute)

	var s sample
	g.addRecord(t, episode(watch.Emby, "mira", "葬送的芙莉莲", "葬送のフリーレン", 1, 3, "2023-10-06"), now.Add(-50*time.Hour), record.Outcome{
		Status: record.Success, SubjectName: "葬送的芙莉莲", SubjectID: 400602, EpisodeID: 1227089, EpisodeSort: num(3), Method: "api", Confidence: 1, Message: value("marked")}, mira)
	s.hostile = g.addRecord(t, episode(watch.Custom, "mira", hostileTitle, "", 1, 1, ""), now.Add(-27*time.Hour), record.Outcome{
		Status: record.Failed, ErrorKind: record.NotMatched, Message: value("nothing_fits", value("title", hostileTitle))}, mira)
	g.addRecord(t, episode(watch.Plex, "mira", "迷宫饭", "ダンジョン飯", 1, 12, "2024-03-21"), now.Add(-9*time.Hour), record.Outcome{
		Status: record.Success, SubjectName: "迷宫饭", SubjectID: 395378, EpisodeID: 1277790, EpisodeSort: num(12), Method: "api", Confidence: .97, Message: value("marked")}, mira)
	g.addRecord(t, episode(watch.Jellyfin, "mira", "购物频道", "", 1, 120, ""), now.Add(-5*time.Hour), record.Outcome{
		Status: record.Ignored, Message: value("keyword_blocks", "购物")}, mira)
	g.addRecord(t, film(watch.Plex, "mira", "铃芽之旅", "すずめの戸締まり", "2022-11-11"), now.Add(-4*time.Hour), record.Outcome{
		Status: record.Success, SubjectName: "铃芽之旅", SubjectID: 362577, Method: "mapping", Confidence: 1, Message: value("marked_last")}, mira)
	g.addRecord(t, episode(watch.Tautulli, "bench", "孤独摇滚！", "ぼっち・ざ・ろっく！", 1, 8, "2022-11-27"), now.Add(-3*time.Hour), record.Outcome{
		Status: record.Failed, SubjectName: "孤独摇滚！", SubjectID: 328609, EpisodeID: 1127440, EpisodeSort: num(8), Method: "api", Confidence: .99, ErrorKind: record.Unauthorized,
		Message: value("mark_token_refused", "bench", "")}, account.Account{Username: "bench"})
	s.noAccount = g.addRecord(t, episode(watch.Emby, " Gäste ", "灵能百分百", "モブサイコ100", 3, 1, "2022-10-05"), now.Add(-95*time.Minute), record.Outcome{
		Status: record.Failed, ErrorKind: record.NoAccount, Message: value("no_account", " Gäste ")}, account.Account{})
	season := 1
	g.ask(t, "彩虹放送局", "", &season, now.Add(-3*time.Hour), []float64{1, 2, 3, 4}, watch.Plex, watch.Episode, wideCandidates()...)
	g.ask(t, "铃芽", "すずめの戸締まり", nil, now.Add(-2*time.Hour), nil, watch.Emby, watch.Movie, reviewTrace().Steps[1].Candidates...)
	decided := g.ask(t, "发条王国", "", &season, now.Add(-90*time.Minute), []float64{1}, watch.Emby, watch.Episode, reviewTrace().Steps[1].Candidates...)
	if _, err := g.questions.Confirm(ctx, decided, 0, review.Choice{SubjectID: 900015, Name: "发条王国"}); err != nil {
		t.Fatal(err)
	}
	early := g.ask(t, "购物频道 特别节目", "", &season, now.Add(-80*time.Minute), []float64{1}, watch.Emby, watch.Episode)
	if _, err := g.questions.Reject(ctx, early, 0); err != nil {
		t.Fatal(err)
	}
	g.write(t, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE pending_candidates SET updated_at = updated_at - 7200000 WHERE id = ?`, early)
		return err
	})
	g.rule(t)
	s.review = g.addRecord(t, episode(watch.Jellyfin, "Mira TV", "灯塔守望者", "", 2, 7, "2024-05-19"), now.Add(-40*time.Minute), record.Outcome{
		Status: record.Review, Method: "api", Confidence: .61, Message: value("perhaps", "灯塔守望者 第二季", []reason.Reason{value("fits_title"), value("fits_on_air_near")}), Trace: encode(t, reviewTrace())}, mira)
	s.question = g.asks(t, s.review, episode(watch.Jellyfin, "Mira TV", "灯塔守望者", "", 2, 7, "2024-05-19"), reviewTrace())
	s.queued = g.addRecord(t, episode(watch.Plex, "mira", "间谍过家家", "SPY×FAMILY", 2, 4, "2023-10-28"), now.Add(-21*time.Minute), record.Outcome{
		Status: record.Queued, SubjectName: "间谍过家家 Season 2", SubjectID: 413741, EpisodeID: 1237821, EpisodeSort: num(29), Method: "api", Confidence: .95, ErrorKind: record.Unreachable,
		Message: value("waits", value("outage"))}, mira)
	s.success = g.addRecord(t, episode(watch.Plex, "mira", "葬送的芙莉莲", "葬送のフリーレン", 1, 26, "2024-03-08"), now.Add(-6*time.Minute), record.Outcome{
		Status: record.Success, SubjectName: "葬送的芙莉莲", SubjectID: 400602, EpisodeID: 1227112, EpisodeSort: num(26), Method: "api", Confidence: .98,
		Message: value("marked"), Trace: encode(t, successTrace()), Mark: &record.Written{}}, mira)
	g.addRecord(t, episode(watch.Plex, "mira", "葬送的芙莉莲", "葬送のフリーレン", 1, 27, "2024-03-15"), now.Add(-20*time.Second), record.Outcome{Status: record.Processing}, mira)
	g.insert(t, episode(watch.Plex, "mira", "葬送的芙莉莲", "葬送のフリーレン", 1, 28, "2024-03-22"), now.Add(-2*time.Second))

	for _, e := range []webhooklog.Entry{
		{At: now.Add(-26 * time.Hour), Source: watch.Custom, Status: 400, Reason: value("webhook_field", "episode", value("event_missing")), UserName: "mira", Title: "灯塔守望者"},
		{At: now.Add(-95 * time.Minute), Source: watch.Emby, Status: 202, Reason: value("accepted"), UserName: " Gäste ", Title: "灵能百分百", RecordIDs: []int64{s.noAccount}},
		{At: now.Add(-70 * time.Minute), Source: watch.Plex, Status: 401, Reason: value("webhook_key")},
		{At: now.Add(-40 * time.Minute), Source: watch.Jellyfin, Status: 202, Reason: value("accepted"), UserName: "Mira TV", Title: "灯塔守望者", RecordIDs: []int64{s.review}},
		{At: now.Add(-12 * time.Minute), Source: watch.Plex, Status: 200, Reason: value("webhook_not_finished", "media.pause"), UserName: "mira", Title: "葬送的芙莉莲"},
		{At: now.Add(-6 * time.Minute), Source: watch.Plex, Status: 202, Reason: value("accepted"), UserName: "mira", Title: "葬送的芙莉莲", RecordIDs: []int64{s.success},
			Remote: "192.168.1.20", ContentType: "application/json", Body: `{"event":"media.scrobble","user":true,"Account":{"title":"mira"},"token":"***","Metadata":{"grandparentTitle":"葬送的芙莉莲","parentIndex":1,"index":26}}`},
	} {
		g.write(t, func(ctx context.Context, tx *sql.Tx) error { return webhooklog.InsertTx(ctx, tx, e) })
	}
	return s
}

// calm fills the rig with a household in which all is well but for one title; show is a record with a trace.
func (g *rig) calm(t testing.TB) (show int64) {
	t.Helper()
	g.year(t)
	now := time.Now()
	mira := g.addAccount(t, account.Draft{Username: "mira", Method: account.ByOAuth, Tokens: token("secret-token-of-mira"), MediaUserNames: []string{"mira", "Mira TV"}, Enabled: true, Preferred: true})
	alex := g.addAccount(t, account.Draft{Username: "alex", Method: account.ByToken, Tokens: token("secret-token-of-alex"), MediaUserNames: []string{"alex"}, Enabled: true})
	g.covers = map[catalog.SubjectID]cover.Image{}
	for i, c := range []struct {
		source          watch.Source
		who             account.Account
		title, original string
		subject         catalog.SubjectID
		number          float64
		hours           int
	}{
		{watch.Tautulli, alex, "孤独摇滚！", "ぼっち・ざ・ろっく！", 328609, 8, 29},
		{watch.Jellyfin, alex, "摇曳露营△", "ゆるキャン△", 207195, 3, 26},
		{watch.NAS, mira, "灵能百分百", "モブサイコ100", 155738, 11, 22},
		{watch.Device, mira, "间谍过家家", "SPY×FAMILY", 329906, 4, 9},
		{watch.Emby, alex, "迷宫饭", "ダンジョン飯", 395378, 12, 5},
		{watch.Plex, mira, "药屋少女的呢喃", "薬屋のひとりごと", 900031, 24, 2},
		{watch.Plex, mira, "葬送的芙莉莲", "葬送のフリーレン", 400602, 26, 0},
	} {
		at := now.Add(-time.Duration(c.hours)*time.Hour - 6*time.Minute)
		show = g.addRecord(t, episode(c.source, c.who.Username, c.title, c.original, 1, c.number, "2024-03-08"), at, record.Outcome{Status: record.Success, SubjectName: c.title, SubjectID: c.subject,
			EpisodeID: catalog.EpisodeID(1227086 + i), EpisodeSort: num(c.number), Method: "api", Confidence: .98, Message: value("marked"), Trace: encode(t, successTrace()), Mark: &record.Written{}}, c.who)
		g.write(t, func(ctx context.Context, tx *sql.Tx) error {
			return webhooklog.InsertTx(ctx, tx, webhooklog.Entry{At: at, Source: c.source, Status: 202, Reason: value("accepted"), UserName: c.who.Username, Title: c.title, RecordIDs: []int64{show}})
		})
		g.covers[c.subject] = cover.Image{Type: "image/jpeg", Data: catalogtest.DrawCover(c.subject, 200), At: now}
	}
	season := 1
	g.ask(t, "彩虹放送局", "", &season, now.Add(-3*time.Hour), []float64{1, 2}, watch.Plex, watch.Episode, wideCandidates()[0], wideCandidates()[2])
	for _, subject := range []catalog.SubjectID{900021, 900030} {
		g.covers[subject] = cover.Image{Type: "image/jpeg", Data: catalogtest.DrawCover(subject, 200), At: now}
	}
	g.nas.status.Enabled, g.device.Enabled = true, true
	return show
}

// queue puts a record of the sample into the queue, as the engine does.
func (g *rig) queue(t testing.TB, id int64) {
	t.Helper()
	g.write(t, func(ctx context.Context, tx *sql.Tx) error {
		_, err := queue.PutTx(ctx, tx, queue.Task{RecordID: id, AccountID: 1, SubjectID: 413741, Episodes: []catalog.EpisodeID{1237821}, Action: watch.Watched}, 50)
		return err
	})
}

// year adds what was watched of one show in the year before.
func (g *rig) year(t testing.TB) {
	t.Helper()
	now := time.Now()
	dice := rand.New(rand.NewPCG(4, 7))
	g.write(t, func(ctx context.Context, tx *sql.Tx) error {
		for day := 340; day > 2; day-- {
			for range max(0, dice.IntN(9)-4) + day%7/6*dice.IntN(4) {
				id, err := record.Insert(ctx, tx, episode(watch.Plex, "mira", "药屋少女的呢喃", "薬屋のひとりごと", 1, 1, ""), false, now.AddDate(0, 0, -day))
				if err != nil {
					return err
				}
				status := record.Success
				if dice.IntN(30) == 0 {
					status = record.Failed
				}
				if err := record.SettleTx(ctx, tx, record.Outcome{RecordID: id, Status: status, SubjectID: 900031, SubjectName: "药屋少女的呢喃", Message: value("marked")}); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// rule adds mappings and blocked keywords of every kind.
func (g *rig) rule(t testing.TB) {
	t.Helper()
	two, zero, nine := 2, 0, 9.0
	for _, m := range []mapping.Mapping{
		{Title: "灯塔守望者", Season: &two, SubjectID: 900002, SubjectName: "灯塔守望者 第二季", Origin: mapping.ByPerson},
		{Title: "发条王国", Season: &two, Form: mapping.ShowForm, SubjectID: 900015, SubjectName: "发条王国 后半部分", EpisodeOffset: -12, Origin: mapping.ByPerson, Note: "the server counts on"},
		{Title: `^\[字幕组\] ?虹の放送`, Regex: true, SubjectID: 900021, SubjectName: "彩虹放送局", Origin: mapping.ByPerson},
		{Title: "灯塔守望者", Season: &zero, Form: mapping.ShowForm, Episode: &nine, SubjectID: 900005, SubjectName: "灯台守", EpisodeOffset: -8, Origin: mapping.ByConfirm},
		{Title: hostileTitle, Form: mapping.FilmForm, SubjectID: 900030, SubjectName: hostileTitle, Origin: mapping.ByPerson},
		{Title: "海图", FirstSeason: true, Form: mapping.ShowForm, SubjectID: 900031, SubjectName: "海图", Origin: mapping.ByConfirm},
	} {
		if _, err := g.mappings.Create(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := g.mappings.Import(t.Context(), mapping.Set{
		Mappings: []mapping.Mapping{{Title: "Rainbow Broadcast Station: The Extraordinarily Long Title of a Web Series That Nobody Translated", SubjectID: 900022}},
		Blocked:  []mapping.Blocked{{Keyword: `(?i)\bpv\d*$`, Kind: mapping.Regex}},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := g.mappings.Block(t.Context(), mapping.Blocked{Keyword: "预告", Kind: mapping.Contains, Source: mapping.ByPerson}); err != nil {
		t.Fatal(err)
	}
}

// asks has a record ask a question, as the engine does.
func (g *rig) asks(t testing.TB, id int64, e watch.Event, trace match.Trace) (question int64) {
	t.Helper()
	g.write(t, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := review.AskTx(ctx, tx, record.Work{Record: record.Record{ID: id, UpdatedAt: time.Now()}, Event: e}, 0, trace); err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, `SELECT question_id FROM records WHERE id = ?`, id).Scan(&question)
	})
	return question
}

// ask adds records of a title that wait for an answer, one for each episode, or one for a film.
func (g *rig) ask(t testing.TB, title, original string, season *int, at time.Time, episodes []float64, source watch.Source, media watch.Media, candidates ...match.Candidate) (question int64) {
	t.Helper()
	numbers := []*float64{nil}
	if episodes != nil {
		numbers = nil
	}
	for _, n := range episodes {
		numbers = append(numbers, &n)
	}
	why := value("two_fit", "灯塔守望者", "灯塔守望者 第二季")
	if len(candidates) > 0 {
		why = value("perhaps", cmp.Or(candidates[0].NameCN, candidates[0].Name), value("fits_title_similar"))
	}
	trace := match.Trace{Result: match.Result{Status: match.Review, Reason: why}, Steps: []match.Step{{Name: "api", Status: "hit", Candidates: candidates}}}
	for _, n := range numbers {
		e := watch.Event{Source: source, Action: watch.Watched, Media: media, Title: title, OriginalTitle: original, Season: season, Episode: n, UserName: "mira"}
		id := g.addRecord(t, e, at, record.Outcome{Status: record.Review, Message: trace.Result.Reason}, account.Account{})
		question = g.asks(t, id, e, trace)
	}
	return question
}

// wideCandidates are so many that some are folded away.
func wideCandidates() []match.Candidate {
	candidates := []match.Candidate{
		{SubjectID: 900021, StartID: 900020, Name: "虹色放送局 後半", NameCN: "彩虹放送局 后半部分", EpisodeSort: num(14), Score: .83, Parts: map[string]float64{"title": .94, "date": .8, "season": 1, "kind": 1, "episode": .7}, Source: "archive", Reason: reason.Several.With([]reason.Reason{value("fits_title_nearly"), value("fits_counted_episode", value("episode_behind", 12))}), Date: "2024-10-05", Platform: "TV", Eps: 12},
		{SubjectID: 900022, Name: "Rainbow Broadcast Station: The Extraordinarily Long Title of a Web Series That Nobody Translated", Score: .81, Parts: map[string]float64{"title": .9, "date": .75, "season": 1, "kind": .6, "episode": 1}, Source: "api", Reason: reason.Several.With([]reason.Reason{value("fits_title_nearly"), value("fits_other_kind")}), Date: "2024-04-01", Platform: "WEB", Eps: 24},
	}
	for n := range 4 {
		candidates = append(candidates, match.Candidate{SubjectID: catalog.SubjectID(900030 + n), Name: "虹の放送", NameCN: "彩虹放送", Score: .6 - float64(n)/20, Parts: map[string]float64{"title": .7, "date": .2}, Source: "api", Date: "2019-07-04", Platform: "OVA"})
	}
	return candidates
}

func (g *rig) write(t testing.TB, fn func(ctx context.Context, tx *sql.Tx) error) {
	t.Helper()
	if err := g.db.Write(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

func (g *rig) addAccount(t testing.TB, d account.Draft) account.Account {
	t.Helper()
	a, err := g.accounts.Create(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (g *rig) insert(t testing.TB, e watch.Event, at time.Time) (id int64) {
	t.Helper()
	g.write(t, func(ctx context.Context, tx *sql.Tx) (err error) {
		id, err = record.Insert(ctx, tx, e, false, at)
		return err
	})
	return id
}

func (g *rig) addRecord(t testing.TB, e watch.Event, at time.Time, o record.Outcome, a account.Account) int64 {
	t.Helper()
	o.RecordID, o.AccountID, o.AccountName = g.insert(t, e, at), a.ID, a.Username
	g.settle(t, o)
	return o.RecordID
}

func num(v float64) *float64 { return &v }

func episode(source watch.Source, user, title, original string, season int, number float64, date string) watch.Event {
	return watch.Event{Source: source, Action: watch.Watched, Media: watch.Episode, Title: title, OriginalTitle: original,
		Season: &season, Episode: &number, AirDate: watch.ParseDate(date), UserName: user}
}

func film(source watch.Source, user, title, original, date string) watch.Event {
	return watch.Event{Source: source, Action: watch.Watched, Media: watch.Movie, Title: title, OriginalTitle: original,
		AirDate: watch.ParseDate(date), UserName: user}
}

func successTrace() match.Trace {
	return match.Trace{
		Result: match.Result{Status: match.Matched, SubjectID: 400602, SubjectName: "葬送的芙莉莲", EpisodeID: 1227112, EpisodeSort: num(26), Method: "api", Confidence: .98,
			Reason: reason.Several.With([]reason.Reason{value("fits_title"), value("fits_aired_on", "2024-03-08")})},
		Steps: []match.Step{
			{Name: "route", Status: "hit", Input: map[string]any{"user_name": "mira"}, Output: map[string]any{"accounts": []string{"mira"}}, ElapsedMS: .2},
			{Name: "block", Status: "miss", ElapsedMS: .1},
			{Name: "mapping", Status: "miss", Input: map[string]any{"title": "葬送的芙莉莲", "season": 1}, ElapsedMS: .1},
			{Name: "dataset", Status: "skipped", Output: map[string]any{"because": value("dataset_off")}},
			{Name: "api", Status: "hit", Input: map[string]any{"title": "葬送的芙莉莲", "original_title": "葬送のフリーレン", "season": 1, "air_date": "2024-03-08"},
				Candidates: []match.Candidate{
					{SubjectID: 400602, Name: "葬送のフリーレン", NameCN: "葬送的芙莉莲", Score: .98, Parts: map[string]float64{"title": 1, "original_title": 1, "date": .92, "platform": 1}, Source: "api", Reason: value("fits_title"), Date: "2023-09-29", Platform: "TV"},
					{SubjectID: 515759, Name: "葬送のフリーレン 第2期", NameCN: "葬送的芙莉莲 第二季", Score: .52, Parts: map[string]float64{"title": .86, "original_title": .84, "date": .1, "season": 0}, Source: "api", Reason: reason.Several.With([]reason.Reason{value("fits_title_similar"), value("fits_other_season")}), Date: "2026-01-16", Platform: "TV"},
					{SubjectID: 460152, Name: "葬送のフリーレン ●●の魔法", NameCN: "葬送的芙莉莲 ●●的魔法", Score: .31, Parts: map[string]float64{"title": .71, "date": .4, "platform": 0}, Source: "api", Date: "2023-10-11", Platform: "WEB"},
				}, ElapsedMS: 412.7},
			{Name: "episode", Status: "hit", Input: map[string]any{"season": 1, "episode": 26, "subject_id": 400602}, Output: map[string]any{"episode_id": 1227112, "episode_sort": 26, "how": value("episode_by_number_agreed")}, ElapsedMS: 188.4},
			{Name: "mark", Status: "hit", Input: map[string]any{"account": "mira", "episode_ids": []int{1227112}}, Output: map[string]any{"result": value("marked"), "moved_to_watching": true}, ElapsedMS: 1240},
		},
		ElapsedMS: 1841.6,
	}
}

func reviewTrace() match.Trace {
	return match.Trace{
		Result: match.Result{Status: match.Review, SubjectID: catalog.SubjectID(900002), SubjectName: "灯塔守望者 第二季", Method: "api", Confidence: .61,
			Reason: value("perhaps", "灯塔守望者 第二季", []reason.Reason{value("fits_title"), value("fits_on_air_near")})},
		Steps: []match.Step{
			{Name: "route", Status: "hit", Input: map[string]any{"user_name": "Mira TV"}, Output: map[string]any{"accounts": []string{"mira"}}, ElapsedMS: .2},
			{Name: "api", Status: "hit", Input: map[string]any{"title": "灯塔守望者", "season": 2}, Candidates: []match.Candidate{
				{SubjectID: 900002, Name: "灯台守のうた 二", NameCN: "灯塔守望者 第二季", Score: .61, Parts: map[string]float64{"title": .8, "date": .3}, Source: "api", Date: "2024-04-07", Platform: "TV"},
				{SubjectID: 900005, Name: "灯台守", NameCN: "", Score: .58, Parts: map[string]float64{"title": .6, "date": .5}, Source: "api", Date: "2024-04-05", Platform: "TV"},
			}, ElapsedMS: 380},
		},
		ElapsedMS: 391,
	}
}

func (g *rig) settle(t testing.TB, o record.Outcome) {
	t.Helper()
	g.write(t, func(ctx context.Context, tx *sql.Tx) error { return record.SettleTx(ctx, tx, o) })
}
