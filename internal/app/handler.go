package app

import (
	"context"
	"fmt"
	"net/http"

	"watchmark/internal/catalog"
	"watchmark/internal/door/api"
	"watchmark/internal/door/auth"
	"watchmark/internal/door/auth/oidc"
	"watchmark/internal/door/auth/servers"
	"watchmark/internal/door/web"
	"watchmark/internal/platform/task"
	"watchmark/internal/platform/tickets"
	"watchmark/internal/source/watcher"
	"watchmark/internal/upkeep/snapshot"
)

// buildHandler makes the one handler of the API and the pages.
func (a *App) buildHandler(o Options) error {
	base := a.Settings.Current().Server.BasePath
	guard := &auth.Guard{
		Store:     a.Auth,
		Enabled:   func() bool { return a.Settings.Current().Auth.Enabled },
		PublicURL: func() string { return a.Settings.Current().Server.PublicURL },
		BasePath:  base,
		Log:       a.log,
	}
	signIn := oidc.New(oidc.Config{
		Settings: a.provider, HTTP: a.http, Log: a.log,
		Flows: tickets.New[oidc.Flow](a.db, a.box, "oidc", oidc.FlowLife, oidc.FlowsMost), Ends: tickets.New[oidc.End](a.db, a.box, "oidc_end", oidc.EndLife, 1),
	})
	door := &servers.Door{Config: servers.Config{
		Open: func() []string { return a.Settings.Current().Auth.MediaServers }, Connected: a.watcher.Connections, Dialer: a.mediaServers(), Log: a.log,
		Flows: tickets.New[servers.Flow](a.db, a.box, "plex_login", servers.FlowLife, servers.FlowsMost),
	}}
	pages, err := a.pages(o, guard, signIn, door)
	if err != nil {
		return err
	}
	endpoints := api.New(api.Config{
		Version: Version(), Guard: guard, PublicURL: a.publicURL, Stylesheet: pages.Stylesheet, Icon: pages.Icon, Stopping: a.stopping, Log: a.log,
	}, a.resources(signIn, door)...)
	mux := http.NewServeMux()
	mux.Handle("/webhook/", endpoints)
	mux.Handle(api.ScrobblePath, guard.AuthenticateKey(endpoints))
	mux.Handle("/health", endpoints)
	for _, path := range api.LegacyPaths {
		mux.Handle("POST "+path, endpoints)
		mux.Handle("POST "+path+"/", endpoints)
	}
	mux.Handle("/health/", endpoints)
	mux.Handle("GET "+metricsPath, guard.Authenticate(a.meters))
	mux.Handle("/api/", guard.Authenticate(endpoints))
	mux.Handle("/api", guard.Authenticate(endpoints))
	mux.Handle(web.StaticPrefix, pages)
	mux.Handle("/", guard.AuthenticateOr(pages, pages.Fail))
	// The legacy paths may ask for no key, so pages of other sites must not reach them by a browser at home.
	handler := auth.SecurityHeaders(auth.CrossOrigin(mux, "/webhook/"))
	if base != "" {
		outer := http.NewServeMux()
		outer.Handle(base+"/", http.StripPrefix(base, handler))
		outer.Handle(base, http.RedirectHandler(base+"/", http.StatusPermanentRedirect))
		// Media servers reach these past the proxy, too.
		for _, path := range api.LegacyPaths {
			outer.Handle("POST "+path, handler)
			outer.Handle("POST "+path+"/", handler)
		}
		handler = outer
	}
	a.handler = auth.Clients(a.proxies, handler)
	return nil
}

// undoers undo the tasks that write elsewhere than marks of records, by their kind.
func (a *App) undoers() map[string]func(context.Context, int64, bool) (*task.Task, error) {
	return map[string]func(context.Context, int64, bool) (*task.Task, error){
		watcher.SeedTask: func(ctx context.Context, id int64, dryRun bool) (*task.Task, error) {
			if dryRun {
				return nil, seedListsIt
			}
			return a.watcher.Undo(ctx, id)
		},
		snapshot.RestoreTask: a.snapshots.UndoRestore,
	}
}

