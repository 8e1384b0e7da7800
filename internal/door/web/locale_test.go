package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/catalog/archive"
	"watchmark/internal/engine"
	"watchmark/internal/engine/queue"
	"watchmark/internal/engine/review"
	"watchmark/internal/match/idmap"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/settings"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/record/webhooklog"
	"watchmark/internal/source"
	"watchmark/internal/source/device"
	"watchmark/internal/source/importer"
	"watchmark/internal/source/mediaserver"
	"watchmark/internal/source/nas"
	"watchmark/internal/source/preview"
	"watchmark/internal/source/tracker"
	"watchmark/internal/source/watcher"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/summary"
	"watchmark/internal/testkit/browsertest"
	"watchmark/internal/upkeep/backup"
	"watchmark/internal/upkeep/diagnose"
	"watchmark/internal/upkeep/snapshot"
	"watchmark/internal/upkeep/update"
	"watchmark/internal/watch"
)

func catalogueOf(t *testing.T, lang string) map[string]string {
	t.Helper()
	words := map[string]string{}
	for _, file := range sources(t, "locales/"+lang+"/*.json") {
		if err := json.Unmarshal([]byte(file.text), &words); err != nil {
			t.Fatal(err)
		}
	}
	return words
}

var verb = regexp.MustCompile(`%(?:\[\d\])?[a-z]`)

func TestLanguagesAreComplete(t *testing.T) {
	en, zh := catalogueOf(t, "en"), catalogueOf(t, "zh-CN")
	for key, text := range en {
		if zh[key] == "" || text == "" {
			t.Errorf("%s is empty or missing in a language", key)
		}
		if got, want := verb.FindAllString(zh[key], -1), verb.FindAllString(text, -1); !slices.Equal(got, want) {
			t.Errorf("%s takes %v in Chinese, %v in English", key, got, want)
		}
	}
	for key := range zh {
		if en[key] == "" {
			t.Errorf("%s is missing in English", key)
		}
	}
}

