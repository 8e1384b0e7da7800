// Package tools holds commands that build the program and its generated files: release makes the files of a release,
// packages is a module of its own with tools of others that release needs, and npm reads data packages for go generate.
// The service uses nothing of it.
package tools
