// Package platform holds what any service needs and this one happens to: the database (db), what replicas know of
// each other's changes (changes), sign-ins under way (tickets), settings, secrets (secret), the HTTP client (httpx), the bounds
// of what comes in (listen) and of files that people send (rowread), logs, the schedule, tasks, turns (turn), server-sent events (sse), addresses of a home network (lan),
// free disk space (disk), certificate files (tlsfile), metrics, texts in two languages (bilingual), and what people are told as
// values (reason).
//
// It promises that nothing in it knows a show, an account or a media server. It uses no other room.
// Begin with db/db.go and settings/settings.go.
package platform
