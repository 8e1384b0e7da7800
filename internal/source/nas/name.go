package nas

import (
	"regexp"
	"strconv"
	"strings"

	"watchmark/internal/source/payload"
	"watchmark/internal/watch"
)

// placeholder begins the titles of files that the NAS did not recognise.
const placeholder = "视频-"

// name is what the title or the file name of an episode tells.
type name struct {
	// title is what stands before the number; empty when nothing does.
	title   string
	season  *int // nil when there is none
	episode float64
}

// The forms of upstreams/nas.md, section 4. The number must end where the digits do.
var (
	seasonEpisode = regexp.MustCompile(`(?i)(?:^|[^a-z0-9])S(\d{1,3})[ ._-]{0,3}E(\d{1,4})(?:$|[^0-9])`)
	ordinal       = regexp.MustCompile(`第\s{0,3}(\d{1,4})\s{0,3}[集话話回]`)
	episodeOnly   = regexp.MustCompile(`(?i)(?:^|[^a-z0-9])EP?[ ._-]{0,2}(\d{1,4})(?:$|[^0-9])`)
	// releaseGroup is what stands in brackets before a title.
	releaseGroup = regexp.MustCompile(`^\s*(?:\[[^\]]*\]|【[^】]*】)\s*`)
)

// parseName looks for an episode's number in a title or a file name; ok is false when there
// is none, or one that no episode has. It never guesses from a bare number.
func parseName(text string) (n name, ok bool) {
	text = payload.Clean(text, watch.MaxText)
	var at, number int
	var err error
	switch m := seasonEpisode.FindStringSubmatchIndex(text); {
	case m != nil:
		season, _ := strconv.Atoi(text[m[2]:m[3]]) // three digits at most
		n.season, at = &season, m[0]
		number, err = strconv.Atoi(text[m[4]:m[5]])
	default:
		if m = ordinal.FindStringSubmatchIndex(text); m == nil {
			m = episodeOnly.FindStringSubmatchIndex(text)
		}
		if m == nil {
			return name{}, false
		}
		at = m[0]
		number, err = strconv.Atoi(text[m[2]:m[3]])
	}
	if err != nil {
		return name{}, false
	}
	n.episode, n.title = float64(number), titleBefore(text[:at])
	return n, true
}

// titleBefore is the show's title in what stands before the number in a file name.
func titleBefore(text string) string {
	if rest := releaseGroup.ReplaceAllString(text, ""); strings.Trim(rest, " -_.") != "" {
		text = rest
	}
	if !strings.Contains(strings.TrimSpace(text), " ") { // a name whose words dots or underscores part
		text = strings.NewReplacer(".", " ", "_", " ").Replace(text)
	}
	text = strings.Trim(text, " -_.")
	for _, open := range []string{"[", "(", "（", "【"} { // the number stood in brackets
		text = strings.TrimRight(strings.TrimSuffix(text, open), " -_.")
	}
	if inner, is := strings.CutPrefix(text, "["); is {
		text = strings.TrimSuffix(inner, "]")
	}
	return payload.Clean(text, watch.MaxText)
}