// TestKeysExist finds every key that templates and scripts name in full, and those that
// are made of a prefix and a known value.
func TestKeysExist(t *testing.T) {
	en := catalogueOf(t, "en")
	need := func(where, key string) {
		if en[key] == "" {
			t.Errorf("%s needs %q, which no language has", where, key)
		}
	}
	full := regexp.MustCompile(`[({ ](?:t|rich) "([^"]+)"`)
	counted := regexp.MustCompile(`[({ ]n "([^"]+)"`)
	for _, file := range sources(t, "templates/*.html") {
		for _, m := range full.FindAllStringSubmatch(file.text, -1) {
			need(file.name, m[1])
		}
		for _, m := range counted.FindAllStringSubmatch(file.text, -1) {
			need(file.name, m[1]+".one")
			need(file.name, m[1]+".other")
		}
	}
	inScript := regexp.MustCompile(`\btext\("([a-z_0-9]+)"`)
	for _, file := range sources(t, "assets/js/*.js") {
		for _, m := range inScript.FindAllStringSubmatch(file.text, -1) {
			need(file.name, "script."+m[1])
		}
	}
	for _, status := range record.Statuses {
		need("the state", "status."+string(status))
		need("the state", "status.about."+string(status))
		need("the state", "status.line."+string(status))
	}
	for _, kind := range []record.ErrorKind{record.UserNameMissing, record.NoAccount, record.NotMatched, record.EpisodeNotFound,
		record.Unauthorized, record.Forbidden, record.Refused, record.Unreachable, record.Abandoned, record.Internal} {
		need("the error kind", "error_kind."+string(kind))
		need("the error kind", "error_kind.todo."+string(kind))
	}
	for _, src := range source.All {
		if name, ok := source.Name(src); !ok || name.English == "" || name.Chinese == "" {
			t.Errorf("the source %s has the name %+v", src, name)
		}
	}
	for _, kind := range snapshot.Kinds {
		need("the change of an entry", "list.changed."+string(kind))
	}
	for _, by := range []snapshot.By{snapshot.Us, snapshot.Another, snapshot.Both} {
		need("who changed an entry", "list.by."+string(by))
	}
	for _, state := range []catalog.CollectionType{catalog.Wish, catalog.Done, catalog.Doing, catalog.OnHold, catalog.Dropped} {
		need("the state of an entry", fmt.Sprintf("list.state.%d", state))
	}
	for _, format := range importer.Formats {
		need("the format of a file", "import.file."+string(format))
	}
	for _, how := range []archive.How{archive.Equal, archive.Begins, archive.Alike} {
		need("the search of the archive", "archive.how."+string(how))
	}
	for _, outcome := range []archive.Outcome{archive.Imported, archive.UpToDate, archive.Skipped, archive.Failed, archive.Stopped} {
		need("the outcome of an import", "archive.outcome."+string(outcome))
	}
	for _, phase := range []archive.Phase{"", archive.Fetching, archive.Reading, archive.Indexing, archive.Writing} {
		need("the phase of an import", "script.import_"+string(phase))
	}
	for _, outcome := range []idmap.Outcome{idmap.Refreshed, idmap.UpToDate, idmap.Failed, idmap.Refused} {
		need("the outcome of a refresh", "about.outcome."+string(outcome))
	}
	for _, outcome := range []idmap.Outcome{idmap.Refreshed, idmap.UpToDate} {
		need("the outcome of a refresh", "script.refreshed_"+string(outcome))
	}
	for _, kind := range []idmap.MoveKind{idmap.MovedSeason, idmap.MovedPart, idmap.MovedSpecial, idmap.MovedFilm, idmap.MovedID} {
		need("what a table leads elsewhere", "about.moved."+string(kind))
	}
	for _, status := range []queue.Status{queue.Pending, queue.Abandoned, queue.Synced} {
		for _, prefix := range []string{"queue.tab.", "queue.none.", "queue.none_about.", "queue.delete_confirm."} {
			need("the queue", prefix+string(status))
		}
	}
	for _, outcome := range queue.Outcomes {
		if outcome != queue.Sent { // that one is counted
			need("the scheduler", "queue.round."+string(outcome))
		}
	}
	for _, kind := range taskKinds {
		need("the tasks", "task.kind."+kind)
	}
	for _, job := range []string{nas.ScanJob, account.TokensJob, tracker.TokensJob, summary.JobsJob, summary.AiringJob, update.JobName, "housekeeping"} {
		need("the jobs", "task.kind."+job)
	}
	for _, section := range settings.Describe() {
		for _, key := range section.Keys {
			if key.Unit != "" {
				need("the setting "+key.Path, "settings.unit."+string(key.Unit))
			}
		}
	}
	for _, origin := range []mapping.Origin{mapping.ByPerson, mapping.ByImport, mapping.ByConfirm, mapping.ByReject} {
		need("who made a rule", "rule.by."+string(origin))
	}
	for _, form := range []mapping.Form{mapping.ShowForm, mapping.FilmForm} {
		need("the form of a mapping", "mapping.form."+string(form))
	}
	for _, kind := range []mapping.BlockKind{mapping.Contains, mapping.Exact, mapping.Regex} {
		need("the kind of a keyword", "blocked.kind."+string(kind))
	}
	for _, fate := range []mapping.Fate{mapping.Added, mapping.Changed, mapping.Refused} {
		need("a preview of an import", "script.import_"+string(fate))
	}
	for _, fate := range []string{"applies", "behind", "unfit"} {
		need("the trial of a draft", "script.trial_"+fate)
	}
	for _, kind := range []nas.Kind{nas.Missing, nas.Denied, nas.Unusable, nas.Busy, nas.Damaged, nas.Strange, nas.Failed, nas.NoUser, nas.NotTaken} {
		need("the NAS", "nas.problem."+string(kind))
	}
	for _, handling := range []nas.Handling{nas.Live, nas.Quiet, nas.Copied} {
		need("the NAS", "nas.handling."+string(handling))
	}
	for _, kind := range []device.Kind{device.Special, device.OVA, device.Film, device.Extra, device.Live, device.Unread} {
		need("a TV box", "script.device.kind."+string(kind))
	}
	for _, state := range []device.State{device.Playing, device.Paused, device.Buffering, device.Stopped} {
		need("a TV box", "script.device.state."+string(state))
	}
	for _, outcome := range []device.Outcome{device.Counted, device.Repeated, device.Skipped} {
		need("a TV box", "script.device.outcome."+string(outcome))
	}
	for _, method := range []tracker.Method{tracker.ByMail, tracker.ByCode, tracker.ByDevice} {
		need("the tracker", "tracker.method."+string(method))
	}
	for _, outcome := range []tracker.Outcome{tracker.Taken, tracker.UpToDate, tracker.Failed, tracker.Stopped} {
		need("the tracker", "tracker.outcome."+string(outcome))
		need("the tracker", "script.tracker_"+string(outcome))
	}
	for _, kind := range mediaserver.Kinds {
		need("a server", "servers.kind."+string(kind))
		if kind != mediaserver.Plex {
			need("a server", "servers.user_of."+string(kind))
		}
	}
	for _, way := range []watcher.Way{watcher.Live, watcher.Polling, watcher.Waiting} {
		need("a server", "servers.way."+string(way))
	}
	for _, state := range []string{"confirm", "choose", "signed_out", "off", "refused", "unreachable", "live", "polling", "waiting"} {
		need("a server", "servers.is."+state)
		need("a server", "servers.is."+state+".about")
	}
	for _, status := range []preview.Status{preview.Mark, preview.Marked, preview.DryRun, preview.Review, preview.NotFound, preview.EpisodeNotFound, preview.Blocked, preview.NoAccount, preview.Refused, preview.Unreachable} {
		need("a forecast", "preview.is."+string(status))
	}
	for _, kind := range diagnose.Kinds {
		need("the target", "network.kind."+string(kind))
	}
	for _, stage := range diagnose.StageNames {
		need("the stage", "network.stage."+string(stage))
	}
	for _, via := range []diagnose.Via{diagnose.Direct, diagnose.ByProxy} {
		need("the way", "network.via."+string(via))
		need("the way", "script.way_"+string(via))
	}
	for _, kind := range notify.Kinds() {
		need("the kind of a notice", "notify.group."+string(kind.Group))
	}
	for _, outcome := range webhooklog.Outcomes {
		need("the outcome of a request", "debug.outcome."+string(outcome))
	}
	for _, media := range []watch.Media{watch.Episode, watch.Movie, watch.OVA, watch.RealAction} {
		need("the media kind", "media."+string(media))
	}
}

