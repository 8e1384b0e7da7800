package device

import (
	"math"
	"net/url"
	"path"
	"regexp"
	"strings"
	"time"
	"unicode"

	"watchmark/internal/platform/reason"
	"watchmark/internal/source/payload"
	"watchmark/internal/watch"
	"watchmark/internal/watch/title"
)

// Kind is what a playback is of.
type Kind string

// The kinds.
const (
	Episode Kind = "episode"
	Special Kind = "special" // SP, season 0, a number with a fraction
	OVA     Kind = "ova"
	Film    Kind = "film"
	Extra   Kind = "extra" // trailers, openings and the like, which are never marked
	Live    Kind = "live"  // a channel, which never ends
	Unread  Kind = "unread"
)

// Reading is what title, label and address of a playback tell about it.
type Reading struct {
	Title string `json:"title" doc:"The title without quality, language and state; its season mark and its year stay."`
	Base  string `json:"base_title" doc:"The title without its marks of season and kind, as titles are compared."`
	Kind  Kind   `json:"kind" enum:"episode,special,ova,film,extra,live,unread"`
	// Season is nil when nothing told it; 0 means specials.
	Season   *int      `json:"season" doc:"Null when nothing tells it; 0 for specials."`
	Episodes []float64 `json:"episodes" doc:"Several for a file of several episodes; empty for films."`
	// LiveAction is set when the title says that real people act.
	LiveAction bool          `json:"live_action"`
	From       string        `json:"from" enum:",label,title,url" doc:"What told the episode, or that it is a film."`
	How        string        `json:"how" doc:"The rule by which it was read." example:"第…集"`
	Problem    reason.Reason `json:"problem_value,omitzero" doc:"Why this is never marked; empty when it can be."`
}

// MarshalJSON has the text of its reason beside it.
func (r Reading) MarshalJSON() ([]byte, error) {
	type plain Reading
	return reason.MarshalBeside((*plain)(&r))
}

var (
	channel    = regexp.MustCompile(`^cctv|(?:卫视|衛視)(?:[ ·(]*(?:hd|4k|\d{3,4}p?|高清|超清)\)?)*$`)
	maybeLive  = regexp.MustCompile(`频道|頻道|直播`)
	realActors = regexp.MustCompile(`日剧|日劇|真人版|真人剧|真人劇|三次元|live[ -]action|j-?drama`)
	filmTitle  = regexp.MustCompile(`剧场版|劇場版|电影版|電影版|the movie`)
	// titleEpisode begins where a title that names a file, such as of what was pushed to the box, has the episode.
	titleEpisode = regexp.MustCompile(`(?i)(?:[ ._\[(【-]+(?:s\d{1,2}[ ._-]?ep?\d|ep?\d{2})|第 ?(?:\d{1,4}|[一二三四五六七八九十百]{1,7}) ?[集话話回]| - \d{2,3}(?:v\d)?(?:[ .\[(]|$))`)
	urlEpisode   = regexp.MustCompile(`(?:^e|` + left + `ep)[ ._-]?\d{2,3}` + right) // an e alone is in every second hash
)

