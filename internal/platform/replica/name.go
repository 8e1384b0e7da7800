package replica

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// nameFile holds the id of a data folder.
const nameFile = "replica.id"

// NameIn is the name of the replica whose data folder is dir: that of its machine and the folder's id, which is made at the first start.
func NameIn(dir string) (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("read the name of this machine: %w", err)
	}
	path := filepath.Join(dir, nameFile)
	id, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		id = []byte(strings.ToLower(rand.Text()[:8]))
		err = os.WriteFile(path, id, 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("read the id of the data folder: %w", err)
	}
	return host + "-" + strings.TrimSpace(string(id)), nil
}
