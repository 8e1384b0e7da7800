package watcher

import (
	"watchmark/internal/platform/secret"
	"watchmark/internal/source/mediaserver"
)

// Credentials are what a person signs in with. Without a user name it is done by a code: Quick Connect of Jellyfin, or the
// pages of Plex.
type Credentials struct {
	Username string
	Password secret.Text
}

// NewLogin is a login to be connected. Pin is the certificate that the person confirmed, if any; MediaUserName is what the
// server calls the person when it is empty.
type NewLogin struct {
	Kind                    mediaserver.Kind
	URL, Pin, MediaUserName string
	Credentials
}

// Change is what is changed of a login; nil leaves it. Libraries are the ids of those that are picked.
type Change struct {
	URL, Pin, MediaUserName *string
	Enabled                 *bool
	Libraries               *[]string
}

// SeedRequest asks to mark on the media server what the list of an account has as watched. Unmark takes marks away there that
// the list does not have.
type SeedRequest struct {
	AccountID      int64
	DryRun, Unmark bool
}
