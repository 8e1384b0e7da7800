// Package testkit holds every simulated server and test helper, a package each: the catalog, the tracker, media
// servers, a NAS, a TV box, a browser, data folders, a bad line, and the fault harness of the whole service (faults).
//
// It promises to behave as the facts in upstreams say, not as our code expects. Only tests, the demo and
// `watchmark simulate` use it. Begin with catalogtest/server.go.
package testkit
