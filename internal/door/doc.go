// Package door is what comes in by HTTP: the JSON API and the webhooks (api), the pages (web), and who may come in
// (auth).
//
// It promises that a webhook is answered from the intake alone, without a call to another service, and that a page
// only reads: every change goes through the API. It uses all rooms but app and testkit.
// Begin with api/server.go and web/web.go.
package door
