package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"
	_ "time/tzdata" // dumps are published by the clock of a zone that small systems do not know

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/catalog/archive"
	"watchmark/internal/catalog/budget"
	"watchmark/internal/door/auth"
	"watchmark/internal/engine/review"
	"watchmark/internal/match"
	"watchmark/internal/match/idmap"
	"watchmark/internal/match/mapping"
	"watchmark/internal/match/seriesid"
	"watchmark/internal/platform/changes"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/hold"
	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/logs"
	"watchmark/internal/platform/metrics"
	"watchmark/internal/platform/replica"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/settings"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/tell/notify"
	"watchmark/internal/upkeep/backup"
	"watchmark/internal/upkeep/movedb"
)

// Options say where a service lives and what overrides its settings.
type Options struct {
	// DataDir is the data folder; it is created when missing.
	DataDir string
	// ConfigFile is the settings file; empty takes watchmark.toml in DataDir if there is one.
	ConfigFile string
	// Listen overrides the setting server.listen; empty does not.
	Listen string
	// Environ is the environment, as os.Environ gives it.
	Environ []string
	// Logs is where the log goes, and the setup link at the first start.
	Logs io.Writer
	// Demo is the login that the sign-in page offers; empty outside of the demo.
	Demo DemoLogin
	// Container says that the addresses of this machine are a container's, which mean
	// nothing to people.
	Container bool
	// keepLog writes the log to a file too, where the settings say so; commands do not.
	keepLog bool
	// LocalDevices lets TV boxes be on this machine, for tests.
	LocalDevices bool
}

// logBytes bounds what is remembered of the log.
const logBytes = 1 << 20

// DemoLogin is a login that everybody may know.
type DemoLogin struct{ Name, Password string }

// Data is an opened data folder: settings, stores and the catalog client, with
// nothing running. The command line uses it beside a running service.
type Data struct {
	Settings  *settings.Manager
	Auth      *auth.Store
	Records   *record.Store
	Accounts  *account.Store
	Mappings  *mapping.Store
	Series    *seriesid.Store
	Questions *review.Store

	db *db.DB
	// board is what is kept in memory of the database.
	board  *changes.Board
	box    *secret.Box
	masker *secret.Masker
	log    *slog.Logger
	level  *slog.LevelVar
	// out is where the log goes; logFile is a part of it, or nil.
	out     io.Writer
	logFile *logs.File
	// lines are the newest of the log.
	lines *logs.Ring
	http  *httpx.Client
	// calls counts the requests to other services, by service and class of the answer; callTime is how long
	// those took, by service.
	calls, callTime metrics.Counter
	catalog         *catalog.Client
	// budget is what may be sent to Bangumi.
	budget *budget.Budget
	cached *catalog.Cached
	// self is this process among the replicas; nil until it has joined, and for a command.
	self *replica.Self
	// tasks are the work that people wait for; a command has none of them running.
	tasks *task.Registry
	// holds is what one replica has at a time; a command has nothing.
	holds *hold.Holds
	// jobs is the work that comes by the clock; only the service runs it.
	jobs *schedule.Registry
	// Dataset is the id table, whether it is switched on or not.
	Dataset *idmap.Dataset
	// Lists are how other sites number seasons, whether they are switched on or not.
	Lists *idmap.Lists
	// Archive is the offline archive, whether it is switched on or not.
	Archive *archive.Archive
	// Archiver imports it.
	Archiver *archive.Importer
	backups  *backup.Service
}

