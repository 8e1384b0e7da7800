package app

import (
	"path/filepath"

	"watchmark/internal/catalog/cover"
)

// buildCovers makes what gets the covers that the pages show.
func (a *App) buildCovers(o Options) error {
	images, err := a.newWay(a.outboundImages)
	if err != nil {
		return err
	}
	a.covers = cover.NewCache(cover.Config{
		Folder: filepath.Join(o.DataDir, "covers"), HTTP: images, Subject: a.cached.Subject, Log: a.log,
		Host:      func() string { return a.Settings.Current().Catalog.ImageURL },
		Reachable: func() bool { return a.catalog.Reachability().Reachable },
	})
	a.cached.OnFound(a.covers.Learn)
	return nil
}
