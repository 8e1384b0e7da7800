package app

import (
	"path/filepath"

	"watchmark/internal/catalog/archive"
	"watchmark/internal/catalog/archive/fetch"
	"watchmark/internal/match"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/settings"
)

// archive is the offline archive for the matcher; nil, and why, when it is not to be asked.
func (d *Data) archive() (match.Catalog, reason.Reason) {
	switch {
	case !d.Settings.Current().CatalogArchive.Enabled:
		return nil, archiveOff.With()
	case !d.Archive.Ready():
		return nil, archiveMissing.With()
	}
	return d.Archive, reason.Reason{}
}

// newArchiver imports the offline archive as the settings say. The caller registers its job.
func (d *Data) newArchiver() *archive.Importer {
	return archive.NewImporter(archive.ImporterConfig{
		Archive: d.Archive, Schedule: d.jobs, Log: d.log,
		Enabled: func() bool { return d.Settings.Current().CatalogArchive.Enabled },
		Plan:    d.plan("catalog_archive.update_cron", func(s settings.Settings) string { return s.CatalogArchive.UpdateCron }),
		Source: func() fetch.Config {
			s := d.Settings.Current().CatalogArchive
			return fetch.Config{HTTP: d.http, PointerURL: s.PointerURL, Mirrors: s.Mirrors}
		},
		FreeMB: func() int { return d.Settings.Current().CatalogArchive.MinFreeMB },
	})
}

// archiveDir is the folder of the offline archive. The default follows the data folder.
func archiveDir(dataDir string, s settings.Settings) string {
	if s.CatalogArchive.DataDir == settings.DefaultArchiveDir {
		return filepath.Join(dataDir, "archive")
	}
	return s.CatalogArchive.DataDir
}
