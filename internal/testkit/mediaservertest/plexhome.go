package mediaservertest

import (
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

func (tv *PlexTV) user(w http.ResponseWriter, r *http.Request, token *plexToken) {
	u, ok := tv.person(token.name)
	if !ok {
		plexFail(w, r, http.StatusUnauthorized, 1001, "User could not be authenticated")
		return
	}
	var username any = u.Name
	if u.Managed {
		username = nil
	}
	plexAnswer(w, r, http.StatusOK, "user", object{
		"id": plexAccount(u), "uuid": plexUUID(u.Name), "username": username, "title": u.Name, "friendlyName": "", "email": strings.ToLower(u.Name) + "@home.example",
		"home": u.Home, "homeAdmin": u.Home && u.owns(), "restricted": u.Managed, "protected": u.PIN != "",
	})
}

func (tv *PlexTV) homeUsers(w http.ResponseWriter, r *http.Request, token *plexToken) {
	users := []object{}
	asks, _ := tv.person(token.name)
	for _, u := range tv.people() {
		if !u.Home || !asks.Home {
			continue
		}
		var username any = u.Name
		if u.Managed {
			username = nil
		}
		users = append(users, object{
			"id": plexAccount(u), "uuid": plexUUID(u.Name), "title": u.Name, "username": username, "friendlyName": nil, "restricted": u.Managed,
			"admin": u.owns(), "guest": false, "protected": u.PIN != "", "hasPassword": u.Password != "",
		})
	}
	plexAnswer(w, r, http.StatusOK, "home", object{"users": users})
}

// mostSwitches is how many switches of a minute plex.tv lets pass. There is such a number; the real one is unknown.
const mostSwitches = 10

func (tv *PlexTV) switchUser(w http.ResponseWriter, r *http.Request, token *plexToken) {
	now := tv.now()
	tv.switches = slices.DeleteFunc(tv.switches, func(at time.Time) bool { return now.Sub(at) > time.Minute })
	if len(tv.switches) >= mostSwitches {
		plexFail(w, r, http.StatusTooManyRequests, 1003, "API rate limit exceeded")
		return
	}
	tv.switches = append(tv.switches, now)
	asks, _ := tv.person(token.name)
	people := tv.people()
	at := slices.IndexFunc(people, func(u User) bool { return u.Home && plexUUID(u.Name) == r.PathValue("uuid") })
	switch {
	case at < 0 || !asks.Home:
		plexFail(w, r, http.StatusNotFound, 1002, "User not found in home")
	case people[at].PIN != "" && people[at].PIN != r.URL.Query().Get("pin"):
		plexFail(w, r, http.StatusForbidden, 1041, "Invalid PIN")
	default:
		u := people[at]
		plexAnswer(w, r, http.StatusCreated, "user", object{"id": plexAccount(u), "uuid": plexUUID(u.Name), "title": u.Name, "authToken": tv.token(u.Name, token.client)})
	}
}

// resources lists the devices of an account: its servers, those shared with it, and a player, which is none.
func (tv *PlexTV) resources(w http.ResponseWriter, r *http.Request, token *plexToken) {
	list := []object{{
		"name": "TV", "product": "Plex for Android (TV)", "productVersion": "10.2.1", "clientIdentifier": "pl-1", "provides": "client,player,pubsub-player",
		"owned": true, "home": false, "ownerId": nil, "sourceTitle": nil, "accessToken": nil, "presence": true, "connections": []object{},
	}}
	asks, _ := tv.person(token.name)
	for _, one := range tv.servers {
		u, err := one.s.User(token.name)
		if err != nil {
			continue // it is not shared with them
		}
		owner := one.owner()
		var ownerID, source any
		if !u.owns() {
			ownerID, source = plexAccount(owner), owner.Name
		}
		list = append(list, object{
			"name": one.s.cfg.Name, "product": "Plex Media Server", "productVersion": one.s.cfg.Version, "clientIdentifier": one.id, "provides": "server",
			"owned": u.owns(), "home": asks.Home && owner.Home, "ownerId": ownerID, "sourceTitle": source, "accessToken": one.token(u.Name),
			"publicAddress": "203.0.113.9", "httpsRequired": false, "relay": true, "presence": true, "publicAddressMatches": u.owns(), "dnsRebindingProtection": false,
			"connections": tv.connections(r, one, u.owns()),
		})
	}
	plexAnswer(w, r, http.StatusOK, "resources", list)
}

// connections are the addresses of a server. Those of a shared one that are local belong to the LAN of its owner, where
// somebody else may answer.
func (tv *PlexTV) connections(r *http.Request, of *plexServer, owned bool) []object {
	q := r.URL.Query()
	address := strings.TrimPrefix(of.url, "http://")
	if of.tvToo || address == "" {
		address = r.Host // by which the asker reaches plex.tv, too
	}
	connection := func(address string, local, relay bool) object {
		host, port, _ := net.SplitHostPort(address)
		number, _ := strconv.Atoi(port) // 0 where the address names none
		// Nobody can have the certificate for a .plex.direct name but Plex: such an address is listed, and leads nowhere.
		protocol, uri := "https", "https://"+strings.NewReplacer(".", "-", ":", "-").Replace(host)+".ab12cd.plex.direct:"+port
		if q.Get("includeHttps") != "1" && !relay {
			protocol, uri = "http", "http://"+address
		}
		return object{"protocol": protocol, "address": host, "port": number, "uri": uri, "local": local, "relay": relay, "IPv6": strings.Contains(host, ":")}
	}
	list := []object{connection(address, owned, false)}
	if !owned {
		list = slices.Insert(list, 0, connection(tv.Stranger, true, false))
	}
	if q.Get("includeRelay") == "1" {
		list = append(list, connection("198.51.100.7:8443", false, true))
	}
	return list
}
