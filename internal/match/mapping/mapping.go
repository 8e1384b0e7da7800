// Package mapping keeps what people decided beforehand: which title is which
// subject, and which titles to leave alone. A rule holds for all, or for one person alone.
//
// What it promises: what is marked on a person's list is led by the rules of that person, then by those for all, and by nobody
// else's. The store reaches only the rules that the scope of the context does: those of a person, or all.
package mapping

import (
	"math"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/platform/reason"
	"watchmark/internal/watch"
)

// What is kept at most, so that an event is compared, and the rules are read, in no time.
const (
	MaxMappings = 20_000
	MaxBlocked  = 2_000
	// MaxOwnMappings, MaxOwnBlocked and MaxOwnExpressions are the same of the rules of one person.
	MaxOwnMappings    = 1_000
	MaxOwnBlocked     = 200
	MaxOwnExpressions = 20
	// MaxExpressions is how many mappings may be regular expressions, and how many blocked keywords.
	MaxExpressions = 200
	// maxSteps is how many instructions a regular expression may have: comparing a title costs
	// at most that for each of its characters.
	maxSteps = 1_000
)

// Origin says who made a mapping or a blocked keyword.
type Origin string

// The origins. ByConfirm and ByReject come from a person's answer to a question.
const (
	ByPerson  Origin = "person"
	ByImport  Origin = "import"
	ByConfirm Origin = "confirm"
	ByReject  Origin = "reject"
)

// Form is what a mapping is for.
type Form string

// The forms. A film and a show may bear one title, so what a person says of one holds for it alone.
const (
	AnyForm  Form = ""
	FilmForm Form = "film"
	ShowForm Form = "show"
)

// FormOf is the form of an event.
func FormOf(film bool) Form {
	if film {
		return FilmForm
	}
	return ShowForm
}

// MaxSubject is the highest number of a subject that is believed.
const MaxSubject = math.MaxInt32

// Mapping sends a title to a subject.
type Mapping struct {
	ID int64 `json:"id"`
	// PersonID is whom it holds for alone; 0 holds for all.
	PersonID int64 `json:"person_id"`
	// Title is compared whole with the title or original title of an event, or is a
	// regular expression (RE2) that must be found in it.
	Title string `json:"title"`
	Regex bool   `json:"is_regex"`
	// Season restricts the mapping to one season; nil holds for every season.
	Season *int `json:"season"`
	// FirstSeason has a mapping without a season hold for events that tell none, and for the
	// first season, alone: what a person said of those says nothing of specials and later seasons.
	FirstSeason bool `json:"first_season"`
	// Form restricts the mapping to films or to shows.
	Form Form `json:"form"`
	// Episode restricts the mapping to one number of the event; nil holds for all.
	Episode   *float64          `json:"episode"`
	SubjectID catalog.SubjectID `json:"subject_id"`
	// SubjectName is the subject's, for people; empty where nobody could tell, and cut where it is too long.
	SubjectName string `json:"subject_name"`
	// EpisodeOffset is added to the event's episode number.
	EpisodeOffset int       `json:"episode_offset"`
	Origin        Origin    `json:"origin"`
	Note          string    `json:"note"`
	CreatedAt     time.Time `json:"created_at"`
	UpdatedAt     time.Time `json:"updated_at"`
}

// BlockKind is how a blocked keyword is compared.
type BlockKind string

// The kinds of blocked keywords.
const (
	Contains BlockKind = "contains" // found anywhere in the title, case ignored
	Exact    BlockKind = "exact"    // the whole title, case ignored
	Regex    BlockKind = "regex"    // an RE2 expression found in the title
)

// Blocked is a keyword whose titles are left alone.
type Blocked struct {
	ID int64 `json:"id"`
	// PersonID is as in Mapping.
	PersonID int64     `json:"person_id"`
	Keyword  string    `json:"keyword"`
	Kind     BlockKind `json:"kind"`
	// Source says who made it: person, import or reject.
	Source    Origin    `json:"source"`
	CreatedAt time.Time `json:"created_at"`
}

// check returns a *reason.FieldError for a mapping that cannot work.
func (m Mapping) check() error {
	if err := m.checkRule(); err != nil {
		return err
	}
	return CheckSubject(m.SubjectID)
}

// checkRule is check without the subject.
func (m Mapping) checkRule() error {
	if err := checkPattern("title", m.Title, m.Regex); err != nil {
		return err
	}
	if m.Season != nil && (*m.Season < 0 || *m.Season > watch.MaxSeason) {
		return reason.At("season", outOfRange.With(*m.Season, watch.MaxSeason))
	}
	if m.Episode != nil && (*m.Episode < 0 || *m.Episode > watch.MaxEpisode) {
		return reason.At("episode", outOfRange.With(*m.Episode, watch.MaxEpisode))
	}
	switch m.Form {
	case AnyForm, FilmForm, ShowForm:
	default:
		return reason.At("form", unknownForm.With(m.Form))
	}
	if m.EpisodeOffset < -watch.MaxEpisode || m.EpisodeOffset > watch.MaxEpisode {
		return reason.At("episode_offset", offsetTooFar.With(m.EpisodeOffset, watch.MaxEpisode))
	}
	return checkLength("note", m.Note)
}

// CheckSubject returns a *reason.FieldError of subject_id for a number that no subject has.
func CheckSubject(id catalog.SubjectID) error {
	if id < 1 || int64(id) > MaxSubject {
		return reason.At("subject_id", entryMissing)
	}
	return nil
}

// check returns a *reason.FieldError for a keyword that cannot work.
func (b Blocked) check() error {
	switch b.Kind {
	case Contains, Exact, Regex:
	default:
		return reason.At("kind", unknownKind.With(b.Kind))
	}
	return checkPattern("keyword", b.Keyword, b.Kind == Regex)
}

func checkPattern(field, text string, isRegex bool) error {
	if strings.TrimSpace(text) == "" {
		return reason.At(field, fieldMissing)
	}
	if err := checkLength(field, text); err != nil || !isRegex {
		return err
	}
	return checkExpression(field, text)
}

func checkLength(field, text string) error {
	if len(text) > watch.MaxText {
		return reason.At(field, fieldTooLong.With(watch.MaxText))
	}
	return nil
}

// checkExpression returns a *reason.FieldError for what is no RE2 expression, or one that takes long.
func checkExpression(field, text string) error {
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return reason.At(field, badExpression.With(err))
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		return reason.At(field, badExpression.With(err))
	}
	if len(prog.Inst) > maxSteps {
		return reason.At(field, slowExpression.With(len(prog.Inst), maxSteps))
	}
	if regexp.MustCompile(text).MatchString("") {
		return reason.At(field, fitsAll)
	}
	return nil
}
