package mediaservertest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
)

// allRoutes are the routes of all kinds; which one has which says upstreams/watchers.md, sections 2 and 3 and the table of 5.
func (b *browser) allRoutes() []route {
	jellyfin, emby, both := b.is(Jellyfin), b.is(Emby), b.is(Jellyfin, Emby)
	newer := b.from(10, 9)
	get, post, del := http.MethodGet, http.MethodPost, http.MethodDelete
	writes := both || b.s.cfg.Writes
	return []route{
		{get, "/System/Info/Public", both || b.is(FnOS), anyone, (*call).publicInfo},
		{get, "/System/Info", !b.is(FnOS), users, (*call).info},
		{get, "/Users/Public", both, anyone, (*call).publicUsers},
		{post, "/Users/AuthenticateByName", true, anyone, (*call).signIn},
		{get, "/QuickConnect/Enabled", jellyfin, anyone, func(c *call) { c.ok(!b.s.cfg.NoQuickConnect) }},
		{get, "/QuickConnect/Initiate", jellyfin && !b.from(12, 0), anyone, (*call).startCode},
		{post, "/QuickConnect/Initiate", newer, anyone, (*call).startCode},
		{get, "/QuickConnect/Connect", jellyfin, anyone, (*call).askCode},
		{post, "/Users/AuthenticateWithQuickConnect", jellyfin, anyone, (*call).signInByCode},
		{post, "/Sessions/Logout", both, users, (*call).signOut},

		{get, "/Users/Me", jellyfin, users, (*call).me},
		{get, "/Users/Me", emby, users, func(c *call) { c.fail(http.StatusInternalServerError, "Unrecognized Guid format.") }},
		{get, "/Users/Query", emby && !b.s.cfg.OldUsers, admins, (*call).everybody},
		{get, "/Users/Query", b.is(Ugreen), users, func(c *call) { c.w.WriteHeader(http.StatusForbidden) }},
		{get, "/Users/Query", b.is(ZSpace), users, func(c *call) { c.w.WriteHeader(http.StatusBadRequest) }},
		{get, "/Items/Counts", b.is(ZSpace), users, func(c *call) { c.w.WriteHeader(http.StatusUnauthorized) }},
		{get, "/Users", both, admins, (*call).everybody},
		{get, "/Users/*", !b.is(FnOS), users, (*call).person},
		{get, "/UserViews", newer, users, (*call).views},
		{get, "/Users/*/Views", true, users, (*call).views},
		{get, "/Library/MediaFolders", both, admins, (*call).folders},

		{get, "/Items", both, users, (*call).items},
		{get, "/Items", b.is(FnOS), users, func(c *call) { c.ok(object{"Items": []any{}, "TotalRecordCount": 0}) }},
		{get, "/Items/*", newer || b.is(FnOS), users, (*call).single},
		{get, "/Users/*/Items", true, users, (*call).items},
		{get, "/Users/*/Items/Resume", true, users, (*call).resume},
		{get, "/Users/*/Items/Counts", b.is(ZSpace), users, func(c *call) { c.w.WriteHeader(http.StatusInternalServerError) }},
		{get, "/Users/*/Items/Latest", b.is(ZSpace), users, func(c *call) { c.w.WriteHeader(http.StatusInternalServerError) }},
		{get, "/Users/*/Items/*", both || b.is(ZSpace), users, (*call).single},
		{get, "/Shows/*/Episodes", !b.is(FnOS), users, (*call).episodes},
		{get, "/Sessions", both, users, (*call).sessions},

		{post, "/UserPlayedItems/*", newer, users, (*call).played},
		{del, "/UserPlayedItems/*", newer, users, (*call).unplayed},
		{post, "/Users/*/PlayedItems/*", writes, users, (*call).played},
		{del, "/Users/*/PlayedItems/*", writes, users, (*call).unplayed},
		{post, "/Users/*/PlayedItems/*/Delete", emby, users, (*call).unplayed},
		{post, "/UserItems/*/UserData", newer, users, (*call).exactly},
		{post, "/Users/*/Items/*/UserData", newer || emby, users, (*call).exactly},
	}
}

func (c *call) publicInfo() {
	s := c.b.s
	o := object{"ServerName": s.cfg.Name, "Version": s.cfg.Version, "Id": c.b.serverID()}
	switch s.cfg.Kind {
	case Jellyfin:
		o["ProductName"], o["StartupWizardCompleted"], o["LocalAddress"], o["OperatingSystem"] = "Jellyfin Server", true, "http://"+c.r.Host+s.cfg.Base, ""
	case Emby:
		o["LocalAddress"], o["LocalAddresses"], o["WanAddress"], o["RemoteAddresses"] = "http://"+c.r.Host, []string{}, "", []string{}
	}
	c.ok(o)
}