// Read reads a playback by upstreams/device.md, section 6: the label first, the title for
// the season, the last part of the address only where it names an episode. It never
// guesses: what tells no episode and no film is Unread.
func Read(rawTitle, label, address string) Reading {
	r := Reading{Title: cleanTitle(rawTitle), Episodes: []float64{}}
	plain, text := title.Plain(rawTitle), plainLabel(label)
	r.LiveAction = realActors.MatchString(plain) || realActors.MatchString(text)
	if text == plain || text == title.Plain(r.Title) {
		text = ""
	}
	film := wholeFilm.MatchString(strings.Trim(withoutTitle(text, title.Plain(r.Title)), "[]()【】 "))
	from := "label"
	if at := titleEpisode.FindStringIndex(r.Title); at != nil && (film || text == "") {
		text, from, film = title.Plain(r.Title[at[0]:]), "title", false
		r.Title = cleanTitle(fileTitle(r.Title[:at[0]]))
	}
	parsed := title.Parse(r.Title)
	r.Base = parsed.Base
	f := found{}
	if !film && text != "" {
		f, r.From = readLabel(text, title.Plain(r.Title)), from
	}
	if channel.MatchString(plain) || maybeLive.MatchString(plain) && len(f.episodes) == 0 {
		r.Kind, r.From, r.Problem = Live, "title", isChannel.With()
		return r
	}
	if len(f.episodes) == 0 && f.problem == nil && !film {
		if named := readAddress(address); len(named.episodes) > 0 {
			f, r.From = named, "url"
		}
	}
	r.Season = seasonOf(f, text, parsed)
	r.Kind, r.Episodes, r.How = f.kind, append(r.Episodes, f.episodes...), f.how
	switch single := len(f.episodes) == 1 && f.episodes[0] == 1 && f.kind == Episode; {
	case f.problem != nil:
		r.Problem = f.problem.With()
		if r.Kind == "" {
			r.Kind = Unread
		}
	case filmTitle.MatchString(plain) && (single || len(f.episodes) == 0):
		r.toFilm("title", "the title")
	case len(f.episodes) > 0:
	case (film || f.kind == Film || text == "") && r.Season == nil && !counts.MatchString(plain):
		r.toFilm("label", "a label without an episode")
	default:
		r.Kind, r.From, r.Problem = Unread, "", noEpisodeTold.With()
	}
	if r.Title == "" {
		r.Kind, r.Problem = Unread, noTitle.With()
	}
	return r
}

// fileTitle is a title as files have it, whose words dots or underscores may part.
func fileTitle(text string) string {
	if strings.Contains(strings.TrimSpace(text), " ") {
		return text
	}
	return strings.NewReplacer(".", " ", "_", " ").Replace(text)
}

func (r *Reading) toFilm(from, how string) {
	r.Kind, r.Season, r.Episodes, r.From, r.How = Film, nil, []float64{}, from, how
}

// seasonOf is the season that an episode is of. Sites label every season S01, so a season
// mark in the title is believed before that; a lone number at the title's end is left to
// the matching.
// A special with a whole number is of season 0: SP 2 must not become episode 2.
func seasonOf(f found, label string, parsed title.Parsed) *int {
	if f.kind == Special && len(f.episodes) == 1 && f.episodes[0] == math.Trunc(f.episodes[0]) {
		return new(int)
	}
	season := f.season
	if f.bare && parsed.Season > 0 {
		season = nil // the name has a number
	}
	if season == nil {
		season = readSeason(label)
	}
	if season != nil && *season != 1 {
		return season
	}
	if parsed.Season > 0 && !parsed.Bare {
		return &parsed.Season
	}
	return season
}

// readAddress reads the last part of an address, where digits are mostly none of an
// episode: only what a word or letter marks as one counts.
func readAddress(address string) found {
	u, err := url.Parse(address)
	if err != nil || u.Path == "" || strings.HasSuffix(u.Path, "/") {
		return found{}
	}
	text := extension.ReplaceAllString(title.Plain(payload.Clean(path.Base(u.Path), watch.MaxText)), "")
	text, _ = cutCounts(text)
	if !marked.MatchString(text) && !counted.MatchString(text) && !urlEpisode.MatchString(text) {
		return found{}
	}
	f, _ := readNamed(text)
	if f.problem != nil || hanExtra.MatchString(text) || latinExtra.MatchString(text) {
		return found{}
	}
	return f
}

