package app_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/door/auth"
	"watchmark/internal/platform/scope"
	"watchmark/internal/platform/secret"
	"watchmark/internal/tell/notify"
	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/testkit/mediaservertest"
	"watchmark/internal/testkit/nastest"
	"watchmark/internal/testkit/trackertest"
)

// way is a way in which a matter comes up and is settled.
type way struct {
	name    string
	environ []string
	// raise has the matter come up, and answers what settles it.
	raise func(h *home) (settle func())
}

// matters are the ways of each kind of notice; a kind with none has no matter: it tells of something, and asks nobody for anything.
func matters() map[notify.Kind][]way {
	const (
		gone    = "the account is removed"
		noTable = "WATCHMARK_MATCHING_DATASET_ENABLED=false"
	)
	removed := func(h *home) func() { return func() { h.api(http.MethodDelete, "/accounts/1", "") } }
	plays := func(title string, episode int, user string) func(h *home) {
		return func(h *home) {
			post(h.t, fmt.Sprintf(`{"title":%q,"season":1,"episode":%d,"user_name":%q}`, title, episode, user))
			time.Sleep(time.Minute)
		}
	}
	retried := func(h *home) { h.api(http.MethodPost, "/records/1/retry", "") }
	mapped := func(h *home, title string, offset int) {
		h.api(http.MethodPost, "/mappings", fmt.Sprintf(`{"title":%q,"season":1,"subject_id":1,"episode_offset":%d}`, title, offset))
		retried(h)
	}
	then := func(raise func(h *home), settle func(h *home)) func(h *home) func() {
		return func(h *home) func() { raise(h); return func() { settle(h) } }
	}
	gives := func(raise func(h *home)) func(h *home) func() {
		return func(h *home) func() { raise(h); return removed(h) }
	}
	stranger, unknown, none := plays("晨雾邮局", 1, "Sofa TV"), plays("无人知晓的节目", 1, "mira"), plays("晨雾邮局", 77, "mira")
	asked := plays("Moonshade Teahouse", 1, "mira")
	answers := func(h *home) { h.api(http.MethodPost, "/pending-candidates/1/confirm", `{"subject_id":900014}`) }
	refuses := func(status int, within time.Duration) func(h *home) {
		return func(h *home) {
			h.fault(catalogtest.Fault{Mode: catalogtest.Status, Status: status, Paths: catalogtest.Writes})
			h.watched(1)
			time.Sleep(within)
		}
	}
	works := func(h *home) { h.fault(catalogtest.Fault{Mode: catalogtest.None}); retried(h) }
	once := []string{"WATCHMARK_CATALOG_REPLAY_MAX_RETRIES=1"}
	ended := func(h *home) { // the last of forty episodes
		must(0, h.list.Collect("mira", 1, catalog.Doing, false))(h.t)
		for n := range showEpisodes - 1 {
			must(0, h.list.SetMark("mira", catalog.EpisodeID(1001+n), catalog.EpisodeWatched))(h.t)
		}
		h.watched(showEpisodes)
		time.Sleep(time.Minute)
	}
	soon := func(settle func(h *home, path string)) func(h *home) func() {
		return func(h *home) func() {
			one := must(h.Accounts.Get(h.t.Context(), 1))(h.t)
			made, err := h.Accounts.Create(h.t.Context(), account.Draft{PersonID: one.PersonID, Username: "arim", Tokens: account.Tokens{Access: "another-token", ExpiresAt: time.Now().Add(13 * 24 * time.Hour)}, Method: account.ByToken, Enabled: true})
			must(0, err)(h.t)
			return func() { settle(h, fmt.Sprintf("/accounts/%d", made.ID)) }
		}
	}
	revoked := func(h *home) {
		h.token("a-token-that-was-revoked-since")
		h.watched(1)
		time.Sleep(2 * time.Minute)
	}
	enabled := func(h *home, is bool) { h.api(http.MethodPatch, "/accounts/1", fmt.Sprintf(`{"enabled":%t}`, is)) }
	proxy := []string{"WATCHMARK_NETWORK_PROXY=http://proxy"} // only by a proxy are media servers reached in the network of a bubble
	ofServer := func(settle func(h *home, s *mediaservertest.Server), happens func(h *home, s *mediaservertest.Server)) func(h *home) func() {
		return func(h *home) func() {
			s := h.attic()
			happens(h, s)
			return func() { settle(h, s) }
		}
	}
	takenOut := func(h *home, _ *mediaservertest.Server) { h.api(http.MethodDelete, "/servers/1", "") }
	off := func(h *home, _ *mediaservertest.Server) { h.api(http.MethodPatch, "/servers/1", `{"enabled":false}`) }
	trakt := []string{"WATCHMARK_TRACKER_AUTH_URL=http://tracker.example", "WATCHMARK_TRACKER_API_URL=http://tracker.example", "WATCHMARK_TRACKER_CLIENT_ID=web-client", "WATCHMARK_TRACKER_CRON="}
	ask := []string{"WATCHMARK_SYNC_UNWATCHED=ask"}
	unwatched := func(h *home) {
		h.watched(1)
		time.Sleep(time.Minute)
		h.webhook("emby", `{"Event":"item.markunplayed","User":{"Name":"mira"},"Server":{"Id":"attic"},"Item":{"Type":"Episode","Id":"1","Name":"x","SeriesName":"晨雾邮局","ParentIndexNumber":1,"IndexNumber":1}}`)
		time.Sleep(time.Minute)
	}
	shrinks := func(h *home) {
		for id := range 12 {
			must(0, h.list.Collect("mira", catalog.SubjectID(id+1), catalog.Doing, false))(h.t)
		}
		h.snapshots()
		for id := range 9 {
			h.list.Remove("mira", catalog.SubjectID(id+1), true)
		}
		h.snapshots()
	}
	return map[notify.Kind][]way{
		notify.NoAccount: {
			{"an account names the user", nil, then(stranger, func(h *home) { h.api(http.MethodPatch, "/accounts/1", `{"media_user_names":["mira","Sofa TV"]}`) })},
			{"the user is ignored", nil, then(stranger, func(h *home) { h.api(http.MethodPost, "/ignored-users", `{"name":"Sofa TV"}`) })},
		},
		notify.NotMatched: {
			{"a mapping names the entry", nil, then(unknown, func(h *home) { mapped(h, "无人知晓的节目", 0) })},
			{gone, nil, gives(unknown)},
		},
		notify.ReviewWaiting: {
			{"it is answered", nil, then(asked, answers)},
			{"it is answered while Bangumi is away", nil, then(asked, func(h *home) {
				h.fault(catalogtest.Fault{Mode: catalogtest.Refuse, Paths: catalogtest.Writes})
				answers(h)
			})},
			{"it is put off", nil, then(asked, func(h *home) { h.api(http.MethodDelete, "/pending-candidates/1", "") })},
			{gone, nil, gives(asked)},
		},
		notify.EpisodeNotFound: {
			{"a mapping shifts the episodes", nil, then(none, func(h *home) { mapped(h, "晨雾邮局", -70) })},
			{gone, nil, gives(none)},
		},
		notify.MarkFailed: {
			{"it is marked", nil, then(refuses(http.StatusBadRequest, time.Minute), works)},
			{"it waits, and is taken out of the queue", nil, then(refuses(http.StatusBadRequest, time.Minute), func(h *home) {
				h.fault(catalogtest.Fault{Mode: catalogtest.Refuse})
				retried(h)
				time.Sleep(time.Minute)
				h.api(http.MethodDelete, "/catalog_replay/queue/1", "")
			})},
			{gone, nil, gives(refuses(http.StatusBadRequest, time.Minute))},
		},
		notify.Abandoned: {
			{"it waits again, and is marked", once, then(refuses(http.StatusInternalServerError, 2*time.Hour), func(h *home) {
				h.fault(catalogtest.Fault{Mode: catalogtest.None})
				h.api(http.MethodPost, "/catalog_replay/queue/1/revive", "")
				time.Sleep(time.Hour)
			})},
			{gone, once, gives(refuses(http.StatusInternalServerError, 2*time.Hour))},
		},
		notify.WordAsked: {
			{"it is rated", nil, then(ended, func(h *home) {
				h.api(http.MethodPut, "/accounts/1/entries/1/word", `{"rate":9,"comment":"","shown":{"rate":0,"comment":""}}`)
			})},
			{"no rating is wanted", nil, then(ended, func(h *home) { h.api(http.MethodDelete, "/accounts/1/entries/1/word", "") })},
			{"it is rated on Bangumi, and the list is read", nil, then(ended, func(h *home) {
				must(0, h.list.Put(catalogtest.Listed{Username: "mira", SubjectID: 1, Type: catalog.Doing, Rate: 4}))(h.t)
				h.snapshots()
			})},
			{"the mark is taken back", nil, then(ended, func(h *home) { h.api(http.MethodPost, "/records/1/unmark", "") })},
			{gone, nil, gives(ended)},
		},
		notify.TokenExpiring: {
			{"the token is renewed", nil, soon(func(h *home, path string) {
				h.list.SetUser(catalogtest.User{Username: "arim", Token: "of-arim"})
				h.api(http.MethodPatch, path, `{"access_token":"of-arim"}`)
			})},
			{"the account is switched off", nil, soon(func(h *home, path string) { h.api(http.MethodPatch, path, `{"enabled":false}`) })},
			{gone, nil, soon(func(h *home, path string) { h.api(http.MethodDelete, path, "") })},
		},
		notify.TokenDead: {
			{"another token is accepted", nil, then(revoked, func(h *home) { h.token(miraToken) })},
			{"the account is switched off", nil, then(revoked, func(h *home) { enabled(h, false) })},
			{gone, nil, gives(revoked)},
		},
		notify.CatalogUnreachable: {{"Bangumi answers", nil, then(func(h *home) {
			h.catalog(catalogtest.Refuse)
			h.watched(1)
			time.Sleep(3 * time.Minute)
		}, func(h *home) { h.catalog(catalogtest.None) })}},
		notify.ArchiveFailed: {
			{"an import comes to its end", nil, func(h *home) func() {
				return h.archiveFails(func(w *weekly) { w.publish(h.t, "2000-01-05.210000Z", 1) })
			}},
			{"the offline data are switched off", nil, func(h *home) func() {
				h.archiveFails(func(*weekly) {})
				return func() { h.set("catalog_archive", "enabled", false) }
			}},
		},
		notify.SourceSilent: {{"it is heard of", []string{"WATCHMARK_NOTIFICATION_SILENT_DAYS=1", noTable}, func(h *home) func() {
			h.again(12 * time.Hour)
			for n := range 3 { // three days at noon; between them it is off, for a service ticks
				h.watched(n + 1)
				time.Sleep(time.Hour)
				h.again(22 * time.Hour)
			}
			time.Sleep(5 * time.Hour)
			return func() { h.watched(4); time.Sleep(2 * time.Hour) }
		}}, {"it is switched off", append(slices.Clone(trakt), "WATCHMARK_NOTIFICATION_SILENT_DAYS=1", noTable), func(h *home) func() {
			h.again(12 * time.Hour)
			remote := h.trakt()
			remote.AddTitle(trackertest.Title{Kind: "show", ID: 1, Name: "晨雾邮局", Genres: []string{"anime"}})
			for n := range 3 {
				remote.AddPlays(traktMail, trackertest.Play{ID: int64(n + 1), WatchedAt: time.Now(), Kind: "show", Title: 1, Season: 1, Episode: n + 1})
				time.Sleep(time.Minute) // for what the start reads
				h.api(http.MethodPost, "/tracker/sync/manual", `{}`)
				time.Sleep(time.Hour)
				h.again(22 * time.Hour)
			}
			time.Sleep(5 * time.Hour)
			return func() { h.set("tracker", "enabled", false); time.Sleep(2 * time.Hour) }
		}}},
		notify.TrackerSyncFailed: {
			{"the history is read", trakt, func(h *home) func() {
				remote := h.historyFails()
				return func() { remote.SetFault(nil); h.api(http.MethodPost, "/tracker/sync/manual", `{}`) }
			}},
			{"the sign-in is removed", trakt, func(h *home) func() {
				h.historyFails()
				return func() { h.api(http.MethodDelete, "/tracker/credential", "") }
			}},
			{"Trakt is switched off", trakt, func(h *home) func() {
				h.historyFails()
				return func() { h.set("tracker", "enabled", false) }
			}},
		},
		notify.ServerSignedOut: {
			{"the sign-in works", proxy, ofServer(func(h *home, _ *mediaservertest.Server) {
				h.api(http.MethodPost, "/servers/1/sign-in", `{"username":"mira","password":"pw"}`)
			}, (*home).signedOut)},
			{"it is switched off", proxy, ofServer(off, (*home).signedOut)},
			{"it is removed", proxy, ofServer(takenOut, (*home).signedOut)},
		},
		notify.ServerUnreachable: {
			{"the server answers", proxy, ofServer(func(_ *home, s *mediaservertest.Server) { s.Down(false); time.Sleep(10 * time.Minute) }, (*home).downForADay)},
		},
		notify.ServerRefused: {
			{"the server takes the user", proxy, ofServer(func(_ *home, s *mediaservertest.Server) { s.SetFault(nil); time.Sleep(2 * time.Hour) }, (*home).refused)},
			{"it is removed", proxy, ofServer(takenOut, (*home).refused)},
		},
		notify.ServerAsks: {
			{"the plays are left alone", proxy, ofServer(func(h *home, _ *mediaservertest.Server) { h.api(http.MethodPost, "/servers/1/held", `{"take":false}`) }, (*home).seasonByHand)},
			{"the plays are marked", proxy, ofServer(func(h *home, _ *mediaservertest.Server) { h.api(http.MethodPost, "/servers/1/held", `{"take":true}`) }, (*home).seasonByHand)},
			{"it is removed", proxy, ofServer(takenOut, (*home).seasonByHand)},
		},
		notify.ImportFailed: {{"an import comes to its end", proxy, func(h *home) func() {
			server := mediaservertest.New(library("jellyfin", "1", "7"))
			h.serves(server)
			h.api(http.MethodPatch, "/accounts/1", `{"media_user_names":["mira","Mira"]}`)
			server.Fail(http.StatusInternalServerError, 6) // the last ones are those of pages
			body := importBody("jellyfin", "http://attic.example", "Mira")
			h.api(http.MethodPost, "/import/run", body)
			time.Sleep(time.Hour)
			return func() {
				server.Fail(0, 0)
				h.api(http.MethodPost, "/import/run", body)
				time.Sleep(time.Hour)
			}
		}}},
		notify.JobFailed: {
			{"the job comes to its end", nil, func(h *home) func() {
				dir := h.t.TempDir()
				h.scansIn(dir)
				return func() {
					nastest.Create(h.t, dir)
					h.api(http.MethodPost, "/nas/sync/manual", "")
				}
			}},
			{"the NAS is switched off", nil, func(h *home) func() {
				h.scansIn(h.t.TempDir())
				return func() { h.set("nas", "enabled", false) }
			}},
			{"the ID table is switched off", []string{"WATCHMARK_MATCHING_DATASET_URL=http://tables/data.json", "WATCHMARK_MATCHING_DATASET_CRON=CRON_TZ=UTC 5 * * * *"}, func(h *home) func() {
				time.Sleep(20 * time.Minute)
				return func() { h.set("matching", "dataset_enabled", false) }
			}},
			{"the snapshots are switched off", []string{"WATCHMARK_SNAPSHOT_CRON=CRON_TZ=UTC 10 * * * *"}, func(h *home) func() {
				h.set("snapshot", "enabled", true)
				h.fault(catalogtest.Fault{Mode: catalogtest.Status, Status: http.StatusBadRequest, Paths: catalogtest.Reads})
				time.Sleep(20 * time.Minute)
				return func() { h.set("snapshot", "enabled", false) }
			}},
		},
		notify.ListShrunk: {
			{"it is back", nil, then(shrinks, func(h *home) {
				for id := range 12 {
					must(0, h.list.Collect("mira", catalog.SubjectID(id+1), catalog.Doing, false))(h.t)
				}
				h.snapshots()
			})},
			{gone, nil, gives(shrinks)},
		},
		notify.UnwatchedAsks: {
			{"the mark is taken back", ask, then(unwatched, func(h *home) { h.api(http.MethodPost, "/unwatched", `{"record_ids":[1],"take_back":true}`) })},
			{"the mark is kept", ask, then(unwatched, func(h *home) { h.api(http.MethodPost, "/unwatched", `{"record_ids":[1],"take_back":false}`) })},
			{"the mark is taken back on the page of the record", ask, then(unwatched, func(h *home) { h.api(http.MethodPost, "/records/1/unmark", "") })},
			{gone, ask, gives(unwatched)},
		},
		notify.LoginLocked: {{"the lock ends", nil, then(func(h *home) {
			for range 10 {
				_, _ = h.Auth.Login(h.t.Context(), "admin", "guess", "", auth.Visitor{Addr: netip.MustParseAddr("198.51.100.7")})
				time.Sleep(time.Second)
			}
			time.Sleep(2 * time.Minute)
		}, func(*home) { time.Sleep(2 * time.Hour) })}},
		notify.CertificateEnding: {{"it is renewed", nil, func(h *home) func() {
			dir := h.t.TempDir()
			cert, key, _ := certificate(h.t, dir)
			h.environ = append(slices.Clone(h.environ), "WATCHMARK_SERVER_TLS_CERT="+cert, "WATCHMARK_SERVER_TLS_KEY="+key)
			h.again(0)
			time.Sleep(50 * time.Minute)
			return func() { certificate(h.t, dir) }
		}}},
	}
}

