package web

import (
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"
	"time"

	"watchmark/internal/door/auth"
	"watchmark/internal/door/auth/oidc"
	"watchmark/internal/door/auth/servers"
	"watchmark/internal/platform/settings"
	"watchmark/internal/upkeep/backup"
)

// Settings are the pages of the settings, of sign-in and API keys, and of backups.
type Settings struct {
	Settings *settings.Manager
	// Differing are the keys that replicas set in different ways in file or environment.
	Differing func(context.Context) ([]string, error)
	Backups   func() backup.Status
	Provider  func(context.Context) (oidc.Status, error) // of OpenID Connect
	// TwoFactor is the state of codes at a person's sign-in, and Enrolment the one that is being set up, if any.
	TwoFactor func(ctx context.Context, person int64) (auth.TwoFactor, error)
	Enrolment func(ctx context.Context, person int64) (auth.Enrolment, bool, error)
	// Servers are the media servers that are connected and could sign people in.
	Servers func(context.Context) ([]servers.Server, error)
	Person  func(ctx context.Context, id int64) (auth.Person, error)
	// APIKeys lists the API keys, without the keys themselves.
	APIKeys func(context.Context) ([]auth.Key, error)
}

type settingsPage struct {
	Query    string
	Sections []settingsSection
	// Found is how many keys Query finds.
	Found int
	// Waiting are the labels of the keys whose change needs a restart.
	Waiting []string
	// Differing are the keys that replicas set in different ways.
	Differing []string
}

// settingsSection is a section in the reader's language. It holds all keys. Those that the search does not find are
// hidden, so that the script can show them when the search changes.
type settingsSection struct {
	Name, Icon      string
	Label, Help     string
	Open            bool
	Changed, Locked int
	Keys, Advanced  []settingRow
	// Found and FoundAdvanced count the keys that are not hidden. ShowAdvanced is set when the advanced ones are shown
	// unfolded.
	Found, FoundAdvanced int
	ShowAdvanced         bool
}

// settingRow is a key with its value and its texts in the reader's language.
type settingRow struct {
	settings.Key
	ID          string
	Label, Help string
	// Value is the value of the control: a list has one item a line, and a secret is empty. Set reports whether a secret
	// has a value, Removable whether the page can remove it.
	Value          string
	Set, Removable bool
	// Standard is the default as value of the control, DefaultText as text.
	Standard, DefaultText string
	Unit                  string
	// LockedText says who sets a locked key.
	LockedText string
	// Runs are the next runs of a schedule.
	Runs []time.Time
	// Changed is set when the value was changed on this page or by the API, and is no secret.
	Changed bool
	// Find is the text that the search looks into, in lower case.
	Find   string
	Hidden bool
}

// Rows is the height of the control of a list in lines.
func (r settingRow) Rows() int { return min(8, max(2, 1+strings.Count(r.Value, "\n"))) }

// Attributes are the HTML attributes of every control.
func (r settingRow) Attributes() template.HTMLAttr {
	attributes := fmt.Sprintf(`id="%s" name="%s" data-standard="%s" aria-describedby="%[1]s-help`, r.ID, r.Path, template.HTMLEscapeString(r.Standard))
	if r.Locked {
		return template.HTMLAttr(attributes + " " + r.ID + `-locked" disabled`) //nolint:gosec // names of the settings table, and an escaped value
	}
	return template.HTMLAttr(attributes + `"`) //nolint:gosec // names of the settings table, and an escaped value
}

// Least is the lower bound of a number; empty without a bound.
func (r settingRow) Least() string { return bound(r.Min) }

// Most is the upper bound of a number; empty without a bound.
func (r settingRow) Most() string { return bound(r.Max) }

func bound(b *float64) string {
	if b == nil {
		return ""
	}
	return number(*b)
}

// sectionIcons are the icons of sections. A section without one gets the icon of the page.
var sectionIcons = map[string]string{
	"server": "server", "auth": "shield-check", "network": "globe", "catalog": "bookmark-check", "sync": "circle-check", "matching": "target",
	"catalog_archive": "database", "catalog_replay": "hourglass", "nas": "hard-drive", "snapshot": "history", "device": "tv", "tracker": "history",
	"notification": "send", "llm": "sparkles", "backup": "hard-drive", "log": "scroll-text", "database": "database", "watcher": "plug", "idmap": "list-checks",
}

