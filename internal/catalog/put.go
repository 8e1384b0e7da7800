package catalog

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"watchmark/internal/platform/reason"
)

// PutRequest asks for an entry to become what is wanted.
type PutRequest struct {
	ListEntry
	Wanted
	// Begin is told what is to be written before the first request that writes; its error ends the work, and comes back.
	Begin func(ctx context.Context, c Change) error
}

// PutResult says what was written.
type PutResult struct {
	Change
	// Username is the owner's name, read again when the one in the request was not found. Keep it.
	Username string
	// Failed says what was written, or was to be, and is not on the list.
	Failed []reason.Reason
	// Hidden: others cannot see it although they should, by the catalog's word filter.
	Hidden bool
}

// Put writes what of an entry differs from what is wanted, the entry first and then its marks, and reads back what it wrote. Nobody is
// told of the entry: where a state is sent that others may see, it is sent hidden and shown after that (upstreams/list.md section 5).
// Repeated it writes nothing. What is refused is in the result. After an error some of it may have been written: asking again finishes it.
func (m *Marker) Put(ctx context.Context, req PutRequest) (result PutResult, err error) {
	err = m.turn(ctx, &req.ListEntry, func() (err error) {
		result, err = req.put(ctx)
		return err
	})
	result.Username = req.Username
	return result, err
}

// Preview is what Put would write of an entry that is now on the list, whose Type is 0 where it is not.
func (e *ListEntry) Preview(ctx context.Context, now Entry, w Wanted) (Change, error) {
	rows, refused, err := e.rows(ctx, now, w)
	c := w.change(now, rows)
	c.Cannot = append(c.Cannot, refused...)
	return c, err
}

// rows are the episodes of the subject with their marks, where they are needed to find what is to be written. A subject that is hidden
// from the owner has none.
func (e *ListEntry) rows(ctx context.Context, now Entry, w Wanted) (rows []episodeMark, refused []reason.Reason, err error) {
	if len(w.Marks) == 0 && (!w.AllMarks || now.Marked == 0) {
		return nil, nil, nil
	}
	rows, err = e.Session.episodeMarks(ctx, e.Subject)
	if errors.Is(err, ErrNotFound) {
		return nil, []reason.Reason{entryHidden.With()}, nil
	}
	return rows, nil, err
}

func (req *PutRequest) put(ctx context.Context) (result PutResult, err error) {
	now, err := req.whole(ctx)
	if Hides(err) {
		result.Cannot = append(result.Cannot, entryHidden.With())
		return result, nil
	}
	if err != nil {
		return result, err
	}
	if result.Change, err = req.Preview(ctx, now, req.Wanted); err != nil || result.Empty() {
		return result, err
	}
	if err := req.Begin(ctx, result.Change); err != nil {
		return result, err
	}
	if err := req.putEntry(ctx, now, &result); err != nil {
		return result, err
	}
	if result.Create && len(result.Sent.Marks) > 0 { // marks may have come back with it (upstreams/list.md section 3)
		rows, err := req.Session.episodeMarks(ctx, req.Subject)
		if err != nil {
			return result, err
		}
		again := req.change(Entry{Type: req.Type}, rows)
		result.Sent.Marks, result.Back.Marks = again.Sent.Marks, again.Back.Marks
		result.Held = append(result.Held, again.Held...)
	}
	return result, req.putMarks(ctx, &result)
}

// entryBody is what POST and PATCH of an entry take (upstreams/list.md section 4).
type entryBody struct {
	Type    CollectionType `json:"type,omitzero"`
	Rate    *int           `json:"rate,omitempty"`
	Comment *string        `json:"comment,omitempty"`
	Tags    *[]string      `json:"tags,omitempty"`
	Private *bool          `json:"private,omitempty"`
	Chapter *int           `json:"ep_status,omitempty"`
	Volume  *int           `json:"vol_status,omitempty"`
}

func (b entryBody) empty() bool { return b == entryBody{} }

// bodies are the requests that write the entry.
func (c Change) bodies(now Entry) []entryBody {
	s := c.Sent
	first := entryBody{s.Type, s.Rate, s.Comment, s.Tags, s.Private, s.Chapter, s.Volume}
	if first.empty() {
		return nil
	}
	if !c.Quiet {
		return []entryBody{first}
	}
	first.Private = new(true)
	if now.Private {
		first.Private = nil
	}
	return []entryBody{first, {Private: new(false)}}
}

// shows reports whether others are to see the entry that is now.
func (c Change) shows(now Entry) bool {
	if c.Sent.Private != nil {
		return !*c.Sent.Private
	}
	return !now.Private
}