// Whatever people are told of that waits for somebody is closed by itself when it is settled, in whichever way: for the owner, and for the
// person whom it concerns. Who it does not concern never hears of it.
func TestEveryKindOfMatterClosesByItself(t *testing.T) {
	if testing.Short() {
		t.Skip("plays days")
	}
	all := matters()
	for _, kind := range notify.Kinds() {
		ways := all[kind.Kind]
		hers := kind.OfPeople() && kind.Kind != notify.JobFailed // which here is one of the service
		delete(all, kind.Kind)
		if matter := kind.Severity >= notify.Warning || kind.Kind == notify.WordAsked; matter != (len(ways) > 0) {
			t.Errorf("%s asks for somebody: %t; the table has %d ways of it", kind.Kind, matter, len(ways))
		}
		for _, w := range ways {
			t.Run(string(kind.Kind)+"/"+w.name, func(t *testing.T) {
				atHome(t, w.environ, func(t *testing.T, h *home) {
					must(0, h.list.LoadSample())(t)
					person, err := h.Auth.AddPerson(t.Context(), auth.PersonDraft{Name: "mira", Role: auth.RolePerson})
					must(0, err)(t)
					_, err = h.Accounts.Update(t.Context(), 1, account.Change{PersonID: &person.ID})
					must(0, err)(t)
					time.Sleep(time.Minute)
					is := func(when string, want int) {
						t.Helper()
						for who, ctx := range map[string]context.Context{"the owner": t.Context(), "mira": scope.In(t.Context(), scope.Of(person.ID))} {
							want := want
							if who == "mira" && !hers {
								want = 0
							}
							open, _, err := h.Notices.List(ctx, notify.Filter{Kinds: []notify.Kind{kind.Kind}, Standing: true, Open: true})
							must(0, err)(t)
							unread, _, err := h.Notices.List(ctx, notify.Filter{Kinds: []notify.Kind{kind.Kind}, Unread: true})
							must(0, err)(t)
							if len(open) != want || len(unread) != want && (who == "mira" || !hers) || len(unread) > want {
								t.Errorf("%s, %s has %d open notices of it, %d unread; want %d", when, who, len(open), len(unread), want)
							}
						}
					}
					settle := w.raise(h)
					time.Sleep(2 * time.Minute)
					is("at first", 1)
					settle()
					time.Sleep(5 * time.Minute)
					is("settled", 0)
				})
			})
		}
	}
	for kind := range all {
		t.Errorf("there is no kind %s", kind)
	}
}