// runsShown is how many of the next runs of a schedule a page shows.
const runsShown = 3

func (g Settings) list(r *request) (content, error) {
	page := settingsPage{Query: strings.TrimSpace(r.URL.Query().Get("q"))}
	var err error
	if page.Differing, err = g.Differing(r.Context()); err != nil {
		return content{}, err
	}
	words := strings.Fields(strings.ToLower(page.Query))
	asked := r.URL.Query().Get("section")
	view := g.Settings.View()
	for _, described := range g.Settings.Schema() {
		section := settingsSection{
			Name: described.Name, Icon: sectionIcons[described.Name],
			Label: r.choose(described.Label, described.LabelZH), Help: r.choose(described.Help, described.HelpZH),
		}
		if section.Icon == "" {
			section.Icon = "settings"
		}
		for _, key := range described.Keys {
			name := strings.TrimPrefix(key.Path, described.Name+".")
			row, err := rowOf(r.words, described, key, view[described.Name][name])
			if err != nil {
				return content{}, err
			}
			row.Hidden = slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(row.Find, word) })
			section.add(row)
			if row.PendingRestart {
				page.Waiting = append(page.Waiting, row.Label)
			}
		}
		section.Open = section.Name == asked || len(words) > 0 && section.Found > 0
		section.ShowAdvanced = len(words) > 0 && section.FoundAdvanced > 0
		page.Found += section.Found
		page.Sections = append(page.Sections, section)
	}
	return content{Data: page}, nil
}

// add adds a key to the section and counts it.
func (c *settingsSection) add(row settingRow) {
	if !row.Hidden {
		c.Found++
	}
	if row.Changed {
		c.Changed++
	}
	if row.Locked {
		c.Locked++
	}
	if !row.Advanced {
		c.Keys = append(c.Keys, row)
		return
	}
	c.Advanced = append(c.Advanced, row)
	if !row.Hidden {
		c.FoundAdvanced++
	}
}

// rowOf makes the row of a key.
func rowOf(w words, section settings.Section, key settings.Key, value any) (settingRow, error) {
	row := settingRow{
		Key: key, ID: "setting-" + strings.ReplaceAll(key.Path, ".", "-"),
		Label: w.choose(key.Label, key.LabelZH), Help: w.choose(key.Help, key.HelpZH),
		Value: controlText(value), Standard: controlText(key.Default), Changed: key.Source == settings.FromDatabase && !key.Secret,
		Find: strings.ToLower(strings.Join([]string{section.Label, section.LabelZH, key.Label, key.LabelZH, key.Help, key.HelpZH, key.Path}, " ")),
	}
	if key.Secret {
		row.Value, row.Set = "", row.Value != ""
		row.Removable = row.Set && key.Source == settings.FromDatabase
	}
	if key.Form == settings.Cron {
		// The stored schedule is valid. If it cannot be parsed all the same, the row shows no runs.
		row.Runs, _ = settings.NextRuns(key.Path, row.Value, time.Now(), runsShown)
	}
	var err error
	if key.Unit != "" {
		if row.Unit, err = w.text("settings.unit." + string(key.Unit)); err != nil {
			return row, err
		}
	}
	if key.Locked {
		row.LockedText, err = lockedText(w, key)
	}
	if err == nil && !key.Secret {
		row.DefaultText, err = defaultText(w, row)
	}
	return row, err
}

// controlText is a value of a setting as value of its control.
func controlText(value any) string {
	switch v := value.(type) {
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return number(v)
	case []string:
		return strings.Join(v, "\n")
	case string:
		return v
	}
	return ""
}

// defaultText describes the default of a key.
func defaultText(w words, row settingRow) (string, error) {
	for _, choice := range row.Choices {
		if choice.Value == row.Standard {
			return w.choose(choice.Label, choice.LabelZH), nil
		}
	}
	switch {
	case row.Standard == "":
		return w.text("settings.empty")
	case row.Type == settings.Boolean && row.Standard == "true":
		return w.text("settings.on")
	case row.Type == settings.Boolean:
		return w.text("settings.off")
	case row.Unit != "":
		return row.Standard + " " + row.Unit, nil
	}
	return strings.ReplaceAll(row.Standard, "\n", ", "), nil
}