// putEntry writes the entry.
func (req *PutRequest) putEntry(ctx context.Context, now Entry, result *PutResult) error {
	bodies := result.bodies(now)
	if len(bodies) == 0 {
		return nil
	}
	create := result.Create
	for _, b := range bodies {
		err := req.sendEntry(ctx, create, b)
		if isRefusal(err) && (b.Comment != nil || b.Tags != nil) {
			err = req.writeParts(ctx, create, b, err, result)
		}
		switch {
		case isLocked(err), Hides(err):
			result.Lock()
			return nil
		case isRefusal(err):
			result.Failed = append(result.Failed, reason.Of(err))
			result.refuse()
			return nil
		case err != nil:
			return err
		}
		create = false
	}
	shown, err := req.whole(ctx)
	if err != nil {
		return err
	}
	sent := result.Sent
	if shown.Private && result.shows(now) {
		result.Hidden = true
		result.Cannot = append(result.Cannot, WordFilter.With())
		sent.Private = nil
	}
	if !(entryBody{sent.Type, sent.Rate, sent.Comment, sent.Tags, sent.Private, sent.Chapter, sent.Volume}).isOn(shown) {
		result.Failed = append(result.Failed, entryNotShown.With())
	}
	return nil
}

// writeParts writes what was refused as a whole, because of its comment or its tags: first without them, and then each alone.
func (req *PutRequest) writeParts(ctx context.Context, create bool, b entryBody, refusal error, result *PutResult) error {
	rest := b
	rest.Comment, rest.Tags = nil, nil
	alone := rest.empty() && (b.Comment == nil || b.Tags == nil)
	if !rest.empty() {
		if err := req.sendEntry(ctx, create, rest); err != nil {
			return err
		}
	}
	for _, part := range []struct {
		name *reason.Kind
		body entryBody
		off  func()
	}{
		{partComment, entryBody{Comment: b.Comment}, func() { result.Sent.Comment, result.Back.Comment = nil, nil }},
		{partTags, entryBody{Tags: b.Tags}, func() { result.Sent.Tags, result.Back.Tags = nil, nil }},
	} {
		if part.body.empty() {
			continue
		}
		err := refusal
		if !alone {
			err = req.sendEntry(ctx, false, part.body)
		}
		if isRefusal(err) {
			result.Cannot = append(result.Cannot, partRefused.With(part.name, err))
			part.off()
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isRefusal reports whether the catalog understood a request and does not do it.
func isRefusal(err error) bool {
	var failure *Error
	return errors.As(err, &failure) && errors.Is(err, ErrRefused)
}

// sendEntry sends one request for the entry, and finds out what became of it when the answer does not tell.
func (e *ListEntry) sendEntry(ctx context.Context, create bool, b entryBody) error {
	err := e.Session.putEntry(ctx, e.Subject, create, b)
	if !mayHaveLanded(err) {
		return err
	}
	if now, readErr := e.whole(Probing(ctx)); readErr == nil && now.Type != 0 && b.isOn(now) {
		return nil
	}
	return lost(err)
}

// isOn reports whether an entry is as the request says.
func (b entryBody) isOn(e Entry) bool {
	return (b.Type == 0 || b.Type == e.Type) && (b.Rate == nil || *b.Rate == e.Rate) && (b.Comment == nil || sameText(*b.Comment, e.Comment)) &&
		(b.Tags == nil || sameTags(*b.Tags, e.Tags)) && (b.Private == nil || *b.Private == e.Private) &&
		(b.Chapter == nil || *b.Chapter == e.Marked) && (b.Volume == nil || *b.Volume == e.Volume)
}

// putEntry makes or changes an entry.
func (s Session) putEntry(ctx context.Context, subject SubjectID, create bool, b entryBody) error {
	k := call{op: opChangeEntry.With(subject), method: http.MethodPatch, path: fmt.Sprintf("/v0/users/-/collections/%d", subject), body: b}
	done := []int{http.StatusNoContent}
	if create {
		k.op, k.method = opCollect.With(subject), http.MethodPost
		done = append(done, http.StatusAccepted)
	}
	return s.write(ctx, k, done...)
}

// putMarks writes the marks, in one request for each state, and looks whether they are there. What has another mark is cleared first.
func (req *PutRequest) putMarks(ctx context.Context, result *PutResult) error {
	by := map[EpisodeState][]EpisodeID{}
	for i, m := range result.Sent.Marks {
		if m.State != Unmarked {
			by[m.State] = append(by[m.State], m.Episode)
		}
		if result.Back.Marks[i].State != Unmarked {
			by[Unmarked] = append(by[Unmarked], m.Episode)
		}
	}
	for _, state := range []EpisodeState{Unmarked, EpisodeWatched, EpisodeWish, EpisodeDropped} {
		if len(by[state]) == 0 {
			continue
		}
		err := req.settleMarks(ctx, by[state], state, req.Session.setEpisodes(ctx, req.Subject, by[state], state))
		if isRefusal(err) || errors.Is(err, ErrNotFound) {
			result.Failed = append(result.Failed, reason.Of(err))
			return nil
		}
		if err != nil {
			return err
		}
	}
	if len(by) == 0 {
		return nil
	}
	rows, err := req.Session.episodeMarks(ctx, req.Subject)
	if err != nil {
		return err
	}
	states := progress{marks: rows}.states()
	if slices.ContainsFunc(result.Sent.Marks, func(m Mark) bool { return states[m.Episode] != m.State }) {
		result.Failed = append(result.Failed, entryNotShown.With())
	}
	return nil
}
