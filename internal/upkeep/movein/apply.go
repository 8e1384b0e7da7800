package movein

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/settings"
	"watchmark/internal/source/tracker"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/notify/channel"
	"watchmark/internal/tell/summary"
)

// Home are the stores that a plan is put into; every field must be set.
type Home struct {
	DB        *db.DB
	Settings  *settings.Manager
	Accounts  *account.Store
	Mappings  *mapping.Store
	Notices   *notify.Notifier
	Summaries *summary.Service
	Tracker   *tracker.Service
}

// Fate is what becomes of one thing of a plan.
type Fate string

// The fates. Kept leaves what a person has here, which is another; Same is here already as it is there.
const (
	Takes   Fate = "takes"
	Same    Fate = "same"
	Kept    Fate = "kept"
	Refused Fate = "refused"
)

// Line is what becomes of one thing.
type Line struct {
	What string
	Fate Fate
	// Note says why, what else is to know, or where it is from; it may be empty.
	Note string
}

// Part is a part of a plan.
type Part struct {
	Name  string
	Lines []Line
}

// Report is what becomes of a plan.
type Report struct {
	Parts   []Part
	History History
	Left    []Left
}

// Takes reports whether anything is new.
func (r Report) Takes() bool {
	for _, p := range r.Parts {
		if slices.ContainsFunc(p.Lines, func(l Line) bool { return l.Fate == Takes }) {
			return true
		}
	}
	return r.History.Past+r.History.Open > 0
}

// Preview is what Apply would do; nothing is written.
func (p *Plan) Preview(ctx context.Context, h Home) (Report, error) { return p.apply(ctx, h, true) }

// Apply takes what is not here yet. Where it fails, what came before is taken; another Apply goes on from there.
func (p *Plan) Apply(ctx context.Context, h Home) (Report, error) { return p.apply(ctx, h, false) }

func (p *Plan) apply(ctx context.Context, h Home, dry bool) (Report, error) {
	report := Report{Left: p.Left}
	steps := []struct {
		name string
		do   func(ctx context.Context, h Home, dry bool) ([]Line, error)
	}{
		{"Settings", p.applySettings}, {"Accounts", p.applyAccounts}, {"Trakt", p.applySignIn},
		{"Mappings", p.applyMappings}, {"Channels", p.applyChannels}, {"Rules", p.applyTold}, {"Summaries", p.applyJobs},
	}
	for _, step := range steps {
		lines, err := step.do(ctx, h, dry)
		if err != nil {
			return report, fmt.Errorf("%s: %w", strings.ToLower(step.name), err)
		}
		if len(lines) > 0 {
			report.Parts = append(report.Parts, Part{step.name, lines})
		}
	}
	var err error
	report.History, err = p.history(ctx, h, dry)
	return report, err
}

