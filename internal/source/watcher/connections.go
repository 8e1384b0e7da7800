package watcher

import (
	"context"

	"watchmark/internal/source/mediaserver"
)

// Connection is a media server that a login is connected to.
type Connection struct {
	Login  int64
	Name   string // of the server
	Server mediaserver.Server
}

// Connections are the servers of all logins that are in use, the first one first; a server of several logins is there several times.
func (s *Service) Connections(ctx context.Context) ([]Connection, error) {
	all, err := s.store.all(ctx)
	if err != nil {
		return nil, err
	}
	connections := []Connection{}
	for _, k := range all {
		if k.ServerID != "" && k.Enabled && !k.removed {
			connections = append(connections, Connection{k.ID, k.ServerName, k.server()})
		}
	}
	return connections, nil
}
