"""Keeps stops in a file until Watchmark has them, and sends them from a thread of its own.

A stop is in the file before it is sent and leaves it only when Watchmark has answered, so that it outlives a server that is off and an
end of Kodi. Sent twice, it is one: Watchmark recognises a play by what it is of and when it was.
"""

import json
import os
import ssl
import threading
import time
import urllib.error
import urllib.request

import xbmc
import xbmcaddon
import xbmcgui
import xbmcvfs

# MOST is how many stops are kept; beyond it the oldest go.
MOST = 500
# PATIENCE is how long one request may take, in seconds. It is short, because Kodi waits for it when it ends.
PATIENCE = 4
# FIRST and LAST are how long is waited until Watchmark is asked again after it could not be reached, in seconds; it doubles in between.
FIRST, LAST = 15, 600
# LEAST_CLOCK is 2020: the clock of a box that has not asked for the time yet is before it, and tells nothing.
LEAST_CLOCK = 1577836800

ENTER, REFUSED, NOT_WATCHMARK, UNREACHABLE = 30021, 30022, 30023, 30024


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Leaves redirects alone: they would take the key to another host, and turn the POST into a GET."""

    def redirect_request(self, req, fp, code, msg, headers, newurl):
        return None


class Sender(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.addon = xbmcaddon.Addon()
        self.file = os.path.join(xbmcvfs.translatePath(self.addon.getAddonInfo("profile")), "stops.json")
        self.version = self.addon.getAddonInfo("version")
        self.opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=ssl.create_default_context()), NoRedirect())
        self.change = threading.Condition()
        self.stops = self.read()
        self.ends = self.woken = False
        self.told = None
        self.address = self.key = ""
        self.configure()

    def configure(self):
        """Reads the settings, and tries again with them."""
        addon = xbmcaddon.Addon()  # one that exists keeps the settings of before
        address = addon.getSetting("address").strip().rstrip("/")
        if address and "://" not in address:
            address = "http://" + address
        with self.change:
            self.address, self.key, self.told = address, addon.getSetting("key").strip(), None
            self.wake()

    def wake(self):
        self.woken = True
        self.change.notify()

    def keep(self, bodies, at):
        """Keeps stops that came at a time, and has them sent."""
        if not bodies:
            return
        when = {}
        if at >= LEAST_CLOCK:
            when["watched_at"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
        with self.change:
            self.stops += [dict(body, app_name="Kodi", app_version=self.version, **when) for body in bodies]
            self.stops = self.stops[-MOST:]
            self.write()
            self.wake()

    def stop(self):
        """Ends the thread. What is not sent stays in the file."""
        with self.change:
            self.ends = True
            self.change.notify()
        self.join(PATIENCE)

    def read(self):
        """The stops of the file. One that cannot be read is put aside."""
        try:
            with open(self.file, encoding="utf-8") as file:
                stops = json.load(file)
            return [stop for stop in stops if isinstance(stop, dict)][-MOST:]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, TypeError):
            xbmc.log("Watchmark: the file of unsent stops cannot be read; it is kept as stops.json.broken", xbmc.LOGERROR)
            try:
                os.replace(self.file, self.file + ".broken")
            except OSError:
                pass
            return []

    def write(self):
        """Writes the file so that it is whole at every moment."""
        try:
            os.makedirs(os.path.dirname(self.file), exist_ok=True)
            with open(self.file + ".new", "w", encoding="utf-8") as file:
                json.dump(self.stops, file, ensure_ascii=False)
                file.flush()
                os.fsync(file.fileno())
            os.replace(self.file + ".new", self.file)
        except OSError as error:  # what is in memory is sent all the same
            xbmc.log("Watchmark: unsent stops cannot be written: %s" % error.strerror, xbmc.LOGERROR)

    def run(self):
        wait = 0
        while True:
            with self.change:
                if not self.ends and not self.woken:
                    self.change.wait(wait if self.stops and wait else None)
                if self.ends:
                    return
                self.woken, first = False, self.stops[0] if self.stops else None
                address, key = self.address, self.key
            if first is None:
                wait = 0
                continue
            trouble, done = self.send(address, key, first)
            if done:
                with self.change:
                    if self.stops and self.stops[0] is first:  # it may have gone for newer ones meanwhile
                        del self.stops[0]
                        self.write()
                    self.woken, self.told = True, None
                wait = 0
                continue
            wait = min(LAST, 2 * wait or FIRST)
            self.tell(trouble)

    def send(self, address, key, stop):
        """Sends one stop. It answers the text of what is wrong, and whether the stop is done with."""
        if not address or not key:
            return ENTER, False
        try:
            request = urllib.request.Request(address + "/scrobble/stop", method="POST", data=json.dumps(stop).encode("utf-8"), headers={
                "Content-Type": "application/json", "Authorization": "Bearer " + key, "User-Agent": "service.watchmark/" + self.version,
                "trakt-api-version": "2"})
            with self.opener.open(request, timeout=PATIENCE) as answer:
                status = answer.status
        except urllib.error.HTTPError as refusal:
            status = refusal.code
            refusal.close()
        except (OSError, ValueError, UnicodeError) as error:  # no way there, a certificate that is not good, an address that is none
            xbmc.log("Watchmark: cannot be reached: %s" % type(getattr(error, "reason", error)).__name__, xbmc.LOGWARNING)
            return UNREACHABLE, False
        except Exception as error:  # an answer that is no HTTP
            xbmc.log("Watchmark: cannot be understood: %s" % type(error).__name__, xbmc.LOGWARNING)
            return NOT_WATCHMARK, False
        if status in (201, 409):
            return None, True
        xbmc.log("Watchmark: a stop is answered %d" % status, xbmc.LOGWARNING)
        if status in (400, 413, 415, 422):  # it would never be taken
            return None, True
        if status in (401, 403):
            return REFUSED, False
        if status == 429 or status >= 500:
            return UNREACHABLE, False
        return NOT_WATCHMARK, False

    def tell(self, trouble):
        """Tells the user what is wrong, once until it is another thing."""
        if trouble != self.told:
            self.told = trouble
            xbmcgui.Dialog().notification("Watchmark", self.addon.getLocalizedString(trouble), xbmcgui.NOTIFICATION_WARNING)
