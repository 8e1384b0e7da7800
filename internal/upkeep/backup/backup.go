// Package backup puts all of a data folder that cannot be made anew into one file, and
// back: the database, the key that seals its tokens, and the settings file.
//
// The file is a SQLite database: a consistent copy of the service's own, with the other
// files in a table of their own, and a checksum at the end. Whoever has it has the tokens.
package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/secret"
	"watchmark/internal/upkeep/movedb"
)

// settingsName is the settings file inside the data folder.
const settingsName = "watchmark.toml"

// beside are the files of the data folder that a backup holds besides the database.
var beside = []string{secret.KeyFile, settingsName}

// aside is added to the name of what a restore replaces.
const aside = ".before-restore"

// Create writes a backup of the data folder to file, which must not exist, with mode
// 0600; a service may run on the folder meanwhile. What was written is read before the file gets its
// name. It answers which files of the folder are in it besides the database. When it fails, nothing
// is left behind.
func Create(ctx context.Context, dataDir, file string) (with []string, err error) {
	database := filepath.Join(dataDir, db.FileName)
	if _, err := os.Stat(database); err != nil {
		return nil, fmt.Errorf("there is no database to back up: %w; name the data folder with --data", err)
	}
	return create(ctx, dataDir, file, func(tmp string) error { return db.CopyTo(ctx, database, tmp) })
}

// CreateFrom is Create with what a database on a server holds at one moment.
func CreateFrom(ctx context.Context, d *db.DB, dataDir, file string) (with []string, err error) {
	return create(ctx, dataDir, file, func(tmp string) error { return movedb.ToFile(ctx, d, tmp) })
}

// create is Create with the copy of the database that copyTo writes.
func create(ctx context.Context, dataDir, file string, copyTo func(tmp string) error) (with []string, err error) {
	if _, err := os.Stat(file); err == nil {
		return nil, fmt.Errorf("%s: the file exists: choose another name", file)
	}
	tmp, err := empty(filepath.Dir(file), filepath.Base(file))
	if err != nil {
		return nil, fmt.Errorf("make the backup file: %w", err)
	}
	defer func() { _ = os.Remove(tmp) }() // gone already after the rename
	files := map[string][]byte{sealedBy: []byte("SHA-256 at the end of the file")}
	for _, name := range beside {
		content, err := os.ReadFile(filepath.Join(dataDir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		files[name] = content
		with = append(with, name)
	}
	if err := copyTo(tmp); err != nil {
		return nil, err
	}
	if err := db.Put(ctx, tmp, files); err != nil {
		return nil, err
	}
	if err := db.Check(ctx, tmp); err != nil {
		return nil, fmt.Errorf("the backup is not whole: %w", err)
	}
	if err := seal(tmp); err != nil {
		return nil, fmt.Errorf("write the checksum of the backup: %w", err)
	}
	if err := db.Settle(tmp, file); err != nil {
		return nil, fmt.Errorf("write the backup %s: %w", file, err)
	}
	return with, nil
}

// Restored is what a restore did.
type Restored struct {
	Files []string
	// Checked says that the backup had its checksum. Those of versions before it, and plain copies of a database, have none.
	Checked bool
}

// Restore puts the backup in file in place of what the data folder holds, which is kept
// under names that end in .before-restore. A plain copy of
// a database restores that alone. It returns db.ErrLocked while a service runs on the
// folder, and an error that says what is wrong with the backup, such as ErrChanged; the folder is then as it
// was. When it is interrupted, restore again.
func Restore(ctx context.Context, dataDir, file string) (restored Restored, err error) {
	unlock, err := db.Lock(dataDir)
	if err != nil {
		return Restored{}, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	tmp, err := copied(file, dataDir)
	if err != nil {
		return Restored{}, fmt.Errorf("read the backup %s: %w", file, err)
	}
	defer func() { _ = os.Remove(tmp) }() // gone already after the rename
	restored.Checked, err = unseal(tmp)
	var files map[string][]byte
	if err == nil {
		files, err = db.Take(ctx, tmp)
	}
	if _, must := files[sealedBy]; err == nil && must && !restored.Checked {
		err = ErrChanged
	}
	if err != nil {
		return Restored{}, fmt.Errorf("the backup %s cannot be restored: %w", file, err)
	}
	database := filepath.Join(dataDir, db.FileName)
	if err := putAside(ctx, database); err != nil {
		return Restored{}, err
	}
	for _, name := range beside {
		content, inBackup := files[name]
		if !inBackup {
			continue
		}
		if err := write(filepath.Join(dataDir, name), content); err != nil {
			return Restored{}, fmt.Errorf("restore %s: %w", name, err)
		}
		restored.Files = append(restored.Files, name)
	}
	if err := db.Settle(tmp, database); err != nil {
		return Restored{}, fmt.Errorf("restore the database: %w", err)
	}
	restored.Files = append(restored.Files, db.FileName)
	return restored, nil
}

// putAside keeps the database that is there, with what its journal holds, under another
// name. Its own name stays until another file takes it.
func putAside(ctx context.Context, database string) error {
	if _, err := os.Stat(database); errors.Is(err, fs.ErrNotExist) {
		return removeJournal(database)
	}
	// A damaged database cannot take its journal in; then both are kept as they are.
	whole := db.Fold(ctx, database) == nil
	if err := replaceBy(database+aside, database); err != nil {
		return fmt.Errorf("keep the present database: %w", err)
	}
	if !whole {
		if err := replaceBy(database+aside+"-wal", database+"-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("keep the journal of the present database: %w", err)
		}
	}
	return removeJournal(database)
}

// removeJournal removes the journal of a database that is about to be replaced: SQLite
// would apply it to the new one.
func removeJournal(database string) error {
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(database + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the old journal: %w", err)
		}
	}
	return nil
}

// write writes a file of mode 0600 whole, and keeps the one it replaces. One that is so already
// stays: where an interrupted restore wrote it, what it replaced is kept and must not be lost.
func write(path string, content []byte) error {
	there, err := os.ReadFile(path)
	switch {
	case err == nil && bytes.Equal(there, content):
		return nil
	case err == nil:
		err = replaceBy(path+aside, path)
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	}
	if err != nil {
		return err
	}
	tmp, err := empty(filepath.Dir(path), filepath.Base(path))
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp) }() // gone already after the rename
	if err := os.WriteFile(tmp, content, 0o600); err != nil {
		return err
	}
	return db.Settle(tmp, path)
}

// replaceBy makes target a copy of the file at path.
func replaceBy(target, path string) error {
	tmp, err := copied(path, filepath.Dir(target))
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp) }() // gone already after the rename
	return db.Settle(tmp, target)
}

// copied is the name of a copy of a file in dir, of mode 0600.
func copied(path, dir string) (string, error) {
	from, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = from.Close() }() // it was only read
	to, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(to, from)
	if err := errors.Join(err, to.Close()); err != nil {
		return "", errors.Join(err, os.Remove(to.Name()))
	}
	return to.Name(), nil
}

// empty makes an empty file of mode 0600 with a name of its own.
func empty(dir, name string) (string, error) {
	file, err := os.CreateTemp(dir, "."+name+".*")
	if err != nil {
		return "", err
	}
	return file.Name(), file.Close()
}
