"""What Kodi knows of an item, as the body that Watchmark and Trakt read."""

import json

import xbmc

# Properties that Kodi 19 and newer know (Video.Fields.* of its JSON-RPC). It refuses a call that asks for one more.
EPISODE = ["title", "showtitle", "season", "episode", "firstaired", "uniqueid", "tvshowid", "file"]
TVSHOW = ["title", "originaltitle", "year", "uniqueid"]
MOVIE = ["title", "originaltitle", "year", "premiered", "uniqueid"]

# DISCS are the ends of paths of discs: all episodes of one have its path, and one title of it is played.
DISCS = (".iso", ".img", ".udf", ".ifo", ".bdmv", ".mpls")

# PARTS is how many episodes one file may have. A longer list is no file of episodes.
PARTS = 20


def ask(method, params):
    """The result of a call; None when Kodi answers an error."""
    answer = json.loads(xbmc.executeJSONRPC(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})))
    return answer.get("result") if isinstance(answer, dict) else None


def current():
    """The item that plays now, as notifications tell it; None when there is none."""
    for player in ask("Player.GetActivePlayers", {}) or []:
        if player.get("type") == "video":
            answer = ask("Player.GetItem", {"playerid": player["playerid"], "properties": ["title", "showtitle", "season", "episode", "year"]})
            return (answer or {}).get("item")
    return None


def bodies(item, path):
    """The bodies of what an item is, one for each episode of its file. There are none for what cannot be told for sure: live TV, music, and
    files that Kodi knows no title of. A name guessed from a file could mark something else."""
    kind, known = item.get("type"), item.get("id")
    if path.startswith("pvr://"):
        return []
    if kind == "episode":
        return episodes(known) if is_id(known) else foreign_episode(item)
    if kind == "movie":
        return movie(known) if is_id(known) else foreign_movie(item)
    return []


def is_id(value):
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def ids(unique):
    """The ids of a map of Kodi: under the names of their providers, or under "unknown", which says nothing."""
    if not isinstance(unique, dict):
        return {}
    return {str(name): str(value) for name, value in unique.items() if value and str(name) != "unknown"}


def named(**fields):
    """The fields that Kodi knows. It tells an unknown text as "", an unknown number as 0 or -1."""
    return {name: value for name, value in fields.items() if value not in (None, "", 0, -1, {})}


def day(text):
    """A date of Kodi. One that is not known comes as "" or in year 1601."""
    return text if isinstance(text, str) and text[:4] > "1900" else ""


def episodes(episode_id):
    found = (ask("VideoLibrary.GetEpisodeDetails", {"episodeid": episode_id, "properties": EPISODE}) or {}).get("episodedetails")
    if not found:
        return []
    show = {}
    if is_id(found.get("tvshowid")):
        show = (ask("VideoLibrary.GetTVShowDetails", {"tvshowid": found["tvshowid"], "properties": TVSHOW}) or {}).get("tvshowdetails") or {}
    title = show.get("title") or found.get("showtitle")
    if not title:
        return []
    whole = named(title=title, original_title=show.get("originaltitle"), year=show.get("year"), ids=ids(show.get("uniqueid")))
    return [{"show": whole, "episode": episode(one)} for one in of_file(found)]


def of_file(found):
    """The episodes of the file of one, in their order."""
    file = found.get("file") or ""
    if not file or file.lower().endswith(DISCS) or file.startswith(("bluray://", "dvd://")) or not is_id(found.get("tvshowid")):
        return [found]
    answer = ask("VideoLibrary.GetEpisodes", {"tvshowid": found["tvshowid"], "season": found["season"], "properties": EPISODE}) or {}
    same = [one for one in answer.get("episodes") or [] if one.get("file") == file]
    if len(same) < 2 or len(same) > PARTS:
        return [found]
    return sorted(same, key=lambda one: one["episode"])


def episode(found):
    body = named(title=found.get("title"), first_aired=day(found.get("firstaired")), ids=ids(found.get("uniqueid")))
    body["season"], body["number"] = found["season"], found["episode"]  # 0 is a season: specials
    return body


def foreign_episode(item):
    """An episode that is not in the library: an add-on such as one for Jellyfin told Kodi what it is."""
    season, number = item.get("season"), item.get("episode")
    if not item.get("showtitle") or not isinstance(season, int) or not isinstance(number, int) or season < 0 or number < 0:
        return []
    return [{"show": {"title": item["showtitle"]}, "episode": dict(named(title=item.get("title")), season=season, number=number)}]


def movie(movie_id):
    found = (ask("VideoLibrary.GetMovieDetails", {"movieid": movie_id, "properties": MOVIE}) or {}).get("moviedetails")
    if not found or not found.get("title"):
        return []
    return [{"movie": named(title=found["title"], original_title=found.get("originaltitle"), year=found.get("year"),
                            released=day(found.get("premiered")), ids=ids(found.get("uniqueid")))}]


def foreign_movie(item):
    """A film that is not in the library. Kodi calls every unknown file a film and its name the title, so only one with a year counts."""
    if not item.get("title") or not is_id(item.get("year")):
        return []
    return [{"movie": {"title": item["title"], "year": item["year"]}}]
