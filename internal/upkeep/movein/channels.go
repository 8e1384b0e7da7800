package movein

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"watchmark/internal/platform/secret"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/notify/channel"
	"watchmark/internal/tell/summary"
)

// channelPrefixes are what sections of channels begin with, by type; the short ones are of versions before rules.
var channelPrefixes = []struct {
	prefix string
	kind   channel.Type
}{
	{"notify-webhook-", channel.TypeWebhook}, {"webhook-", channel.TypeWebhook},
	{"notify-email-", channel.TypeEmail}, {"email-", channel.TypeEmail},
	{"notify-wecom-", channel.TypeWeCom}, {"notify-dingtalk-", channel.TypeDingTalk},
}

// channelSection is the type of the channel that a section is of.
func channelSection(section string) (channel.Type, bool) {
	for _, p := range channelPrefixes {
		if strings.HasPrefix(section, p.prefix) {
			return p.kind, true
		}
	}
	return "", false
}

// typeNames are what channels are called that have no name there.
var typeNames = map[channel.Type]string{
	channel.TypeWebhook: "Webhook", channel.TypeEmail: "Email", channel.TypeWeCom: "WeCom", channel.TypeDingTalk: "DingTalk",
}

// readChannels reads channels and what goes to them.
func (c *config) readChannels() {
	for _, section := range c.names {
		if kind, is := channelSection(section); is {
			c.readChannel(section, kind, "")
		}
	}
	if c.has("notification") {
		c.readChannel("notification", channel.TypeWebhook, "webhook_")
		c.readChannel("notification", channel.TypeEmail, "email_")
	}
	ruled := false
	for _, section := range c.names {
		if strings.HasPrefix(section, "notify-rule-") {
			ruled = true
			c.readTold(section)
		}
	}
	if ruled {
		return
	}
	for _, ch := range c.plan.Channels {
		types := c.get(ch.Section, "types")
		if ch.Section == "notification" {
			types = "mark_failed"
		}
		c.tell(notify.Rule{Name: ch.Name, Enabled: true}, types, []string{ch.Section})
	}
}

// readChannel reads the channel of a section, whose options have prefix where several channels stand in one.
func (c *config) readChannel(section string, kind channel.Type, prefix string) {
	var config channel.Config
	switch kind {
	case channel.TypeWebhook:
		url := c.text(section, prefix+"url")
		if url == "" {
			return
		}
		config = channel.Webhook{
			URL: secret.Text(url), Method: c.get(section, prefix+"method"),
			Headers: headers(c.get(section, prefix+"headers")), Template: c.template(section, prefix+"template"),
		}
	case channel.TypeEmail:
		config = c.email(section)
	case channel.TypeWeCom:
		c.plain(section)
		config = channel.WeCom{Key: secret.Text(c.text(section, "key")), Format: format(c.get(section, "msg_type"))}
	case channel.TypeDingTalk:
		c.plain(section)
		config = channel.DingTalk{Token: secret.Text(c.text(section, "access_token")), Secret: secret.Text(c.text(section, "secret")), Format: format(c.get(section, "msg_type"))}
	}
	if config == nil {
		return
	}
	config, wrong := config.Check()
	if len(wrong) > 0 {
		c.plan.leave("channel ["+section+"]", wrong[0].Error())
		return
	}
	number := section[strings.LastIndexByte(section, '-')+1:]
	name := strings.TrimSpace(typeNames[kind] + " " + strings.TrimPrefix(number, "notification") + " (Bangumi-syncer)")
	c.plan.Channels = append(c.plan.Channels, Channel{Section: section, Name: strings.Join(strings.Fields(name), " "),
		Enabled: yes(c.get(section, prefix+"enabled"), false), Config: config})
}

