package app

import (
	"fmt"
	"path/filepath"

	"watchmark/internal/cover"
	"watchmark/internal/httpx"
	"watchmark/internal/settings"
)

// buildCovers makes what gets the covers that the pages show.
func (a *App) buildCovers(o Options) error {
	var err error
	if a.images, err = httpx.New(a.outboundImages(a.Settings.Current()), a.masker, a.log); err != nil {
		return fmt.Errorf("setting network.proxy: %w", err)
	}
	a.Settings.OnChange(func(_, now settings.Settings) {
		if err := a.images.Apply(a.outboundImages(now)); err != nil {
			a.log.Error("the proxy cannot be used; images come the old way", "error", err)
		}
	})
	a.covers = cover.NewKeeper(cover.Config{
		Folder: filepath.Join(o.DataDir, "covers"), HTTP: a.images, Subject: a.cached.Subject, Log: a.log,
		Host:      func() string { return a.Settings.Current().Catalog.ImageURL },
		Reachable: func() bool { return a.catalog.Reachability().Reachable },
	})
	a.cached.OnFound(a.covers.Learn)
	return nil
}