// OpenData opens the data folder, creating what is missing. Its errors name the file
// or the setting and what to do.
func OpenData(ctx context.Context, o Options) (*Data, error) {
	database, err := openDatabase(ctx, o)
	if err != nil {
		return nil, err
	}
	d := &Data{db: database, board: changes.New(database)}
	if err := d.build(ctx, o); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// databaseURL is the address of the database on a server that the settings file or the environment name; empty for that of the data folder.
func databaseURL(o Options) (string, error) {
	file, err := configFile(o)
	if err != nil {
		return "", err
	}
	return settings.DatabaseURL(settings.Options{File: file, Environ: o.Environ})
}

// openDatabase opens the database that the settings file or the environment name, else that of the data folder.
func openDatabase(ctx context.Context, o Options) (*db.DB, error) {
	address, err := databaseURL(o)
	if err != nil {
		return nil, err
	}
	if address == "" {
		if err := checkThere(ctx, o.DataDir); err != nil {
			return nil, err
		}
		return db.Open(ctx, o.DataDir)
	}
	if hasFile(o.DataDir) { // what is in it would seem to be gone
		return nil, fmt.Errorf("the data folder has a database of its own, %s, while database.url or WATCHMARK_DATABASE_URL names one on a server: to use what is in the folder, remove that address; "+
			"to move it to an empty database on the server, run watchmark move-database --to URL; to use what is on the server, move the file away", filepath.Join(o.DataDir, db.FileName))
	}
	if err := os.MkdirAll(o.DataDir, 0o700); err != nil { // for what may be lost
		return nil, fmt.Errorf("create the data folder %s: %w; give the service's user write access to it", o.DataDir, err)
	}
	return db.OpenServer(ctx, address)
}

func (d *Data) build(ctx context.Context, o Options) error {
	if err := movedb.Refusal(ctx, d.db); err != nil {
		return err
	}
	var err error
	if d.box, err = openBox(ctx, d.db, o); err != nil {
		return err
	}
	box := d.box
	file, err := configFile(o)
	if err != nil {
		return err
	}
	load := settings.Options{File: file, Environ: o.Environ, Overrides: settings.NewStore(d.db, d.board), Sealer: box}
	if o.Listen != "" {
		load.Flags = map[string]string{"server.listen": o.Listen}
	}
	if d.Settings, err = settings.Load(ctx, load); err != nil {
		return err
	}
	now := d.Settings.Current()
	d.masker = &secret.Masker{}
	d.level = new(slog.LevelVar)
	d.lines = logs.NewRing(logBytes)
	d.out = o.Logs
	if o.keepLog && now.Log.File {
		file, err := logs.OpenFile(filepath.Join(o.DataDir, "logs", "watchmark.log"))
		if err != nil {
			return fmt.Errorf("setting log.file: %w; give the service's user write access to the data folder", err)
		}
		d.logFile, d.out = file, both{o.Logs, file}
	}
	d.log = slog.New(logs.Handler(d.masker.Handler(task.Handler(slog.NewMultiHandler(logHandler(d.out, now.Log.Format, d.level), d.lines.Handler(d.level))))))
	if d.http, err = httpx.New(d.outbound(now), d.masker, d.log); err != nil {
		return fmt.Errorf("setting network.proxy: %w", err)
	}
	if d.catalog, err = catalog.New(catalogConfig(now), d.http, d.log); err != nil {
		return err
	}
	if d.budget, err = d.newBudget(ctx); err != nil {
		return err
	}
	d.catalog.Keep(d.budget)
	d.cached = catalog.NewCached(d.catalog)
	d.Archive = archive.New(archiveDir(o.DataDir, now), d.log)
	if err := d.Archive.Refresh(ctx); err != nil {
		d.log.Warn("the offline data cannot be used", "error", err)
	}
	d.tasks = task.New(d.db, d, d.log)
	d.holds = hold.New(d.db, d, d.log)
	d.jobs = schedule.New(d.db, d.holds, d.tasks, d.replica, d.log)
	d.Dataset = idmap.NewDataset(idmap.Config{
		Folder: o.DataDir, HTTP: d.http, Schedule: d.jobs, Log: d.log, Plan: d.plan("matching.dataset_cron", func(s settings.Settings) string { return s.Matching.DatasetCron }),
		Enabled: func() bool { return d.Settings.Current().Matching.DatasetEnabled },
		URL:     func() string { return d.Settings.Current().Matching.DatasetURL },
		Lists:   func() []*idmap.Seasons { return d.Lists.InUse() },
	})
	d.Lists = idmap.NewLists(idmap.ListsConfig{
		Folder: o.DataDir, HTTP: d.http, Schedule: d.jobs, Dataset: d.Dataset, Log: d.log,
		Enabled:    func() bool { return d.Settings.Current().IDMap.Enabled },
		AnimeLists: func() string { return d.Settings.Current().IDMap.AnimeListsURL },
		Shinkro:    func() string { return d.Settings.Current().IDMap.ShinkroURL },
		Plan:       d.plan("idmap.update_cron", func(s settings.Settings) string { return s.IDMap.UpdateCron }),
	})
	d.Archiver = d.newArchiver()
	d.backups = d.newBackups(o)
	d.jobs.Add(d.backups.Job(), d.Archiver.Job(), d.Dataset.Job(), d.Lists.Job())
	d.Records = record.NewStore(d.db)
	d.Accounts = account.NewStore(d.db, box)
	d.Mappings = mapping.NewStore(d.db, d.board)
	d.Series = seriesid.NewStore(d.db)
	d.Questions = review.NewStore(d.db, d.Mappings)
	d.Auth = auth.NewStore(d.db, box, d.policy)
	d.Auth.EndDevices = notify.EndBrowsersTx
	d.apply(settings.Settings{}, now)
	d.Settings.OnChange(d.apply)
	d.Settings.OnChange(func(_, _ settings.Settings) { d.Auth.AskAgain() }) // a way in may be closed; other replicas see the change themselves
	d.Settings.OnRefused(func(errs settings.Errors) {
		d.log.Error("settings that another replica changed cannot be used here, and those from before hold: give all replicas the same file and environment", "error", errs)
	})
	return nil
}

// holdsSecrets reports whether the database may hold sealed values, which a new key could not open: settings (the
// webhook key of the first start among them), tokens, the configuration of channels, the secret of the codes at sign-in, and the addresses of calendars.
func holdsSecrets(ctx context.Context, database *db.DB) (held bool, err error) {
	return database.HoldsRows(ctx, "settings", "accounts", "notification_channels", "tracker_users", "media_logins", "second_factors", "calendar_addresses")
}

// apply brings changed settings to the parts that do not ask for them at each use.
func (d *Data) apply(_, now settings.Settings) {
	var secrets []string
	for _, text := range now.Secrets() {
		secrets = append(secrets, text.Reveal())
	}
	d.masker.Hold("settings", secrets...)
	d.level.Set(now.Log.Level)
	if err := d.http.Apply(d.outbound(now)); err != nil {
		d.log.Error("the proxy cannot be used; requests go the old way", "error", err)
	}
	if err := d.catalog.Apply(catalogConfig(now)); err != nil {
		d.log.Error("the address of Bangumi cannot be used: requests go to the old one", "error", err)
	}
	d.cached.Forget()
}

// Close closes the data folder, also one that could not be opened to the end.
func (d *Data) Close() error {
	if d.http != nil {
		d.http.Close()
	}
	var err error
	if d.Archive != nil {
		err = d.Archive.Close()
	}
	err = errors.Join(err, d.db.Close())
	if d.logFile != nil {
		err = errors.Join(err, d.logFile.Close())
	}
	return err
}

// both writes to two writers, to each whether the other works or not: a program that was
// started without a terminal may have nowhere to print to.
type both struct{ one, two io.Writer }

// Write never fails: there is nobody to tell.
func (b both) Write(p []byte) (int, error) {
	_, _ = b.one.Write(p)
	_, _ = b.two.Write(p)
	return len(p), nil
}

// Matcher matches against the catalog that the settings name.
func (d *Data) Matcher() *match.Matcher {
	return match.New(match.Config{
		Catalog: d.cached,
		Archive: d.archive,
		Dataset: d.Dataset.Table,
		Rules:   d.Mappings, SeriesIDs: d.Series.Find,
		Options: func() match.Options {
			m := d.Settings.Current().Matching
			return match.Options{
				Thresholds: match.Thresholds{Accept: m.AcceptScore, Review: m.ReviewScore, Margin: m.Margin},
				Arbiter:    m.ArbiterEnabled, LiveAction: m.LiveActionEnabled,
			}
		},
	})
}

// schedule tells when the key at path of the settings is due after a time; zero while it is empty.
func (d *Data) schedule(path string, expression func(settings.Settings) string) func(time.Time) time.Time {
	return func(t time.Time) time.Time {
		now := expression(d.Settings.Current())
		if now == "" {
			return time.Time{}
		}
		runs, err := settings.NextRuns(path, now, t, 1)
		if err != nil || len(runs) == 0 { // the settings hold what can be parsed and comes
			return t.Add(24 * time.Hour)
		}
		return runs[0]
	}
}

func logHandler(w io.Writer, format string, level slog.Leveler) slog.Handler {
	options := &slog.HandlerOptions{Level: level}
	if format == "json" {
		return slog.NewJSONHandler(w, options)
	}
	return slog.NewTextHandler(w, options)
}

// configFile is the settings file to read; empty when there is none.
func configFile(o Options) (string, error) {
	if o.ConfigFile != "" {
		return o.ConfigFile, nil
	}
	path := filepath.Join(o.DataDir, "watchmark.toml")
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("look for the settings file: %w", err)
	}
	return path, nil
}
