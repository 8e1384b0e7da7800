package review

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"watchmark/internal/engine"
	"watchmark/internal/match"
	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/scope"
	"watchmark/internal/platform/tickets"
	"watchmark/internal/record"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/notify/channel"
)

// How long an answer with one tap is good for, and how many there are at once.
const (
	TapLife  = 48 * time.Hour
	TapsMost = 2000
)

// Taps are answers with one tap, from a notification of a device that may not be signed in any more. Each is a ticket: it cannot be guessed,
// is good once and for a time, and for one person, one channel, and one answer to what the notification showed.
type Taps struct {
	Decisions *Service
	Tickets   *tickets.Kind[Tap]
	// Allowed reports whether the person of a channel may still answer there.
	Allowed func(ctx context.Context, c notify.Channel) (bool, error)
	// Channel finds the channel with an id, in the scope of ctx.
	Channel func(ctx context.Context, id int64) (notify.Channel, error)
}

// Tap is what one answer does.
type Tap struct {
	Do       tapKind            `json:"do"`
	Language bilingual.Language `json:"language"`
	// Person is whose answer it is; 0 is the owner. Channel is where it was offered, Since when that was made: its id may come again.
	Person  int64 `json:"person"`
	Channel int64 `json:"channel"`
	Since   int64 `json:"since"`
	// Question with Choice, or Record is what it is about; Seen is how that looked.
	Question int64  `json:"question,omitempty"`
	Choice   Choice `json:"choice,omitzero"`
	Record   int64  `json:"record,omitempty"`
	Seen     string `json:"seen"`
	// Page shows more.
	Page string `json:"page"`
}

type tapKind string

const (
	tapConfirm tapKind = "confirm"
	tapPutOff  tapKind = "put_off"
	tapUnmark  tapKind = "unmark"
)

// The labels of the buttons.
var tapLabels = map[tapKind]bilingual.Text{
	tapConfirm: {English: "This one", Chinese: "就是它"},
	tapPutOff:  {English: "Not now", Chinese: "以后再说"},
	tapUnmark:  {English: "Take back", Chinese: "撤回"},
}

// Tapped is what a tap did, for the person who tapped.
type Tapped struct {
	Title string `json:"title" doc:"What was done, in the language of the notification."`
	Text  string `json:"text" doc:"What comes of it; may be empty."`
	Page  string `json:"page" doc:"The path of the page that shows more."`
}

// Actions offers what the message of an entry can be answered with; nothing where the entry is not about what is the person's own, or where
// there is nothing to answer any more. What goes wrong is logged, and the notification has no buttons.
func (t *Taps) Actions(ctx context.Context, c notify.Channel, e notify.Entry, m channel.Message) []channel.Action {
	if e.Person != c.Person || e.RecordID == 0 {
		return nil
	}
	offered, err := t.offer(scope.InOf(ctx, c.Person), e, m)
	if err != nil {
		t.Decisions.Engine.Log.WarnContext(ctx, "a notification gets no buttons", "notice", e.ID, "error", err)
		return nil
	}
	var actions []channel.Action
	for _, tap := range offered {
		tap.Language, tap.Person, tap.Channel, tap.Since = m.Language, c.Person, c.ID, c.CreatedAt.UnixMilli()
		token, err := t.Tickets.Give(ctx, tap)
		if err != nil {
			t.Decisions.Engine.Log.WarnContext(ctx, "a notification gets no buttons", "notice", e.ID, "error", err)
			return nil
		}
		actions = append(actions, channel.Action{Label: tapLabels[tap.Do].In(m.Language), Token: token})
	}
	return actions
}

// offer are the answers that there are to an entry, of which a message tells.
func (t *Taps) offer(ctx context.Context, e notify.Entry, m channel.Message) ([]Tap, error) {
	switch e.Kind {
	case notify.ReviewWaiting:
		id, err := record.QuestionOf(ctx, t.Decisions.Engine.DB.Read(), e.RecordID)
		if err != nil || id == 0 {
			return nil, err
		}
		q, err := t.Decisions.Questions.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		// The owner's answer holds for everybody: a question of others is answered on the page, which says so.
		if q.Status != Pending || len(q.Candidates) == 0 || len(q.People) > 0 {
			return nil, nil
		}
		putOff := Tap{Do: tapPutOff, Question: id, Seen: q.seen(), Page: "/review"}
		best := q.Candidates[0]
		choice, err := q.Choose(best)
		if err != nil || strconv.Itoa(int(best.SubjectID)) != e.Facts["top_candidate_id"] || !q.isNamed(e.Facts["top_candidate_name"], m) {
			return []Tap{putOff}, nil //nolint:nilerr // no whole offset leads to it: the page tells more
		}
		confirm := putOff
		confirm.Do, confirm.Choice = tapConfirm, choice
		return []Tap{confirm, putOff}, nil
	case notify.Marked, notify.Replayed:
		seen, err := t.markSeen(ctx, e.RecordID)
		if err != nil || seen == "" {
			return nil, err
		}
		return []Tap{{Do: tapUnmark, Record: e.RecordID, Seen: seen, Page: fmt.Sprintf("/records/%d", e.RecordID)}}, nil
	}
	return nil, nil
}

