package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/archive"
	"watchmark/internal/door/problem"
	"watchmark/internal/platform/settings"
	"watchmark/internal/watch"
)

// Catalog looks subjects up for a person. Search asks the catalog alone; Subject tells also
// what the offline archive knows. Errors are *catalog.Error.
type Catalog interface {
	Search(ctx context.Context, q catalog.SearchQuery) ([]catalog.Subject, error)
	Subject(ctx context.Context, id catalog.SubjectID) (catalog.Subject, error)
}

// subject is an entry of the catalog, as a person chooses one.
type subject struct {
	ID       catalog.SubjectID   `json:"id"`
	Name     string              `json:"name"`
	NameCN   string              `json:"name_cn"`
	Date     watch.Date          `json:"date"`
	Platform string              `json:"platform"`
	Eps      int                 `json:"eps" doc:"How many episodes Bangumi says it has; 0 when it does not say."`
	Type     catalog.SubjectType `json:"type" doc:"2 anime, 6 live action."`
}

// subjectsMost is how many subjects a search answers.
const subjectsMost = 20

// Subjects are the entries of the catalog, to choose one.
type Subjects struct {
	Catalog  Catalog
	Archive  *archive.Archive
	Settings *settings.Manager
}

func (sub Subjects) register(s *server) {
	const tag = "Subjects"
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/subjects", OperationID: "search-subjects", Tags: []string{tag},
		Summary:     "Find entries",
		Description: "By title, or by the number in the address of Bangumi's page. The offline data is asked first, and Bangumi when that has no such title. At most 20 are answered, on one page.",
		Errors:      []int{http.StatusBadGateway, http.StatusServiceUnavailable},
	}, func(ctx context.Context, in *struct {
		Text string `query:"q" required:"true" minLength:"1" maxLength:"200" doc:"A title, or a number." example:"灯塔守望者"`
		Type string `query:"type" enum:"anime,real" doc:"Only anime, or only live action."`
	}) (*JSON[Page[subject]], error) {
		found, err := sub.find(ctx, strings.TrimSpace(in.Text), typesOf(in.Type))
		page := Page[subject]{Items: []subject{}}
		for _, subject := range found[:min(len(found), subjectsMost)] {
			page.Items = append(page.Items, subjectView(subject))
		}
		return answer(page, err)
	})
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/subjects/{id}", OperationID: "get-subject", Tags: []string{tag},
		Summary: "Get an entry", Errors: []int{http.StatusNotFound, http.StatusBadGateway, http.StatusServiceUnavailable},
		Description: "From Bangumi, or from the offline data where that does not answer or hides the entry.",
	}, func(ctx context.Context, in *ByID) (*JSON[subject], error) {
		found, err := sub.Catalog.Subject(ctx, catalog.SubjectID(in.ID))
		if errors.Is(err, catalog.ErrNotFound) {
			err = entryHidden
		}
		return answer(subjectView(found), notAsked(err))
	})
}

// typesOf are the types of subjects that the parameter type means: anime, real, or both when it is left out.
func typesOf(kind string) []catalog.SubjectType {
	switch kind {
	case "anime":
		return []catalog.SubjectType{catalog.Anime}
	case "real":
		return []catalog.SubjectType{catalog.Real}
	}
	return []catalog.SubjectType{catalog.Anime, catalog.Real}
}

func subjectView(s catalog.Subject) subject {
	return subject{s.ID, s.Name, s.NameCN, s.Date, s.Platform, s.Eps, s.Type}
}

// archived reports whether the offline archive is to be asked.
func (sub Subjects) archived() bool {
	return sub.Settings.Current().CatalogArchive.Enabled && sub.Archive.Ready()
}

// find looks for a title, or a number, among the subjects of some types. The
// archive's word is enough when it has the title itself or one that begins with it.
func (sub Subjects) find(ctx context.Context, text string, types []catalog.SubjectType) ([]catalog.Subject, error) {
	var found []catalog.Subject
	add := func(subject catalog.Subject) {
		if slices.Contains(types, subject.Type) && !slices.ContainsFunc(found, func(f catalog.Subject) bool { return f.ID == subject.ID }) {
			found = append(found, subject)
		}
	}
	if id, err := strconv.ParseUint(text, 10, 31); err == nil && id > 0 {
		subject, err := sub.Catalog.Subject(ctx, catalog.SubjectID(id))
		if err == nil {
			add(subject)
		} else if !errors.Is(err, catalog.ErrNotFound) {
			return nil, notAsked(err)
		}
	}
	var archived []archive.Found
	if sub.archived() {
		var err error
		if archived, err = sub.Archive.Find(ctx, archive.Query{Text: text, Types: types, Limit: subjectsMost}); err != nil && !errors.Is(err, archive.ErrNone) {
			return nil, err
		}
	}
	if !slices.ContainsFunc(archived, func(f archive.Found) bool { return f.How != archive.Alike }) {
		online, err := sub.Catalog.Search(ctx, catalog.SearchQuery{Keyword: text, Types: types, Limit: subjectsMost})
		if err != nil && len(archived) == 0 {
			return nil, notAsked(err)
		}
		for _, subject := range online {
			add(subject)
		}
	}
	for _, f := range archived {
		add(f.Subject)
	}
	return found, nil
}

// notAsked makes a Problem of the error of a catalog that cannot be asked now.
func notAsked(err error) error {
	if errors.Is(err, catalog.ErrUnreachable) {
		return later(catalogLater)
	}
	return err
}

// later is the problem of what cannot be done while the catalog does not answer.
func later(why error) error { return problem.Of(why).After(10) }