// api sends a request to the API that is to succeed.
func (h *home) api(method, path, body string) (answer string) {
	h.t.Helper()
	return h.send(method, "http://watchmark/api"+path, body)
}

func (h *home) webhook(source, body string) {
	h.t.Helper()
	h.send(http.MethodPost, "http://watchmark/webhook/"+source, body)
}

func (h *home) send(method, url, body string) (text string) {
	h.t.Helper()
	request, err := http.NewRequestWithContext(h.t.Context(), method, url, strings.NewReader(body))
	must(0, err)(h.t)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	must(0, err)(h.t)
	read, _ := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		h.t.Fatalf("%s %s is answered %d: %s", method, url, answer.StatusCode, read)
	}
	return string(read)
}

func (h *home) fault(f catalogtest.Fault) { h.t.Helper(); must(0, h.list.SetFault(f))(h.t) }

// set changes a setting.
func (h *home) set(section, key string, value any) {
	h.t.Helper()
	must(0, h.Settings.Patch(h.t.Context(), map[string]map[string]any{section: {key: value}}))(h.t)
}

// token gives mira's account a token.
func (h *home) token(token string) {
	h.t.Helper()
	_, err := h.Accounts.Update(h.t.Context(), 1, account.Change{AccessToken: new(secret.Text(token))})
	must(0, err)(h.t)
}