// resources are the parts of the API.
func (a *App) resources(signIn *oidc.Provider, door *servers.Door) []api.Resource {
	subjects := api.Subjects{Catalog: knowledge{a.Data, a.clients}, Archive: a.Archive, Settings: a.Settings}
	stats := api.Stats{Records: a.Records, Queue: a.queue, Webhooks: a.webhooks}
	people := api.People{Store: a.Auth, Accounts: a.Accounts, Words: a.words, Rules: a.Mappings, Tasks: a.tasks, Engine: a.engine}
	return []api.Resource{
		api.Webhooks{Engine: a.engine, Settings: a.Settings, Masker: a.masker, People: a.Auth, Requests: &a.meters.requests},
		api.WebhookLog{Log: a.webhooks, Settings: a.Settings, Masker: a.masker},
		api.Trials{Engine: a.engine, Records: a.Records},
		api.Records{Store: a.Records, Webhooks: a.webhooks, Engine: a.engine},
		api.Corrections{Decisions: a.decisions},
		api.Undo{Decisions: a.decisions, Tasks: a.tasks, Others: a.undoers()},
		api.Unwatched{Decisions: a.decisions},
		stats,
		api.Tasks{Registry: a.tasks, Engine: a.engine},
		api.Jobs{Registry: a.jobs},
		api.Queue{Queue: a.queue, Scheduler: a.replay, Settings: a.Settings, Reachability: a.catalog.Reachability, Probe: a.clients.Probe, CloseNews: a.engine.CloseNews},
		people,
		api.Accounts{Store: a.Accounts, People: a.Auth, Client: a.clients, Engine: a.engine, Notices: a.Notices, Words: a.words, Masker: a.masker, Kick: a.replay.Kick, Log: a.log},
		api.Archive{Archive: a.Archive, Importer: a.Archiver, Tasks: a.tasks},
		api.Calendar{Service: a.calendar},
		api.Dataset{Table: a.Dataset},
		api.IDMap{Lists: a.Lists},
		api.NAS{Reader: a.nas},
		api.Device{Watcher: a.device, Engine: a.engine, Records: a.Records},
		api.Tracker{Service: a.tracker},
		api.Servers{Service: a.watcher},
		api.Import{Importer: a.importer, Accounts: a.Accounts, People: a.Auth},
		api.Notifications{Notices: a.Notices},
		api.Push{Notices: a.Notices, Taps: a.taps},
		api.Candidates{Store: a.Questions, Decisions: a.decisions, Catalog: subjects.Catalog},
		subjects,
		api.Mappings{Store: a.Mappings, Decisions: a.decisions, Subjects: subjects},
		api.Summaries{Service: a.summaries, Airing: a.airing, Notices: a.Notices},
		api.LLM{Client: a.llm},
		api.Settings{Manager: a.Settings},
		api.Network{Doctor: a.doctor},
		api.Logs{Ring: a.lines},
		api.Diagnostics{
			Build: BuildInfo(), Settings: a.Settings, Masker: a.masker, Stats: stats, Reachability: a.catalog.Reachability, Questions: a.Questions, Accounts: a.Accounts,
			Archive: a.Archiver, Dataset: a.Dataset, NAS: a.nas, Device: a.device, Tracker: a.tracker, Tasks: a.tasks, Doctor: a.doctor, Logs: a.lines,
		},
		api.Provider{OIDC: signIn, People: people},
		api.ServerLogin{Door: door, OIDC: signIn, Accounts: a.Accounts},
		api.Backups{Service: a.backups},
		api.Words{Service: a.words},
		api.Snapshots{Service: a.snapshots, Accounts: a.Accounts, Watches: api.Watches{Records: a.Records, Questions: a.Questions, Mappings: a.Mappings}},
		api.Replicas{Overview: a.overview().Overview},
		api.HealthChecks{Problems: a.ready.problems},
	}
}

