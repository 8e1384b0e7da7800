package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// The types below are the part of SPDX 2.3 in JSON that is written here: https://spdx.github.io/spdx-spec/v2.3/
type (
	spdxDocument struct {
		SPDXVersion       string             `json:"spdxVersion"`
		DataLicense       string             `json:"dataLicense"`
		SPDXID            string             `json:"SPDXID"`
		Name              string             `json:"name"`
		DocumentNamespace string             `json:"documentNamespace"`
		CreationInfo      spdxCreation       `json:"creationInfo"`
		Packages          []spdxPackage      `json:"packages"`
		Relationships     []spdxRelationship `json:"relationships"`
	}
	spdxCreation struct {
		Created  string   `json:"created"`
		Creators []string `json:"creators"`
	}
	spdxPackage struct {
		Name             string         `json:"name"`
		SPDXID           string         `json:"SPDXID"`
		VersionInfo      string         `json:"versionInfo"`
		Purpose          string         `json:"primaryPackagePurpose"`
		DownloadLocation string         `json:"downloadLocation"`
		FilesAnalyzed    bool           `json:"filesAnalyzed"`
		LicenseConcluded string         `json:"licenseConcluded"`
		LicenseDeclared  string         `json:"licenseDeclared"`
		CopyrightText    string         `json:"copyrightText"`
		Comment          string         `json:"comment,omitempty"`
		ExternalRefs     []spdxExternal `json:"externalRefs,omitempty"`
	}
	spdxExternal struct {
		Category string `json:"referenceCategory"`
		Type     string `json:"referenceType"`
		Locator  string `json:"referenceLocator"`
	}
	spdxRelationship struct {
		Element string `json:"spdxElementId"`
		Type    string `json:"relationshipType"`
		Related string `json:"relatedSpdxElement"`
	}
)

const (
	spdxUnknown = "NOASSERTION"
	spdxProgram = "SPDXRef-Package-watchmark"
)

// sbom lists what is linked into the programs, from what Go wrote into them: the modules with their versions
// and licences, and Go itself.
func sbom(ctx context.Context, root string, src source, programs []string) ([]byte, error) {
	all := sha256.New()
	versions, sums, goVersion := map[string]string{}, map[string]string{}, ""
	for _, file := range programs {
		info, err := buildinfo.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read the modules of %s: %w", filepath.Base(file), err)
		}
		goVersion = info.GoVersion
		for _, m := range info.Deps {
			versions[m.Path], sums[m.Path] = m.Version, m.Sum
		}
		sum, _, err := hash(file)
		if err != nil {
			return nil, err
		}
		_, _ = fmt.Fprintln(all, sum)
	}
	licences, err := moduleLicences(ctx, root, versions)
	if err != nil {
		return nil, err
	}
	doc := spdxDocument{
		SPDXVersion: "SPDX-2.3", DataLicense: "CC0-1.0", SPDXID: "SPDXRef-DOCUMENT", Name: "watchmark-" + src.version,
		DocumentNamespace: fmt.Sprintf("https://spdx.org/spdxdocs/watchmark-%s-%x", src.version, all.Sum(nil)),
		CreationInfo:      spdxCreation{Created: src.at.UTC().Format(time.RFC3339), Creators: []string{"Tool: watchmark-release"}},
		Packages: []spdxPackage{{
			Name: "watchmark", SPDXID: spdxProgram, VersionInfo: src.version, Purpose: "APPLICATION", DownloadLocation: spdxUnknown,
			LicenseConcluded: spdxUnknown, LicenseDeclared: "MIT", CopyrightText: "Copyright (c) 2026 The Watchmark authors",
			Comment: "Icons, data and style sheets of others that are in the program are listed in NOTICE.",
		}},
		Relationships: []spdxRelationship{{"SPDXRef-DOCUMENT", "DESCRIBES", spdxProgram}},
	}
	add := func(p spdxPackage) {
		p.SPDXID = "SPDXRef-Package-" + regexp.MustCompile(`[^A-Za-z0-9.-]+`).ReplaceAllString(p.Name, "-")
		p.Purpose, p.LicenseConcluded, p.CopyrightText = "LIBRARY", spdxUnknown, spdxUnknown
		doc.Packages = append(doc.Packages, p)
		doc.Relationships = append(doc.Relationships, spdxRelationship{spdxProgram, "DEPENDS_ON", p.SPDXID})
	}
	goVersion, _, _ = strings.Cut(goVersion, " ") // experiments and flags follow
	add(spdxPackage{
		Name: "stdlib", VersionInfo: strings.TrimPrefix(goVersion, "go"), DownloadLocation: "https://go.dev/dl/" + goVersion + ".src.tar.gz", LicenseDeclared: "BSD-3-Clause",
		ExternalRefs: []spdxExternal{{"PACKAGE-MANAGER", "purl", "pkg:golang/stdlib@" + strings.TrimPrefix(goVersion, "go")}},
	})
	paths := make([]string, 0, len(versions))
	for path := range versions {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for _, path := range paths {
		add(spdxPackage{
			Name: path, VersionInfo: versions[path], LicenseDeclared: licences[path],
			DownloadLocation: "https://proxy.golang.org/" + escapeModule(path) + "/@v/" + escapeModule(versions[path]) + ".zip",
			Comment:          "go.sum: " + sums[path],
			ExternalRefs:     []spdxExternal{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + strings.ToLower(path) + "@" + versions[path]}},
		})
	}
	text, err := json.MarshalIndent(doc, "", "  ")
	return append(text, '\n'), err
}

