package movein

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/secret"
	"watchmark/internal/source/tracker"
)

// readAccounts reads those of the database, then those that config.ini still has beside.
func (c *config) readAccounts(ctx context.Context) error {
	if c.plan.database != nil {
		rows, err := c.plan.database.accounts(ctx)
		if err != nil {
			return err
		}
		for _, row := range rows {
			c.addAccount(row)
		}
	}
	multi := strings.EqualFold(c.get("sync", "mode"), "multi")
	for _, section := range append([]string{"bangumi"}, c.names...) {
		if section != "bangumi" && (!strings.HasPrefix(section, "bangumi-") || slices.Contains(known, section)) {
			continue
		}
		row := accountRow{
			section: section, username: c.get(section, "username"), users: names(c.get(section, "media_server_username")),
			method: c.get(section, "auth_method"), access: c.get(section, "access_token"), refresh: c.get(section, "refresh_token"),
			private: yes(c.get(section, "private"), false), active: section == "bangumi", unused: multi == (section == "bangumi"),
		}
		row.expires, _ = strconv.ParseInt(c.get(section, "expires_at"), 10, 64) // unknown is 0
		if section == "bangumi" {
			row.users = append(row.users, names(c.get("sync", "single_username"))...)
		}
		for user := range c.options("sync") {
			if strings.EqualFold(c.get("sync", user), section) {
				row.users = append(row.users, user)
			}
		}
		if row.username != "" {
			c.addAccount(row)
		}
	}
	return nil
}

// accountRow is an account as it is kept there.
type accountRow struct {
	section, username, nickname, method, access, refresh string
	users                                                []string
	expires                                              int64 // unix seconds; 0 = unknown
	private, active                                      bool
	// unused is set for what the mode passes over.
	unused bool
}

// addAccount plans an account. One that is there by another section too gets the names of both.
func (c *config) addAccount(row accountRow) {
	slices.Sort(row.users)
	a := Account{From: "[" + row.section + "]", Draft: account.Draft{
		Username: strings.TrimSpace(row.username), Nickname: row.nickname, Method: account.ByToken, Enabled: !row.unused,
		Preferred: row.active && !row.unused, Private: row.private, MediaUserNames: slices.Compact(row.users),
		CompleteFilms: yes(c.get("sync", "movie_mark_subject_completed"), true),
	}}
	for i, other := range c.plan.Accounts {
		if other.Username == a.Username {
			all := append(slices.Clone(other.MediaUserNames), a.MediaUserNames...)
			slices.Sort(all)
			c.plan.Accounts[i].MediaUserNames = slices.Compact(all)
			c.plan.Accounts[i].Enabled = other.Enabled || a.Enabled
			return
		}
	}
	what := "the token of " + a.Username
	a.Tokens.Access = secret.Text(c.clear(what, strings.TrimSpace(row.access)))
	if row.expires > 0 {
		a.Tokens.ExpiresAt = time.Unix(row.expires, 0)
	}
	// A sign-in is renewed by the application that it was made for, and by naming the address that it came back to.
	redirect := c.get("bangumi-oauth", "redirect_uri")
	lasting := row.refresh != "" && redirect != "" && c.text("bangumi-oauth", "client_id") != "" && c.text("bangumi-oauth", "client_secret") != ""
	if lasting {
		a.Tokens.Refresh = secret.Text(c.clear("the refresh token of "+a.Username, row.refresh))
		a.Tokens.RedirectURL = redirect
		a.Method = account.ByOAuth
	}
	switch {
	case a.Tokens.Access == "":
		a.Note = "without a token: enter one on the page People"
	case row.method == "oauth" && !lasting && row.expires > 0:
		a.Note = "its sign-in cannot be renewed here: enter a token on the page People before " + a.Tokens.ExpiresAt.Format(time.DateOnly)
	case row.unused:
		a.Note = "switched off: the mode it ran in passed it over"
	}
	c.plan.Accounts = append(c.plan.Accounts, a)
}

// standardInterval is how often the tool reads a history when nobody set it.
const standardInterval = "0 */6 * * *"

