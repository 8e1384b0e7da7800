package mediaserver

// PlexAddresses are where the services of Plex are; without a slash at their ends.
type PlexAddresses struct {
	Account string // signs accounts in
	Clients string // lists the servers and the Home members of an account
	Page    string // where a person confirms a sign-in
}

// PlexServer is a server that a Plex account may use.
type PlexServer struct {
	ID, Name, Version string
	Owner             string // who shares it; empty for an own one
}

// PlexPerson is a member of a Plex Home.
type PlexPerson struct {
	ID, Name string
	PIN      bool // whether a PIN is asked for
}
