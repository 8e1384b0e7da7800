package app

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"watchmark/internal/catalog"
	"watchmark/internal/web"
)

// version is set by the build of a release: -ldflags "-X watchmark/internal/app.version=1.2.3".
var version = "dev"

// Version is the release, or dev.
func Version() string { return version }

// BuildInfo is the version, the commit where the build knows it, Go and the platform.
func BuildInfo() string {
	text := version
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				text += " " + s.Value[:12]
			}
		}
	}
	return fmt.Sprintf("%s %s %s/%s", text, runtime.Version(), runtime.GOOS, runtime.GOARCH)
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
