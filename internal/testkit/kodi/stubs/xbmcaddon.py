"""Kodi's module xbmcaddon. An Addon has the settings as they were when it was made."""

import json
import os
import re


class Addon:
    def __init__(self, id=None):
        with open(os.environ["KODI_SETTINGS"], encoding="utf-8") as file:
            self._settings = json.load(file)

    def getSetting(self, id):
        return self._settings.get(id, "")

    def getAddonInfo(self, id):
        return {"id": "service.watchmark", "version": "1.0.0", "profile": "special://profile/addon_data/service.watchmark/"}[id]

    def getLocalizedString(self, id):
        with open(os.path.join(os.getcwd(), "resources", "language", "resource.language.en_gb", "strings.po"), encoding="utf-8") as file:
            found = re.search(r'msgctxt "#%d"\nmsgid "(.*)"' % id, file.read())
        return found.group(1) if found else ""
