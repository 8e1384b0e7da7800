package db

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// lockName is the file whose lock says that a service runs on a data folder.
const lockName = "watchmark.lock"

// ErrLocked is returned by Lock while another process holds the folder.
var ErrLocked = errors.New("another watchmark runs on this data folder: stop it first, or use a folder of its own (--data)")

// Lock holds a data folder for one process: two services on one database would lose
// each other's marks at the catalog, and restore must not meet either. The folder is
// created with mode 0700. The lock ends with the process, however that ends. It returns
// ErrLocked, or says why the folder cannot be locked.
func Lock(dataDir string) (unlock func() error, err error) {
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return nil, fmt.Errorf("create the data folder %s: %w; give the service's user write access to it", dataDir, err)
	}
	lock := flock.New(filepath.Join(dataDir, lockName), flock.SetPermissions(0o600))
	held, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the data folder %s: %w; keep it on a local disk that this user may write to", dataDir, err)
	}
	if !held {
		return nil, fmt.Errorf("%s: %w", dataDir, ErrLocked)
	}
	return lock.Unlock, nil
}