// taskKinds is every kind of task that the service starts.
var taskKinds = []string{engine.RetryKind, engine.RetryFailedKind, review.CorrectKind, review.AnswerKind, archive.TaskKind, idmap.TaskKind, device.TaskKind,
	backup.TaskKind, importer.RunTask, importer.PreviewTask, tracker.SyncTask, tracker.PreviewTask, tracker.DeviceTask, watcher.SyncTask, watcher.SeedTask, watcher.UndoTask, snapshot.TaskKind}

func TestNumbersArePutApart(t *testing.T) {
	g := newRig(t)
	g.archive = archive.Status{Enabled: true, IndexReady: true, Info: archive.Info{Counts: archive.Counts{Subjects: 999, Episodes: 1_000, Titles: 1_234_567}}}
	in := g.client(t, true)
	mustContain(t, g.get(t, in, "/titles/archive", "en").body, "999 entries, 1,000 episodes, 1,234,567 titles")
	mustContain(t, g.get(t, in, "/titles/archive", "zh-CN").body, "1,234,567")
	g.ran(t, engine.RetryKind, 12_345, nil, nil)
	mustContain(t, g.get(t, in, "/settings/tasks", "en").body, `"/records/12345">Record 12345<`)
	g.device = device.Status{Enabled: true, Devices: []device.Device{{Address: "192.168.1.5:9978", Name: "TV", LastEvent: &device.Event{Outcome: device.Counted, RecordIDs: []int64{12_345}}}}}
	mustContain(t, g.get(t, in, "/sources/device", "en").body, `"/records/12345">record 12345<`)
}

