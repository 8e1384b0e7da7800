package web

import "strings"

// Served are the paths of all pages and of those that lead to them.
func Served(g Groups) (paths []string) {
	for _, p := range pages(g.doors()) {
		_, path, _ := strings.Cut(p.pattern(), " ")
		paths = append(paths, path)
	}
	for old := range moved {
		paths = append(paths, old, old+"/")
	}
	return paths
}
