// Package tools holds commands that build the program and its generated files: release makes the files of a release,
// npm reads data packages for go generate. The service uses nothing of it.
package tools
