package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"watchmark/internal/door/auth"
	"watchmark/internal/platform/listen"
	"watchmark/internal/platform/settings"
)

// A stopping service may finish requests for requestGrace, then work in hand for workGrace. What has not ended
// endGrace later is left behind: what starts services kills one that takes longer than ten seconds.
//
// While there are other replicas, one first waits for balancerGrace, in which balancers find that it is not ready and it still answers. It claims
// nothing from the beginning, so work in hand has more time, and all of it takes drainTime at most.
const (
	requestGrace  = 4 * time.Second
	workGrace     = 5 * time.Second
	endGrace      = 500 * time.Millisecond
	balancerGrace = 5 * time.Second
	drainTime     = 10 * time.Second
)

// Run listens on the address of the settings and serves until ctx ends.
func (a *App) Run(ctx context.Context) error {
	address := a.Settings.Current().Server.Listen
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return errors.Join(fmt.Errorf("listen on %s: %w; another program may use the port: choose one with --listen", address, err), a.Close())
	}
	return a.Serve(ctx, listener)
}

// Serve serves on listener until ctx ends, then stops in order: no new requests, what
// is in hand finished within the times of grace, data closed.
func (a *App) Serve(ctx context.Context, listener net.Listener) error {
	if err := a.greet(ctx, listener.Addr()); err != nil {
		return errors.Join(err, listener.Close(), a.Close())
	}
	a.tellAddress(listener.Addr())
	a.Archive.Clean()
	a.nas.Clean()
	a.backups.Clean()
	a.Dataset.Clean()
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	grace := workGrace
	if !a.db.Alone() {
		grace = drainTime - endGrace
	}
	running.Go(func() { a.engine.Run(background, grace) })
	running.Go(func() { a.lookOut(background) })
	running.Go(func() { a.giveMemoryBack(background) })
	running.Go(func() { a.Archiver.Follow(background) })
	running.Go(func() { a.board.Run(background, a.log) })
	running.Go(func() { a.Records.Feed.Relay(background, a.db) })
	running.Go(func() { a.compare(background) })
	for _, part := range []interface{ Run(context.Context) }{
		a.self, a.jobs, a.replay, a.device, a.watcher, a.covers, a.Notices, a.budget, a.Auth,
	} {
		running.Go(func() { part.Run(background) })
	}

	connections := listen.NewConnections(listen.Config{Most: listen.Most(), Exempt: func(addr netip.Addr) bool { return a.proxies().Trust(addr) }, Log: a.log})
	listener = connections.Listener(listener)
	server := &http.Server{
		Handler:           listen.Handler(a.handler),
		ConnContext:       connections.Context,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(a.log.Handler(), slog.LevelWarn), // who refuses the certificate, among others
	}
	failed := make(chan error, 1)
	go func() {
		if a.tls == nil {
			failed <- server.Serve(listener)
			return
		}
		server.TLSConfig = a.tls.Config()
		failed <- server.ServeTLS(listener, "", "")
	}()
	var err error
	select {
	case err = <-failed:
		err = fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	ends := time.Now().Add(drainTime)
	close(a.draining)
	if err == nil && a.hasOthers() {
		a.log.Info("stopping: no more is claimed, and balancers are given time to see it", "seconds", int(balancerGrace.Seconds()))
		a.engine.Rest()
		select {
		case err = <-failed:
			err = fmt.Errorf("serve: %w", err)
		case <-time.After(balancerGrace):
		}
	}
	close(a.stopping)
	deadline, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestGrace)
	if shutdown := server.Shutdown(deadline); shutdown != nil {
		a.log.Warn("some requests did not finish in time", "error", shutdown)
		_ = server.Close() // closes what Shutdown waited for
	}
	cancel()
	stop()
	a.awaitEnd(&running, ends)
	a.log.Info("stopped")
	return errors.Join(err, a.Close())
}

// awaitEnd ends the tasks and waits for them and for what runs beside the requests, for workGrace and a little more, and until ends at most.
func (a *App) awaitEnd(running *sync.WaitGroup, ends time.Time) {
	deadline, cancel := context.WithTimeout(context.Background(), min(workGrace+endGrace, time.Until(ends)))
	defer cancel()
	ended := make(chan struct{})
	go func() { running.Wait(); close(ended) }()
	if err := a.tasks.Stop(deadline); err != nil {
		a.log.Warn("some tasks did not end in time and are cut off", "error", err)
	}
	select {
	case <-ended:
	case <-deadline.Done():
		a.log.Warn("some work did not end in time and is cut off; it is taken up at the next start")
	}
}

// greet says where the service is, and prints the setup link while nobody has set it up.
func (a *App) greet(ctx context.Context, address net.Addr) error {
	s := a.Settings.Current()
	url := cmp.Or(s.Server.PublicURL, scheme(s.Server)+reachable(address)+s.Server.BasePath)
	a.log.Info("watchmark is running", "version", Version(), "url", url)
	if !s.Auth.Enabled {
		return nil
	}
	token, err := a.Auth.SetupToken(ctx)
	if errors.Is(err, auth.ErrSetupDone) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("make the setup link: %w", err)
	}
	where := ":\n\n"
	if _, port, err := net.SplitHostPort(address.String()); err == nil && a.container && s.Server.PublicURL == "" {
		url = scheme(s.Server) + "HOST:" + port + s.Server.BasePath
		where = ".\nHOST stands for the machine that runs the container, " + port + " for the port there that leads to it:\n\n"
	}
	_, err = fmt.Fprintf(a.out, "\nNobody can sign in yet. Open this link once to create the owner%s    %s/setup?token=%s\n\n", where, url, token)
	return err
}

// scheme is how the service is spoken to.
func scheme(s settings.Server) string {
	if s.TLSCert != "" {
		return "https://"
	}
	return "http://"
}

// reachable is address as a person can open it: one that listens everywhere has no name
// of its own, so it is told by the first address of a home network.
func reachable(address net.Addr) string {
	listening, err := netip.ParseAddrPort(address.String())
	if err != nil || !listening.Addr().IsUnspecified() {
		return address.String()
	}
	host := "localhost"
	interfaces, _ := net.InterfaceAddrs() // without them it is localhost
	for _, i := range interfaces {
		if prefix, err := netip.ParsePrefix(i.String()); err == nil && prefix.Addr().Is4() && prefix.Addr().IsPrivate() {
			host = prefix.Addr().String()
			break
		}
	}
	return net.JoinHostPort(host, strconv.Itoa(int(listening.Port())))
}
