package app

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"watchmark/internal/door/api"
)

// addressFile holds, in the data folder, where the service that runs on it is asked for its
// health. Whoever checks every half minute opens neither database nor settings for it, and a
// flag of the service's command line counts, too.
const addressFile = "watchmark.address"

// tellAddress writes the address file. A service whose health nobody can ask for serves
// nevertheless.
func (a *App) tellAddress(listening net.Addr) {
	host := listening.String()
	if address, err := netip.ParseAddrPort(host); err == nil && address.Addr().IsUnspecified() {
		host = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), address.Port()).String()
	}
	server := a.Settings.Current().Server
	url := scheme(server) + host + server.BasePath + "/health"
	if err := os.WriteFile(filepath.Join(a.folder, addressFile), []byte(url), 0o600); err != nil {
		a.log.Warn("health checks will fail: where the service listens cannot be written", "error", err)
	}
}

// Health asks the service that runs on the data folder for its health, within five seconds.
// No error is a healthy one.
func Health(ctx context.Context, dataDir string) error {
	url, err := os.ReadFile(filepath.Join(dataDir, addressFile))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no service has run on %s yet", dataDir)
	}
	if err != nil {
		return fmt.Errorf("find out where the service listens: %w", err)
	}
	health, err := askHealth(ctx, string(url))
	switch {
	case err != nil:
		return fmt.Errorf("the service does not answer: %w", err)
	case len(health.Problems) > 0:
		return fmt.Errorf("the service takes nothing: %s", strings.Join(health.Problems, "; "))
	}
	return nil
}

// askHealth asks the service at url, on this machine, within five seconds. Its error says that none of ours answers there.
func askHealth(ctx context.Context, url string) (api.Health, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return api.Health{}, err
	}
	// The way to oneself leads through no proxy, and the own certificate is made out to another name.
	oneself := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // see above; nothing is told to who answers
	response, err := oneself.RoundTrip(request)
	if err != nil {
		return api.Health{}, err
	}
	answer, err := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return api.Health{}, err
	}
	var health api.Health
	if json.Unmarshal(answer, &health) != nil || health.Status == "" {
		return api.Health{}, fmt.Errorf("what answers %s there is no watchmark", response.Status)
	}
	return health, nil
}
