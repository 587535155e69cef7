package lab

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/network"
)

// servers are the lab's services over HTTP, each at an address of its own.
type servers struct {
	network network.Network
	log     *slog.Logger
	running []*http.Server
}

func newServers(network network.Network, log *slog.Logger) *servers {
	return &servers{network: network, log: log}
}

// serve serves a handler at port 80 of an address until close.
func (s *servers) serve(addr netip.Addr, handler http.Handler) error {
	if err := s.network.Add(addr); err != nil {
		return err
	}
	listener, err := s.network.Listen(netip.AddrPortFrom(addr, 80))
	if err != nil {
		return fmt.Errorf("serve at %s: %w", addr, err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	s.running = append(s.running, server)
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("a server ended", "at", addr, "why", err)
		}
	}()
	return nil
}

// close lets requests end while the context lasts.
func (s *servers) close(ctx context.Context) error {
	var faults []error
	for _, server := range s.running {
		if err := server.Shutdown(ctx); err != nil {
			faults = append(faults, server.Close())
		}
	}
	return errors.Join(faults...)
}
