package movein

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// rule brings one option of config.ini to one of our keys.
type rule struct {
	section, option string
	path            string
	// standard is what the tool takes when the option is not there; that is left to our own default.
	standard string
	// as reads the value; its error says why it is not taken.
	as func(text string) (any, error)
}

var settingRules = []rule{
	{"sync", "enable_real_action", "matching.live_action_enabled", "false", asBool},
	{"sync", "test_skip_permission_check", "sync.test_skip_permission_check", "false", asBool},
	{"sync", "movie_playback_start_mark_watching", "sync.film_start_marks_doing", "", asBool},
	{"auth", "max_login_attempts", "auth.lockout_attempts", "5", asInt},
	{"auth", "lockout_duration", "auth.lockout_minutes", "900", asMinutes},
	{"web", "base_path", "server.base_path", "", asText},
	{"dev", "script_proxy", "network.proxy", "", asText},
	{"dev", "bgm_api_proxy", "catalog.api_url", "", asText},
	{"dev", "bgm_image_proxy", "catalog.image_url", "", asText},
	{"dev", "sync_records_retention_days", "server.record_days", "0", asInt},
	{"dev", "log_level", "log.level", "info", asLevel},
	{"bangumi-oauth", "client_id", "catalog.oauth_client_id", "", asText},
	{"bangumi-oauth", "client_secret", "catalog.oauth_client_secret", "", asText},
	{"bangumi-data", "enabled", "matching.dataset_enabled", "true", asBool},
	{"bangumi-archive", "enabled", "catalog_archive.enabled", "false", asBool},
	{"bangumi-archive", "update_cron", "catalog_archive.update_cron", "0 8 * * 3", asText},
	{"bangumi-archive", "min_disk_space_mb", "catalog_archive.min_free_mb", "3000", asInt},
	{"bangumi-replay", "enabled", "catalog_replay.enabled", "true", asBool},
	{"bangumi-replay", "replay_cron", "catalog_replay.cron", "*/10 * * * *", asText},
	{"bangumi-replay", "max_attempts", "catalog_replay.max_retries", "50", asInt},
	{"trakt", "client_id", "tracker.app_client_id", "", asText},
	{"trakt", "client_secret", "tracker.app_client_secret", "", asText},
	{"trakt", "default_sync_interval", "tracker.cron", standardInterval, asText},
}

// The rules of what is taken only while it is switched on there.
var (
	nasRules = []rule{
		{"feiniu", "enabled", "nas.enabled", "", asBool},
		{"feiniu", "db_path", "nas.database_path", "", asText},
		{"feiniu", "min_percent", "nas.min_percent", "85", asInt},
		{"feiniu", "user_filter", "nas.user", "all", asText},
		{"feiniu", "time_range", "nas.range", "all", asText},
		{"feiniu", "sync_interval", "nas.cron", "*/15 * * * *", asText},
		{"feiniu", "limit", "nas.limit", "100", asInt},
	}
	deviceRules = []rule{
		{"fongmi", "enabled", "device.enabled", "", asBool},
		{"fongmi", "devices", "device.addresses", "", asList},
		{"fongmi", "subnet", "device.subnets", "", asSubnet},
		{"fongmi", "min_percent", "device.min_percent", "80", asInt},
	}
	modelRules = []rule{
		{"llm", "api_key", "llm.api_key", "", asText},
		{"llm", "max_tokens", "llm.max_tokens", "2000", asInt},
		{"llm", "temperature", "llm.temperature", "", asText},
		{"llm", "timeout", "llm.timeout", "60", asInt},
	}
)

// unplaced are options whose meaning has no place here, with what to do instead.
var unplaced = []struct {
	section, option, standard string
	why                       string
}{
	{"auth", "session_timeout", "3600", "a login lasts for days here: auth.session_days"},
	{"bangumi-data", "data_url", "https://unpkg.com/bangumi-data@0.3/dist/data.json", "set matching.dataset_url where the standard address cannot be reached"},
	{"bangumi-data", "http_proxy", "", "there is one proxy for all: network.proxy"},
	{"bangumi-archive", "http_proxy", "", "there is one proxy for all: network.proxy"},
	{"bangumi-archive", "ssl_verify", "true", "certificates are always checked"},
	{"bangumi-archive", "use_bktree", "false", "the archive finds similar titles without it"},
	{"dev", "bgm_next_proxy", "", "next.bgm.tv is not asked"},
	{"dev", "ssl_verify", "true", "certificates are always checked; let the machine trust that of your proxy instead"},
	{"dev", "ech_mode", "off", "there is no encrypted client hello; set a proxy (network.proxy) or a mirror (catalog.api_url) where Bangumi is blocked"},
	{"scheduler", "timezone", "", "times are those of the machine: set TZ"},
	{"sync", "match_confidence_threshold", "0.6", "scores are counted in another way here: matching.accept_score"},
	{"fongmi", "sync_interval", "*/3 * * * *", "boxes that play are asked continuously"},
}

