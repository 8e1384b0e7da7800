"""Follows the player: what is played, how far, and when it ends.

Kodi announces Player.OnAVStart and Player.OnStop. When OnStop comes, the position can no longer be asked for. So it is asked for
once a second while something plays.
"""

import json
import time

import xbmc

from . import library
from .sender import Sender

# LOOK is how often the position is asked for, in seconds.
LOOK = 1
# NEAR is how much may lack at the end that Kodi announces, in seconds: the last look, and what a file says too much of its length. An end
# further away is one of a broken stream.
NEAR = 15


class Playing:
    """What is played, and how far it is."""

    def __init__(self, item, path, bodies):
        self.item = item
        self.path = path  # what the player calls it
        self.bodies = bodies  # one for each episode of the file
        self.at = 0.0
        self.length = 0.0

    def look(self, player):
        """Notes the position. It stays as it was when the player does not tell it, or has begun with the next item, which is announced
        only when its first picture is there."""
        try:
            path, at, length = player.getPlayingFile(), player.getTime(), player.getTotalTime()
        except RuntimeError:  # nothing plays any more
            return
        if path == self.path and length > 0:
            self.at, self.length = at, length

    def is_same(self, item):
        """Reports whether an announced item can be this one."""
        mine, other = self.item.get("id"), item.get("id")
        return mine is None or other is None or (mine, self.item.get("type")) == (other, item.get("type"))

    def progress(self, ended):
        """How far it was played, in percent; 0 when the length is not known."""
        if self.length <= 0:
            return 0.0
        if ended and self.length - self.at <= NEAR:
            return 100.0
        return max(0.0, min(100.0, 100.0 * self.at / self.length))

    def stops(self, ended):
        """The bodies to send. A file of several episodes is played one after the other."""
        whole, count = self.progress(ended), len(self.bodies)
        for n, body in enumerate(self.bodies):
            progress = round(max(0.0, min(100.0, whole * count - 100.0 * n)), 2)
            if progress >= 1:
                yield dict(body, progress=progress)


class Watcher(xbmc.Monitor):
    """The service. Kodi calls onNotification and onSettingsChanged while it waits in waitForAbort."""

    def __init__(self, sender):
        super().__init__()
        self.sender = sender
        self.player = xbmc.Player()
        self.playing = None

    def onNotification(self, sender, method, data):
        try:
            if sender == "xbmc" and method in ("Player.OnAVStart", "Player.OnStop"):
                told = json.loads(data)
                item = told.get("item") or {}
                if method == "Player.OnAVStart":
                    self.begin(item)
                elif self.playing is None or self.playing.is_same(item):
                    self.end(told.get("end") is True)
        except Exception as error:  # one item that cannot be read must not end the service
            xbmc.log("Watchmark: cannot read what is played: %s" % type(error).__name__, xbmc.LOGWARNING)

    def onSettingsChanged(self):
        self.sender.configure()

    def begin(self, item):
        """Something new plays. What was played before ended without a word, as when somebody skips to the next item."""
        self.end(False)
        try:
            path = self.player.getPlayingFile()
        except RuntimeError:
            path = ""
        bodies = library.bodies(item, path)
        if bodies:
            self.playing = Playing(item, path, bodies)
            self.playing.look(self.player)

    def end(self, ended):
        """What was played ends. It is kept before it is sent."""
        playing, self.playing = self.playing, None
        if playing is not None:
            self.sender.keep(list(playing.stops(ended)), time.time())

    def run(self):
        """Works until Kodi ends."""
        self.resume()
        while not self.waitForAbort(LOOK):
            if self.playing is not None:
                self.playing.look(self.player)
        self.end(False)

    def resume(self):
        """Takes up what plays already when the add-on starts."""
        try:
            item = library.current() if self.player.isPlayingVideo() else None
            if item:
                self.begin(item)
        except Exception as error:
            xbmc.log("Watchmark: cannot read what plays already: %s" % type(error).__name__, xbmc.LOGWARNING)


def run():
    sender = Sender()
    sender.start()
    try:
        Watcher(sender).run()
    finally:
        sender.stop()
