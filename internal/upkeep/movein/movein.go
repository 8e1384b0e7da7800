// Package movein takes over what Bangumi-syncer, another tool for the same work, left in its folder: settings,
// accounts, mappings, channels, summaries, the sign-in at the tracker and the history. Open reads it and writes nothing
// there; Plan.Apply puts it into the stores of this service.
//
// What it promises: running it again changes nothing, also when it was cut off; what a person has here already stays;
// what came out there is never marked again, and what still waited there is marked.
//
// # The folder
//
// Facts of its versions 1.0 to 3.11 and what came after, learnt from its documents and sources.
//
// Its files lie beside each other or, as containers mount them, in config/ and data/. config.ini is read by Python's
// configparser, so names of options, those of media-server users too, are in lower case. bangumi_mapping.json (since 2.1; before, the section
// [bangumi-mapping] since 1.4.2) holds {"mappings": {title: "id" or {"subject_id", "season"}}, "rules": [{"pattern",
// "subject_id", "description"}]}; a mapping without a season leads to the first one, sequels are looked for from there.
// sync_records.db (since 3.0) is SQLite in WAL mode.
//
// Accounts stood in [bangumi] (single mode; the user name in [sync] single_username, later in media_server_username with
// commas) and in [bangumi-NAME] (multi mode, since 2.3; [sync] then has lines user = bangumi-NAME). Later they moved to the table
// bangumi_accounts, and the sections are removed.
//
// Tokens and passwords are encrypted since 3.6: "BGS1:" and a Fernet token, whose key is HKDF-SHA256 of [auth] secret_key with
// salt "bangumi-syncer-config-v1" and info "config-secret-fernet-v1". The login password is an HMAC with the same key, which nobody
// can turn back.
//
// Times in its tables are local ones without a zone, "2006-01-02 15:04:05". sync_records.status is success, error, ignored, queued
// or retried (run again with success). Rows of pending_sync_queue and of pending_candidates with status pending wait.
//
// Channels are [notify-webhook-N] and so on ([webhook-N], [email-N] from 3.4, [notification] in 3.3), and told the types that they list
// until [notify-rule-N] took that over.
//
// Webhooks come to POST /Custom, /Plex, /Emby and /Jellyfin, since 3.6 with a key as one more segment, which is
// compared only while [auth] webhook_auth_enabled is on. It answers 202 or 200 with {"status": …}, 401 for a wrong key; no media server
// reads the body.
package movein

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"watchmark/internal/catalog/account"
	"watchmark/internal/match/mapping"
	"watchmark/internal/source/tracker"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/notify/channel"
	"watchmark/internal/tell/summary"
)

// Plan is what a folder holds that has a place in this service.
type Plan struct {
	// Files are those that were found and read.
	Files    []string
	Settings []Setting
	Accounts []Account
	Rules    mapping.Set
	Channels []Channel
	Told     []Told
	Jobs     []Job
	// SignIn is nil without one.
	SignIn *SignIn
	// Left is what has no place.
	Left []Left

	database *database // nil without one
	// fresh are the channels that came with this run, by section: their ids here, 0 while it is only looked at.
	fresh map[string]int64
}

// Job is a summary, with the sections of the channels that it goes to; without any that is left to the rules.
type Job struct {
	summary.Draft
	Sections []string
	// section is its own name there, which its rules may have too.
	section string
}

// Setting is a value for one of our keys.
type Setting struct {
	Path string // such as network.proxy
	// Value is as settings.Manager.Patch takes it.
	Value any
	// From is the option there.
	From string
}

// Account is an account with what it was there.
type Account struct {
	account.Draft
	From string
	// Note says what is still to do; empty for nothing.
	Note string
}

// Channel is a notification channel.
type Channel struct {
	Section string // its name there
	Name    string
	Enabled bool
	Config  channel.Config
}

// Told is a notification rule, with the sections of its channels.
type Told struct {
	notify.Rule
	Sections []string
}

// SignIn is the sign-in at the tracker.
type SignIn struct {
	// Of is what the tool calls the person.
	Of          string
	ClientID    string
	RedirectURI string
	tracker.Credential
	// Since is when it was last read; zero for never.
	Since int64 // unix seconds
}

// Left is something that is not taken.
type Left struct{ What, Why string }