func (c *config) readSettings() {
	c.follow(settingRules)
	if len(c.names) > 0 {
		c.set("notification.language", "zh-CN", "its messages are Chinese")
	}
	if yes(c.get("dev", "debug"), false) {
		c.set("log.level", "debug", optionName("dev", "debug"))
	}
	if yes(c.get("feiniu", "enabled"), false) {
		c.follow(nasRules)
		c.plan.leave("what it noted of the NAS library as synced",
			"plays count from the first start here on; what is watched between stopping the one and starting the other has to be marked by hand")
	}
	if yes(c.get("fongmi", "enabled"), false) {
		rules := deviceRules
		if !yes(c.get("fongmi", "auto_scan"), true) {
			rules = slices.DeleteFunc(slices.Clone(rules), func(r rule) bool { return r.option == "subnet" })
		}
		c.follow(rules)
	}
	if c.text("llm", "api_key") != "" {
		c.follow(modelRules)
		c.set("llm.base_url", cmp.Or(c.get("llm", "api_base"), "https://api.openai.com/v1"), optionName("llm", "api_base"))
		c.set("llm.model", cmp.Or(c.get("llm", "model"), "gpt-4o-mini"), optionName("llm", "model"))
	}
	switch cron := c.get("notify-airing-today", "cron"); {
	case c.has("notify-airing-today") && !yes(c.get("notify-airing-today", "enabled"), true):
		c.set("notification.airing_cron", "", optionName("notify-airing-today", "enabled"))
	case cron != "" && cron != "0 9 * * *":
		c.set("notification.airing_cron", cron, optionName("notify-airing-today", "cron"))
	}
	c.readDoors()
	for _, u := range unplaced {
		if text := c.get(u.section, u.option); text != "" && !strings.EqualFold(text, u.standard) {
			c.plan.leave(optionName(u.section, u.option), u.why)
		}
	}
}

// readDoors reads who may come in.
func (c *config) readDoors() {
	if !c.has("auth") {
		return
	}
	c.plan.leave("its login", "the password is stored so that nobody can read it: choose one at the first start, by the link that it prints")
	if !yes(c.get("auth", "enabled"), true) {
		c.plan.leave(optionName("auth", "enabled"), "there is a login here; it can be switched off (auth.enabled) while server.listen is an address at home")
	}
	if yes(c.get("auth", "webhook_auth_enabled"), false) {
		if key := c.text("auth", "webhook_key"); key != "" {
			c.set("server.legacy_key", key, optionName("auth", "webhook_key"))
		} else {
			c.plan.leave(optionName("auth", "webhook_auth_enabled"), "set server.legacy_key before you switch on server.legacy_paths, which asks for no key without it")
		}
	}
}

// follow takes the options of rules that are there and not at the tool's own default.
func (c *config) follow(rules []rule) {
	for _, r := range rules {
		text := c.text(r.section, r.option)
		if text == "" || strings.EqualFold(text, r.standard) {
			continue
		}
		value, err := r.as(text)
		if err != nil {
			c.plan.leave(optionName(r.section, r.option), err.Error())
			continue
		}
		c.set(r.path, value, optionName(r.section, r.option))
	}
}

// set plans a value; a later one for the same key goes before.
func (c *config) set(path string, value any, from string) {
	c.plan.Settings = slices.DeleteFunc(c.plan.Settings, func(s Setting) bool { return s.Path == path })
	c.plan.Settings = append(c.plan.Settings, Setting{Path: path, Value: value, From: from})
}

func asText(text string) (any, error) { return text, nil }
func asList(text string) (any, error) { return names(text), nil }

func asBool(text string) (any, error) {
	value := yes(text, true)
	if value != yes(text, false) {
		return nil, errors.New("is neither True nor False")
	}
	return value, nil
}

func asInt(text string) (any, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, errors.New("is no whole number")
	}
	return n, nil
}

// asMinutes rounds seconds up.
func asMinutes(text string) (any, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return nil, errors.New("is no whole number")
	}
	return (n + 59) / 60, nil
}

func asLevel(text string) (any, error) {
	switch level := strings.ToLower(text); level {
	case "debug", "info", "error":
		return level, nil
	case "warning", "warn":
		return "warn", nil
	case "critical":
		return "error", nil
	}
	return nil, errors.New("is no level of the log: set log.level")
}

// asSubnet reads the first three numbers of a network of 256 addresses, "192.168.1".
func asSubnet(text string) (any, error) {
	return []string{strings.TrimSuffix(strings.TrimSuffix(text, ".x"), ".") + ".0/24"}, nil
}

// known are the sections that are read, beside those of accounts, channels, rules and summaries.
var known = []string{
	defaults, "auth", "bangumi", "bangumi-archive", "bangumi-data", "bangumi-mapping", "bangumi-oauth", "bangumi-replay", "dev", "feiniu", "fongmi", "llm",
	"notification", "notify-airing-today", "notify-in-app", "scheduler", "sync", "trakt", "web",
}

// tellUnknown names the sections that nothing was read of.
func (c *config) tellUnknown() {
	for _, name := range c.names {
		_, notice := channelSection(name)
		switch {
		case slices.Contains(known, name), notice, strings.HasPrefix(name, "bangumi-"), strings.HasPrefix(name, "notify-rule-"), strings.HasPrefix(name, "summary-"):
		default:
			c.plan.leave("section ["+name+"]", "it is of no version of Bangumi-syncer that is known here")
		}
	}
}
