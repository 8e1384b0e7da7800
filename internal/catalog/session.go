package catalog

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"watchmark/internal/platform/secret"
)

// marksPage is the server's maximum for the list of marks (upstreams/catalog.md section 9).
const marksPage = 1000

// entriesPage is how many entries of a list are asked for at once; the server takes up to 100, its
// documentation says 50 (upstreams/catalog.md section 9).
const entriesPage = 50

// Session is the client with a person's token. Lists are written to by a Marker alone.
type Session struct {
	c     *Client
	token secret.Text
	// account is whose token it is, as Bangumi may count its requests; 0 is not known.
	account int64
}

// As is the client in the name of the owner of token.
func (c *Client) As(token secret.Text) Session { return Session{c: c, token: token} }

// Of is the session with its requests counted for an account.
func (s Session) Of(account int64) Session {
	s.account = account
	return s
}

// String does not show the token.
func (s Session) String() string { return "catalog session" }

// GoString does not show the token.
func (s Session) GoString() string { return s.String() }

func (s Session) read(ctx context.Context, k call, into any, fits func() bool) error {
	k.token, k.account = s.token, s.account
	return s.c.read(ctx, k, into, fits)
}

// write sends a change, which is done when one of these statuses comes back.
func (s Session) write(ctx context.Context, k call, done ...int) error {
	k.token, k.account = s.token, s.account
	k.may, _ = ctx.Value(guardKey{}).(func(time.Duration) error)
	_, err := s.c.send(ctx, k, s.c.writing(done...))
	return err
}

type guardKey struct{}

// Guarded has the writes made with ctx sent only while may returns nil for the time that they may take. Its error comes back as it is, and
// nothing was written.
func Guarded(ctx context.Context, may func(most time.Duration) error) context.Context {
	return context.WithValue(ctx, guardKey{}, may)
}

// Me reads who owns the token. It is the check of a token.
func (s Session) Me(ctx context.Context) (User, error) {
	var me User
	err := s.read(ctx, call{op: opReadOwner.With(), path: "/v0/me"}, &me, func() bool { return me.Username != "" })
	if err != nil {
		return User{}, err
	}
	return me, nil
}

// apiCollection is an entry as /v0 sends it (upstreams/catalog.md section 9).
type apiCollection struct {
	Subject SubjectID      `json:"subject_id"`
	Type    CollectionType `json:"type"`
	Private bool           `json:"private"`
	Rate    int            `json:"rate"`
	// Marked is how many episodes have a mark, of any kind and type.
	Marked  *int   `json:"ep_status"`
	Changed moment `json:"updated_at"`
	About   struct {
		Eps int `json:"eps"`
	} `json:"subject"`
}

func (e apiCollection) known() bool { return e.Subject > 0 && e.Type >= Wish && e.Type <= Dropped }

// collection reads username's entry for a subject. ErrNotFound: not collected,
// or the subject or the user does not exist; the description tells which.
func (s Session) collection(ctx context.Context, username string, subject SubjectID) (listed, error) {
	var entry apiCollection
	k := call{
		op:   opReadEntry.With(subject),
		path: fmt.Sprintf("/v0/users/%s/collections/%d", url.PathEscape(username), subject),
	}
	if err := s.read(ctx, k, &entry, func() bool { return entry.Subject == subject && entry.known() }); err != nil {
		return listed{}, err
	}
	now := listed{Type: entry.Type, changed: entry.Changed.Time, marked: -1, eps: entry.About.Eps, rated: entry.Rate > 0}
	if entry.Marked != nil {
		now.marked = *entry.Marked
	}
	return now, nil
}

// Collections reads the entries of username of one type in one state, newest update first, those
// that only the owner sees among them. ErrNotFound: there is no such user.
func (s Session) Collections(ctx context.Context, username string, of SubjectType, state CollectionType) ([]Collection, error) {
	k := call{
		op:   opReadList.With(),
		path: fmt.Sprintf("/v0/users/%s/collections", url.PathEscape(username)),
		query: url.Values{
			"subject_type": {strconv.Itoa(int(of))}, "type": {strconv.Itoa(int(state))}, "limit": {strconv.Itoa(entriesPage)},
		},
	}
	entries := []Collection{}
	// Entries of subjects that are gone count in the total and are not there, so pages are told by
	// where they begin.
	for offset := 0; ; offset += entriesPage {
		k.query.Set("offset", strconv.Itoa(offset))
		var p page[apiCollection]
		if err := s.read(ctx, k, &p, func() bool { return p.fits(offset, apiCollection.known) }); err != nil {
			return nil, err
		}
		for _, r := range p.Data.all {
			one := Collection{Subject: r.Subject, Type: r.Type, Private: r.Private, Marked: -1, Changed: r.Changed.Time}
			if r.Marked != nil {
				one.Marked = *r.Marked
			}
			entries = append(entries, one)
		}
		if offset+entriesPage >= *p.Total {
			return entries, nil
		}
		if offset > maxRows {
			return nil, &Error{Op: k.op, Kind: ErrUnreachable, Description: tooManyRows.With(maxRows)}
		}
	}
}

// collect puts a subject on the list, visible to its owner only when private is set. Every
// call with a state shows up in the person's public timeline unless private: read first. Without one, 0, a
// new entry is doing and nothing shows up. ErrNotFound: the subject is unknown, locked or merged.
func (s Session) collect(ctx context.Context, subject SubjectID, state CollectionType, private bool) error {
	body := struct {
		Type    CollectionType `json:"type,omitempty"`
		Private bool           `json:"private,omitempty"` // left out, an entry that is there after all keeps what it has
	}{state, private}
	return s.write(ctx, call{
		op:     opCollect.With(subject),
		method: http.MethodPost, path: fmt.Sprintf("/v0/users/-/collections/%d", subject), body: body,
	}, http.StatusAccepted, http.StatusNoContent) // documented as 204, seen as 202
}