// snapshots takes one of every list.
func (h *home) snapshots() {
	h.t.Helper()
	h.api(http.MethodPost, "/jobs/snapshots/run", "")
	time.Sleep(2 * time.Minute)
}

// archiveFails has an import of the offline data fail; mends has what is published be read.
func (h *home) archiveFails(mends func(*weekly)) (settle func()) {
	h.t.Helper()
	source := &weekly{version: "2000-01-04.210000Z", zip: []byte("no zip")}
	h.site("releases", source)
	h.environ = append(slices.Clone(h.environ), "WATCHMARK_CATALOG_ARCHIVE_MIN_FREE_MB=10", "WATCHMARK_CATALOG_ARCHIVE_POINTER_URL=http://releases/latest.json")
	h.again(0)
	h.set("catalog_archive", "enabled", true)
	time.Sleep(10 * time.Minute)
	return func() { mends(source); time.Sleep(2 * time.Hour) }
}

// scansIn has the library of a NAS be read that is not there.
func (h *home) scansIn(dir string) {
	h.environ = append(slices.Clone(h.environ), "WATCHMARK_NAS_DATABASE_PATH="+filepath.Join(dir, "trimmedia.db"))
	h.again(0)
	h.set("nas", "enabled", true)
	time.Sleep(time.Hour)
}