func (c *call) info() {
	s := c.b.s
	o := object{"ServerName": s.cfg.Name, "Version": s.cfg.Version, "Id": c.b.serverID(), "HasUpdateAvailable": false}
	switch s.cfg.Kind {
	case Jellyfin:
		o["ProductName"] = "Jellyfin Server"
	case Ugreen:
		o = object{"ProductName": "UGREEN Video Center", "ServerId": c.b.serverID(), "Version": "v" + s.cfg.Version}
	case ZSpace:
		o["ServerVersion"] = s.cfg.Version
	}
	c.ok(o)
}

func (c *call) publicUsers() { c.ok([]any{}) } // owners hide the list mostly

func (c *call) me() {
	if c.key {
		c.w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.ok(c.b.userObject(*c.user))
}

// person answers a person; others are seen by administrators alone.
func (c *call) person() {
	u, ok := c.of(c.ids[0])
	if ok {
		c.ok(c.b.userObject(u))
	}
}

// of is the person that a call is about, false after an answer. Jellyfin 10.8 did not check whose id it was.
func (c *call) of(id string) (User, bool) {
	u, err := c.b.s.User(id)
	if err != nil || u.ID != id {
		c.w.WriteHeader(http.StatusNotFound)
		return User{}, false
	}
	lax := c.b.is(Jellyfin) && !c.b.from(10, 9)
	if !c.key && u.ID != c.user.ID && !c.user.Admin && !lax {
		c.w.WriteHeader(http.StatusForbidden)
		return User{}, false
	}
	return u, true
}

func (c *call) everybody() {
	s := c.b.s
	s.mu.Lock()
	list := []any{}
	for _, u := range s.users {
		list = append(list, c.b.userObject(*u))
	}
	s.mu.Unlock()
	if strings.HasSuffix(c.r.URL.Path, "Query") {
		c.ok(object{"Items": list, "TotalRecordCount": len(list)})
		return
	}
	c.ok(list)
}

// views are the libraries of a person.
func (c *call) views() {
	id := c.q.Get("userid")
	if len(c.ids) > 0 {
		id = c.ids[0]
	} else if id == "" && c.user != nil {
		id = c.user.ID
	}
	if u, ok := c.of(id); ok {
		c.libraries(func(l Library) bool { return u.sees(l.ID) })
	}
}

func (c *call) folders() { c.libraries(func(Library) bool { return true }) }

func (c *call) libraries(which func(Library) bool) {
	s := c.b.s
	s.mu.Lock()
	list := []any{}
	for _, l := range s.libraries {
		if which(l) {
			list = append(list, c.b.libraryObject(l))
		}
	}
	s.mu.Unlock()
	c.ok(object{"Items": list, "TotalRecordCount": len(list), "StartIndex": 0})
}

func (b *browser) libraryObject(l Library) object {
	o := object{"Name": l.Name, "ServerId": b.serverID(), "Id": l.ID, "Type": "CollectionFolder", "IsFolder": true}
	kind := l.Kind
	switch kind {
	case "show":
		kind = "tvshows"
	case "movie":
		kind = "movies"
	}
	if kind != "mixed" && kind != "" && !b.is(ZSpace) {
		o["CollectionType"] = kind
	}
	return o
}

// sessions are the sign-ins and what plays. Jellyfin 10.8 and Emby show everybody's.
func (c *call) sessions() {
	s := c.b.s
	own := c.b.from(10, 9) && c.user != nil && !c.user.Admin
	list := []any{}
	c.b.mu.Lock()
	var tokens []*token
	for _, t := range c.b.tokens {
		if t.user != "" {
			tokens = append(tokens, t)
		}
	}
	c.b.mu.Unlock()
	slices.SortFunc(tokens, func(a, b *token) int { return a.made.Compare(b.made) })
	for _, t := range tokens {
		if !own || t.user == c.user.ID {
			list = append(list, c.b.session(t))
		}
	}
	for _, p := range s.Playing() {
		if own && p.User != c.user.ID {
			continue
		}
		o := c.b.session(&token{value: "playing-" + p.User, user: p.User, client: "Player", device: "TV", deviceID: "tv-" + p.User, agent: "1.0"})
		o["Id"], o["SupportsRemoteControl"], o["LastPlaybackCheckIn"] = "p"+p.Session, true, c.b.date(p.At)
		o["PlayState"] = object{"PositionTicks": ticks(p.Position), "CanSeek": true, "IsPaused": false, "PlayMethod": "DirectPlay"}
		s.mu.Lock()
		if i, err := s.item(p.Item); err == nil {
			row := c.b.row(node{item: i}, nil, nil)
			delete(row, "UserData")
			o["NowPlayingItem"] = row
		}
		s.mu.Unlock()
		list = append(list, o)
	}
	c.ok(list)
}

func ticks(d time.Duration) int64 { return int64(d / 100) }

// Writing (sections 2.7 and 3.5).

// target is the person and item of a write, false after an answer.
func (c *call) target() (user User, item string, ok bool) {
	id := c.q.Get("userid")
	item = c.ids[len(c.ids)-1]
	if len(c.ids) > 1 {
		id = c.ids[0]
	} else if id == "" && c.user != nil {
		id = c.user.ID
	}
	u, ok := c.of(id)
	return u, item, ok
}

func (c *call) played() {
	u, item, ok := c.target()
	if !ok {
		return
	}
	var at time.Time
	if text := c.q.Get("dateplayed"); text != "" {
		var err error
		if at, err = time.Parse("20060102150405", text); err != nil && !c.b.is(Emby) {
			at, err = time.Parse(time.RFC3339Nano, text)
		}
		if err != nil {
			c.fail(http.StatusBadRequest, "The value is not valid for DatePlayed.")
			return
		}
	}
	c.wrote(u, item, c.b.s.toAll(u, item, func(id string) error { return c.b.s.Mark(u.ID, id, at) }))
}

func (c *call) unplayed() {
	if u, item, ok := c.target(); ok {
		c.wrote(u, item, c.b.s.toAll(u, item, func(id string) error { return c.b.s.Unmark(u.ID, id) }))
	}
}

func (c *call) exactly() {
	u, item, ok := c.target()
	if !ok {
		return
	}
	if u.KeepOut {
		c.w.WriteHeader(http.StatusForbidden)
		return
	}
	var body struct {
		Played                *bool
		PlayCount             *int
		LastPlayedDate        *time.Time
		PlaybackPositionTicks *int64
	}
	if err := json.NewDecoder(c.r.Body).Decode(&body); err != nil {
		c.fail(http.StatusBadRequest, "Error processing request.")
		return
	}
	d, err := c.b.s.Data(u.ID, item)
	if err == nil {
		if body.Played != nil {
			d.Played = *body.Played
		}
		if body.PlayCount != nil {
			d.Count = *body.PlayCount
		}
		if body.LastPlayedDate != nil {
			d.At = body.LastPlayedDate.UTC()
		}
		if body.PlaybackPositionTicks != nil {
			d.Position = time.Duration(*body.PlaybackPositionTicks) * 100
		}
		err = c.b.s.Write(u.ID, item, d)
	}
	c.wrote(u, item, err)
}

// wrote answers what is kept of an item after a write.
func (c *call) wrote(u User, item string, err error) {
	s := c.b.s
	s.mu.Lock()
	i, gone := s.item(item)
	var row object
	if gone == nil && u.sees(i.Library) {
		row = c.b.userData(i, s.get(u.ID, i), nil)
	}
	s.mu.Unlock()
	switch {
	case err != nil, row == nil && gone == nil:
		c.w.WriteHeader(http.StatusNotFound)
	case row == nil:
		c.ok(object{"Played": true})
	default:
		c.ok(row)
	}
}

// toAll writes to an item, or to every episode of a show or a season.
func (s *Server) toAll(u User, id string, do func(id string) error) error {
	s.mu.Lock()
	of, isSeason := s.seasonOf[id]
	_, isShow := s.shows[id]
	var ids []string
	if isShow {
		of.show = id
	}
	for _, i := range s.episodes[of.show] {
		if !i.Deleted && (isShow || isSeason && i.Season == of.number) {
			ids = append(ids, i.ID)
		}
	}
	i, err := s.item(id)
	visible := err != nil || u.sees(i.Library)
	s.mu.Unlock()
	if !isShow && !isSeason {
		ids = []string{id}
	}
	if !visible {
		return errNoItem
	}
	for _, one := range ids {
		if err := do(one); err != nil {
			return err
		}
	}
	return nil
}
