package main

import (
	"bytes"
	"context"
	"crypto/md5" // Synology and fnOS ask for it, against damage
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"
	"time"
)

// signedFor is the namespace of the signature (ssh-keygen -n), signer the name that allowed_signers has for the key.
const (
	signedFor = "watchmark-release"
	signer    = "watchmark"
)

// values are what the files in contrib/packages leave open.
type values struct {
	Version, SemVer, Numbers string // as it is; of three numbers and more, as nfpm wants it; three numbers alone
	Build                    int64  // minutes since 1970: grows with every version
	Time                     time.Time
	Address, Signers         string
	Root, Source, Staged     string // folders: the source tree, contrib/packages in it, what is made from it
	Program                  string
	Nfpm, Synology, FnOS     string // names of the processor
	Checksum                 string // MD5 of the archive with the program
	Systems                  []system
}

// system is a part of the formula for Homebrew.
type system struct {
	Name     string
	Programs []struct{ CPU, File, Sum string }
}

var numbers = regexp.MustCompile(`^\d+\.\d+\.\d+`)

// pack makes the packages of contrib/packages from the programs in dist.
func pack(ctx context.Context, root, dist string, src source, o options, built []platform) error {
	staged, err := os.MkdirTemp("", "watchmark-release-")
	if err != nil {
		return fmt.Errorf("make a folder for the packages: %w", err)
	}
	defer func() { _ = os.RemoveAll(staged) }()
	v := values{
		Version: src.version, SemVer: src.version, Numbers: numbers.FindString(src.version), Build: src.at.Unix() / 60, Time: src.at.UTC(), Address: strings.TrimSuffix(o.address, "/"),
		Root: root, Source: filepath.Join(root, "contrib", "packages"), Staged: staged,
	}
	if v.Numbers == "" {
		v.Numbers, v.SemVer = "0.0.0", "0.0.0-"+src.version
	}
	if err := packageUnit(root, staged); err != nil {
		return err
	}
	nfpm, err := output(ctx, "go", "-C", filepath.Join(root, "internal", "tools", "packages"), "tool", "-n", "nfpm")
	if err != nil {
		return err
	}
	var programs []string
	for _, p := range built {
		v.Program = src.program(dist, p)
		programs = append(programs, v.Program)
		if err := v.addToFormula(p); err != nil {
			return err
		}
		if p.docker == "" {
			continue
		}
		v.Nfpm, v.Synology, v.FnOS = strings.ReplaceAll(p.docker, "/v", ""), p.synology, p.fnos
		config := filepath.Join(staged, "nfpm.yaml")
		if err := put(config, 0o600, func() ([]byte, error) { return v.fill("nfpm.yaml") }); err != nil {
			return err
		}
		for _, format := range []string{"deb", "rpm"} {
			if _, err := output(ctx, nfpm, "package", "--config", config, "--packager", format, "--target", filepath.Join(dist, src.name(p.cpu()+"."+format))); err != nil {
				return err
			}
		}
		if err := put(filepath.Join(dist, src.name("synology-"+p.cpu()+".spk")), 0o644, v.synologyPackage); err != nil {
			return err
		}
		if p.fnos != "" {
			if err := put(filepath.Join(dist, src.name("fnos-"+p.cpu()+".fpk")), 0o644, v.fnosPackage); err != nil {
				return err
			}
		}
	}
	if err := put(filepath.Join(dist, src.name("sbom.spdx.json")), 0o644, func() ([]byte, error) { return sbom(ctx, root, src, programs) }); err != nil {
		return err
	}
	if o.key != "" {
		public, err := output(ctx, "ssh-keygen", "-y", "-f", o.key)
		if err != nil {
			return err
		}
		fields := strings.Fields(public) // kind, key and perhaps a comment
		v.Signers = fmt.Sprintf("%s namespaces=%q %s", signer, signedFor, strings.Join(fields[:2], " "))
		if err := put(filepath.Join(dist, "allowed_signers"), 0o644, func() ([]byte, error) { return []byte(v.Signers + "\n"), nil }); err != nil {
			return err
		}
	}
	if v.Address != "" { // Homebrew fetches from an address alone
		if err := put(filepath.Join(dist, "watchmark.rb"), 0o644, func() ([]byte, error) { return v.fill("watchmark.rb") }); err != nil {
			return err
		}
	}
	if err := put(filepath.Join(dist, "watchmark-unraid.xml"), 0o644, func() ([]byte, error) { return os.ReadFile(filepath.Join(root, "contrib", "unraid", "watchmark.xml")) }); err != nil {
		return err
	}
	return put(filepath.Join(dist, "install.sh"), 0o755, func() ([]byte, error) { return v.fill("install.sh") })
}

// fill is a file of contrib/packages with the values in it.
func (v *values) fill(name string) ([]byte, error) {
	text, err := v.read(name)
	if err != nil {
		return nil, err
	}
	t, err := template.New(name).Option("missingkey=error").Parse(string(text))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, v)
	return out.Bytes(), err
}

func (v *values) read(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(v.Source, name))
}

// packageUnit writes the unit as packages have it: the program is in /usr/bin, settings are in /etc/default.
func packageUnit(root, staged string) error {
	unit, err := os.ReadFile(filepath.Join(root, "contrib", "watchmark.service"))
	if err != nil {
		return fmt.Errorf("read the unit: %w", err)
	}
	for _, change := range [][2]string{
		{"# Written by \"watchmark service install\", and written anew by the next one.\n# Changes belong into \"systemctl edit watchmark\".\n", "# Changes belong into \"systemctl edit watchmark\".\n"},
		{"[Service]\n", "[Service]\nEnvironmentFile=-/etc/default/watchmark\n"},
		{"ExecStart=/usr/local/bin/", "ExecStart=/usr/bin/"},
	} {
		if bytes.Count(unit, []byte(change[0])) != 1 {
			return fmt.Errorf("contrib/watchmark.service does not have %q once", change[0])
		}
		unit = bytes.ReplaceAll(unit, []byte(change[0]), []byte(change[1]))
	}
	return put(filepath.Join(staged, "watchmark.service"), 0o600, func() ([]byte, error) { return unit, nil })
}

