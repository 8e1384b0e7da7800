package settings

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"io"
	"os"
	"path/filepath"
)

// The most that is read of authorities: bytes of a file, and files of a folder.
const (
	longestAuthority = 1 << 20
	mostAuthorities  = 1000
)

// Authorities are those of the system, and of the certificates (PEM or DER) in the file at path, or in the files of
// the folder at path. Files of a folder that hold none are passed over. nil for an empty path, which is those of the system.
func Authorities(path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, cannotRead.With(err)
	}
	files := []string{path}
	if info.IsDir() {
		if files, err = filesIn(path); err != nil {
			return nil, err
		}
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // a system that has none
	}
	found := false
	for _, file := range files {
		certificates, err := readCertificates(file)
		if err != nil {
			return nil, cannotRead.With(err)
		}
		for _, c := range certificates {
			found = true
			pool.AddCert(c)
		}
	}
	if !found {
		return nil, noCertificate
	}
	return pool, nil
}

// filesIn are the paths of the files of a folder, those that are linked there too.
func filesIn(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, cannotRead.With(err)
	}
	if len(entries) > mostAuthorities {
		return nil, tooManyFiles.With(mostAuthorities)
	}
	var files []string
	for _, entry := range entries {
		path := filepath.Join(folder, entry.Name())
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			files = append(files, path)
		}
	}
	return files, nil
}

// readCertificates reads the certificates of a file; none when it holds something else.
func readCertificates(path string) (all []*x509.Certificate, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // opened for reading: nothing can be lost
	text, err := io.ReadAll(io.LimitReader(file, longestAuthority))
	if err != nil {
		return nil, err
	}
	if !bytes.Contains(text, []byte("-----BEGIN")) {
		if c, err := x509.ParseCertificate(text); err == nil {
			all = append(all, c)
		}
		return all, nil
	}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		if c, err := x509.ParseCertificate(block.Bytes); err == nil {
			all = append(all, c)
		}
	}
	return all, nil
}

// checkAuthorities takes the path of a file or folder with certificates.
func checkAuthorities(text string) (string, error) {
	path, err := checkFile(text)
	if err != nil {
		return "", err
	}
	_, err = Authorities(path)
	return path, err
}
