package web

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"watchmark/internal/record"
)

// unwatchedView is what of one season, or film, of one account was set back to unwatched.
type unwatchedView struct {
	record.Record // the first of them
	HeardAt       time.Time
	ids           []int64
	Episodes      []float64 // empty for a film
	// Path is the page of the record; empty for whom it is not.
	Path string
}

// SeasonNumber is the season of one that has one.
func (v unwatchedView) SeasonNumber() int { return *v.Season }

// TakeBack and Keep are the request bodies of the two answers.
func (v unwatchedView) TakeBack() (string, error) { return v.body(true) }

// Keep is explained at TakeBack.
func (v unwatchedView) Keep() (string, error) { return v.body(false) }

func (v unwatchedView) body(takeBack bool) (string, error) {
	text, err := json.Marshal(map[string]any{"record_ids": v.ids, "take_back": takeBack})
	return string(text), err
}

// unwatchedShown is how many plays the page asks about at once; the others follow when these are answered.
const unwatchedShown = 200

// unwatched is what people are asked about, by account, title and season, and whether there is more.
func unwatched(r *request, records *record.Store) (views []unwatchedView, more bool, err error) {
	all, next, err := records.AskedUnwatched(r.Context(), 0, unwatchedShown)
	if err != nil {
		return nil, false, err
	}
	type key struct {
		account int64
		title   string
		season  int
	}
	at := map[key]int{}
	for _, u := range all {
		k := key{u.AccountID, u.Title, -1}
		if u.Season != nil {
			k.season = *u.Season
		}
		i, there := at[k]
		if !there {
			i = len(views)
			view := unwatchedView{Record: u.Record, HeardAt: u.HeardAt}
			if path := fmt.Sprintf("/records/%d", u.ID); r.may(path) {
				view.Path = path
			}
			at[k], views = i, append(views, view)
		}
		views[i].ids = append(views[i].ids, u.ID)
		if u.Episode != nil {
			views[i].Episodes = append(views[i].Episodes, *u.Episode)
		}
	}
	for _, v := range views {
		slices.Sort(v.Episodes)
	}
	return views, next != 0, nil
}
