package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/source/nas"
)

// nasUsers are the users of the NAS.
type nasUsers struct {
	Items []nas.User `json:"items"`
}

// nasSync is what a scan asked for by a person brought.
type nasSync struct {
	nas.Counts
	RecordIDs []int64 `json:"record_ids" doc:"The records of what was taken, in the order it was watched."`
}

// NAS is the media library of a NAS.
type NAS struct{ Reader *nas.Reader }

func (n NAS) register(s *server) {
	const tag = "NAS"
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/nas/status", OperationID: "get-nas-status", Tags: []string{tag},
		Summary: "Get the state of the NAS source",
	}, func(ctx context.Context, _ *none) (*JSON[nas.Status], error) {
		return answer(n.Reader.Status(ctx))
	})
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/nas/users", OperationID: "list-nas-users", Tags: []string{tag},
		Summary:     "List the users of the NAS",
		Description: "Reads them from the library, also while the source is switched off.",
		Errors:      []int{http.StatusConflict},
	}, func(ctx context.Context, _ *none) (*JSON[nasUsers], error) {
		users, err := n.Reader.Users(ctx)
		return answer(nasUsers{users}, err)
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/nas/sync/manual", OperationID: "sync-nas", Tags: []string{tag},
		Summary: "Read the library of the NAS now",
		Description: "Takes what is new since the last scan. With range it takes everything of that range instead, what was watched before the source was switched on included, " +
			"but for what was taken before; that works while the source is switched off, too. Neither range nor a user changes how far the library counts as read. " +
			"At most nas.limit rows become records: while more is true, call it again.",
		Errors: []int{http.StatusConflict, http.StatusUnprocessableEntity, http.StatusServiceUnavailable},
	}, func(ctx context.Context, in *struct {
		User  string `query:"user" maxLength:"64" doc:"Only what this user of the NAS watched, by guid; the default is who nas.user says."`
		Range string `query:"range" enum:"all,1day,1week,1month" doc:"Take everything of this range."`
	}) (*JSON[nasSync], error) {
		user := in.User
		if user == nas.AllUsers {
			user = ""
		}
		counts, ids, err := n.Reader.Sync(ctx, nas.Manual{User: user, Range: nas.Range(in.Range)})
		return answer(nasSync{counts, append([]int64{}, ids...)}, err)
	})
}