// addToFormula adds the program for p, which Homebrew runs on macOS and on Linux with 64 bits.
func (v *values) addToFormula(p platform) error {
	name := map[string]string{"linux": "linux", "darwin": "macos"}[strings.TrimSuffix(p.name, "-"+p.cpu())]
	cpu := map[string]string{"amd64": "intel", "arm64": "arm"}[p.cpu()]
	if name == "" || cpu == "" {
		return nil
	}
	sum, _, err := hash(v.Program)
	if err != nil {
		return err
	}
	if len(v.Systems) == 0 || v.Systems[len(v.Systems)-1].Name != name {
		v.Systems = append(v.Systems, system{Name: name})
	}
	last := &v.Systems[len(v.Systems)-1]
	last.Programs = append(last.Programs, struct{ CPU, File, Sum string }{cpu, filepath.Base(v.Program), sum})
	return nil
}

// files collects entries from contrib/packages; the first error stays.
type files struct {
	v       *values
	entries []entry
	err     error
}

func (f *files) add(name string, mode fs.FileMode, content []byte, err error) {
	f.err = errors.Join(f.err, err)
	f.entries = append(f.entries, entry{name, mode, content})
}

// copy adds the file from as name.
func (f *files) copy(name string, mode fs.FileMode, from string) {
	content, err := f.v.read(from)
	f.add(name, mode, content, err)
}

// filled adds the file from as name, with the values in it.
func (f *files) filled(name, from string) {
	content, err := f.v.fill(from)
	f.add(name, 0o644, content, err)
}

func (f *files) folder(name string) { f.add(name, 0o755, nil, nil) }

// nothing adds scripts that a NAS wants to have, and that have nothing to do.
func (f *files) nothing(names ...string) {
	for _, name := range names {
		f.add(name, 0o755, []byte("#!/bin/sh\nexit 0\n"), nil)
	}
}

// inner is the archive with the program, which the NAS unpacks, and puts its checksum into the values.
func (f *files) inner() ([]byte, error) {
	program, err := os.ReadFile(f.v.Program)
	f.add("watchmark", 0o755, program, err)
	if f.err != nil {
		return nil, f.err
	}
	packed, err := gzipTar(f.v.Time, f.entries...)
	f.v.Checksum = fmt.Sprintf("%x", md5.Sum(packed))
	return packed, err
}

// synologyPackage follows https://help.synology.com/developer-guide/synology_package/introduction.html
func (v *values) synologyPackage() ([]byte, error) {
	inside := files{v: v}
	inside.copy("watchmark.sc", 0o644, "synology/watchmark.sc")
	packed, err := inside.inner()
	if err != nil {
		return nil, err
	}
	out := files{v: v}
	out.filled("INFO", "synology/INFO")
	out.add("package.tgz", 0o644, packed, nil)
	out.folder("scripts/")
	out.copy("scripts/start-stop-status", 0o755, "nas-service")
	out.nothing("scripts/preinst", "scripts/postinst", "scripts/preuninst", "scripts/postuninst", "scripts/preupgrade", "scripts/postupgrade")
	out.folder("conf/")
	out.copy("conf/privilege", 0o644, "synology/privilege")
	out.copy("conf/resource", 0o644, "synology/resource")
	out.copy("LICENSE", 0o644, "../../LICENSE")
	out.copy("PACKAGE_ICON.PNG", 0o644, "icon_64.png")
	out.copy("PACKAGE_ICON_256.PNG", 0o644, "icon_256.png")
	if out.err != nil {
		return nil, out.err
	}
	return tarball(v.Time, out.entries...)
}

// fnosPackage follows https://developer.fnnas.com/docs/core-concepts/framework; how fnpack packs it, as
// compressed tar archives with the MD5 of the inner one in the manifest, is read from packages of others.
func (v *values) fnosPackage() ([]byte, error) {
	inside := files{v: v}
	inside.folder("ui/")
	inside.copy("ui/config", 0o644, "fnos/ui")
	inside.folder("ui/images/")
	inside.copy("ui/images/icon_64.png", 0o644, "icon_64.png")
	inside.copy("ui/images/icon_256.png", 0o644, "icon_256.png")
	packed, err := inside.inner()
	if err != nil {
		return nil, err
	}
	out := files{v: v}
	out.filled("manifest", "fnos/manifest")
	out.add("app.tgz", 0o644, packed, nil)
	out.folder("cmd/")
	out.copy("cmd/main", 0o755, "nas-service")
	out.nothing("cmd/install_init", "cmd/install_callback", "cmd/uninstall_init", "cmd/uninstall_callback",
		"cmd/upgrade_init", "cmd/upgrade_callback", "cmd/config_init", "cmd/config_callback")
	out.folder("config/")
	out.copy("config/privilege", 0o644, "fnos/privilege")
	out.add("config/resource", 0o644, []byte("{}\n"), nil)
	out.copy("ICON.PNG", 0o644, "icon_64.png")
	out.copy("ICON_256.PNG", 0o644, "icon_256.png")
	if out.err != nil {
		return nil, out.err
	}
	return gzipTar(v.Time, out.entries...)
}
