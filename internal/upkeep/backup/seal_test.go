package backup

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/secret"
	"watchmark/internal/testkit/dbtest"
)

// sealedBackup is a backup of a folder with a key.
func sealedBackup(t *testing.T) []byte {
	t.Helper()
	k := newService(t)
	if err := os.WriteFile(filepath.Join(k.DataDir, secret.KeyFile), []byte("the key"), 0o600); err != nil {
		t.Fatal(err)
	}
	made, err := k.create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(k.Dir, made.Name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// restored is what a restore of the content into a new folder answers.
func restored(t *testing.T, content []byte) (dir string, got Restored, err error) {
	t.Helper()
	dir = t.TempDir()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err = Restore(t.Context(), dir, file)
	return dir, got, err
}

// TestABackupThatWasChangedIsRefused, wherever the one byte is that differs.
func TestABackupThatWasChangedIsRefused(t *testing.T) {
	whole := sealedBackup(t)
	dir, got, err := restored(t, whole)
	if err != nil || !got.Checked || len(got.Files) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	dbtest.OpenFile(t, dir)
	line := bytes.LastIndex(whole, []byte(sealPrefix))
	var places []int
	for at := 0; at < line; at += line/40 + 1 {
		places = append(places, at)
	}
	for at := line; at < len(whole); at += 7 {
		places = append(places, at)
	}
	for _, at := range append(places, line-1, len(whole)-1) {
		changed := bytes.Clone(whole)
		changed[at] ^= 1
		dir, _, err := restored(t, changed)
		if !errors.Is(err, ErrChanged) {
			t.Errorf("byte %d of %d: %v", at, len(whole), err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 1 { // the lock
			t.Errorf("byte %d of %d leaves %v (%v)", at, len(whole), left, err)
		}
	}
	for name, content := range map[string][]byte{
		"cut": whole[:len(whole)-1], "without its line": whole[:line], "cut in the middle": whole[:line/2], "with more behind it": append(bytes.Clone(whole), 'x'),
	} {
		if _, _, err := restored(t, content); err == nil {
			t.Errorf("%s: it is restored", name)
		}
	}
}

// TestABackupFromBeforeChecksumsIsRestored, and it is told that nobody can check it.
func TestABackupFromBeforeChecksumsIsRestored(t *testing.T) {
	for name, files := range map[string]map[string][]byte{
		"a backup of an older version": {secret.KeyFile: []byte("the key")},
		"a copy of a database":         nil,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := dbtest.OpenFile(t, dir).Close(); err != nil {
				t.Fatal(err)
			}
			old := filepath.Join(dir, db.FileName)
			if files != nil {
				if err := db.Put(t.Context(), old, files); err != nil {
					t.Fatal(err)
				}
			}
			content, err := os.ReadFile(old)
			if err != nil {
				t.Fatal(err)
			}
			if _, got, err := restored(t, content); err != nil || got.Checked || len(got.Files) != 1+len(files) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// TestAnOlderVersionReadsABackup: it knows nothing of the line at the end.
func TestAnOlderVersionReadsABackup(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, sealedBackup(t), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := db.Take(t.Context(), path)
	if err != nil || string(files[secret.KeyFile]) != "the key" {
		t.Errorf("%v, %v", files, err)
	}
}