func (a *App) pages(o Options, guard *auth.Guard, signIn *oidc.Provider, door *servers.Door) (web.Pages, error) {
	config := web.Config{
		PublicURL: a.publicURL, BasePath: guard.BasePath, ToLogin: guard.ToLogin,
		Viewer:     func(r *http.Request) (auth.Identity, bool) { return auth.IdentityOf(r.Context()) },
		SubjectURL: a.subjectURL,
		Cover:      a.covers.Get, Changes: a.Records.Feed, Version: Version(), Stopping: a.stopping, Log: a.log,
	}
	if o.Demo != (DemoLogin{}) {
		login := web.DemoLogin(o.Demo)
		config.Demo = &login
	}
	sources := web.Sources{
		Records: a.Records, Requests: a.webhooks, Accounts: a.Accounts, Settings: a.Settings, Tasks: a.tasks,
		NAS: a.nas, Device: a.device.Status, Tracker: a.tracker, Servers: a.watcher, Person: a.Auth.Person,
	}
	pages, err := web.New(config, web.Groups{
		Dashboard: web.Dashboard{
			Sources: sources, Records: a.Records, Questions: a.Questions, Accounts: a.Accounts, Notices: a.Notices, Queue: a.queue,
			Archive: a.Archiver.Status, Reachability: a.catalog.Reachability, Integrity: a.integrity.standing,
		},
		Records:       web.Records{Records: a.Records, Questions: a.Questions, Accounts: a.Accounts, Requests: a.webhooks, Tasks: a.tasks, WhoAre: a.Auth.WhoAre},
		Review:        web.Review{Questions: a.Questions, Names: a.Auth.Names},
		Inbox:         web.Inbox{Notices: a.Notices, Accounts: a.Accounts, Records: a.Records, WhoAre: a.Auth.WhoAre},
		Queue:         web.Queue{Queue: a.queue, Scheduler: a.replay.Standing, Reachability: a.catalog.Reachability, Settings: a.Settings, Tasks: a.tasks},
		Mappings:      web.Mappings{Mappings: a.Mappings, Names: a.Auth.Names},
		Archive:       web.Archive{Status: a.Archiver.Status, Find: a.Archive.Find},
		Sources:       sources,
		Accounts:      web.Accounts{Accounts: a.Accounts, Records: a.Records, Settings: a.Settings, Snapshots: a.snapshots, Words: a.words, Tasks: a.tasks, WhoAre: a.Auth.WhoAre},
		Notifications: web.Notifications{Notices: a.Notices, Accounts: a.Accounts, Records: a.Records, PushKey: a.pushKey.Public()},
		Summaries: web.Summaries{
			Jobs: a.summaries, Airing: a.airing.Status, Usage: a.llm.Usage.Report,
			Notices: a.Notices, Accounts: a.Accounts, Records: a.Records, Settings: a.Settings,
		},
		Calendar: web.Calendar{Service: a.calendar},
		Tasks:    web.Tasks{Tasks: a.tasks, Jobs: a.jobs},
		Settings: web.Settings{
			Differing: a.differing,
			Settings:  a.Settings, Backups: a.backups.Status, Provider: signIn.Status, Servers: door.Servers, Person: a.Auth.Person,
			TwoFactor: a.Auth.TwoFactor, Enrolment: a.Auth.Enrolment, APIKeys: a.Auth.ListKeys,
		},
		Debug:  web.Debug{Accounts: a.Accounts, Requests: a.webhooks, Settings: a.Settings, Lines: a.lines, Replica: a.replicaName(), Match: a.engine.Preview, Network: a.doctor.State},
		About:  web.About{Table: a.Dataset.Status, Seasons: a.Lists.Status, Update: a.updates.Status, Modules: modules(), Overview: a.overview().Overview},
		SignIn: web.SignIn{NeedsSetup: a.Auth.NeedsSetup, Provider: signIn.Status, ByGroup: func() bool { return a.provider().Groups[auth.RolePerson] != "" }, Servers: door.Servers, Invited: a.Auth.Invited},
		Mine:   web.Mine{Records: a.Records, Accounts: a.Accounts, Words: a.words, Tasks: a.tasks, Person: a.Auth.Person, OAuthReady: func() bool { return a.Settings.Current().Catalog.OAuthClientID != "" }}, Household: web.Household{People: a.Auth.People, Accounts: a.Accounts},
	})
	if err != nil {
		return web.Pages{}, fmt.Errorf("build the pages: %w", err)
	}
	return pages, nil
}

// subjectURL is the catalog's page of a subject.
func (a *App) subjectURL(id catalog.SubjectID) string {
	return fmt.Sprintf("%s/subject/%d", a.Settings.Current().Catalog.WebURL, id)
}

// publicURL is the address of the service for people: the setting, or else the address of the request.
func (a *App) publicURL(ctx context.Context) string {
	s := a.Settings.Current().Server
	if s.PublicURL != "" {
		return s.PublicURL
	}
	client := auth.ClientOf(ctx)
	scheme := "http"
	if client.HTTPS {
		scheme = "https"
	}
	return scheme + "://" + client.Host + s.BasePath
}
