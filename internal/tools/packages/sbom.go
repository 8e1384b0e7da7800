// Command packages checks the list of what is linked in, as .ci/release writes it, with the library of SPDX.
// Its module holds nfpm, too, which packs deb and rpm: a module of its own, so that neither of them is among the
// modules of the program, and no test of the program waits for them.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"

	spdx "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdxlib"
)

func main() {
	for _, path := range os.Args[1:] {
		if err := check(path); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", path, err)
			os.Exit(1)
		}
	}
}

// check reads an SPDX document, and compares it with what the library writes of it: a field with a wrong name
// or in a wrong place would be missing there.
func check(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	doc, err := spdx.Read(bytes.NewReader(text))
	if err != nil {
		return err
	}
	if err := spdxlib.ValidateDocument(doc); err != nil {
		return err
	}
	if doc.SPDXVersion != "SPDX-2.3" || len(doc.Packages) < 10 || len(doc.Relationships) != len(doc.Packages) {
		return fmt.Errorf("%s with %d packages and %d relationships", doc.SPDXVersion, len(doc.Packages), len(doc.Relationships))
	}
	var again bytes.Buffer
	if err := spdx.Write(doc, &again); err != nil {
		return err
	}
	var ours, theirs map[string]any
	if err := json.Unmarshal(text, &ours); err != nil {
		return err
	}
	if err := json.Unmarshal(again.Bytes(), &theirs); err != nil {
		return err
	}
	for key := range ours {
		if !reflect.DeepEqual(ours[key], theirs[key]) {
			return fmt.Errorf("%s is read as %v", key, theirs[key])
		}
	}
	return nil
}
