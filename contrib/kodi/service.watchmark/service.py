"""Tells Watchmark what Kodi played. Kodi starts this file with the profile of the user, and ends it with it."""

from resources.lib import watcher

if __name__ == "__main__":
    watcher.run()