var (
	tagWords = `(?:hd|uhd|4k|\d{3,4}p|web-?dl|blu-?ray|蓝光|超清|高清|标清|国语版?|國語版?|粤语版?|日语版?|英语版?|中字|中文字幕|双语|双字|无字幕|无修正?|已?完结|已?完結|连载中?|連載中?|全集)`
	// trailingTags are freestanding at the end; Chinese words need no space in front.
	trailingTags = regexp.MustCompile(`(?i)(?:[ ._/|-]+` + tagWords + `|(?:蓝光|超清|国语版?|國語版?|粤语版?|日语版?|中字|双语|无字幕|已?完结|已?完結|连载中|連載中))$`)
	titleCounts  = regexp.MustCompile(`(?:更新?至|更新到|更至) ?第? ?\d{1,4} ?[集话話回]?|[全共] ?\d{1,4} ?[集话話回]|\d{1,4} ?[集话話回] ?(?:全|完结|完結)`)
	siteTag      = regexp.MustCompile(`^[\[【][^\]】]*[\]】]|[\[【][^\]】]*[\]】]$`)
	yearTag      = regexp.MustCompile(`[(（\[【] ?((?:19|20)\d\d)年? ?[)）\]】]`)
	bracketTag   = regexp.MustCompile(`(?i)[(（\[【] ?` + tagWords + `(?:[ ,./|-]*` + tagWords + `)* ?[)）\]】]`)
)

// cleanTitle is a title as it can be searched. What would leave nothing is not taken off.
// A year in brackets stays, at the end: sites tell a new version of a show by it.
func cleanTitle(raw string) string {
	text := payload.Clean(strings.Map(printable, raw), watch.MaxText)
	year := yearTag.FindStringSubmatch(text)
	for _, cut := range []func(string) string{without(yearTag), without(titleCounts), without(bracketTag), withoutSiteTag, without(trailingTags)} {
		for {
			rest := strings.Join(strings.Fields(cut(text)), " ")
			rest = strings.Trim(rest, " ._|/-")
			if rest == text || !strings.ContainsFunc(rest, isNamed) {
				break
			}
			text = rest
		}
	}
	if year != nil && !strings.Contains(text, year[1]) {
		text = payload.Clean(text, watch.MaxText-len(" (2024)")) + " (" + year[1] + ")"
	}
	return text
}

func without(re *regexp.Regexp) func(string) string {
	return func(text string) string { return re.ReplaceAllString(text, " ") }
}

// withoutSiteTag takes a text in brackets off an end of a title. It may be the name,
// 【灯塔守望者】第二季, or the season, 灯塔守望者【第二季】: both stay.
func withoutSiteTag(text string) string {
	at := siteTag.FindStringIndex(text)
	if at == nil {
		return text
	}
	inside, rest := strings.Trim(text[at[0]:at[1]], "[]【】 "), strings.TrimSpace(text[:at[0]]+text[at[1]:])
	switch {
	case rest == "":
		return text
	case title.OnlyMarks(rest):
		return inside + " " + rest
	case title.OnlyMarks(inside):
		return rest + " " + inside
	}
	return rest
}

// printable drops emoji and what cannot be seen; stars and notes, which titles are
// written with, stay.
func printable(r rune) rune {
	if r >= 0x1F000 && unicode.IsSymbol(r) || r == 0xFE0F || unicode.In(r, unicode.Cf, unicode.Co) {
		return -1
	}
	return r
}

func isNamed(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// Events are the events of a reading without a Problem: one for each episode, or one for
// a film.
func (r Reading) Events(user string, deviceID string, at time.Time) []watch.Event {
	e := watch.Event{
		Source: watch.Device, Action: watch.Watched, Media: watch.Episode, Title: r.Title,
		UserName: user, UserID: deviceID, RawEvent: "playback", OccurredAt: at,
	}
	switch {
	case r.Kind == Film:
		e.Media = watch.Movie
		return []watch.Event{e}
	case r.Kind == OVA:
		e.Media = watch.OVA
	case r.LiveAction:
		e.Media = watch.RealAction
	}
	e.Season = r.Season
	events := make([]watch.Event, len(r.Episodes))
	for i := range r.Episodes {
		events[i] = e
		events[i].Episode = &r.Episodes[i]
	}
	return events
}
