package lab

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/network"
)

// servers are the lab's HTTP services, each at its own address.
type servers struct {
	network network.Network
	log     *slog.Logger

	mu      sync.Mutex
	running []*http.Server
}

func newServers(network network.Network, log *slog.Logger) *servers {
	return &servers{network: network, log: log}
}

// serve serves a handler at port 80 of an address until close.
func (s *servers) serve(addr netip.Addr, handler http.Handler) error {
	return s.serveAt(netip.AddrPortFrom(addr, 80), handler, nil)
}

// serveTLS does the same over TLS, with HTTP/1.1 only.
func (s *servers) serveTLS(at netip.AddrPort, handler http.Handler, certificate tls.Certificate) error {
	return s.serveAt(at, handler, &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"http/1.1"}})
}

func (s *servers) serveAt(at netip.AddrPort, handler http.Handler, secure *tls.Config) error {
	if err := s.network.Add(at.Addr()); err != nil {
		return err
	}
	listener, err := s.network.Listen(at)
	if err != nil {
		return fmt.Errorf("serve at %s: %w", at, err)
	}
	if secure != nil {
		listener = tls.NewListener(listener, secure)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	s.mu.Lock()
	s.running = append(s.running, server)
	s.mu.Unlock()
	go func() {
		// A listener is closed when its address is removed.
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			s.log.Error("a server ended", "at", at, "why", err)
		}
	}()
	return nil
}

// close waits for running requests while the context lasts.
func (s *servers) close(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var faults []error
	for _, server := range s.running {
		if err := server.Shutdown(ctx); err != nil {
			faults = append(faults, server.Close())
		}
	}
	return errors.Join(faults...)
}