// readSignIn reads who is signed in at the tracker.
func (c *config) readSignIn(ctx context.Context) error {
	if c.plan.database == nil {
		return nil
	}
	rows, err := c.plan.database.signIns(ctx)
	if err != nil {
		return err
	}
	client := c.text("trakt", "client_id")
	for _, row := range rows {
		what := "the sign-in at Trakt of " + row.user
		access, refresh := c.clear(what, row.access), c.clear(what, row.refresh)
		if yes(row.filter, false) {
			c.plan.leave("sync_filter_enabled of "+row.user+" at Trakt", "there is no such filter: what is no animation finds no entry and is not marked; "+
				"block its titles on the page Blocked titles if their records disturb")
		}
		switch {
		case !row.enabled:
			c.plan.leave(what, "it is switched off there")
		case access == "" || refresh == "":
		case row.method != "" && row.method != "oauth":
			c.plan.leave(what, "it belongs to Trakt's own web client: sign in again on the page Trakt")
		case client == "":
			c.plan.leave(what, "the application it belongs to, client_id below [trakt] of config.ini, is not there: sign in again on the page Trakt")
		case c.plan.SignIn != nil:
			c.plan.leave(what, "one sign-in is taken, that of "+c.plan.SignIn.Of+": sign in again on the page Trakt")
		default:
			c.plan.SignIn = &SignIn{
				Of: row.user, ClientID: client, RedirectURI: cmp.Or(c.get("trakt", "redirect_uri"), "http://localhost:8000/api/trakt/auth/callback"), Since: row.synced,
				Credential: tracker.Credential{Access: secret.Text(access), Refresh: secret.Text(refresh), TokenType: "Bearer", ExpiresAt: time.Unix(row.expires, 0)},
			}
			c.set("tracker.enabled", true, "table trakt_config")
			if row.interval != "" && row.interval != standardInterval {
				c.set("tracker.cron", row.interval, "sync_interval of table trakt_config")
			}
		}
	}
	return nil
}

// readBlocked reads the blocked keywords.
func (c *config) readBlocked() {
	seen := map[string]bool{}
	for word := range strings.SplitSeq(c.get("sync", "blocked_keywords"), ",") {
		word = strings.TrimSpace(word)
		if key := mapping.Fold(word); word != "" && !seen[key] {
			seen[key] = true
			c.plan.Rules.Blocked = append(c.plan.Rules.Blocked, mapping.Blocked{Keyword: word, Kind: mapping.Contains})
		}
	}
}

// mostMappings bounds what is read of the mapping file; more than are kept have to be refused anyway.
const mostMappings = mapping.MaxMappings + 1

// readMappings reads the mapping file, empty for none, and then what [bangumi-mapping] holds, which is
// older: of two mappings of one title the first one counts.
func (c *config) readMappings(path string) error {
	if path != "" {
		if err := c.readMappingFile(path); err != nil {
			return err
		}
	}
	section := c.options("bangumi-mapping")
	for _, title := range slices.Sorted(maps.Keys(section)) {
		if id := section[title]; id != "" {
			c.addMapping("[bangumi-mapping]", title, json.RawMessage(strconv.Quote(id)), "")
		}
	}
	return nil
}

func (c *config) readMappingFile(path string) error {
	text, err := readFile(path)
	if err != nil {
		return err
	}
	var file struct {
		Mappings map[string]json.RawMessage `json:"mappings"`
		Rules    []json.RawMessage          `json:"rules"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return errorIn(path, err)
	}
	for _, title := range slices.Sorted(maps.Keys(file.Mappings)) {
		c.addMapping("mapping", title, file.Mappings[title], "")
	}
	for _, raw := range file.Rules {
		var r struct {
			Pattern     string `json:"pattern"`
			Description string `json:"description"`
		}
		if err := json.Unmarshal(raw, &r); err != nil {
			c.plan.leave("a rule of "+filepath.Base(path), "it is no object with pattern and subject_id")
			continue
		}
		c.addMapping("expression", r.Pattern, raw, r.Description)
	}
	return nil
}

// addMapping plans a mapping of a title, what being "expression" for a regular one. value is the id of a subject, as text or number, or an
// object with subject_id and season. Without a season it holds for the first one, from which later ones were looked for there.
func (c *config) addMapping(what, title string, value json.RawMessage, note string) {
	if len(c.plan.Rules.Mappings) >= mostMappings {
		return
	}
	var object struct {
		Subject json.RawMessage `json:"subject_id"`
		Season  *json.Number    `json:"season"`
	}
	subject := value
	if json.Unmarshal(value, &object) == nil {
		subject = object.Subject
	}
	id, err := strconv.ParseInt(strings.TrimSpace(strings.Trim(string(subject), `"`)), 10, 32)
	if err != nil || title == "" {
		c.plan.leave(what+" "+title, "it leads to no number of a subject")
		return
	}
	m := mapping.Mapping{Title: title, Regex: what == "expression", SubjectID: catalog.SubjectID(id), Note: note, FirstSeason: true}
	if object.Season != nil {
		season, err := strconv.Atoi(object.Season.String())
		if err != nil {
			c.plan.leave(what+" "+title, "its season is no whole number")
			return
		}
		m.Season, m.FirstSeason = &season, false
	}
	c.plan.Rules.Mappings = append(c.plan.Rules.Mappings, m)
}
