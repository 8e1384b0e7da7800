package app

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"watchmark/internal/catalog"
	"watchmark/internal/door/web"
)

// version and commit are set by the build of a release (internal/tools/release): -ldflags "-X watchmark/internal/app.version=1.2.3".
var version, commit = "dev", ""

// Version is the release, or dev.
func Version() string { return version }

// BuildInfo is the version, the commit where the build knows it and whether files differ
// from it, Go and the platform.
func BuildInfo() string {
	text := version
	if built := builtFrom(); !strings.Contains(version, built) {
		text += " " + built
	}
	return fmt.Sprintf("%s %s %s/%s", text, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// builtFrom is the commit, shortened, that the build of a release or Go itself put in.
func builtFrom() string {
	built, modified := commit, ""
	if info, ok := debug.ReadBuildInfo(); ok && built == "" {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				built = s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				modified = "-modified"
			}
		}
	}
	return built[:min(12, len(built))] + modified
}

// modules are the Go modules that the build says are linked into the program, by path.
func modules() []web.Module {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	list := make([]web.Module, 0, len(info.Deps))
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		list = append(list, web.Module{Path: m.Path, Version: m.Version})
	}
	return list
}

// userAgent is how this client names itself to other services.
func userAgent() string { return catalog.UserAgent(version) }
