package settings

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Digest tells what file, environment and command line set here, for Differ: a key and a mark of its value each, which says nothing
// of the value. Keys of which each replica may have its own are left out.
func (m *Manager) Digest() string {
	known := options()
	var all []string
	for _, path := range slices.Sorted(maps.Keys(m.fixed)) {
		if !known[path].own {
			all = append(all, path+"="+m.sealer.Mark(fmt.Sprintf("%#v", m.fixed[path].value), path))
		}
	}
	return strings.Join(all, " ")
}

// Differ are the keys that replicas with these digests do not set alike.
func Differ(digests []string) []string {
	times := map[string]int{} // by key and mark
	for _, digest := range digests {
		for _, one := range strings.Fields(digest) {
			times[one]++
		}
	}
	differing := map[string]bool{}
	for one, n := range times {
		if path, _, _ := strings.Cut(one, "="); n < len(digests) {
			differing[path] = true
		}
	}
	return slices.Sorted(maps.Keys(differing))
}