// errNothing is the error for a folder that holds none of the files.
var errNothing = errors.New("there is no config.ini, no bangumi_mapping.json and no sync_records.db in it, nor in its folders config and data: " +
	"name the folder of Bangumi-syncer, or the one that its container mounts them from")

// Open reads the folder at path, and the database in it where it lies or, when it has a journal, from a copy in a new
// folder in temp. The caller closes the Plan. Its errors name the file, and the line or option.
func Open(ctx context.Context, path, temp string) (*Plan, error) {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return nil, errors.Join(fmt.Errorf("%s is no folder that can be read: name the folder of Bangumi-syncer", path), err)
	}
	p := &Plan{}
	if err := p.read(ctx, path, temp); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// Close ends the reading of the database and removes its copy.
func (p *Plan) Close() error {
	if p.database == nil {
		return nil
	}
	return p.database.close()
}

func (p *Plan) read(ctx context.Context, path, temp string) error {
	configFile, err := p.find(path, "config/config.ini", "config.ini", "config.dev.ini")
	if err != nil {
		return err
	}
	mappingFile, err := p.find(path, "bangumi_mapping.json", "config/bangumi_mapping.json", "data/bangumi_mapping.json")
	if err != nil {
		return err
	}
	databaseFile, err := p.find(path, "data/sync_records.db", "sync_records.db", "config/sync_records.db")
	if err != nil {
		return err
	}
	if len(p.Files) == 0 {
		return errorIn(path, errNothing)
	}
	c := &config{ini: &ini{}, plan: p}
	if configFile != "" {
		if c.ini, err = readINI(configFile); err != nil {
			return err
		}
		c.vault.master = c.get("auth", "secret_key")
	}
	if databaseFile != "" {
		if p.database, err = openDatabase(ctx, databaseFile, temp); err != nil {
			return err
		}
		missing, err := p.database.missing()
		if err != nil {
			return errorIn(databaseFile, err)
		}
		if missing != "" {
			p.leave(filepath.Base(databaseFile), missing)
		}
	}
	c.readSettings()
	c.readSummaries()
	c.readChannels()
	if err := c.readAccounts(ctx); err != nil {
		return err
	}
	if err := c.readSignIn(ctx); err != nil {
		return err
	}
	c.readBlocked()
	if err := c.readMappings(mappingFile); err != nil {
		return err
	}
	c.tellUnknown()
	return nil
}

// find is the first of names, below path, that is there; empty when none is. Others that are there are told as left.
func (p *Plan) find(path string, names ...string) (string, error) {
	var first string
	for _, name := range names {
		file := filepath.Join(path, filepath.FromSlash(name))
		switch _, err := os.Stat(file); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return "", fmt.Errorf("look for %s: %w: let this user read the folder", file, err)
		case first == "":
			first = file
			p.Files = append(p.Files, file)
		default:
			p.leave(file, "Bangumi-syncer reads "+first+" instead")
		}
	}
	return first, nil
}

// leave notes once that something is not taken.
func (p *Plan) leave(what, why string) {
	if l := (Left{what, why}); !slices.Contains(p.Left, l) {
		p.Left = append(p.Left, l)
	}
}

// config is a config.ini on its way into a plan.
type config struct {
	*ini
	vault vault
	plan  *Plan
}

// text is the value of an option in clear; empty, and told as left, when it cannot be decrypted.
func (c *config) text(section, option string) string {
	return c.clear(optionName(section, option), strings.TrimSpace(c.get(section, option)))
}

// clear is a stored value in clear; empty, and told as left under what, when it cannot be decrypted.
func (c *config) clear(what, stored string) string {
	plain, err := c.vault.open(stored)
	if err != nil {
		c.plan.leave(what, err.Error())
	}
	return plain
}

func optionName(section, option string) string { return "[" + section + "] " + option }

// yes reads a truth value as configparser and the tool do; what is none is standard.
func yes(text string, standard bool) bool {
	switch strings.ToLower(text) {
	case "1", "true", "yes", "on", "enabled":
		return true
	case "0", "false", "no", "off", "disabled":
		return false
	}
	return standard
}

// names are the parts of a list with commas, ASCII or full width.
func names(text string) []string {
	var all []string
	for name := range strings.SplitSeq(strings.ReplaceAll(text, "，", ","), ",") {
		if name = strings.TrimSpace(name); name != "" {
			all = append(all, name)
		}
	}
	return all
}
