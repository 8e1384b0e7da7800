package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/catalog/archive"
	"watchmark/internal/door/auth"
	"watchmark/internal/match/idmap"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/settings"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/source"
	"watchmark/internal/source/importer"
	"watchmark/internal/source/nas"
	"watchmark/internal/source/tracker"
	"watchmark/internal/source/watcher"
	"watchmark/internal/tell/notify"
	"watchmark/internal/upkeep/backup"
	"watchmark/internal/watch"
)

const (
	// lookoutHold is what the replica has that looks at what is about all of them. What is about a replica each looks at itself.
	lookoutHold = "lookout"
	// lookEvery is how often the lookout looks at how everything stands.
	lookEvery = time.Minute
	// sourcesEvery is how often it looks whether a source has gone silent: that is told in days.
	sourcesEvery = time.Hour
	// outagePatience is how long the catalog may be unreachable before people are told.
	outagePatience = time.Minute
	// serverPatience is how long a media server may be silent before people are told: that one sleeps at night is normal.
	serverPatience = 24 * time.Hour
	// expiringSoon is how long before its end a token is told of that only a person can renew.
	expiringSoon = 14 * 24 * time.Hour
)

// lookOut tells people of what stays in a state, when it changes, until ctx ends: the
// catalog, the accounts, the sources, and the work that runs by schedule. It compares with
// what people were told last, which is stored, so nothing is told twice, or not at all, for
// a restart.
func (a *App) lookOut(ctx context.Context) {
	own := []func(context.Context) error{a.lookAtArchive, a.lookAtCertificate}
	shared := []func(context.Context) error{
		a.lookAtProgram, a.lookAtCatalog, a.lookAtAccounts, seldom(sourcesEvery, a.lookAtSources), a.lookAtDataset,
		a.lookAtBackups, a.lookAtUpdates, a.lookAtNAS, a.lookAtTracker, a.lookAtServers, a.lookAtImports, a.lookAtDoor, a.lookAtSnapshots,
	}
	for {
		looks := own
		had := a.holds.Has(lookoutHold)
		mine, err := a.holds.Take(ctx, lookoutHold)
		if mine {
			looks = append(slices.Clone(own), shared...)
			if !had {
				a.Notices.Forget() // another replica may have told of it meanwhile
			}
		}
		problems := []error{err}
		for _, look := range looks {
			problems = append(problems, look(ctx))
		}
		for _, err := range problems {
			if err != nil && ctx.Err() == nil {
				a.log.ErrorContext(ctx, "cannot look whether there is something to tell", "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(lookEvery):
		}
	}
}

// here is the key of what is about this replica alone.
func (a *App) here(key string) string {
	if a.db.Alone() {
		return key
	}
	return key + " at " + a.replica()
}

// seldom is look at its first call, and then once in a while.
func seldom(every time.Duration, look func(context.Context) error) func(context.Context) error {
	var last time.Time
	return func(ctx context.Context) error {
		if !last.IsZero() && time.Since(last) < every {
			return nil
		}
		last = time.Now()
		return look(ctx)
	}
}

// tell tells n when what key names comes into a state that is another than before. The empty state tells nothing: by it
// the matter is over, as those of over are. Nor does a notice without a kind tell anything.
func (a *App) tell(ctx context.Context, key, state string, n notify.Notice, over ...notify.Notice) error {
	return a.Notices.Once(ctx, key, state, func(string) (notices []notify.Notice) {
		for _, o := range over {
			o.Over = true
			notices = append(notices, o)
		}
		n.Over = state == ""
		if n.Kind != "" {
			notices = append(notices, n)
		}
		return notices
	})
}

// overWhen is the matter that is over by what is told, where it is.
func overWhen(is bool, n notify.Notice) []notify.Notice {
	if !is {
		return nil
	}
	return []notify.Notice{n}
}

// lookAtProgram tells of a new version and a new form of the database. A first start is no news.
func (a *App) lookAtProgram(ctx context.Context) error {
	is := func(key, now string, kind notify.Kind) error {
		return a.Notices.Once(ctx, key, now, func(before string) []notify.Notice {
			if before == "" {
				return nil
			}
			return []notify.Notice{{Kind: kind, About: now, Facts: map[string]string{"current_version": now, "previous_version": before}}}
		})
	}
	return errors.Join(
		is("version", Version(), notify.NewVersion),
		is("schema", strconv.FormatInt(a.db.SchemaVersion(), 10), notify.DatabaseMigrated),
	)
}

func (a *App) lookAtCatalog(ctx context.Context) error {
	r := a.catalog.Reachability()
	state := ""
	if r.Reachable && r.Answered.IsZero() {
		return nil // nobody has asked it yet
	}
	if !r.Reachable {
		if time.Since(r.Since) < outagePatience {
			return nil
		}
		state = r.Since.UTC().Format(time.RFC3339)
	}
	return a.Notices.Once(ctx, "catalog", state, func(before string) []notify.Notice {
		if state != "" && before != "" { // it was told before the service was started anew
			return nil
		}
		if state != "" {
			return []notify.Notice{{Kind: notify.CatalogUnreachable, Reason: r.Problem, Facts: a.waitedFor(ctx, r.Since, map[string]string{"since": r.Since.Format(time.RFC3339)})}}
		}
		n := notify.Notice{Kind: notify.CatalogBack, Facts: map[string]string{}}
		if since, err := time.Parse(time.RFC3339, before); err == nil {
			n.Facts["duration"] = time.Since(since).Round(time.Second).String()
			n.Facts = a.waitedFor(ctx, since, n.Facts)
		}
		return []notify.Notice{{Kind: notify.CatalogUnreachable, Over: true}, n}
	})
}

// tellGone tells that the matters of what is not there any more are over: those of the keys that begin with a prefix, and of which nothing
// was said in this look. of is the notice of a key.
func (a *App) tellGone(ctx context.Context, prefix string, is map[string]bool, of func(key string) notify.Notice) error {
	told, err := a.Notices.Told(ctx, prefix)
	problems := []error{err}
	for key := range told {
		if !is[key] {
			problems = append(problems, a.tell(ctx, key, "", of(key)))
		}
	}
	return errors.Join(problems...)
}

// waitedFor adds to the facts of a notice how many marks waited since an outage began; the number is only told along.
func (a *App) waitedFor(ctx context.Context, outage time.Time, facts map[string]string) map[string]string {
	if n, err := a.queue.WaitedFor(ctx, outage); err == nil {
		facts["pending_count"] = strconv.Itoa(n)
	}
	return facts
}

func (a *App) lookAtAccounts(ctx context.Context) error {
	accounts, err := a.Accounts.List(ctx)
	if err != nil {
		return err
	}
	known := func(id int64) bool {
		return slices.ContainsFunc(accounts, func(a account.Account) bool { return a.ID == id })
	}
	problems := []error{a.Notices.SettleGone(ctx, known, notify.TokenDead, notify.TokenExpiring, notify.ListShrunk,
		notify.MarkFailed, notify.Abandoned, notify.NotMatched, notify.ReviewWaiting, notify.EpisodeNotFound, notify.UnwatchedAsks, notify.WordAsked)}
	for _, one := range accounts {
		if !one.Enabled { // nothing is marked by its token
			one.Problem, one.ExpiresAt = reason.Reason{}, nil
		}
		key := fmt.Sprintf("account %d", one.ID)
		about := notify.Notice{AccountID: one.ID, Account: one.Username, About: key}
		about.Kind, about.Reason, about.Facts = notify.TokenDead, one.Problem, map[string]string{"service": "Bangumi"}
		problems = append(problems, a.tell(ctx, key, one.Problem.Text, about))
		ends := ""
		if one.ExpiresAt != nil && one.Method == account.ByToken && time.Until(*one.ExpiresAt) < expiringSoon && one.Problem.IsZero() {
			ends = one.ExpiresAt.Format(time.DateOnly)
		}
		about.Kind, about.Reason, about.Facts = notify.TokenExpiring, reason.Reason{}, map[string]string{"service": "Bangumi", "expires_at": ends}
		problems = append(problems, a.tell(ctx, key+" expires", ends, about))
	}
	return errors.Join(problems...)
}

// lookAtSources tells of sources that used to be heard of and have gone silent.
func (a *App) lookAtSources(ctx context.Context) error {
	after := a.Settings.Current().Notification.SilentAfter
	heard, err := a.Records.Heard(ctx, source.All)
	if err != nil {
		return err
	}
	requests, err := a.webhooks.LastSeen(ctx)
	if err != nil {
		return err
	}
	var problems []error
	for _, src := range source.All {
		h, known := heard[src]
		if !known {
			continue
		}
		if entry, asked := requests[src]; asked && entry.At.After(h.Last) {
			h.Last = entry.At
		}
		days := h.Silent(time.Now(), after)
		state := ""
		if days > 0 && bringsByItself(src, a.Settings.Current()) {
			state = "silent since " + h.Last.UTC().Format(time.DateOnly)
		}
		problems = append(problems, a.tell(ctx, "source "+string(src), state, notify.Notice{Kind: notify.SourceSilent, About: string(src), Facts: map[string]string{
			"source": string(src), "days": strconv.Itoa(days), "last_seen": h.Last.Format(time.DateOnly)}}))
	}
	return errors.Join(problems...)
}

// bringsByItself reports whether something is to be heard of a source: it is switched on, and no file that somebody brings.
func bringsByItself(src watch.Source, s settings.Settings) bool {
	switch src {
	case watch.File:
		return false
	case watch.NAS:
		return s.NAS.Enabled
	case watch.Device:
		return s.Device.Enabled
	case watch.Tracker:
		return s.Tracker.Enabled
	case watch.Watcher:
		return s.Watcher.Enabled
	default:
		return true
	}
}

func (a *App) lookAtArchive(ctx context.Context) error {
	s := a.Archiver.Status()
	if s.LastRun.IsZero() || s.ImportInProgress {
		return nil
	}
	if !s.Enabled && s.LastOutcome == archive.Failed {
		return a.tell(ctx, a.here("archive"), "", notify.Notice{Kind: notify.ArchiveFailed})
	}
	kind := map[archive.Outcome]notify.Kind{archive.Imported: notify.ArchiveImported, archive.Failed: notify.ArchiveFailed, archive.Skipped: notify.ArchiveSkipped}[s.LastOutcome]
	return a.tell(ctx, a.here("archive"), ended(s.LastRun, s.LastOutcome, s.LastOutcome == archive.Imported),
		notify.Notice{Kind: kind, Reason: s.LastError, Facts: map[string]string{"archive": s.Version, "total": strconv.FormatInt(s.Subjects, 10)}},
		overWhen(s.LastOutcome != archive.Failed, notify.Notice{Kind: notify.ArchiveFailed})...)
}

func (a *App) lookAtDataset(ctx context.Context) error {
	s := a.Dataset.Status()
	if s.LastRun.IsZero() || s.Refreshing {
		return nil
	}
	problem := reason.Reason{}
	if s.Enabled && (s.LastOutcome == idmap.Failed || s.LastOutcome == idmap.Refused) {
		problem = s.LastError
	}
	return a.failedJob(ctx, idmap.TaskKind, problem)
}

func (a *App) lookAtBackups(ctx context.Context) error {
	s := a.backups.Status()
	if s.Running || s.LastRun.IsZero() {
		return nil
	}
	if s.NextRun == nil { // they are switched off
		s.LastError = reason.Reason{}
	}
	return a.failedJob(ctx, backup.TaskKind, s.LastError)
}

// lookAtUpdates tells of a version that is newer than the program, once.
func (a *App) lookAtUpdates(ctx context.Context) error {
	s := a.updates.Status()
	if s.CheckedAt.IsZero() || !s.Problem.IsZero() {
		return nil
	}
	return a.tell(ctx, "update", s.Newer, notify.Notice{Kind: notify.UpdateAvailable, About: s.Newer, Facts: map[string]string{
		"current_version": Version(), "new_version": s.Newer, "release_page": s.URL}})
}

func (a *App) lookAtNAS(ctx context.Context) error {
	s, err := a.nas.Status(ctx)
	if err != nil || s.Scanning {
		return err
	}
	if !s.Enabled {
		s.LastError = reason.Reason{}
	}
	return a.failedJob(ctx, nas.ScanJob, s.LastError)
}

// failedJob tells that scheduled work fails, once until it comes to its end again; problem
// is empty when it did.
func (a *App) failedJob(ctx context.Context, job string, problem reason.Reason) error {
	state := ""
	if !problem.IsZero() {
		state = "failing"
	}
	return a.tell(ctx, "job "+job, state, notify.Notice{Kind: notify.JobFailed, About: job, Reason: problem, Facts: map[string]string{"job_name": job}})
}

func (a *App) lookAtTracker(ctx context.Context) error {
	s, err := a.tracker.SyncStatus(ctx)
	if err != nil || s.Running {
		return err
	}
	var problems []error
	is := map[string]bool{}
	for _, u := range s.Users {
		key := fmt.Sprintf("tracker %d", u.ID)
		is[key], is[key+" sync"] = true, true
		dead, problem := "", tracker.ErrDead
		switch {
		case !s.Enabled: // nothing is read by it
		case u.State == tracker.Dead:
			dead = "dead"
		case u.State == tracker.Refused:
			dead, problem = "refused", tracker.ErrRefusedAgain
		}
		problems = append(problems, a.tell(ctx, key, dead,
			notify.Notice{Kind: notify.TokenDead, Account: u.Name, About: key, Reason: reason.Of(problem), Facts: map[string]string{"service": "Trakt"}}))
		if u.Outcome == tracker.Failed && (!s.Enabled || u.State == tracker.Disconnected) {
			problems = append(problems, a.tell(ctx, key+" sync", "", notify.Notice{Kind: notify.TrackerSyncFailed, About: key}))
			continue
		}
		if u.LastRun == nil || dead != "" {
			continue
		}
		kind := map[tracker.Outcome]notify.Kind{tracker.Taken: notify.TrackerSyncDone, tracker.Failed: notify.TrackerSyncFailed}[u.Outcome]
		problems = append(problems, a.tell(ctx, key+" sync", ended(*u.LastRun, u.Outcome, u.Outcome == tracker.Taken),
			notify.Notice{Kind: kind, User: u.Name, About: key, Reason: u.Error, Facts: map[string]string{"total": strconv.Itoa(u.LastTaken)}},
			overWhen(u.Outcome == tracker.Taken, notify.Notice{Kind: notify.TrackerSyncFailed, About: key})...))
	}
	problems = append(problems, a.tellGone(ctx, "tracker ", is, func(key string) notify.Notice {
		if of, sync := strings.CutSuffix(key, " sync"); sync {
			return notify.Notice{Kind: notify.TrackerSyncFailed, About: of}
		}
		return notify.Notice{Kind: notify.TokenDead, About: key}
	}))
	return errors.Join(problems...)
}

// lookAtServers tells of media servers that need somebody. A sign-in that was never completed does not.
func (a *App) lookAtServers(ctx context.Context) error {
	logins, err := a.watcher.Logins(ctx)
	if err != nil {
		return err
	}
	var problems []error
	is := map[string]bool{}
	kinds := []notify.Kind{notify.ServerSignedOut, notify.ServerRefused, notify.ServerUnreachable, notify.ServerAsks}
	for _, l := range logins {
		states := map[notify.Kind]bool{}
		if l.Enabled && l.UserName != "" {
			states[notify.ServerSignedOut] = l.State == watcher.SignedOut && l.ComparedAt != nil
			states[notify.ServerRefused] = l.State == watcher.Refused
			states[notify.ServerUnreachable] = l.State == watcher.Unreachable && time.Since(l.LostAt()) >= serverPatience
			states[notify.ServerAsks] = len(l.Held) > 0
		}
		for _, kind := range kinds {
			state := ""
			key := fmt.Sprintf("%s %d", kind, l.ID)
			is[key] = true
			n := notify.Notice{Kind: kind, User: l.MediaUserName, About: fmt.Sprintf("server %d", l.ID), Reason: l.Problem, Facts: map[string]string{"server": l.ServerName}}
			if states[kind] {
				state = string(l.State)
			}
			switch kind {
			case notify.ServerUnreachable:
				n.Facts["since"] = l.LostAt().Local().Format(time.DateTime)
			case notify.ServerAsks:
				n.Reason, n.Facts["total"] = reason.Reason{}, strconv.Itoa(l.HeldCount())
				if states[kind] {
					state = strconv.Itoa(l.HeldCount())
				}
			}
			problems = append(problems, a.tell(ctx, key, state, n))
		}
	}
	for _, kind := range kinds {
		problems = append(problems, a.tellGone(ctx, string(kind)+" ", is, func(key string) notify.Notice {
			return notify.Notice{Kind: kind, About: "server " + strings.TrimPrefix(key, string(kind)+" ")}
		}))
	}
	return errors.Join(problems...)
}

// lookAtImports tells how the import of what a media server remembers ended.
func (a *App) lookAtImports(ctx context.Context) error {
	s, err := a.tasks.NewestOf(ctx, importer.RunTask) // of whichever sign-in it is
	switch {
	case errors.Is(err, task.ErrNotFound), err == nil && s.EndedAt == nil:
		return nil
	case err != nil:
		return err
	}
	kind := map[task.State]notify.Kind{task.Done: notify.ImportDone, task.Failed: notify.ImportFailed}[s.State]
	n := notify.Notice{Kind: kind, Facts: map[string]string{}}
	if result, is := task.ResultOf[importer.Result](s); is {
		n.Facts["source"], n.Facts["total"], n.Facts["skipped"] = result.Server, strconv.Itoa(result.Taken), strconv.Itoa(result.Count)
		n.Facts["failed"] = strconv.Itoa(result.Records[record.Failed])
	}
	if kind == notify.ImportFailed {
		n.Reason = s.Message
	}
	return a.tell(ctx, "import", ended(*s.EndedAt, s.State, true), n, overWhen(kind == notify.ImportDone, notify.Notice{Kind: notify.ImportFailed})...)
}

// lookAtDoor tells that somebody guessed passwords until the door was locked.
func (a *App) lookAtDoor(ctx context.Context) error {
	key, until, err := a.Auth.Locked(ctx)
	if err != nil {
		return err
	}
	state := ""
	if strings.HasPrefix(key, auth.KnownBrowser) {
		key = "a known browser" // its id tells nobody anything
	}
	if key != "" {
		state = key + lockedUntil + until.UTC().Format(time.RFC3339)
	}
	return a.Notices.Once(ctx, "login", state, func(before string) (notices []notify.Notice) {
		if was, _, _ := strings.Cut(before, lockedUntil); was != "" && was != key { // it ended, or another one is locked now
			notices = append(notices, notify.Notice{Kind: notify.LoginLocked, About: was, Over: true})
		}
		if key != "" {
			notices = append(notices, notify.Notice{Kind: notify.LoginLocked, About: key, Facts: map[string]string{"ip": strings.TrimPrefix(key, "address "), "locked_until": until.Format(time.DateTime)}})
		}
		return notices
	})
}

// lockedUntil stands between who is locked out and until when.
const lockedUntil = " until "

// lookAtCertificate tells that the own certificate ends soon.
func (a *App) lookAtCertificate(ctx context.Context) error {
	state := ""
	if a.tls != nil {
		if at, soon := a.tls.Ends(); soon {
			state = at.UTC().Format(time.DateTime)
		}
	}
	return a.tell(ctx, a.here("certificate"), state, notify.Notice{Kind: notify.CertificateEnding, About: a.here("certificate"), Facts: map[string]string{"expires_at": state + " UTC"}})
}

// ended names how some work ended. When each end is news it tells them apart; otherwise,
// as with failures that repeat until somebody mends something, only another outcome is.
func ended[T ~string](at time.Time, outcome T, each bool) string {
	if !each {
		return string(outcome)
	}
	return string(outcome) + " " + at.UTC().Format(time.RFC3339Nano)
}
