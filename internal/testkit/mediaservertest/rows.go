package mediaservertest

import (
	"slices"
	"strconv"
	"time"
)

// everyField is what an item has when it is asked for alone.
var everyField = []string{"*"}

// row is a thing as lists show it; fields are in lower case. The caller holds the lock of the model.
func (b *browser) row(n node, u *User, fields []string) object {
	s := b.s
	wants := func(field string) bool {
		return slices.Contains(fields, field) || slices.Contains(fields, "*")
	}
	// Emby withholds some of what Jellyfin gives unless it is named (section 3.4).
	usual := func(field string) bool {
		return !b.is(Emby) || s.version.before(4, 8, 0) || wants(field)
	}
	row := object{"ServerId": b.serverID(), "Name": n.name(), "IsFolder": n.item == nil}
	switch {
	case n.library != nil:
		return b.libraryObject(*n.library)
	case n.show != nil:
		row["Id"], row["Type"] = n.show.ID, "Series"
		if n.show.Year > 0 && usual("productionyear") {
			row["ProductionYear"] = n.show.Year
		}
		if wants("originaltitle") && n.show.Original != "" {
			row["OriginalTitle"] = n.show.Original
		}
		if u != nil {
			row["UserData"] = b.folderData(u.ID, s.episodes[n.show.ID], n.show.ID)
		}
	case n.season.show != "":
		show := s.shows[n.season.show]
		id := s.seasons[n.season]
		row["Id"], row["Type"], row["Name"] = id, "Season", "Season "+strconv.Itoa(n.season.number)
		row["SeriesId"], row["SeriesName"], row["IndexNumber"] = show.ID, show.Title, n.season.number
		if u != nil {
			row["UserData"] = b.folderData(u.ID, b.seasonItems(n.season), id)
		}
	default:
		b.itemRow(row, n.item, wants, usual)
		if u != nil {
			row["UserData"] = b.userData(n.item, s.get(u.ID, n.item), fields)
		}
	}
	if wants("providerids") {
		ids := n.ids()
		if ids == nil {
			ids = map[string]string{}
		}
		row["ProviderIds"] = ids
	}
	return row
}

func (b *browser) itemRow(row object, i *Item, wants, usual func(string) bool) {
	s := b.s
	row["Id"], row["Type"], row["MediaType"], row["LocationType"] = i.ID, s.kindOf(i), "Video", "FileSystem"
	if row["Type"] == "Audio" {
		row["MediaType"] = "Audio"
	}
	if i.Virtual {
		row["LocationType"] = "Virtual"
	}
	if !i.Endless {
		row["RunTimeTicks"] = ticks(i.Length)
	}
	if day, err := time.Parse(time.DateOnly, i.Date); err == nil {
		if usual("productionyear") {
			row["ProductionYear"] = day.Year()
		}
		if b.is(Emby) { // the UTC instant of local midnight: media-servers.md section 3
			day = day.Add(-8 * time.Hour)
		}
		if usual("premieredate") {
			row["PremiereDate"] = day.Format("2006-01-02T15:04:05.0000000Z")
		}
	}
	if wants("originaltitle") && i.Original != "" {
		row["OriginalTitle"] = i.Original
	}
	if wants("path") && !b.is(ZSpace) {
		row["Path"] = i.Path
	}
	show := s.shows[i.Show]
	if show == nil {
		return
	}
	row["SeriesName"], row["SeriesId"] = show.Title, show.ID
	row["SeasonId"], row["SeasonName"], row["ParentIndexNumber"] = s.seasonID(show.ID, i.Season), "Season "+strconv.Itoa(i.Season), i.Season
	if !i.Unnumbered {
		row["IndexNumber"] = i.Episode
	}
	if i.Last > 0 {
		row["IndexNumberEnd"] = i.Last
	}
}

// userData is what is kept of an item for a person. fields are what a list named, nil for what is told outside of lists.
func (b *browser) userData(i *Item, d Data, fields []string) object {
	o := object{"PlaybackPositionTicks": ticks(d.Position), "PlayCount": d.Count, "IsFavorite": false, "Played": d.Played}
	if d.Position > 0 && i.Length > 0 {
		o["PlayedPercentage"] = 100 * float64(d.Position) / float64(i.Length)
	}
	named := func(field string) bool {
		return fields == nil || slices.Contains(fields, field) || slices.Contains(fields, "*")
	}
	date, count := !d.At.IsZero(), true
	switch b.s.cfg.Kind {
	case Jellyfin:
		o["Key"], o["ItemId"] = b.s.key(i), i.ID
	case Emby, ZSpace: // a list tells neither unless they are named (section 3.4)
		if b.is(ZSpace) || !b.s.version.before(4, 8, 0) {
			date, count = date && named("userdatalastplayeddate"), named("userdataplaycount")
		}
		if fields == nil {
			o["ItemId"] = i.ID
		}
	case Ugreen:
		date, count = false, false
	}
	if !count {
		o["PlayCount"] = 0
	}
	if date {
		o["LastPlayedDate"] = b.date(d.At)
	}
	return o
}

func (b *browser) seasonItems(of season) []*Item {
	return slices.DeleteFunc(slices.Clone(b.s.episodes[of.show]), func(i *Item) bool { return i.Season != of.number })
}

// folderData is what is kept of a show or a season: how much of it is left.
func (b *browser) folderData(user string, items []*Item, id string) object {
	left, all := 0, 0
	for _, i := range items {
		if i.Deleted {
			continue
		}
		all++
		if !b.s.get(user, i).Played {
			left++
		}
	}
	o := object{"PlaybackPositionTicks": 0, "PlayCount": 0, "IsFavorite": false, "Played": left == 0}
	if !b.is(Ugreen) {
		o["UnplayedItemCount"] = left
		if all > 0 && left > 0 {
			o["PlayedPercentage"] = 100 * float64(all-left) / float64(all)
		}
	}
	if b.is(Jellyfin) {
		o["Key"], o["ItemId"] = id, id
	} else if b.is(Emby) {
		o["ItemId"] = id
	}
	return o
}
