// Package app builds the service from its settings, and starts and stops it in order. It is the only package that
// knows all others. The demo stands below it.
//
// It promises that everything it started has ended when Serve returns. Begin with app.go and serve.go.
package app
