package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/catalog"
	"watchmark/internal/tell/calendar"
	"watchmark/internal/watch"
)

// calendarItem is an episode that airs.
type calendarItem struct {
	ArchiveEpisode
	SubjectName   string             `json:"subject_name"`
	SubjectNameCN string             `json:"subject_name_cn"`
	Day           watch.Date         `json:"day" doc:"The day it airs, in the zone that was asked for; where no time is known, it is the day in Japan."`
	At            *time.Time         `json:"at" doc:"When it airs; null where only the day is known."`
	Watched       bool               `json:"watched" doc:"Whether it is marked as watched on a list of the caller that follows it, as far as is known."`
	Lists         []calendarFollower `json:"lists" doc:"The caller's accounts whose lists have it as wished or being watched. What is private on a list is left out."`
}

// calendarFollower is an account whose list has an entry.
type calendarFollower struct {
	AccountID int64                  `json:"account_id"`
	Account   string                 `json:"account" doc:"The account's user name."`
	State     catalog.CollectionType `json:"state" doc:"1 wished, 3 being watched."`
	Watched   bool                   `json:"watched" doc:"Whether the episode is marked as watched there."`
}

// calendarAddress is the secret address of a calendar.
type calendarAddress struct {
	URL       string     `json:"url" doc:"What a calendar program subscribes to. Whoever has it sees what the caller follows."`
	CreatedAt time.Time  `json:"created_at"`
	UsedAt    *time.Time `json:"used_at" doc:"When a program fetched it last, up to an hour late; null when none did."`
}

// Calendar tells what airs.
type Calendar struct{ Service *calendar.Service }

func (c Calendar) register(s *server) {
	const tag = "Calendar"
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/calendar", OperationID: "list-calendar", Tags: []string{tag},
		Summary: "List what airs",
		Description: "Episodes by day, as far as the offline data knows; on a day, what has a time by that, then the rest. The day is the catalog's, the time that of the broadcast in the ID table; where these contradict each other, the time is left out. " +
			"Adult entries are left out. 409 while there is no offline data.",
		Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, func(ctx context.Context, in *struct {
		PageQuery
		From    string `query:"from" format:"date" doc:"The first day; left out it is today." example:"2026-01-05"`
		To      string `query:"to" format:"date" doc:"The last day; left out it is the first. 62 days may be asked for at once." example:"2026-01-11"`
		Mine    bool   `query:"mine" doc:"Only what the caller's accounts follow: what their lists have as wished or being watched."`
		Account int64  `query:"account_id" minimum:"1" doc:"One of the caller's accounts, instead of all of them. Accounts of somebody else are not found, for the owner neither."`
		Zone    string `query:"zone" maxLength:"64" doc:"The time zone whose days are meant, by its IANA name; left out it is that of the service." example:"Europe/Berlin"`
	}) (*JSON[Page[calendarItem]], error) {
		zone := time.Local
		if in.Zone != "" {
			var known bool
			if zone, known = calendar.ZoneOf(in.Zone); !known {
				return nil, fieldProblem("query.zone", badZone)
			}
		}
		from := watch.DateOf(time.Now().In(zone))
		if in.From != "" {
			from = watch.ParseDate(in.From)
		}
		to := from
		if in.To != "" {
			to = watch.ParseDate(in.To)
		}
		if days, ok := to.DaysFrom(from); !ok || days < 0 || days >= calendar.DaysMost {
			return nil, fieldProblem("query.to", calendar.ErrDays.With(calendar.DaysMost))
		}
		found, err := c.Service.Find(ctx, calendar.Query{From: from, To: to, Zone: zone, Mine: in.Mine, Account: in.Account})
		if err != nil {
			return nil, err
		}
		if found.Missing != "" {
			return nil, calendar.ErrNoArchive
		}
		items := make([]calendarItem, len(found.Items))
		for i, one := range found.Items {
			items[i] = itemOf(one)
		}
		return paged(in.PageQuery, items, nil)
	})
	const path = "/api/calendar/address"
	register(s, huma.Operation{
		Method: http.MethodGet, Path: path, OperationID: "get-calendar-address", Tags: []string{tag},
		Summary: "Get the address of the calendar", Description: "That of the caller, for calendar programs. 409 when it was encrypted with another key: make a new one.", Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, func(ctx context.Context, _ *none) (*JSON[calendarAddress], error) {
		a, err := c.Service.Address(ctx)
		return answer(s.calendarAddress(ctx, a), err)
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: path, OperationID: "renew-calendar-address", Tags: []string{tag},
		Summary: "Make an address of the calendar", Description: "The caller's one of before ends at once.", DefaultStatus: http.StatusCreated,
	}, func(ctx context.Context, _ *none) (*JSON[calendarAddress], error) {
		a, err := c.Service.Renew(ctx)
		return answer(s.calendarAddress(ctx, a), err)
	})
	registerOther(s, huma.Operation{
		Method: http.MethodDelete, Path: path, OperationID: "revoke-calendar-address", Tags: []string{tag},
		Summary: "End the address of the calendar", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, _ *none) (*none, error) { return nil, c.Service.Revoke(ctx) })
}

func itemOf(one calendar.Item) calendarItem {
	item := calendarItem{
		ArchiveEpisode: archiveEpisode(one.Episode), SubjectName: one.Subject.Name, SubjectNameCN: one.Subject.NameCN,
		Day: one.Day, Watched: one.Watched(), Lists: []calendarFollower{},
	}
	if !one.At.IsZero() {
		item.At = &one.At
	}
	for _, f := range one.On {
		item.Lists = append(item.Lists, calendarFollower(f))
	}
	return item
}

func (s *server) calendarAddress(ctx context.Context, a calendar.Address) calendarAddress {
	shown := calendarAddress{URL: s.PublicURL(ctx) + calendar.PathOf(a.Secret), CreatedAt: a.CreatedAt}
	if !a.UsedAt.IsZero() {
		shown.UsedAt = &a.UsedAt
	}
	return shown
}