// email is a mail channel; nil for a section that names no server.
func (c *config) email(section string) channel.Config {
	host := c.get(section, "smtp_server")
	if host == "" {
		return nil
	}
	port, err := strconv.Atoi(c.get(section, "smtp_port"))
	if err != nil {
		port = 587
	}
	encryption := channel.None
	switch {
	case port == 465:
		encryption = channel.Implicit
	case yes(c.get(section, "smtp_use_tls"), true):
		encryption = channel.STARTTLS
	}
	for _, option := range []string{"email_subject", "email_template_file", "template"} {
		if c.get(section, option) != "" {
			c.plan.leave(optionName(section, option), "mails have our own look; subject and text can be set in a rule")
		}
	}
	return channel.Email{Host: host, Port: port, TLS: encryption, User: c.get(section, "smtp_username"),
		Password: secret.Text(c.text(section, "smtp_password")), From: c.get(section, "email_from"), To: []string{c.get(section, "email_to")}}
}

// plain tells of the template of a channel that has none here.
func (c *config) plain(section string) {
	if c.get(section, "template") != "" {
		c.plan.leave(optionName(section, "template"), "title and text of messages can be set in a rule; or send to the address as a webhook, which has a template")
	}
}

func format(text string) channel.Format {
	return channel.Format(cmp.Or(strings.ToLower(strings.TrimSpace(text)), string(channel.Text)))
}

