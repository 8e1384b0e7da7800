package idmap

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	fileName  = "dataset.bin"
	stateName = "dataset.json"
)

// load gives the table to use: the fetched one, or the snapshot when there is none, when
// it cannot be used, and when an upgrade of the program brought a newer one.
func (d *Dataset) load() (*Table, error) {
	fetched, err := readFile(filepath.Join(d.Folder, fileName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		d.Log.Warn("the fetched id table cannot be used, the one in the program serves", "error", err)
	case fetched.head.FetchedAt.Before(released):
		d.Log.Info("the id table in the program is newer than the fetched one", "version", Version)
	case fetched.head.Judged == judgedBy:
		return fetched, nil
	default: // another version of the program let it serve
		if err = judge(fetched); err == nil {
			return fetched, nil
		}
		d.refuse(err)
	}
	return Snapshot()
}

func readFile(path string) (*Table, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // opened for tableUnreadable: nothing can be lost
	return Read(file)
}

// replace writes a file so that there is the old or the new one whatever happens.
func replace(path string, content []byte) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+"-*.part")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// Clean removes what a crash left of replace.
func (d *Dataset) Clean() {
	for _, name := range []string{"dataset.*", "idmap.json", "anime-lists.gz", "shinkro.gz"} {
		left, err := filepath.Glob(filepath.Join(d.Folder, name+"-*.part"))
		if err != nil {
			return // a folder whose name is a broken pattern keeps them, which harms nobody
		}
		for _, path := range left {
			if err := os.Remove(path); err != nil {
				d.Log.Warn("what is left of a broken update of the ID table cannot be removed", "error", err)
			}
		}
	}
}

func (d *Dataset) readState() attempt {
	var last attempt
	text, err := os.ReadFile(filepath.Join(d.Folder, stateName))
	if err != nil || json.Unmarshal(text, &last) != nil {
		return attempt{} // nothing is known of an earlier refresh, which only means another next one
	}
	return last
}

func (d *Dataset) writeState(last attempt) error {
	text, err := json.Marshal(last)
	if err != nil {
		return err
	}
	if err := replace(filepath.Join(d.Folder, stateName), text); err != nil {
		return fmt.Errorf("keep how the refresh of the id table ended: %w", err)
	}
	return nil
}