const traktMail = "mira@home.example"

// trakt has mira connected with Trakt.
func (h *home) trakt() *trackertest.Server {
	h.t.Helper()
	remote := trackertest.New(trackertest.Config{
		Clients: []trackertest.Client{{ID: "web-client", RedirectURI: "https://app.trakt.tv/callback"}}, Users: []trackertest.User{{Email: traktMail, Name: "mira", UUID: "uuid-of-mira"}},
	})
	h.site("tracker.example", remote)
	h.set("tracker", "enabled", true)
	h.api(http.MethodPost, "/tracker/email-login/start", `{"email":"`+traktMail+`"}`)
	h.api(http.MethodPost, "/tracker/email-login/complete", `{"otp":"`+remote.LastCode(traktMail)+`"}`)
	return remote
}

// historyFails has mira connected with Trakt, whose history cannot be read.
func (h *home) historyFails() *trackertest.Server {
	h.t.Helper()
	remote := h.trakt()
	remote.SetFault(&trackertest.Fault{Path: "/sync/", Status: http.StatusBadRequest})
	h.api(http.MethodPost, "/tracker/sync/manual", `{}`)
	time.Sleep(5 * time.Minute)
	return remote
}

// serves has a media server be reached at http://attic.example.
func (h *home) serves(server *mediaservertest.Server) {
	h.site("proxy", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "attic.example" {
			server.ServeHTTP(w, r)
			return
		}
		h.list.ServeHTTP(w, r)
	}))
}