// headers reads a JSON object or "Name: value, Name: value", without what is sent anyway.
func headers(text string) []channel.Header {
	byName := map[string]string{}
	var object map[string]any
	if json.Unmarshal([]byte(text), &object) == nil {
		for name, value := range object {
			byName[name] = fmt.Sprint(value)
		}
	} else {
		for part := range strings.SplitSeq(text, ",") {
			if name, value, found := strings.Cut(part, ":"); found {
				byName[strings.TrimSpace(name)] = strings.TrimSpace(value)
			}
		}
	}
	all := []channel.Header{}
	for name, value := range byName {
		if key := http.CanonicalHeaderKey(name); key != "Content-Type" && key != "User-Agent" {
			all = append(all, channel.Header{Name: key, Value: secret.Text(value)})
		}
	}
	slices.SortFunc(all, func(a, b channel.Header) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// placeholders are what ours are called that have another name, or stand for nothing.
var placeholders = map[string]string{
	"title": "{anime}", "bgm_title": "{subject_name}", "notification_type": "{type}", "type_display_name": "{type_name}", "type_icon": "",
	"error_type": "",
}

var placeholder = regexp.MustCompile(`\{([a-z_]+)\}`)

// template is the body of a webhook with our placeholders; empty for the standard one.
func (c *config) template(section, option string) string {
	text := strings.TrimSpace(c.get(section, option))
	if text != "" && !json.Valid([]byte(text)) {
		c.plan.leave(optionName(section, option), "it is no JSON but the name of a file, or damaged: paste the body into the template of the channel")
		return ""
	}
	return placeholder.ReplaceAllStringFunc(text, func(found string) string {
		if ours, other := placeholders[found[1:len(found)-1]]; other {
			return ours
		}
		return found
	})
}

// kinds are what the types of notifications are here; none for what nothing tells.
var kinds = map[string][]notify.Kind{
	"request_received": {notify.RequestReceived}, "mark_success": {notify.Marked}, "mark_skipped": {notify.AlreadyWatched},
	"mark_failed":   {notify.MarkFailed, notify.NoAccount, notify.Abandoned},
	"sync_queued":   {notify.Queued},
	"sync_replayed": {notify.Replayed}, "anime_not_found": {notify.NotMatched}, "episode_not_found": {notify.EpisodeNotFound},
	"pending_candidate": {notify.ReviewWaiting}, "match_ambiguous": {notify.ReviewWaiting},
	"source_fetch_failed": {notify.TrackerSyncFailed, notify.SourceSilent}, "scheduler_job_failed": {notify.JobFailed, notify.ArchiveFailed, notify.TrackerSyncFailed},
	"batch_sync_summary": {notify.TrackerSyncDone, notify.ImportDone}, "queue_size_warning": {notify.CatalogUnreachable},
	"airing_today": {notify.AiringToday}, "api_error": {notify.CatalogUnreachable}, "api_auth_error": {notify.TokenDead},
	"api_retry_failed": {notify.Abandoned}, "bangumi_token_expired": {notify.TokenExpiring, notify.TokenDead},
	"config_error": {notify.NoAccount}, "ip_locked": {notify.LoginLocked}, "auth_login_failed": {notify.LoginLocked},
	"archive_build_failed": {notify.ArchiveFailed}, "archive_disk_warning": {notify.ArchiveSkipped},
}

// readTold reads a rule.
func (c *config) readTold(section string) {
	name := cmp.Or(strings.TrimSpace(c.get(section, "name")), "Rule "+strings.TrimPrefix(section, "notify-rule-")+" (Bangumi-syncer)")
	if c.get(section, "template") != "" {
		c.plan.leave(optionName(section, "template"), "a rule has a template for the title and one for the text here")
	}
	var sections []string
	for _, id := range names(c.get(section, "channels")) {
		if slices.ContainsFunc(c.plan.Channels, func(ch Channel) bool { return ch.Section == id }) {
			sections = append(sections, id)
		}
	}
	if len(sections) == 0 {
		c.plan.leave("rule "+name, "none of its channels is taken; what happens is in the inbox anyway")
		return
	}
	c.tell(notify.Rule{Name: name, Enabled: yes(c.get(section, "enabled"), false)}, c.get(section, "types"), sections)
}

// tell plans a rule for a list of types; an empty one, and "all", are all of them.
func (c *config) tell(r notify.Rule, types string, sections []string) {
	r.Cooldown = 60 // seconds, as there
	wanted := names(types)
	all := len(wanted) == 0 || slices.Contains(wanted, "all")
	jobs := 0
	for _, name := range wanted {
		if all {
			break
		}
		if job, one := strings.CutPrefix(name, "watching_summary_"); one {
			jobs++
			c.tellJob(job, r, sections)
		} else if name == "watching_summary" {
			r.Kinds = append(r.Kinds, notify.SummaryReady)
		} else {
			r.Kinds = append(r.Kinds, kinds[name]...)
		}
	}
	if len(r.Kinds) == 0 && jobs > 0 {
		return
	}
	if len(r.Kinds) == 0 && !all {
		c.plan.leave("rule "+r.Name, "nothing of what it tells is told here")
		return
	}
	slices.Sort(r.Kinds)
	r.Kinds = slices.Compact(r.Kinds)
	c.plan.Told = append(c.plan.Told, Told{Rule: r, Sections: sections})
}

// tellJob has a summary go to the channels of a rule that is for it: here the job itself names them.
func (c *config) tellJob(name string, r notify.Rule, sections []string) {
	at := slices.IndexFunc(c.plan.Jobs, func(j Job) bool { return j.Name == jobName(name) || j.section == name })
	switch {
	case at < 0:
		c.plan.leave("rule "+r.Name, "the summary "+name+", which it tells, is not there")
	case !r.Enabled:
		c.plan.leave("rule "+r.Name, "it is switched off, and a summary names its channels itself here")
	default:
		c.plan.Jobs[at].Sections = append(c.plan.Jobs[at].Sections, sections...)
	}
}

// foreign is what names of summaries hold here no more.
var foreign = regexp.MustCompile(`[^\p{L}\p{Nd}_-]+`)

// readSummaries reads the jobs that write summaries.
func (c *config) readSummaries() {
	for _, section := range c.names {
		name, is := strings.CutPrefix(section, "summary-")
		if !is {
			continue
		}
		number := func(option string, standard int) int {
			n, err := strconv.Atoi(c.get(section, option))
			if err != nil {
				return standard
			}
			return n
		}
		c.plan.Jobs = append(c.plan.Jobs, Job{section: name, Draft: summary.Draft{
			Name:    jobName(cmp.Or(c.get(section, "name"), name)),
			Enabled: yes(c.get(section, "enabled"), true), Cron: cmp.Or(c.get(section, "cron"), "0 21 * * *"),
			DaysBack: number("lookback_days", number("period_days", 1)), User: c.get(section, "user_name"),
			Prompt: c.get(section, "system_prompt"), MaxRecords: min(max(number("max_records", -1), 0), summary.MostRecords),
		}})
	}
}

// jobName is what a summary is called here.
func jobName(name string) string { return strings.Trim(foreign.ReplaceAllString(name, "-"), "-") }
