package contrib

import (
	"archive/zip"
	"bytes"
	"embed"
	"io/fs"
	"sync"
	"time"
)

// kodi is the add-on for Kodi.
//
//go:embed kodi/service.watchmark/*.xml kodi/service.watchmark/*.py kodi/service.watchmark/resources/*.xml kodi/service.watchmark/resources/*.png kodi/service.watchmark/resources/language kodi/service.watchmark/resources/lib/*.py kodi/service.watchmark/resources/__init__.py
var kodi embed.FS

// KodiAddon is the add-on for Kodi as a zip file that Kodi installs: one folder of its name. It is the same for the same program.
var KodiAddon = sync.OnceValues(func() ([]byte, error) {
	var out bytes.Buffer
	files := zip.NewWriter(&out)
	root, err := fs.Sub(kodi, "kodi")
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		file, err := files.CreateHeader(&zip.FileHeader{Name: path, Method: zip.Deflate, Modified: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
		if err != nil {
			return err
		}
		_, err = file.Write(text)
		return err
	})
	if err == nil {
		err = files.Close()
	}
	return out.Bytes(), err
})
