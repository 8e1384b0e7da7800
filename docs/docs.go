// Package docs holds the documents for users in the program, which serves them at /docs. It stands outside of
// internal, because go:embed reads nothing above the folder of its package.
package docs

import "embed"

// Files are the documents in English, those in Chinese below zh-CN, and their pictures. The documents for builders are
// not in it: api.md, architecture.md, and the folders design and decisions.
//
//go:embed [^a]*.md ac*.md archive.md install sources zh-CN pictures
var Files embed.FS