func (p *Plan) applySettings(ctx context.Context, h Home, dry bool) (lines []Line, err error) {
	keys := map[string]settings.Key{}
	for _, section := range h.Settings.Schema() {
		for _, key := range section.Keys {
			keys[key.Path] = key
		}
	}
	userless, err := p.lacksUser(h)
	if err != nil {
		return nil, err
	}
	for _, s := range p.Settings {
		section, name, _ := strings.Cut(s.Path, ".")
		patch := map[string]map[string]any{section: {name: s.Value}}
		line := Line{s.Path, Takes, s.From}
		if userless && s.Path == "nas.enabled" { // it would take in what everybody watches
			line.Fate, line.Note = Refused, "its user cannot be taken: choose one on the page NAS, then switch it on"
			lines = append(lines, line)
			continue
		}
		changes, err := h.Settings.Try(patch)
		var wrong settings.Errors
		switch {
		case keys[s.Path].Locked:
			line.Fate, line.Note = Kept, "set by "+keys[s.Path].LockedBy
		case errors.As(err, &wrong):
			line.Fate, line.Note = Refused, s.From+": "+wrong[0].What.Text
		case err != nil:
			return lines, err
		case !changes:
			line.Fate = Same
		case keys[s.Path].Source != settings.FromDefault:
			line.Fate = Kept
		case !dry:
			if err := h.Settings.Patch(ctx, patch); err != nil {
				return lines, err
			}
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// lacksUser reports whether the plan names a user of the NAS who cannot be taken.
func (p *Plan) lacksUser(h Home) (bool, error) {
	at := slices.IndexFunc(p.Settings, func(s Setting) bool { return s.Path == "nas.user" })
	if at < 0 {
		return false, nil
	}
	_, err := h.Settings.Try(map[string]map[string]any{"nas": {"user": p.Settings[at].Value}})
	var wrong settings.Errors
	if errors.As(err, &wrong) {
		return slices.ContainsFunc(wrong, func(e *reason.FieldError) bool { return e.Field == "nas.user" }), nil
	}
	return false, err
}

func (p *Plan) applyAccounts(ctx context.Context, h Home, dry bool) (lines []Line, err error) {
	there, err := h.Accounts.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, a := range p.Accounts {
		line := Line{fmt.Sprintf("%s, for %s", a.Username, listed(a.MediaUserNames)), Takes, a.Note}
		at := slices.IndexFunc(there, func(other account.Account) bool { return other.Username == a.Username })
		switch {
		case at >= 0:
			if line.Fate, err = h.standing(ctx, there[at], a.Draft); err != nil {
				return lines, err
			}
			switch line.Fate {
			case Kept:
				line.Note = "the account is here with other names, token or options"
			case Takes:
				line.Note = "its token, which could not be read before"
				if dry {
					break
				}
				if err := h.Accounts.SetTokens(ctx, there[at].ID, a.Method, a.Tokens); err != nil {
					return lines, err
				}
			}
		case !dry:
			a.Preferred = a.Preferred && len(there) == 0
			_, err := h.Accounts.Create(ctx, a.Draft)
			var wrong *reason.FieldError
			switch {
			case errors.As(err, &wrong):
				line.Fate, line.Note = Refused, wrong.Error()
			case err != nil:
				return lines, err
			}
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// standing says whether an account is as d would make it; Takes is for one that waits for its token.
func (h Home) standing(ctx context.Context, a account.Account, d account.Draft) (Fate, error) {
	tokens, err := h.Accounts.Tokens(ctx, a.ID)
	if err != nil && !errors.Is(err, account.ErrNoToken) {
		return "", err
	}
	if !a.HasToken && d.Tokens.Access != "" {
		return Takes, nil
	}
	names := slices.Sorted(slices.Values(a.MediaUserNames))
	if !slices.Equal(names, d.MediaUserNames) || tokens.Access != d.Tokens.Access || a.Enabled != d.Enabled || a.Private != d.Private || a.CompleteFilms != d.CompleteFilms {
		return Kept, nil
	}
	return Same, nil
}

// listed is a list of names for people.
func listed(names []string) string {
	if len(names) == 0 {
		return "no media-server user yet"
	}
	return strings.Join(names, ", ")
}

func (p *Plan) applySignIn(ctx context.Context, h Home, dry bool) ([]Line, error) {
	s := p.SignIn
	if s == nil {
		return nil, nil
	}
	status, err := h.Tracker.Status(ctx)
	if err != nil {
		return nil, err
	}
	line := Line{"the sign-in of " + s.Of, Takes, "what was played since it was last read there is taken in"}
	switch {
	case len(status.Users) > 0:
		line.Fate, line.Note = Kept, "somebody is connected here, or was"
	case dry:
	case h.Settings.Current().Tracker.AppClientID != s.ClientID:
		line.Fate, line.Note = Refused, "another application is set here (tracker.app_client_id), which cannot renew it: sign in again on the page Trakt"
	default:
		since := time.Now()
		if s.Since > 0 {
			since = time.Unix(s.Since, 0)
		}
		if err := h.Tracker.Adopt(ctx, s.ClientID, s.RedirectURI, s.Credential, since); err != nil {
			return nil, err
		}
	}
	return []Line{line}, nil
}

// applyMappings takes what is not mapped and not blocked yet.
func (p *Plan) applyMappings(ctx context.Context, h Home, dry bool) (lines []Line, err error) {
	plan, err := h.Mappings.PlanImport(ctx, p.Rules)
	if errors.Is(err, mapping.ErrFull) || errors.Is(err, mapping.ErrExpressions) {
		return []Line{{"mappings and blocked words", Refused, err.Error()}}, nil
	}
	if err != nil {
		return nil, err
	}
	var fresh mapping.Set
	for i, l := range plan.Mappings {
		m := p.Rules.Mappings[i]
		lines = append(lines, mappingLine(m.Title, l))
		if l.Fate == mapping.Added {
			fresh.Mappings = append(fresh.Mappings, m)
		}
	}
	for i, l := range plan.Blocked {
		b := p.Rules.Blocked[i]
		lines = append(lines, mappingLine("blocked: "+b.Keyword, l))
		if l.Fate == mapping.Added {
			fresh.Blocked = append(fresh.Blocked, b)
		}
	}
	if dry || len(fresh.Mappings)+len(fresh.Blocked) == 0 {
		return lines, nil
	}
	_, err = h.Mappings.Import(ctx, fresh)
	return lines, err
}

func mappingLine(what string, l mapping.Line) Line {
	switch l.Fate {
	case mapping.Same:
		return Line{what, Same, ""}
	case mapping.Changed:
		return Line{what, Kept, fmt.Sprintf("it leads to subject %d here", l.Was.SubjectID)}
	case mapping.Refused:
		return Line{what, Refused, l.Problem.Error()}
	}
	return Line{what, Takes, ""}
}

func (p *Plan) applyChannels(ctx context.Context, h Home, dry bool) (lines []Line, err error) {
	p.fresh = map[string]int64{}
	there, err := h.Notices.Channels(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range p.Channels {
		line := Line{c.Name, Takes, "to " + c.Config.Where()}
		at := slices.IndexFunc(there, func(other notify.Channel) bool { return other.Name == c.Name })
		same := slices.ContainsFunc(there, func(other notify.Channel) bool { return c.is(other) })
		switch {
		case same:
			line.Fate = Same
		case at >= 0:
			line.Fate, line.Note = Kept, "a channel of this name is here with other settings"
		case !dry:
			made, err := h.Notices.CreateChannel(ctx, notify.Channel{Type: c.Config.Type(), Name: c.Name, Enabled: c.Enabled, Config: secret.Text(c.Config.Plain())})
			if err := line.refused(err); err != nil {
				return lines, err
			}
			if line.Fate == Takes {
				p.fresh[c.Section] = made.ID
			}
		default:
			p.fresh[c.Section] = 0
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// refused tells in the line what notices and summaries do not accept; another error is returned.
func (l *Line) refused(err error) error {
	var field *reason.FieldError
	if errors.As(err, &field) || errors.Is(err, notify.ErrFull) || errors.Is(err, summary.ErrFull) {
		l.Fate, l.Note = Refused, err.Error()
		return nil
	}
	return err
}

// is reports whether a channel here sends to where c does, in the same way.
func (c Channel) is(other notify.Channel) bool {
	config, err := channel.Read(other.Type, other.Config.Reveal())
	return err == nil && config.Type() == c.Config.Type() && config.Plain() == c.Config.Plain()
}

func (p *Plan) applyTold(ctx context.Context, h Home, dry bool) (lines []Line, err error) {
	there, err := h.Notices.Rules(ctx)
	if err != nil {
		return nil, err
	}
	channels, err := h.Notices.Channels(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range p.Told {
		line := Line{t.Name, Takes, ""}
		r := t.Rule
		r.Channels = p.channelsHere(t.Sections, channels)
		at := slices.IndexFunc(there, func(other notify.Rule) bool { return other.Name == t.Name })
		switch {
		case at >= 0:
			line.Fate = Kept
			other := there[at]
			switch {
			case !slices.Equal(other.Kinds, r.Kinds) || other.Enabled != r.Enabled || other.Cooldown != r.Cooldown:
			case p.joins(t.Sections):
				line.Fate, line.Note = Takes, "its channels that could not be taken before"
				if dry {
					break
				}
				other.Channels = joined(other.Channels, r.Channels, p.fresh)
				if _, err := h.Notices.UpdateRule(ctx, other); err != nil {
					return lines, err
				}
			case slices.Equal(other.Channels, r.Channels):
				line.Fate = Same
			}
		case dry:
		case len(r.Channels) == 0: // it would be for all
			line.Fate, line.Note = Refused, "none of its channels was taken"
		default:
			_, err := h.Notices.CreateRule(ctx, r)
			if err := line.refused(err); err != nil {
				return lines, err
			}
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// channelsHere are the channels here that sections of the folder became.
func (p *Plan) channelsHere(sections []string, here []notify.Channel) []int64 {
	ids := []int64{}
	for _, section := range sections {
		i := slices.IndexFunc(p.Channels, func(c Channel) bool { return c.Section == section })
		for _, other := range here {
			if p.Channels[i].is(other) || other.Name == p.Channels[i].Name {
				ids = append(ids, other.ID)
				break
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// joins reports whether a channel of the sections came with this run.
func (p *Plan) joins(sections []string) bool {
	return slices.ContainsFunc(sections, func(section string) bool { _, fresh := p.fresh[section]; return fresh })
}

// joined adds to the channels of a rule those that came with this run; others a person took out.
func joined(has, all []int64, fresh map[string]int64) []int64 {
	for _, id := range fresh {
		if slices.Contains(all, id) && !slices.Contains(has, id) {
			has = append(has, id)
		}
	}
	return slices.Sorted(slices.Values(has))
}

func (p *Plan) applyJobs(ctx context.Context, h Home, dry bool) (lines []Line, err error) {
	channels, err := h.Notices.Channels(ctx)
	if err != nil {
		return nil, err
	}
	for _, j := range p.Jobs {
		d := j.Draft
		d.Channels = p.channelsHere(j.Sections, channels)
		line := Line{d.Name, Takes, d.Cron}
		job, err := h.Summaries.Job(ctx, d.Name)
		switch {
		case err == nil && p.joins(j.Sections) && len(job.Channels) < len(d.Channels):
			line.Note = "its channels that could not be taken before"
			if d = job.Draft; dry {
				break
			}
			d.Channels = joined(d.Channels, p.channelsHere(j.Sections, channels), p.fresh)
			if _, err := h.Summaries.Update(ctx, d.Name, d); err != nil {
				return lines, err
			}
		case err == nil:
			line.Fate = Kept
			if d.Channels = job.Channels; reflect.DeepEqual(job.Draft, d) {
				line.Fate = Same
			}
		case !errors.Is(err, summary.ErrNotFound):
			return lines, err
		case !dry:
			_, err := h.Summaries.Create(ctx, d)
			if err := line.refused(err); err != nil {
				return lines, err
			}
		}
		lines = append(lines, line)
	}
	return lines, nil
}
