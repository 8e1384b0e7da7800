package web

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"watchmark/internal/door/auth"
	"watchmark/internal/engine/review"
)

// Review is the page of the questions that wait for a person.
type Review struct {
	Questions *review.Store
	// Names are those of people, by their ids.
	Names func(ctx context.Context, ids []int64) (map[int64]string, error)
}

type reviewPage struct {
	// Cards are the open questions. Questions that were answered just now keep their places and can be undone there.
	Cards []questionCard
	// Decided are earlier answers, the newest first.
	Decided []review.Question
	// Given are answers that people gave for themselves, the newest first, for the owner.
	Given []givenAnswer
	pager
}

// givenAnswer is the answer of a person.
type givenAnswer struct {
	review.Question
	Person string
}

// questionCard is a question with its candidates.
type questionCard struct {
	review.Question
	// Whom are the people whom the owner may answer for alone: those who wait.
	Whom []auth.Person
	Best []candidateView
	// More are the other candidates, which are folded away.
	More []candidateView
	// Search finds a subject that is no candidate.
	Search subjectSearch
}

// subjectSearch is a field to search for a subject, made by the template "subject-search".
type subjectSearch struct {
	// ID is the id of the field on the page.
	ID string
	// Pick is the text key of the button that chooses a result.
	Pick string
	// Value is the first value of the field.
	Value string
}

const (
	// cardsShown is how many questions a page shows, decidedShown how many answers.
	cardsShown   = 20
	decidedShown = 20
	// bestShown is how many candidates are shown at once.
	bestShown = 4
	// keptInPlace is how long an answered question keeps its place.
	keptInPlace = 10 * time.Minute
)

// list shows the questions.
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
	given, err := g.Questions.OfPeople(ctx, decidedShown)
	if err != nil {
		return content{}, err
	}
	page := reviewPage{pager: pagerOf("/review", map[string]string{}, before, next)}
	var people []int64
	for _, q := range open {
		people = append(people, q.People...)
	}
	for _, q := range given {
		people = append(people, q.AnsweredBy)
	}
	names, err := g.Names(ctx, people)
	if err != nil {
		return content{}, err
	}
	for _, q := range given {
		page.Given = append(page.Given, givenAnswer{q, names[q.AnsweredBy]})
	}
	for _, q := range append(open, recent...) {
		if q.ID >= next {
			page.Cards = append(page.Cards, cardOf(q, names))
		}
	}
	slices.SortFunc(page.Cards, func(a, b questionCard) int { return cmp.Compare(b.ID, a.ID) })
	for _, q := range decided {
		if !slices.ContainsFunc(page.Cards, func(c questionCard) bool { return c.ID == q.ID }) {
			page.Decided = append(page.Decided, q)
		}
	}
	return content{Data: page}, nil
}

func cardOf(q review.Question, names map[int64]string) questionCard {
	card := questionCard{Question: q, Search: subjectSearch{ID: fmt.Sprintf("find-%d", q.ID), Pick: "review.confirm"}}
	for _, id := range q.People {
		if name, is := names[id]; is {
			card.Whom = append(card.Whom, auth.Person{ID: id, Name: name})
		}
	}
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

// questionPath is the path of a question; empty for the id 0.
func questionPath(id int64) string {
	if id == 0 {
		return ""
	}
	return "/review?before=" + strconv.FormatInt(id+1, 10) + "#question-" + strconv.FormatInt(id, 10)
}
