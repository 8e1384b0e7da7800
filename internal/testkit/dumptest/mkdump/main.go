// Command mkdump writes a synthetic dump of the catalog site to a file.
package main

import (
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"watchmark/internal/testkit/dumptest"
)

func main() {
	scale := flag.Float64("scale", 1, "rows as a part of those of a real dump")
	seed := flag.Uint64("seed", 1, "tells apart dumps of the same size")
	flag.Usage = func() {
		_, _ = fmt.Fprintln(flag.CommandLine.Output(), "usage: mkdump [-scale 1] [-seed 1] dump.zip")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	spec := dumptest.Scaled(*scale)
	spec.Seed = *seed
	if err := run(flag.Arg(0), spec); err != nil {
		fmt.Fprintln(os.Stderr, "mkdump:", err)
		os.Exit(1)
	}
}

func run(path string, spec dumptest.Spec) error {
	start := time.Now()
	if err := write(path, spec); err != nil {
		return err
	}
	seconds := time.Since(start).Seconds()
	if err := list(path); err != nil {
		return err
	}
	fmt.Printf("written in %.1f s\n", seconds)
	return nil
}

func write(path string, spec dumptest.Spec) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<20)
	if err := dumptest.Write(w, spec); err != nil {
		return err
	}
	return w.Flush()
}

// list prints the rows and bytes of every member.
func list(path string) (err error) {
	r, err := zip.OpenReader(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	fmt.Printf("%-30s %10s %14s %14s\n", "member", "rows", "bytes", "compressed")
	for _, f := range r.File {
		rows, err := lines(f)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		fmt.Printf("%-30s %10d %14d %14d\n", f.Name, rows, f.UncompressedSize64, f.CompressedSize64)
	}
	return nil
}

func lines(f *zip.File) (count int, err error) {
	r, err := f.Open()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	b := make([]byte, 1<<20)
	for {
		n, err := r.Read(b)
		count += bytes.Count(b[:n], []byte("\n"))
		if errors.Is(err, io.EOF) {
			return count, nil
		}
		if err != nil {
			return count, err
		}
	}
}
