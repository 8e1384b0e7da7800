package engine

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/record"
)

// intents are what the records of a batch are about to write to a list entry. They are stored before the first request, and become marks
// or go when it is known what was written: what a crash or a lost answer leaves is found by the next try.
type intents struct {
	records *record.Store
	key     markKey
	batch   []settled
	ids     []int64
	stored  bool
}

// Earlier is what earlier tries were about to write.
func (k *intents) Earlier(ctx context.Context) (catalog.Earlier, error) {
	marks, err := k.records.Intended(ctx, k.key.account, k.key.subject, k.ids)
	earlier := catalog.Earlier{Episodes: map[catalog.EpisodeID]time.Time{}}
	for _, m := range marks {
		if m.EpisodeID != 0 {
			earlier.Episodes[m.EpisodeID] = m.Intended
		}
		if m.Changed {
			earlier.Changed, earlier.Was = true, m.Was
		}
		earlier.Completed = earlier.Completed || m.Completed
	}
	return earlier, err
}

// Intend stores what the records will have written when all went as planned.
func (k *intents) Intend(ctx context.Context, planned catalog.MarkResult, at time.Time) error {
	var all []record.Intent
	for i, w := range written(planned, k.key.start, k.batch) {
		if w != nil {
			s := k.batch[i]
			intent := record.Intent{
				RecordID: s.work.ID, Owner: s.work.Owner, AccountID: k.key.account, SubjectID: k.key.subject, EpisodeID: s.trace.Result.EpisodeID, At: at, Written: *w,
			}
			for _, episode := range planned.Episodes {
				if episode.ID == intent.EpisodeID && !episode.Earlier.IsZero() {
					intent.At = episode.Earlier
				}
			}
			all = append(all, intent)
		}
	}
	k.stored = true
	return k.records.Intend(ctx, all)
}

// drop forgets what was not written. What cannot be forgotten is found out by the next try.
func (k *intents) drop(ctx context.Context, log *slog.Logger) {
	if !k.stored {
		return
	}
	if err := k.records.Unintend(ctx, k.key.account, k.key.subject, k.ids); err != nil {
		log.WarnContext(ctx, "cannot forget what was about to be written and was not", "subject_id", k.key.subject, "error", err)
	}
}

// written is what each record of a batch wrote that could be taken back; nil when the list held it already. What was done to the entry
// is the first one's that wrote. An event that another one of the batch repeats wrote nothing.
func written(r catalog.MarkResult, start bool, batch []settled) []*record.Written {
	all := make([]*record.Written, len(batch))
	changed := r.Created || r.Moved || r.Completed && (r.Was == catalog.Wish || r.Was == catalog.OnHold)
	isNew := func(m catalog.MarkedEpisode) bool { return !m.Already }
	entryAlone := start || len(r.Episodes) > 0 && !slices.ContainsFunc(r.Episodes, isNew)
	seen := map[catalog.EpisodeID]bool{}
	for i, s := range batch {
		episode := s.trace.Result.EpisodeID
		twice := seen[episode]
		seen[episode] = true
		switch {
		case r.AlreadyWatched(), twice, entryAlone && i > 0, start && !changed:
			continue
		case entryAlone:
			all[i] = &record.Written{EntryAlone: true, Created: r.Created, Completed: r.Completed}
		case slices.Contains(r.Episodes, catalog.MarkedEpisode{ID: episode, Already: true}):
			continue
		default:
			all[i] = &record.Written{Completed: r.Completed}
		}
		if changed {
			changed, all[i].Changed = false, true
			if !r.Created {
				all[i].Was = r.Was
			}
		}
	}
	return all
}
