package mediaserver

import (
	"net/http"
	"net/url"
	"time"
)

// emby gives rows in lists nothing of what is not named, the time and the number of plays included
// (upstreams/watchers.md section 3.4).
var emby = trait{
	product: "Emby",
	header: func(identity, token string) http.Header {
		h := http.Header{"Authorization": {withToken(identity, token)}}
		if token != "" {
			h.Set("X-Emby-Token", token)
		}
		return h
	},
	fields:  "ProviderIds,OriginalTitle,Path,PremiereDate,ProductionYear,UserDataLastPlayedDate,UserDataPlayCount",
	public:  true,
	socket:  "/embywebsocket",
	inQuery: true,
	ping:    20 * time.Second,
	dated:   "DatePlayed", layout: "20060102150405",
	exact: func(user, item string) (string, url.Values) {
		return "/Users/" + url.PathEscape(user) + "/Items/" + url.PathEscape(item) + "/UserData", nil
	},
}