// isNamed reports whether a message names the best candidate so that it cannot be another one: a rule may have words of its own.
func (q Question) isNamed(name string, m channel.Message) bool {
	return name != "" && strings.Contains(m.Title+"\n"+m.Text, name) &&
		!slices.ContainsFunc(q.Candidates[1:], func(c match.Candidate) bool { return c.Name == name || c.NameCN == name })
}

// seen tells two states of a question apart: what it asks, and between what.
func (q Question) seen() string {
	of := struct {
		ID         int64
		Title      string
		Season     *int
		Film       bool
		Special    *float64
		Candidates []match.Candidate
		People     []int64
	}{ID: q.ID, Title: q.Title, Season: q.Season, Film: q.IsFilm(), People: q.People}
	if q.isSpecial() {
		of.Special = q.Episode
	}
	for _, c := range q.Candidates {
		between := match.Candidate{SubjectID: c.SubjectID, StartID: c.StartID}
		if q.isSpecial() {
			between.EpisodeSort = c.EpisodeSort
		}
		of.Candidates = append(of.Candidates, between)
	}
	return digestOf(of)
}

// markSeen tells what a record has marked from what it marked another time; empty when it has no mark.
func (t *Taps) markSeen(ctx context.Context, id int64) (string, error) {
	r, err := t.Decisions.Engine.Records.Get(ctx, id)
	if err != nil || r.Status != record.Success {
		return "", err
	}
	marks, err := t.Decisions.Engine.Records.Marks(ctx, id)
	if err != nil || len(marks) == 0 {
		return "", err
	}
	return digestOf(marks), nil
}

func digestOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil { // not possible for numbers, texts and times
		panic(err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// Take does what a token stands for, which is good no more then, however it ends. It returns ErrTapOver for a token that is not good,
// ErrTapChanged when what the notification showed is not so any more, or what doing it returns.
func (t *Taps) Take(ctx context.Context, token string) (Tapped, error) {
	tap, found, err := t.Tickets.Take(ctx, token, func(Tap) bool { return true })
	if err != nil {
		return Tapped{}, err
	}
	if !found {
		return Tapped{}, ErrTapOver
	}
	ctx = scope.InOf(ctx, tap.Person)
	c, err := t.Channel(ctx, tap.Channel)
	switch {
	case errors.Is(err, notify.ErrNotFound), err == nil && c.CreatedAt.UnixMilli() != tap.Since:
		return Tapped{}, ErrTapOver
	case err != nil:
		return Tapped{}, err
	}
	if allowed, err := t.Allowed(ctx, c); err != nil || !allowed {
		if err == nil {
			err = ErrTapOver
		}
		return Tapped{}, err
	}
	title, text, err := t.do(ctx, tap)
	if err != nil {
		return Tapped{}, err
	}
	return Tapped{title.In(tap.Language), text.In(tap.Language), tap.Page}, nil
}

// do is what a tap does, in the scope of who tapped, and what to say of it.
func (t *Taps) do(ctx context.Context, tap Tap) (title, text reason.Reason, err error) {
	switch tap.Do {
	case tapConfirm:
		choice := tap.Choice
		choice.Seen = tap.Seen
		a, err := t.Decisions.Confirm(ctx, tap.Question, tap.Person, choice)
		if err != nil {
			return title, text, gone(err)
		}
		return tapConfirmed.With(a.Question.Title, choice.Name), tapMarking.With(), nil
	case tapPutOff:
		q, err := t.Decisions.Questions.Get(ctx, tap.Question)
		if err == nil {
			err = t.Decisions.PutOff(ctx, tap.Question, tap.Seen)
		}
		if err != nil {
			return title, text, gone(err)
		}
		return tapWaits.With(q.Title), tapAsked.With(), nil
	case tapUnmark:
		seen, err := t.markSeen(ctx, tap.Record)
		switch {
		case err != nil:
			return title, text, gone(err)
		case seen != tap.Seen:
			return title, text, ErrTapChanged
		}
		r, err := t.Decisions.Unmark(ctx, tap.Record, tapTakenBack.With())
		if err != nil {
			return title, text, gone(err)
		}
		return tapUnmarked.With(recordName(r)), r.Message, nil
	}
	return title, text, ErrTapOver // of another version of the program
}

// gone is ErrTapChanged for an error that says that what was asked is answered, removed or at work by now.
func gone(err error) error {
	for _, over := range []error{ErrNotFound, record.ErrNotFound, ErrAnswered, ErrNothingMarked, engine.ErrInProgress} {
		if errors.Is(err, over) {
			return ErrTapChanged
		}
	}
	return err
}

// recordName is the title of a record, with its numbers.
func recordName(r record.Record) string {
	var name strings.Builder
	name.WriteString(r.Title)
	if r.Season != nil || r.Episode != nil {
		name.WriteByte(' ')
	}
	if r.Season != nil {
		fmt.Fprintf(&name, "S%d", *r.Season)
	}
	if r.Episode != nil {
		fmt.Fprintf(&name, "E%s", strconv.FormatFloat(*r.Episode, 'f', -1, 64))
	}
	return name.String()
}
