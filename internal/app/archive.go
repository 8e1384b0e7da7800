package app

import (
	"path/filepath"

	"watchmark/internal/catalog/archive"
	"watchmark/internal/catalog/archive/fetch"
	"watchmark/internal/match"
	"watchmark/internal/platform/settings"
	"watchmark/internal/platform/task"
)

// archive is the offline archive for the matcher; nil, and why, when it is not to be asked.
func (d *Data) archive() (match.Catalog, string) {
	switch {
	case !d.Settings.Current().CatalogArchive.Enabled:
		return nil, "the offline archive is switched off"
	case !d.Archive.Ready():
		return nil, "the offline archive is not imported yet"
	}
	return d.Archive, ""
}

// Archiver imports the offline archive as the settings say, its work being tasks of a
// registry; nil is for a caller that uses none.
func (d *Data) Archiver(tasks *task.Registry) *archive.Keeper {
	if tasks == nil {
		tasks = &task.Registry{Log: d.log}
	}
	return archive.NewKeeper(archive.KeeperConfig{
		Archive: d.Archive,
		Tasks:   tasks,
		Enabled: func() bool { return d.Settings.Current().CatalogArchive.Enabled },
		Next:    d.schedule("catalog_archive.update_cron", func(s settings.Settings) string { return s.CatalogArchive.UpdateCron }),
		Source: func() fetch.Config {
			s := d.Settings.Current().CatalogArchive
			return fetch.Config{HTTP: d.http, PointerURL: s.PointerURL, Mirrors: s.Mirrors}
		},
		FreeMB: func() int { return d.Settings.Current().CatalogArchive.MinFreeMB },
		Log:    d.log,
	})
}

// archiveDir is the folder of the offline archive. The default follows the data folder.
func archiveDir(dataDir string, s settings.Settings) string {
	if s.CatalogArchive.DataDir == settings.DefaultArchiveDir {
		return filepath.Join(dataDir, "archive")
	}
	return s.CatalogArchive.DataDir
}
