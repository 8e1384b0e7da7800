package app

import (
	"context"
	"maps"
	"net/netip"

	"watchmark/internal/door/auth"
	"watchmark/internal/door/auth/oidc"
	"watchmark/internal/door/auth/servers"
)

func (d *Data) policy() auth.Policy {
	a := d.Settings.Current().Auth
	return auth.Policy{SessionLife: a.Session, LockoutAttempts: a.LockoutAttempts, LockoutTime: a.Lockout, Entries: append(d.provider().Entries(), servers.Entries(a.MediaServers)...)}
}

// provider is the OpenID Connect provider that the settings name.
func (d *Data) provider() oidc.Settings {
	a := d.Settings.Current().Auth
	groups := map[auth.Role]string{auth.RoleOwner: a.OIDCOwnerGroup, auth.RolePerson: a.OIDCPersonGroup, auth.RoleGuest: a.OIDCGuestGroup}
	maps.DeleteFunc(groups, func(_ auth.Role, group string) bool { return group == "" })
	return oidc.Settings{
		Name: a.OIDCName, Issuer: a.OIDCIssuer, ClientID: a.OIDCClientID, ClientSecret: a.OIDCClientSecret, Allowed: a.OIDCAllowed,
		Groups: groups, GroupsClaim: a.OIDCGroupsClaim,
	}
}

func (d *Data) proxies() auth.Proxies {
	var trusted []string
	for _, prefix := range d.Settings.Current().Server.TrustedProxies {
		trusted = append(trusted, prefix.String())
	}
	proxies, err := auth.ParseProxies(trusted)
	if err != nil { // the settings hold prefixes already
		d.log.Error("trusted proxies cannot be used", "error", err)
	}
	return proxies
}

// SetUp creates the owner without the setup link, for a service that is built
// by a program. It returns auth.ErrSetupDone when there is one.
func (d *Data) SetUp(ctx context.Context, name, password string) error {
	token, err := d.Auth.SetupToken(ctx)
	if err != nil {
		return err
	}
	return d.Auth.Setup(ctx, token, name, password, netip.Addr{})
}
