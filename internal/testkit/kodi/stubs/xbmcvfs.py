"""Kodi's module xbmcvfs."""

import os


def translatePath(path):
    assert path.startswith("special://profile/"), path
    return os.path.join(os.environ["KODI_PROFILE"], path[len("special://profile/"):])