// lockedText says what sets a key that the page cannot change.
func lockedText(w words, key settings.Key) (string, error) {
	switch key.Source {
	case settings.FromFile:
		return w.text("settings.locked.file", key.LockedBy)
	case settings.FromEnvironment:
		return w.text("settings.locked.environment", key.Env)
	case settings.FromDefault:
		return w.text("settings.locked.fixed", key.Env)
	default:
		return w.text("settings.locked.flag")
	}
}

// accessPage shows the ways to sign in, and the API keys.
type accessPage struct {
	// User is the name of the reader; empty where sign-in is turned off.
	User string
	// Own is the reader, with the ways in.
	Own       auth.Person
	TwoFactor auth.TwoFactor
	// Servers are those that could sign people in, with the request body that opens each, or closes it.
	Servers []signInServer
	// Enrolment is the second step that is being set up; nil when there is none.
	Enrolment *enrolmentView
	Provider  oidc.Status
	// Redirect is the redirect URI to register at the provider.
	Redirect string
	// ErrorKey is the text key of the error when the provider was tried; empty without an error.
	ErrorKey string
	// Allow is the request body that adds the last account to those that may sign in.
	Allow string
	Keys  []auth.Key
}

// signInServer is a media server that could sign people in.
type signInServer struct {
	servers.Server
	Change string
}

// enrolmentView is the secret of a second step, as text and as QR code.
type enrolmentView struct {
	Secret string
	QR     template.HTML
}

// ownAccess shows how a person signs in, and the person's API keys.
func (g Settings) ownAccess(r *request) (content, error) {
	page := accessPage{User: r.viewer.Name}
	err := g.showOwn(r, &page)
	return content{Data: page}, err
}

// showOwn adds what is of the reader alone.
func (g Settings) showOwn(r *request, page *accessPage) (err error) {
	if r.viewer.Person != 0 {
		if page.Own, err = g.Person(r.Context(), r.viewer.Person); err != nil {
			return err
		}
	}
	if page.Keys, err = g.APIKeys(r.Context()); err != nil {
		return err
	}
	if page.TwoFactor, err = g.TwoFactor(r.Context(), r.viewer.Person); err != nil {
		return err
	}
	made, underWay, err := g.Enrolment(r.Context(), r.viewer.Person)
	if err != nil || !underWay || r.viewer.Kind != auth.BySession {
		return err
	}
	label, err := r.text("access.qr")
	if err != nil {
		return err
	}
	picture, err := qrCode(made.URI, label)
	if err != nil {
		return err
	}
	page.Enrolment = &enrolmentView{made.Secret, picture}
	return nil
}

func (g Settings) access(r *request) (content, error) {
	page := accessPage{Redirect: r.PublicURL(r.Context()) + "/api/login/oidc/callback", ErrorKey: providerProblem(r)}
	switch page.ErrorKey {
	case "login.problem.stranger":
		page.ErrorKey = "access.problem.stranger"
	case "login.problem.refused":
		page.ErrorKey = "" // the status of the provider holds the error
	}
	page.User = r.viewer.Name
	var err error
	if page.Provider, err = g.Provider(r.Context()); err != nil {
		return content{}, err
	}
	if err := g.showOwn(r, &page); err != nil {
		return content{}, err
	}
	if err := g.showServers(r, &page); err != nil {
		return content{}, err
	}
	if last := page.Provider.Last; last != nil && last.Item != "" {
		allowed, _ := g.Settings.View()["auth"]["oidc_allowed"].([]string)
		change, err := json.Marshal(map[string]any{"auth": map[string]any{"oidc_allowed": append(slices.Clone(allowed), last.Item)}})
		if err != nil {
			return content{}, err
		}
		page.Allow = string(change)
	}
	return content{Data: page}, nil
}

// showServers adds the media servers that could sign people in.
func (g Settings) showServers(r *request, page *accessPage) error {
	all, err := g.Servers(r.Context())
	if err != nil {
		return err
	}
	open := g.Settings.Current().Auth.MediaServers
	for _, s := range all {
		after := slices.DeleteFunc(slices.Clone(open), func(id string) bool { return id == s.ServerID })
		if !s.Open {
			after = append(after, s.ServerID)
		}
		change, err := json.Marshal(map[string]any{"auth": map[string]any{"media_servers": append([]string{}, after...)}})
		if err != nil {
			return err
		}
		page.Servers = append(page.Servers, signInServer{s, string(change)})
	}
	return nil
}
