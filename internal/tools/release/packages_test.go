package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// gunzip is what was compressed.
func gunzip(t *testing.T, packed []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(packed))
	must(t, err)
	content, err := io.ReadAll(r)
	must(t, err)
	return content
}

// unpack is the files of a tar archive by their names.
func unpack(t *testing.T, archive []byte) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		must(t, err)
		content, err := io.ReadAll(r)
		must(t, err)
		files[header.Name] = content
	}
}

// TestOneImageForEveryProcessor follows the digests of an image layout, from the index to the program.
func TestOneImageForEveryProcessor(t *testing.T) {
	t.Parallel()
	src := source{version: "1.2.3", commit: "c0ffee", at: time.Date(2026, 11, 23, 22, 0, 0, 0, time.UTC)}
	want := map[string]string{}
	archive := func() []byte {
		var images []image
		for _, p := range platforms {
			if p.docker == "" {
				continue
			}
			want[p.docker] = "the program for " + p.name
			img, err := newImage(p, []byte(want[p.docker]), src)
			must(t, err)
			images = append(images, img)
		}
		packed, err := ociArchive(src.at, images)
		must(t, err)
		return packed
	}
	packed := archive()
	if !bytes.Equal(packed, archive()) {
		t.Error("the same programs give another archive")
	}
	files := unpack(t, packed)
	type ref struct {
		MediaType, Digest string
		Size              int
		Platform          struct{ OS, Architecture, Variant string }
	}
	read := func(r ref, into any) {
		t.Helper()
		content := files["blobs/sha256/"+strings.TrimPrefix(r.Digest, "sha256:")]
		if digest(content) != r.Digest || len(content) != r.Size {
			t.Fatalf("%s of %d bytes is %s of %d", r.Digest, r.Size, digest(content), len(content))
		}
		must(t, json.Unmarshal(content, into))
	}
	var top, index struct{ Manifests []ref }
	must(t, json.Unmarshal(files["index.json"], &top))
	if string(files["oci-layout"]) != `{"imageLayoutVersion":"1.0.0"}` || len(top.Manifests) != 1 {
		t.Fatalf("layout %s with %d images", files["oci-layout"], len(top.Manifests))
	}
	read(top.Manifests[0], &index)
	for _, m := range index.Manifests {
		var manifest struct {
			Config ref
			Layers []ref
		}
		read(m, &manifest)
		var config struct {
			Architecture, Variant string
			Rootfs                struct {
				DiffIDs []string `json:"diff_ids"`
			}
		}
		read(manifest.Config, &config)
		if config.Architecture != m.Platform.Architecture || config.Variant != m.Platform.Variant {
			t.Errorf("the index says %v, the config %s %s", m.Platform, config.Architecture, config.Variant)
		}
		layer := gunzip(t, files["blobs/sha256/"+strings.TrimPrefix(manifest.Layers[0].Digest, "sha256:")])
		if digest(layer) != config.Rootfs.DiffIDs[0] {
			t.Error("the layer is not that of the config")
		}
		name := strings.TrimSuffix(config.Architecture+"/"+config.Variant, "/")
		if got := string(unpack(t, layer)["watchmark"]); got != want[name] {
			t.Errorf("%s holds %q", name, got)
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}

func TestLicencesAreTold(t *testing.T) {
	t.Parallel()
	for want, text := range map[string]string{
		"MIT":                    "Permission is hereby granted, free of\n charge, to any person obtaining a copy of this",
		"ISC":                    "Permission to use, copy, modify, and distribute this software for any\npurpose with or without fee is hereby granted",
		"Apache-2.0":             "   Apache License\n   Version 2.0, January 2004",
		"BSD-2-Clause":           "Redistribution and use in source and binary forms, with or without modification",
		"BSD-3-Clause":           "Redistribution and use in source and binary forms, with or without. The name may not be used to endorse or promote products derived from",
		"MPL-2.0":                "Mozilla Public License Version 2.0",
		"Apache-2.0 AND MIT":     "Apache License, Version 2.0. Parts: Permission is hereby granted, free of charge, to any person obtaining a copy",
		"NOASSERTION":            "All rights reserved.",
		"Apache-2.0 AND MPL-2.0": "MOZILLA PUBLIC LICENSE, VERSION 2.0 and APACHE LICENSE, VERSION 2.0",
	} {
		if got := licence(text); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

// TestTheUnitOfPackages: the unit in the packages is that of "service install", but for where things are.
func TestTheUnitOfPackages(t *testing.T) {
	t.Parallel()
	staged := t.TempDir()
	must(t, packageUnit(filepath.Join("..", "..", ".."), staged))
	unit, err := os.ReadFile(filepath.Join(staged, "watchmark.service"))
	must(t, err)
	for _, want := range []string{"ExecStart=/usr/bin/watchmark serve --data /var/lib/watchmark\n", "EnvironmentFile=-/etc/default/watchmark\n", "ProtectSystem=strict\n"} {
		if !strings.Contains(string(unit), want) {
			t.Errorf("the unit has no %q", want)
		}
	}
	// "service install" leaves a unit alone that does not have its mark.
	if strings.Contains(string(unit), "service install") {
		t.Error("the unit says that \"service install\" wrote it")
	}
}

// TestInstaller has the installer fetch a release from a server. The program in it is a script that says what
// it was called with.
func TestInstaller(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("the release below is for Linux with 64 bits")
	}
	for _, tool := range []string{"ssh-keygen", "curl", "sha256sum"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(tool + " is not installed")
		}
	}
	t.Parallel()
	key := filepath.Join(t.TempDir(), "key")
	if said, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	public, err := os.ReadFile(key + ".pub")
	must(t, err)
	program := "watchmark-1.2.3-linux-" + runtime.GOARCH
	edit := func(name, from, to string) func(t *testing.T, dist string) {
		return func(t *testing.T, dist string) {
			t.Helper()
			path := filepath.Join(dist, name)
			text, err := os.ReadFile(path)
			must(t, err)
			must(t, os.WriteFile(path, []byte(strings.ReplaceAll(string(text), from, to)), 0o600))
		}
	}
	remove := func(name string) func(t *testing.T, dist string) {
		return func(t *testing.T, dist string) { t.Helper(); must(t, os.Remove(filepath.Join(dist, name))) }
	}
	for name, c := range map[string]struct {
		spoil    func(t *testing.T, dist string) // the release, after it was signed
		unsigned bool
		fails    string // what it says then; empty if it installs
	}{
		"a release":                    {},
		"a release that nobody signed": {unsigned: true},
		"another program":              {spoil: edit(program, "echo", "evil"), fails: "does not have its checksum"},
		"another program with its checksum": {spoil: func(t *testing.T, dist string) {
			t.Helper()
			edit(program, "echo", "evil")(t, dist)
			must(t, writeSums(dist, io.Discard))
		}, fails: "the signature is not that of"},
		"no signature":         {spoil: remove("SHA256SUMS.sig"), fails: "SHA256SUMS.sig cannot be fetched"},
		"no program":           {spoil: remove(program), fails: program + " cannot be fetched"},
		"no checksums":         {spoil: remove("SHA256SUMS"), fails: "SHA256SUMS cannot be fetched"},
		"not this processor":   {unsigned: true, spoil: edit("SHA256SUMS", "linux-", "plan9-"), fails: "the release has nothing for linux-"},
		"a name with a folder": {unsigned: true, spoil: edit("SHA256SUMS", "watchmark-", "../watchmark-"), fails: "names a file in a folder"},
		"half an installer":    {spoil: func(t *testing.T, dist string) { half(t, filepath.Join(dist, "install.sh")) }, fails: "install.sh"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dist, called := t.TempDir(), filepath.Join(t.TempDir(), "called")
			server := httptest.NewServer(http.FileServer(http.Dir(dist)))
			defer server.Close()
			write(t, filepath.Join(dist, program), "#!/bin/sh\necho \"$@\" >"+called+"\n")
			v := values{Version: "1.2.3", Address: server.URL, Source: filepath.Join("..", "..", "..", "contrib", "packages")}
			if !c.unsigned {
				v.Signers = signer + " " + strings.TrimSpace(string(public))
			}
			must(t, put(filepath.Join(dist, "install.sh"), 0o600, func() ([]byte, error) { return v.fill("install.sh") }))
			must(t, writeSums(dist, io.Discard))
			if _, err := output(t.Context(), "ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", signedFor, filepath.Join(dist, "SHA256SUMS")); err != nil {
				t.Fatal(err)
			}
			if c.spoil != nil {
				c.spoil(t, dist)
			}
			bin := t.TempDir() // what needs root and systemd
			must(t, os.WriteFile(filepath.Join(bin, "id"), []byte("#!/bin/sh\necho 0\n"), 0o700))
			must(t, os.WriteFile(filepath.Join(bin, "install"), []byte("#!/bin/sh\n\"$3\" was installed as \"$4\"\n"), 0o700))
			script, err := os.ReadFile(filepath.Join(dist, "install.sh"))
			must(t, err)
			cmd := exec.Command("sh") // as "curl ADDRESS/install.sh | sh" runs it
			cmd.Stdin = bytes.NewReader(script)
			cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "TMPDIR="+t.TempDir(), "no_proxy=127.0.0.1")
			said, err := cmd.CombinedOutput()
			arguments, missing := os.ReadFile(called)
			if c.fails == "" {
				if err != nil || missing != nil || !slices.Contains([]string{"service install\n", "was installed as /usr/local/bin/watchmark\n"}, string(arguments)) {
					t.Errorf("%v, called with %q: %s", err, arguments, said)
				}
				if c.unsigned != strings.Contains(string(said), "not signed") {
					t.Errorf("it said %s", said)
				}
				return
			}
			if missing == nil {
				t.Errorf("the program was run: %s", said)
			}
			if c.fails != "install.sh" && (err == nil || !strings.Contains(string(said), c.fails)) {
				t.Errorf("%v: %s", err, said)
			}
		})
	}
}

// TestAnEndedInstallerLeavesNothing ends it while it fetches.
func TestAnEndedInstallerLeavesNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it is about the shells of Linux")
	}
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	t.Parallel()
	asked, goOn := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(asked)
		<-goOn
	}))
	defer server.Close()
	v := values{Version: "1.2.3", Address: server.URL, Source: filepath.Join("..", "..", "..", "contrib", "packages")}
	script, err := v.fill("install.sh")
	must(t, err)
	folder := t.TempDir()
	cmd := exec.Command("sh")
	cmd.Stdin = bytes.NewReader(script)
	cmd.Env = append(os.Environ(), "TMPDIR="+folder, "no_proxy=127.0.0.1")
	must(t, cmd.Start())
	<-asked
	must(t, cmd.Process.Signal(syscall.SIGTERM))
	close(goOn)
	if err := cmd.Wait(); err == nil {
		t.Error("it ended well")
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("it left %v (%v)", left, err)
	}
}

// half cuts a file in the middle.
func half(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, text[:len(text)/2], 0o600))
}
