"""Kodi's module xbmcgui."""

import xbmc

NOTIFICATION_INFO, NOTIFICATION_WARNING, NOTIFICATION_ERROR = "info", "warning", "error"


class Dialog:
    def notification(self, heading, message, icon=NOTIFICATION_INFO, time=5000, sound=True):
        xbmc._say("notification", text=message)
