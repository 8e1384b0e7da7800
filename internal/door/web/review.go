package web

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"watchmark/internal/engine/review"
)

// Review is the page of the questions that wait for a person.
type Review struct{ Questions *review.Store }

type reviewPage struct {
	// Cards are the questions that wait, and in their places those that were answered just
	// now, which show their undo.
	Cards []questionCard
	// Decided are answers of earlier, the newest first.
	Decided []review.Question
	pager
}

// questionCard is a question with its candidates made ready.
type questionCard struct {
	review.Question
	Best []candidateView
	// More are further candidates, which are folded away.
	More []candidateView
	// Search finds an entry that is no candidate.
	Search subjectSearch
}

// subjectSearch is a field for an entry of the catalog, which the template subject-search makes.
type subjectSearch struct {
	// ID is the field's on the page.
	ID string
	// Pick is the key of the word for choosing what was found.
	Pick string
	// Value is what the field holds at first.
	Value string
}

const (
	// cardsShown is how many questions a page shows, decidedShown how many answers.
	cardsShown   = 20
	decidedShown = 20
	// bestShown is how many candidates are shown at once.
	bestShown = 4
	// keptInPlace is how long an answered question stays where it was.
	keptInPlace = 10 * time.Minute
)

// list shows the questions that wait for a person.
func (g Review) list(r *request) (content, error) {
	ctx := r.Context()
	before := cursor(r, "before")
	open, next, err := g.Questions.List(ctx, review.Filter{Statuses: []review.Status{review.Pending}, Before: before, Limit: cardsShown})
	if err != nil {
		return content{}, err
	}
	answered := []review.Status{review.Confirmed, review.Rejected}
	recent, _, err := g.Questions.List(ctx, review.Filter{Statuses: append(answered, review.Deferred), Since: time.Now().Add(-keptInPlace), Before: before, Limit: cardsShown})
	if err != nil {
		return content{}, err
	}
	decided, _, err := g.Questions.List(ctx, review.Filter{Statuses: answered, Latest: true, Limit: decidedShown})
	if err != nil {
		return content{}, err
	}
	page := reviewPage{pager: pagerOf("/review", map[string]string{}, before, next)}
	for _, q := range append(open, recent...) {
		if q.ID >= next {
			page.Cards = append(page.Cards, cardOf(q))
		}
	}
	slices.SortFunc(page.Cards, func(a, b questionCard) int { return cmp.Compare(b.ID, a.ID) })
	for _, q := range decided {
		if !slices.ContainsFunc(page.Cards, func(c questionCard) bool { return c.ID == q.ID }) {
			page.Decided = append(page.Decided, q)
		}
	}
	return content{Title: "review.title", Data: page}, nil
}

func cardOf(q review.Question) questionCard {
	card := questionCard{Question: q, Search: subjectSearch{ID: fmt.Sprintf("find-%d", q.ID), Pick: "review.confirm"}}
	for i, c := range q.Candidates {
		view := candidateView{Candidate: c, Parts: parts(c.Parts), Best: i == 0}
		if i < bestShown {
			card.Best = append(card.Best, view)
		} else {
			card.More = append(card.More, view)
		}
	}
	return card
}

// questionPath is where a question stands on the page.
func questionPath(id int64) string {
	if id == 0 {
		return ""
	}
	return "/review?before=" + strconv.FormatInt(id+1, 10) + "#question-" + strconv.FormatInt(id, 10)
}
