package node

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"sync"

	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/talos/pkg/machinery/resources/runtime"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/boot"
)

// apiServer is the API of one boot: none, that of maintenance, or apid's. It listens at the addresses of the node.
type apiServer struct {
	boot *boot.Boot
	// addresses are the node's current addresses, and serve listens at some of them.
	addresses func() []netip.Addr
	serve     func(maintenance bool, at []netip.Addr) (API, error)

	mu      sync.Mutex
	running API
	at      []netip.Addr
	closed  bool
}

// open serves the API of maintenance or the full one, replacing the other.
func (a *apiServer) open(maintenance bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return context.Cause(a.boot.Ctx)
	}
	a.stop(true)
	at := a.addresses()
	running, err := a.serve(maintenance, at)
	if err != nil {
		return fmt.Errorf("the API at %v: %w", at, err)
	}
	a.running, a.at = running, at
	what := "apid"
	if maintenance {
		what = "maintenance"
	}
	a.boot.Record("api", what)
	return nil
}

// Moved implements addressing.Follower.
func (a *apiServer) Moved(to []netip.Addr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.running == nil {
		return
	}
	for _, addr := range a.at {
		if !slices.Contains(to, addr) {
			a.running.Remove(addr)
		}
	}
	for _, addr := range to {
		if slices.Contains(a.at, addr) {
			continue
		}
		if err := a.running.Add(addr); err != nil {
			a.boot.Logs.Talos("the API at %s: %v", addr, err)
		}
	}
	a.at = slices.Clone(to)
}

// loseMachined leaves apid alone, without machined.
func (a *apiServer) loseMachined() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.running != nil {
		a.running.StopMachined()
		a.boot.Record("api", "without machined")
	}
}

// close stops the API; the port refuses connections then.
func (a *apiServer) close(graceful bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stop(graceful)
}

// end closes it permanently.
func (a *apiServer) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	a.stop(false)
}

func (a *apiServer) stop(graceful bool) {
	if a.running == nil {
		return
	}
	a.running.Stop(graceful)
	a.running, a.at = nil, nil
	a.boot.Record("api", "closed")
}

// runDecided returns the service apid of Talos 1.13: it serves what the real controller has decided.
func (a *apiServer) runDecided(ctx context.Context) error {
	decided, err := a.boot.State.WatchFor(ctx, runtime.NewAPIServiceConfig().Metadata(), state.WithEventTypes(state.Created, state.Updated))
	if err != nil {
		return err
	}
	return a.open(decided.(*runtime.APIServiceConfig).TypedSpec().SkipVerifyingClientCert)
}
