package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"time"
)

// entry is a file of an archive, or a folder if its name ends in a slash.
type entry struct {
	name    string
	mode    fs.FileMode
	content []byte
}

// tarball is a tar archive of entries in their order. All belong to root and were changed at at: nothing
// of this machine is in it.
func tarball(at time.Time, entries ...entry) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: e.name, Mode: int64(e.mode), Size: int64(len(e.content)), ModTime: at, Format: tar.FormatUSTAR}
		if e.name[len(e.name)-1] == '/' {
			header.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("pack %s: %w", e.name, err)
		}
		if _, err := w.Write(e.content); err != nil {
			return nil, fmt.Errorf("pack %s: %w", e.name, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	return out.Bytes(), nil
}

// gzipped is content, compressed, without name and time.
func gzipped(content []byte) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(content); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	return out.Bytes(), nil
}

// gzipTar is tarball, compressed.
func gzipTar(at time.Time, entries ...entry) ([]byte, error) {
	packed, err := tarball(at, entries...)
	if err != nil {
		return nil, err
	}
	return gzipped(packed)
}
