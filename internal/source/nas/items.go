package nas

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"watchmark/internal/platform/db"
	"watchmark/internal/source/payload"
	"watchmark/internal/watch"
)

// mostParents bounds the climb to a show, which may go round: libraries have two levels above an episode.
const mostParents = 8

// The types of items, in lower case.
const (
	typeMovie     = "movie"
	typeShow      = "tv"
	typeSeries    = "series"
	typeSeason    = "season"
	typeEpisode   = "episode"
	typeVideo     = "video"
	typeDirectory = "directory"
)

// item is a row of the table item: a film, show, season or episode.
type item struct {
	guid, parent    string
	kind            string // lower case; empty where the library has no types
	title, original string
	season          sql.NullInt64
	episode         sql.NullFloat64
	date            string  // that of this very item
	runtime         float64 // minutes; 0 = not known
	ids             watch.IDs
	path, file      string
}

// item gives a row by its key; nil when there is none.
func (v view) item(ctx context.Context, guid string) (*item, error) {
	if known, is := v.items[guid]; is {
		return known, nil
	}
	s := v.schema
	query := "SELECT " + strings.Join([]string{
		s.text("item", "parent_guid"), s.text("item", "type"), s.text("item", "title"), s.text("item", "original_title"),
		s.whole("item", seasonColumns...), s.number("item", episodeColumns...),
		s.text("item", "release_date", "air_date"), "COALESCE(" + s.number("item", "runtime") + ", 0)",
		s.text("item", "tmdb_id"), s.text("item", "episode_imdb_id", "imdb_id"), s.text("item", "external_ids"),
		s.text("item", "path", "dir"), s.text("item", "filename"),
	}, ", ") + " FROM item WHERE guid = ?"
	it := &item{guid: guid}
	var tmdb, imdb, external string
	err := v.tx.QueryRowContext(ctx, query, guid).Scan(&it.parent, &it.kind, &it.title, &it.original, &it.season, &it.episode, &it.date, &it.runtime,
		&tmdb, &imdb, &external, &it.path, &it.file)
	if errors.Is(err, sql.ErrNoRows) {
		it, err = nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read an item of the library: %w", err)
	}
	if it != nil {
		it.kind = strings.ToLower(strings.TrimSpace(it.kind))
		it.title, it.original = payload.Clean(it.title, watch.MaxText), payload.Clean(it.original, watch.MaxText)
		it.ids = payload.AddID(payload.AddID(nil, "tmdb", tmdb), "imdb", imdb)
		if more, err := payload.ParseObject([]byte(external)); err == nil { // what is no object names no ids
			for provider, id := range more.IDs() {
				it.ids = payload.AddID(it.ids, provider, id)
			}
		}
	}
	v.items[guid] = it
	return it, nil
}

// chain is an item and its parents, up to its show or the top; empty when the item is not there.
func (v view) chain(ctx context.Context, guid string) ([]*item, error) {
	var chain []*item
	for guid != "" && len(chain) <= mostParents {
		it, err := v.item(ctx, guid)
		if err != nil {
			return nil, err
		}
		if it == nil {
			break
		}
		chain = append(chain, it)
		if it.isShow() {
			break
		}
		guid = it.parent
	}
	return chain, nil
}

func (it *item) isShow() bool { return it.kind == typeShow || it.kind == typeSeries }

// family is an item with its show and its season; nil where there is none.
type family struct {
	self, show, season *item
}

// familyOf finds show and season in a chain. Levels are not counted on: some
// libraries have no seasons, and folders may stand anywhere.
func familyOf(chain []*item) family {
	f := family{self: chain[0]}
	above := chain[1:]
	if len(above) == 0 {
		return f
	}
	if top := above[len(above)-1]; top.isShow() || top.kind == "" {
		f.show = top
	}
	for _, it := range slices.Backward(above) {
		if it.kind == "" && len(it.ids) > 0 { // without types a folder has no ids
			f.show = it
			break
		}
	}
	for _, it := range above {
		if it == f.show {
			break
		}
		if it.kind == typeSeason || it.kind == "" {
			f.season = it
			break
		}
	}
	return f
}

// fileName is the name of the item's file; empty when it is not known.
func (v view) fileName(ctx context.Context, it *item) (string, error) {
	name := cmp.Or(it.file, it.path)
	if name == "" && v.schema.has("item_media", "item_guid", "path") {
		query := fmt.Sprintf("SELECT %s FROM item_media WHERE item_guid = ? ORDER BY %s, 1 LIMIT 1", v.schema.text("item_media", "path"), v.schema.whole("item_media", "sort_num")) //nolint:gosec // columns of a fixed list
		if err := v.tx.QueryRowContext(ctx, query, it.guid).Scan(&name); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return "", fmt.Errorf("read a file's name: %w", err)
		}
	}
	return name[strings.LastIndexAny(name, `/\`)+1:], nil
}

// User is a user of the NAS.
type User struct {
	GUID     string `json:"guid" doc:"The user's id, which does not change: for the setting nas.user and for user of the manual sync."`
	UserName string `json:"user_name" doc:"The name that accounts list; the id where the library has no names."`
	Active   bool   `json:"active" doc:"Whether the NAS lets the user in. What others watched is not read."`
	Admin    bool   `json:"admin" doc:"Whether the user administers the library."`
}

// templateUser is a row that is no user.
const templateUser = "default-user-template"

// mostUsers bounds what is read of the users: a NAS has a handful.
const mostUsers = 1000

// users are the users of the library by guid; known is false when it does not tell.
func (v view) users(ctx context.Context) (users map[string]User, known bool, err error) {
	users = map[string]User{}
	s := v.schema
	if !s.has("user", "guid") {
		return users, false, nil
	}
	query := fmt.Sprintf(`SELECT %s, %s, %s, %s FROM "user" LIMIT %d`, s.text("user", "guid"), s.text("user", "username"), s.whole("user", "status"), s.whole("user", "is_admin"), mostUsers)
	err = db.Each(ctx, v.tx, "read the users", func(row db.Row) error {
		var u User
		var status, admin sql.NullInt64
		if err := row.Scan(&u.GUID, &u.UserName, &status, &admin); err != nil || u.GUID == templateUser || u.GUID == "" {
			return err
		}
		u.UserName = cmp.Or(u.UserName, u.GUID)
		u.Active = status.Int64 == 1 || !s.has("user", "status")
		u.Admin = admin.Int64 == 1
		users[u.GUID] = u
		return nil
	}, query)
	return users, true, err
}