// escapeModule writes a path or version as the protocol of module proxies does, which tells capitals by "!".
func escapeModule(text string) string {
	return regexp.MustCompile(`[A-Z]`).ReplaceAllStringFunc(text, func(c string) string { return "!" + strings.ToLower(c) })
}

// moduleLicences are the licences of modules by their paths, as SPDX names them.
func moduleLicences(ctx context.Context, root string, versions map[string]string) (map[string]string, error) {
	listed, err := output(ctx, "go", "-C", root, "list", "-m", "-f", "{{.Path}}\t{{.Dir}}", "all")
	if err != nil {
		return nil, err
	}
	licences := map[string]string{}
	for line := range strings.Lines(listed) {
		path, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if versions[path] == "" {
			continue
		}
		var files []string
		for _, name := range []string{"LICEN[CS]E*", "COPYING*"} {
			found, err := filepath.Glob(filepath.Join(dir, name))
			if err != nil {
				return nil, err
			}
			files = append(files, found...)
		}
		var text strings.Builder
		for _, file := range files {
			if at, err := os.Stat(file); err == nil && at.IsDir() {
				continue
			}
			content, err := os.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("read the licence of %s: %w", path, err)
			}
			text.Write(content)
		}
		licences[path] = licence(text.String())
	}
	for path := range versions {
		if licences[path] == "" {
			return nil, fmt.Errorf("the module %s, which is linked in, is not listed", path)
		}
	}
	return licences, nil
}

// licencePhrases tell licences by a sentence that the others do not have.
var licencePhrases = []struct{ id, phrase string }{
	{"Apache-2.0", "Apache License Version 2.0"},
	{"BSD-3-Clause", "used to endorse or promote products derived"},
	{"ISC", "distribute this software for any purpose with or without fee"},
	{"MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"MPL-2.0", "Mozilla Public License Version 2.0"},
}

// licence is the licence that a text states, all of them if they are several, or that nothing is known.
func licence(text string) string {
	text = strings.Join(strings.Fields(strings.ReplaceAll(text, ",", " ")), " ")
	var found []string
	for _, l := range licencePhrases {
		if strings.Contains(strings.ToLower(text), strings.ToLower(strings.Join(strings.Fields(strings.ReplaceAll(l.phrase, ",", " ")), " "))) {
			found = append(found, l.id)
		}
	}
	if strings.Contains(text, "Redistribution and use in source and binary forms") && !slices.Contains(found, "BSD-3-Clause") {
		found = append(found, "BSD-2-Clause")
	}
	return cmp.Or(strings.Join(found, " AND "), spdxUnknown)
}
