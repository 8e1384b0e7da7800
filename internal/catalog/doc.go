// Package catalog is the client of the catalog that keeps people's lists: the Bangumi v0 API, its search and its
// OAuth, as upstreams/catalog.md describes them. Below it: the accounts whose lists are marked (account), the offline
// copy of the catalog (archive) and the covers (cover).
//
// It promises: look-ups are anonymous unless an account's token is given; marking reads before it writes, so a
// repeated mark writes nothing; writes of one account on one subject never overlap; rating, tags and comment are
// never sent; every error is an *Error whose Kind a caller can branch on.
//
// It uses platform and watch. Begin with client.go and mark.go.
package catalog
