// Command gen makes snapshot.bin of the npm package bangumi-data, by the same code that
// packs what the service fetches. Run it with "go generate ./internal/dataset".
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"watchmark/internal/dataset"
	"watchmark/internal/npm"
)

func main() {
	err := write("snapshot.bin") // go generate runs in internal/dataset
	if errors.Is(err, npm.ErrNoNPM) {
		fmt.Println("gen: npm is not installed: the snapshot of bangumi-data stays as it is")
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func write(path string) error {
	const document = "dist/data.json"
	files, err := npm.Files(context.Background(), "bangumi-data", dataset.Version, document)
	if err != nil {
		return err
	}
	packed, err := dataset.Pack(bytes.NewReader(files[document]), dataset.Head{Version: dataset.Version})
	if err != nil {
		return err
	}
	return os.WriteFile(path, packed, 0o644)
}