func TestBrowserTellsTimesAndNumbersToTheReader(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	g.insert(t, episode(watch.Plex, "mira", "show", "", 1, 1, ""), time.Date(2025, 3, 9, 16, 30, 0, 0, time.UTC))
	finish := make(chan struct{})
	if _, err := g.tasks.Start(t.Context(), task.Spec{Kind: engine.RetryFailedKind}, func(_ context.Context, t *task.Task) error {
		t.Progress(1_200, 80_000, reason.Reason{})
		<-finish
		t.SetResult(engine.Tally{Marked: 1_234})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	run := g.runs(t, engine.RetryKind, 8, 0, 0, "")
	told := func(selector, words string) browsertest.Step {
		return browsertest.Until(fmt.Sprintf(`document.querySelector(%q)?.textContent.includes(%q)`, selector, words))
	}
	browsertest.Run(t, tab, g.signIn(), browsertest.Send(emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "Asia/Tokyo"}),
		speak("en"), chromedp.Navigate(g.server.URL+"/records"), told("#records time", "Mar 10, 2025"),
		chromedp.Navigate(g.server.URL+"/settings/tasks"), told("#tasks", "1,200 of 80,000"),
		chromedp.Navigate(g.server.URL+"/records"), browsertest.Until(browsertest.Listening), browsertest.Until(`!document.getElementById("run").hidden`))
	close(finish)
	browsertest.Run(t, tab, told("#run [role=status]", "1,234 marked"),
		speak("zh-CN"), chromedp.Navigate(g.server.URL+"/records"), told("#records time", "2025年3月10日"),
		chromedp.Navigate(g.server.URL+fmt.Sprintf("/settings/tasks/%d", run.Status().ID)), told(".log", "request sent"), browsertest.Until(`[...document.querySelectorAll(".log time")].every(
			(time) => Number(time.textContent.slice(0, 2)) === (new Date(time.dateTime).getUTCHours() + 9) % 24)`))
}

// TestKeysAreUsed keeps texts that nobody shows out of the catalogue.
func TestKeysAreUsed(t *testing.T) {
	var all strings.Builder
	for _, pattern := range []string{"templates/*.html", "assets/js/*.js", "*.go"} {
		for _, file := range sources(t, pattern) {
			if !strings.HasSuffix(file.name, "_test.go") {
				all.WriteString(file.text)
			}
		}
	}
	// Keys below these are made of a prefix and a value.
	made := regexp.MustCompile(`^(status|error_kind|media|source\.name|step|fact|part|collection|theme|time|oauth\.error|connect\.(plex|tautulli|emby|jellyfin|custom)|need|household\.role|servers\.(is|kind|way|user_of)|ways\.(have|webhook|sign_in)|seed\.is|account\.(health|method)|settings\.unit|queue\.(answers|behind|behind_off|given_up|unasked)\.about|queue\.(tab|round|none|none_about|delete_confirm)|task\.kind|archive\.(is|how|by|outcome)|airing\.is|rule\.by|mapping\.form|blocked\.kind|about\.(table|outcome|credit|moved|list)|sources\.invite|nas\.(is|problem|handling|why|range)|device\.(is|box)|tracker\.(is|error|state|outcome|method)|import\.(is|token|file)|list\.(changed|by|private|state)|restore\.mark|undo\.(mark|state)|preview\.(is|skipped|foreign)|script\.day_of\.(trend|usage|year)|script\.device\.(state|kind|from|how|outcome|why)|script\.tracker_(taken|up_to_date|failed|cancelled)|debug\.(result|wrong|level|outcome)|network\.(kind|problem|via|stage|is)|channel\.(type|new|about|guide|preset|presets|name_example|more|field|group)|notify\.group|inbox\.view|calendar\.(weekday|days|archive_off|archive_missing)|script\.(way|import|imported|refreshed|trial)_[a-z_]*|script\.status_\d+|script\.run_(running|done|failed|cancelled))\b`)
	for key := range catalogueOf(t, "en") {
		if made.MatchString(key) {
			continue
		}
		name := strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(key, "script."), ".one"), ".other")
		if !strings.Contains(all.String(), `"`+name+`"`) {
			t.Errorf("nothing shows %q", key)
		}
	}
}

var (
	action    = regexp.MustCompile(`(?s){{.*?}}`)
	attribute = regexp.MustCompile(`(?:title|alt|aria-label|placeholder|data-done|data-confirm|data-failed)="([^"]*)"`)
	tag       = regexp.MustCompile(`(?s)<[^>]*>`)
	letter    = regexp.MustCompile(`\p{L}{2,}`)
	entity    = regexp.MustCompile(`&[a-z]+;`)
)

// TestTemplatesHoldNoText finds words in templates that no translation reaches.
func TestTemplatesHoldNoText(t *testing.T) {
	names := regexp.MustCompile(`Watchmark|99\+`)
	for _, file := range sources(t, "templates/*.html") {
		plain := action.ReplaceAllString(file.text, "")
		for _, m := range attribute.FindAllStringSubmatch(plain, -1) {
			if letter.MatchString(m[1]) {
				t.Errorf("%s: an attribute says %q in one language only", file.name, m[1])
			}
		}
		text := names.ReplaceAllString(entity.ReplaceAllString(tag.ReplaceAllString(plain, " "), " "), " ")
		if found := letter.FindAllString(text, -1); found != nil {
			t.Errorf("%s says %q in one language only", file.name, found)
		}
	}
}

var (
	told      = regexp.MustCompile(`\bsaid (\$?[\w.]+)`)
	condition = regexp.MustCompile(`(?s){{-?\s*(?:else )?(?:if|with)\b(.*?)}}`)
	operand   = regexp.MustCompile(`\$?[\w.]+`)
)

// TestConditionsAskWhetherSomethingIsSaid finds reasons that stand in a condition as they are: a struct is always true there, and
// equals no text. The condition is said, or its Text.
func TestConditionsAskWhetherSomethingIsSaid(t *testing.T) {
	for _, file := range sources(t, "templates/*.html") {
		for define := range strings.SplitSeq(file.text, "{{define ") {
			reasons := map[string]bool{}
			for _, m := range told.FindAllStringSubmatch(define, -1) {
				reasons[m[1]] = m[1] != "."
			}
			for _, m := range condition.FindAllStringSubmatch(define, -1) {
				for _, name := range operand.FindAllString(told.ReplaceAllString(m[1], ""), -1) {
					if reasons[name] {
						t.Errorf("%s: %s asks %s as it is, which is a reason: ask said or its Text", file.name, m[0], name)
					}
				}
			}
		}
	}
}

type sourceFile struct{ name, text string }

func sources(t *testing.T, pattern string) []sourceFile {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	var files []sourceFile
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, sourceFile{path, string(text)})
	}
	return files
}
