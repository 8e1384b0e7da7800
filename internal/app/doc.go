// Package app builds the service from its settings, and starts and stops it in order. It is the only package that
// knows all others. The demo stands below it.
//
// It promises that a stop is bounded in time: what has not ended by then is logged, cut off, and taken up again at the
// next start. Begin with app.go and serve.go.
package app