// moveEntry changes the state of an existing entry and nothing else of it.
// ErrNotFound: not collected, or the subject is locked or merged.
func (s Session) moveEntry(ctx context.Context, subject SubjectID, state CollectionType) error {
	body := struct {
		Type CollectionType `json:"type"`
	}{state}
	return s.write(ctx, call{
		op:     opChangeEntry.With(subject),
		method: http.MethodPatch, path: fmt.Sprintf("/v0/users/-/collections/%d", subject), body: body,
	}, http.StatusNoContent)
}

// changeEntry is moveEntry that also says who sees the entry; to nobody else is told what becomes private with it.
func (s Session) changeEntry(ctx context.Context, subject SubjectID, state CollectionType, private bool) error {
	body := struct {
		Type    CollectionType `json:"type"`
		Private bool           `json:"private"`
	}{state, private}
	return s.write(ctx, call{
		op:     opChangeEntry.With(subject),
		method: http.MethodPatch, path: fmt.Sprintf("/v0/users/-/collections/%d", subject), body: body,
	}, http.StatusNoContent)
}

// episodeMark is the state of one episode on a person's list.
type episodeMark struct {
	Episode EpisodeInfo
	State   EpisodeState
	// At is when the state was set; zero when that is not known.
	At time.Time
}

// episodeMarks reads the state of every episode of a subject, of all types. It
// works for a subject that is not collected too: all are Unmarked.
func (s Session) episodeMarks(ctx context.Context, subject SubjectID) ([]episodeMark, error) {
	k := call{
		op:   opReadMarks.With(subject),
		path: fmt.Sprintf("/v0/users/-/collections/%d/episodes", subject), token: s.token, account: s.account,
	}
	rows, err := all(ctx, s.c, k, marksPage, apiMark.known)
	if err != nil {
		return nil, err
	}
	marks := make([]episodeMark, 0, len(rows))
	for _, r := range rows {
		marks = append(marks, episodeMark{r.Episode.info(), r.Type, r.At.Time})
	}
	return marks, nil
}

// apiMark is an episode with its mark as /v0 sends it (upstreams/catalog.md section 9).
type apiMark struct {
	Episode apiEpisode   `json:"episode"`
	Type    EpisodeState `json:"type"`
	At      moment       `json:"updated_at"`
}

// moment is a time as /v0 sends it: in words of an entry, in seconds of a mark. What is neither is the zero time, for nothing
// but a date hangs on it.
type moment struct{ time.Time }

func (m *moment) UnmarshalJSON(text []byte) error {
	m.Time = time.Time{}
	if seconds, err := strconv.ParseInt(string(text), 10, 64); err == nil && seconds > 0 {
		m.Time = time.Unix(seconds, 0)
	} else if at, err := time.Parse(`"`+time.RFC3339+`"`, string(text)); err == nil {
		m.Time = at
	}
	if m.After(time.Now().Add(24 * time.Hour)) {
		m.Time = time.Time{}
	}
	return nil
}

func (m apiMark) known() bool {
	return m.Episode.ID > 0 && m.Type >= Unmarked && m.Type <= EpisodeDropped
}

// episodeMark reads the state of one episode, of whatever subject.
func (s Session) episodeMark(ctx context.Context, episode EpisodeID) (episodeMark, error) {
	k := call{
		op:   opReadMark.With(episode),
		path: fmt.Sprintf("/v0/users/-/collections/-/episodes/%d", episode),
	}
	var mark apiMark
	if err := s.read(ctx, k, &mark, func() bool { return mark.known() && mark.Episode.ID == episode }); err != nil {
		return episodeMark{}, err
	}
	return episodeMark{mark.Episode.info(), mark.Type, mark.At.Time}, nil
}

// Episodes is Client.Episodes with what only the owner of the token is shown, read from their marks.
func (s Session) Episodes(ctx context.Context, subject SubjectID) ([]EpisodeInfo, error) {
	marks, err := s.episodeMarks(ctx, subject)
	if err != nil {
		return nil, err
	}
	episodes := make([]EpisodeInfo, 0, len(marks))
	for _, mark := range marks {
		episodes = append(episodes, mark.Episode)
	}
	return episodes, nil
}

// setEpisode sets the state of one episode. ErrRefused with status 400: the
// subject is not collected. Changing one mark to another is lost by some servers
// (upstreams/catalog.md section 9): go over Unmarked.
func (s Session) setEpisode(ctx context.Context, episode EpisodeID, state EpisodeState) error {
	body := struct {
		Type EpisodeState `json:"type"` // never left out: a missing type removes the mark
	}{state}
	return s.write(ctx, call{
		op:     opSetEpisode.With(episode),
		method: http.MethodPut, path: fmt.Sprintf("/v0/users/-/collections/-/episodes/%d", episode), body: body,
	}, http.StatusNoContent)
}

// setEpisodes sets the state of several episodes of one subject at once: all or
// none. ErrRefused with status 400: not collected, or one is of another subject.
func (s Session) setEpisodes(ctx context.Context, subject SubjectID, episodes []EpisodeID, state EpisodeState) error {
	body := struct {
		Episodes []EpisodeID  `json:"episode_id"`
		Type     EpisodeState `json:"type"`
	}{episodes, state}
	return s.write(ctx, call{
		op:     opSetEpisodes.With(len(episodes), subject),
		method: http.MethodPatch, path: fmt.Sprintf("/v0/users/-/collections/%d/episodes", subject), body: body,
	}, http.StatusNoContent)
}
