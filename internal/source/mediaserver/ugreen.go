package mediaserver

import "net/http"

// oldHeader is how the NAS kinds want to be asked: each with the one header that the others refuse or do not read
// (upstreams/watchers.md section 1).
func oldHeader(identity, token string) http.Header {
	value := withToken(identity, token)
	h := http.Header{"X-Emby-Authorization": {value}, "Authorization": {value}}
	if token != "" {
		h.Set("X-Emby-Token", token)
	}
	return h
}

// ugreen is the media service of UGREEN's NAS, under /emby and without a public route.
var ugreen = trait{product: "UGREEN", oneID: true, header: oldHeader, fields: emby.fields, dated: emby.dated, layout: emby.layout}
