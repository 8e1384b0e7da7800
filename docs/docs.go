// Package docs holds the documents for users in the program, which serves them at /docs. It stands outside of
// internal, because go:embed reads nothing above the folder of its package.
package docs

import "embed"

// Files are the documents in English, those in Chinese below zh-CN, and their pictures. The documents for builders are
// not in it; their names begin with a or d.
//
//go:embed [^ad]* ac*.md archive.md
var Files embed.FS
