package catalog_test

import (
	"errors"
	"slices"
	"testing"

	"watchmark/internal/catalog"
	"watchmark/internal/platform/secret"
	"watchmark/internal/testkit/catalogtest"
)

// What a search finds for one person is kept for nobody else, and is nothing that all see.
func TestAdultTitlesAreFoundForOnePerson(t *testing.T) {
	server, base := catalogtest.Start(t, catalogtest.Config{Users: []catalogtest.User{
		{Username: "mira", Token: "mira-token"}, {Username: "alex", Token: "alex-token", Young: true},
	}})
	server.AddSubject(
		catalogtest.Subject{ID: 1, Type: catalog.Anime, Name: "夜の果樹園", Platform: "TV", NSFW: true},
		catalogtest.Subject{ID: 2, Type: catalog.Anime, Name: "夜の果樹園の秘密", Platform: "TV"},
	)
	client := connect(t, base, 0)
	cached := catalog.NewCached(client)
	q := catalog.SearchQuery{Keyword: "夜の果樹園"}
	look := func(token string) []catalog.Subject {
		t.Helper()
		found, err := cached.AdultTitles(t.Context(), token, q, func() ([]catalog.Subject, error) {
			return client.As(secret.Text(token)).AdultTitles(t.Context(), q)
		})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	for _, want := range []struct {
		token string
		ids   []catalog.SubjectID
		asked int
	}{{"mira-token", []catalog.SubjectID{1}, 1}, {"mira-token", []catalog.SubjectID{1}, 1}, {"alex-token", nil, 2}, {"alex-token", nil, 2}, {"mira-token", []catalog.SubjectID{1}, 2}} {
		if got := ids(look(want.token)); !slices.Equal(got, want.ids) {
			t.Errorf("%s finds %v, want %v", want.token, got, want.ids)
		}
		if n := server.Requests()["POST /v0/search/subjects"]; n != want.asked {
			t.Errorf("%d searches, want %d", n, want.asked)
		}
	}
	if hits, err := cached.Search(t.Context(), q); err != nil || !slices.Equal(ids(hits), []catalog.SubjectID{2}) {
		t.Errorf("all find %v, %v", ids(hits), err)
	}
	if _, err := cached.Subject(t.Context(), 1); !errors.Is(err, catalog.ErrNotFound) {
		t.Errorf("all read it: %v", err)
	}
	if _, err := client.As("gone").AdultTitles(t.Context(), q); !errors.Is(err, catalog.ErrUnauthorized) {
		t.Errorf("a refused token: %v", err)
	}
	if found, err := client.As("mira-token").AdultTitles(t.Context(), catalog.SearchQuery{Keyword: "  "}); err != nil || len(found) != 0 {
		t.Errorf("no title: %v, %v", found, err)
	}
	_, off := catalogtest.Start(t, catalogtest.Config{SearchOff: true, Users: []catalogtest.User{{Username: "mira", Token: "mira-token"}}})
	if _, err := connect(t, off, 0).As("mira-token").AdultTitles(t.Context(), q); !errors.Is(err, catalog.ErrUnreachable) || !errors.Is(err, catalog.ErrSearchOff) {
		t.Errorf("a search that is switched off: %v", err)
	}
}

func ids(subjects []catalog.Subject) (found []catalog.SubjectID) {
	for _, s := range subjects {
		found = append(found, s.ID)
	}
	return found
}
