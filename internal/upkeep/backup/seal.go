package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
)

// A backup ends in a line with the SHA-256 of everything before it. SQLite passes over what follows its last page.
const (
	sealPrefix = "\nwatchmark backup, SHA-256 of what stands before this line: "
	sealLength = len(sealPrefix) + 2*sha256.Size + len("\n")
	// sealedBy is the name, among the files of a backup, that says that there must be such a line.
	sealedBy = "checksum"
)

// ErrChanged is returned for a backup that is not as it was made.
var ErrChanged = errors.New("its content does not have the checksum that it had when it was made: the file was changed or cut on its way; " +
	"take another copy of it, or an older backup")

// seal adds the line to a finished backup.
func seal(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	sum := sha256.New()
	if _, err = io.Copy(sum, file); err == nil { // at the end of the file now
		_, err = fmt.Fprintf(file, "%s%x\n", sealPrefix, sum.Sum(nil))
	}
	return errors.Join(err, file.Close())
}

// unseal checks the line of a backup and takes it off; false when there is none. It returns ErrChanged.
func unseal(path string) (sealed bool, err error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil || info.Size() < int64(sealLength) {
		return false, err
	}
	content := info.Size() - int64(sealLength)
	line := make([]byte, sealLength)
	if _, err := file.ReadAt(line, content); err != nil {
		return false, err
	}
	if !bytes.HasPrefix(line, []byte(sealPrefix)) {
		return false, nil
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(file, 0, content)); err != nil {
		return false, err
	}
	if string(line[len(sealPrefix):]) != hex.EncodeToString(sum.Sum(nil))+"\n" {
		return false, ErrChanged
	}
	return true, file.Truncate(content)
}
