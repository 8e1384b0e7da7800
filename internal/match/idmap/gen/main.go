// Command gen makes snapshot.bin of the npm package bangumi-data, by the same code that
// packs what the service fetches. Run it with "go generate ./internal/match/idmap".
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"watchmark/internal/match/idmap"
	"watchmark/internal/tools/npm"
)

func main() {
	err := write("snapshot.bin") // go generate runs in internal/match/idmap
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
	files, err := npm.Files(context.Background(), "bangumi-data", idmap.Version, document)
	if err != nil {
		return err
	}
	packed, err := idmap.Pack(bytes.NewReader(files[document]), idmap.Head{Version: idmap.Version})
	if err != nil {
		return err
	}
	return os.WriteFile(path, packed, 0o644)
}