// attic is a media server with a season of forty episodes, where mira is followed.
func (h *home) attic() *mediaservertest.Server {
	h.t.Helper()
	server := mediaservertest.New(mediaservertest.Config{
		Kind: mediaservertest.Jellyfin, Version: "12.0.0", Name: "attic", Users: []mediaservertest.User{{Name: "mira", Password: "pw"}},
		Libraries: []mediaservertest.Library{{ID: "f0", Name: "Shows", Kind: "show"}}, Shows: []mediaservertest.Show{{ID: "700", Library: "f0", Title: "Lighthouse"}},
	})
	for n := range 40 {
		server.Add(mediaservertest.Item{Library: "f0", Show: "700", Title: "Night", Season: 1, Episode: n + 1})
	}
	h.serves(server)
	h.api(http.MethodPost, "/servers", `{"kind":"jellyfin","url":"http://attic.example","username":"mira","password":"pw"}`)
	time.Sleep(5 * time.Minute)
	return server
}

func (h *home) signedOut(s *mediaservertest.Server) {
	must(0, s.Revoke("mira"))(h.t)
	s.Cut()
	time.Sleep(10 * time.Minute)
}

func (h *home) downForADay(s *mediaservertest.Server) { s.Down(true); time.Sleep(25 * time.Hour) }

func (h *home) refused(s *mediaservertest.Server) {
	s.Fail(http.StatusForbidden, 0)
	s.Cut()
	time.Sleep(10 * time.Minute)
}

func (h *home) seasonByHand(s *mediaservertest.Server) {
	must(0, s.MarkSeason("mira", "700", 1, true))(h.t)
	time.Sleep(5 * time.Minute)
}
