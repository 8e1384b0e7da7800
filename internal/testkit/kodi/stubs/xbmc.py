"""Kodi's module xbmc, as far as an add-on sees it, moved by lines of JSON on the standard input.

Built from the facts in docs/design/scrobble.md: callbacks come while the add-on waits in waitForAbort, a player that plays nothing
raises RuntimeError, and JSON-RPC refuses whole calls that ask for a property it does not know.
"""

import json
import os
import sys
import threading

LOGDEBUG, LOGINFO, LOGWARNING, LOGERROR, LOGFATAL = range(5)

_lock = threading.Lock()
_player = {"path": None, "time": 0.0, "total": 0.0}
_item = {}
_monitors = []
_settings = {}
_library = json.load(open(os.environ["KODI_LIBRARY"], encoding="utf-8"))

_VIDEO = {"title", "plot", "votes", "rating", "ratings", "userrating", "writer", "playcount", "runtime", "director", "originaltitle", "cast",
          "streamdetails", "lastplayed", "fanart", "thumbnail", "file", "resume", "dateadded", "uniqueid", "art"}
_FIELDS = {
    "episode": _VIDEO | {"firstaired", "productioncode", "season", "episode", "showtitle", "tvshowid", "specialsortseason", "specialsortepisode",
                         "seasonid", "genre", "studio"},
    "movie": _VIDEO | {"genre", "year", "trailer", "tagline", "plotoutline", "studio", "mpaa", "country", "imdbnumber", "set", "showlink", "top250",
                       "sorttitle", "setid", "tag", "premiered"},
    "tvshow": (_VIDEO | {"genre", "year", "studio", "mpaa", "episode", "imdbnumber", "premiered", "sorttitle", "episodeguide", "season",
                         "watchedepisodes", "tag", "runtime"}) - {"streamdetails", "resume", "director", "writer"},
    "all": _VIDEO | {"showtitle", "season", "episode", "year", "firstaired", "premiered", "tvshowid", "imdbnumber", "albumid", "artist", "album"},
}


def _say(what, **fields):
    with _lock:
        sys.stdout.write(json.dumps(dict(fields, said=what), ensure_ascii=False) + "\n")
        sys.stdout.flush()


def log(msg, level=LOGDEBUG):
    _say("log", text=msg, level=level)


class Player:
    def isPlaying(self):
        return _player["path"] is not None

    def isPlayingVideo(self):
        return self.isPlaying() and not _player["path"].endswith(".flac")

    def _playing(self):
        if not self.isPlaying():
            raise RuntimeError("Kodi is not playing any media file")

    def getPlayingFile(self):
        self._playing()
        return _player["path"]

    def getTime(self):
        self._playing()
        return _player["time"]

    def getTotalTime(self):
        self._playing()
        return _player["total"]


class Monitor:
    def __init__(self):
        _monitors.append(self)

    def onNotification(self, sender, method, data):
        pass

    def onSettingsChanged(self):
        pass

    def abortRequested(self):
        return False

    def waitForAbort(self, timeout=-1):
        for line in sys.stdin:
            told = json.loads(line)
            do = told.pop("do")
            if do == "player":
                _player.update(told)
            elif do == "item":
                _item.clear()
                _item.update(told)
            elif do == "announce":
                for monitor in _monitors:
                    monitor.onNotification(told.get("sender", "xbmc"), told["method"], json.dumps(told["data"]))
            elif do == "settings":
                with open(os.environ["KODI_SETTINGS"], "w", encoding="utf-8") as file:
                    json.dump(told, file)
                for monitor in _monitors:
                    monitor.onSettingsChanged()
            _say("done", did=do)
            if do == "tick":
                return False
            if do == "abort":
                return True
        return True


def _fail(code, message):
    return {"error": {"code": code, "message": message}}


def _details(kind, key, params):
    if not isinstance(params.get(key), int):
        return _fail(-32602, "Invalid params.")
    for one in _library.get(kind + "s", []):
        if one[key] == params[key]:
            return {"result": {kind + "details": _only(kind, key, one, params)}}
    return _fail(-32602, "Invalid params.")


def _only(kind, key, one, params):
    empty = {"season": -1, "episode": -1, "year": 0, "tvshowid": -1, "uniqueid": {}}
    details = {name: one.get(name, empty.get(name, "")) for name in params.get("properties", [])}
    return dict(details, **{key: one[key], "label": one.get("title", "")})


def _answer(method, params):
    kinds = {"VideoLibrary.GetEpisodeDetails": ("episode", "episodeid"), "VideoLibrary.GetTVShowDetails": ("tvshow", "tvshowid"),
             "VideoLibrary.GetMovieDetails": ("movie", "movieid"), "VideoLibrary.GetEpisodes": ("episode", "episodeid"), "Player.GetItem": ("all", "id")}
    if method == "Player.GetActivePlayers":
        return {"result": [{"playerid": 1, "playertype": "internal", "type": "video"}] if _player["path"] is not None else []}
    if method not in kinds:
        return _fail(-32601, "Method not found.")
    kind, key = kinds[method]
    if not set(params.get("properties", [])) <= _FIELDS[kind]:
        return _fail(-32602, "Invalid params.")
    if method == "Player.GetItem":
        return {"result": {"item": dict(_only("all", "type", {"type": "unknown", **_item}, params), **({"id": _item["id"]} if "id" in _item else {}))}}
    if method == "VideoLibrary.GetEpisodes":
        found = [one for one in _library.get("episodes", []) if one.get("tvshowid") == params.get("tvshowid") and one.get("season") == params.get("season")]
        answer = {"limits": {"start": 0, "end": len(found), "total": len(found)}}
        if found:
            answer["episodes"] = [_only(kind, key, one, params) for one in found]
        return {"result": answer}
    return _details(kind, key, params)


def executeJSONRPC(text):
    asked = json.loads(text)
    return json.dumps(dict(_answer(asked["method"], asked.get("params", {})), id=asked["id"], jsonrpc="2.0"))
