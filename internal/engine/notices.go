package engine

import (
	"context"
	"database/sql"
	"strconv"
	"strings"

	"watchmark/internal/record"
	"watchmark/internal/tell/notify"
	"watchmark/internal/watch"
)

// Notices takes what people are told of; *notify.Notifier is one.
type Notices interface {
	// AddTx stores notices in the transaction of what they tell of.
	AddTx(ctx context.Context, tx *sql.Tx, notices ...notify.Notice) error
	// ReopenTx opens the notice of a matter anew that was closed last, in the transaction of what is as before.
	ReopenTx(ctx context.Context, tx *sql.Tx, of notify.Notice) error
	// Wake is called after the commit.
	Wake()
}

// earlierNews is how a settled record stood before, as far as people were told of it.
type earlierNews struct {
	// waited: its task was in the queue. asked: others of its title wait for the same answer.
	waited, asked bool
}

// kindOf is what kind of news the outcome of a record is; empty when it is none, since
// people were told before.
func (s settled) kindOf(o record.Outcome, before earlierNews) notify.Kind {
	switch o.Status {
	case record.Success:
		switch {
		case before.waited:
			return notify.Replayed
		case s.found:
			return notify.AlreadyWatched
		}
		return notify.Marked
	case record.Ignored:
		return notify.Ignored
	case record.Review:
		if before.asked {
			return ""
		}
		return notify.ReviewWaiting
	case record.Queued:
		if before.waited {
			return ""
		}
		return notify.Queued
	case record.Failed:
		return failureKind(o.ErrorKind)
	}
	return "" // given back
}

func failureKind(kind record.ErrorKind) notify.Kind {
	switch kind {
	case record.NoAccount, record.UserNameMissing:
		return notify.NoAccount
	case record.NotMatched:
		return notify.NotMatched
	case record.EpisodeNotFound:
		return notify.EpisodeNotFound
	case record.Abandoned:
		return notify.Abandoned
	}
	return notify.MarkFailed
}

// arrived is the notice of an event that was accepted.
func arrived(event watch.Event, recordID int64) notify.Notice {
	return notify.Notice{Kind: notify.RequestReceived, User: event.UserName, RecordID: recordID, About: aboutEpisode(event), Facts: facts(event)}
}

// news is the notice of how a record came out.
func news(kind notify.Kind, event watch.Event, o record.Outcome) notify.Notice {
	n := notify.Notice{
		Kind: kind, User: event.UserName, AccountID: o.AccountID, Account: o.AccountName, RecordID: o.RecordID,
		About: aboutEpisode(event), Facts: facts(event),
	}
	switch kind {
	case notify.NoAccount:
		n.About = aboutUser(event)
	case notify.NotMatched, notify.ReviewWaiting:
		n.About = aboutShow(event)
	}
	if o.Status != record.Success {
		n.Reason, n.Facts["error_type"] = o.Message, string(o.ErrorKind)
	}
	subject := ""
	if o.SubjectID != 0 {
		subject = strconv.Itoa(int(o.SubjectID))
	}
	if kind == notify.ReviewWaiting {
		n.Facts["top_candidate_id"], n.Facts["top_candidate_name"] = subject, o.SubjectName
	} else {
		n.Facts["subject_id"], n.Facts["subject_name"] = subject, o.SubjectName
	}
	if o.EpisodeID != 0 {
		n.Facts["episode_id"] = strconv.Itoa(int(o.EpisodeID))
	}
	return n
}

// aboutUser is the matter of a watch without an account: the user, or the person by whose API key it came, who may be called as a user is.
func aboutUser(event watch.Event) string {
	if event.PersonID != nil {
		return "key of person " + strconv.FormatInt(*event.PersonID, 10)
	}
	return event.UserName
}

// settledBy are the matters of an event that its outcome settles: all but the one that it is news of, as far as it
// shows that they are over.
func settledBy(event watch.Event, o record.Outcome, news notify.Kind) []notify.Notice {
	about := map[notify.Kind]string{notify.NoAccount: aboutUser(event)}
	if o.Status != record.Queued && o.Status != record.Received && o.ErrorKind != record.NoAccount && o.ErrorKind != record.UserNameMissing && o.ErrorKind != record.Internal {
		show, episode := aboutShow(event), aboutEpisode(event)
		about[notify.NotMatched], about[notify.ReviewWaiting] = show, show
		about[notify.EpisodeNotFound], about[notify.MarkFailed], about[notify.Abandoned] = episode, episode, episode
	}
	if o.Status == record.Queued && o.SubjectID != 0 { // the entry is found, and its mark waits alone
		show := aboutShow(event)
		about[notify.NotMatched], about[notify.ReviewWaiting] = show, show
	}
	if o.Status == record.Review {
		delete(about, notify.ReviewWaiting) // which is news of the first record alone
	}
	if o.AccountID == 0 && o.Status != record.Ignored || o.Status == record.Received {
		delete(about, notify.NoAccount)
	}
	delete(about, news)
	var over []notify.Notice
	for kind, about := range about {
		over = append(over, notify.Notice{Kind: kind, AccountID: o.AccountID, Account: o.AccountName, About: about, Over: true})
	}
	return over
}

// facts are what a notice can tell of an event.
func facts(event watch.Event) map[string]string {
	f := map[string]string{
		"title": event.Title, "ori_title": event.OriginalTitle, "episode_title": event.EpisodeTitle,
		"source": string(event.Source), "media_type": string(event.Media),
	}
	if event.Season != nil {
		f["season"] = strconv.Itoa(*event.Season)
	}
	if event.Episode != nil {
		f["episode"] = number(*event.Episode)
	}
	return f
}

// aboutShow is what a matter of a whole season is called by, aboutEpisode one of an episode.
func aboutShow(event watch.Event) string {
	about := strings.ToLower(event.Title)
	if event.Season != nil {
		about += " s" + strconv.Itoa(*event.Season)
	}
	return about
}

func aboutEpisode(event watch.Event) string {
	if event.Episode == nil {
		return aboutShow(event)
	}
	return aboutShow(event) + " e" + number(*event.Episode)
}

// number writes an episode's number: 7, 7.5.
func number(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
