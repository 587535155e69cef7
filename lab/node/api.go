package node

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"sync"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/talos/pkg/machinery/resources/runtime"
	"github.com/siderolabs/talos/pkg/machinery/resources/secrets"
)

// apiServers is the API of one boot: none, that of maintenance, or apid's. It
// follows the addresses.
type apiServers struct {
	node *node

	mu      sync.Mutex
	running API
	at      []netip.Addr
	closed  bool
}

func newAPIServers(n *node) *apiServers {
	return &apiServers{node: n}
}

// open serves the API of maintenance or the full one, in place of the other.
func (a *apiServers) open(maintenance bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return context.Cause(a.node.ctx)
	}
	a.stop(true)
	at := a.node.Addresses()
	running, err := a.node.Serve(a.node, maintenance, at)
	if err != nil {
		return fmt.Errorf("the API at %v: %w", at, err)
	}
	a.running, a.at = running, at
	what := "apid"
	if maintenance {
		what = "maintenance"
	}
	a.node.Timeline.Record(a.node.Host(), "api", what)
	return nil
}

// moved follows the addresses of the node.
func (a *apiServers) moved(at []netip.Addr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.running == nil {
		return
	}
	for _, addr := range a.at {
		if !slices.Contains(at, addr) {
			a.running.Remove(addr)
		}
	}
	for _, addr := range at {
		if slices.Contains(a.at, addr) {
			continue
		}
		if err := a.running.Add(addr); err != nil {
			a.node.logs.talos("the API at %s: %v", addr, err)
		}
	}
	a.at = slices.Clone(at)
}

// close stops the API; the port refuses connections then.
func (a *apiServers) close(graceful bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stop(graceful)
}

// end closes it for good.
func (a *apiServers) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	a.stop(false)
}

func (a *apiServers) stop(graceful bool) {
	if a.running == nil {
		return
	}
	a.running.Stop(graceful)
	a.running, a.at = nil, nil
	a.node.Timeline.Record(a.node.Host(), "api", "closed")
}

// awaitAPISecrets returns when the certificate is there for maintenance, or the
// one from the cluster's CA.
func (n *node) awaitAPISecrets(ctx context.Context, maintenance bool) error {
	_, err := n.resources.State.WatchFor(ctx, secrets.NewAPI().Metadata(), state.WithCondition(func(r resource.Resource) (bool, error) {
		api, is := r.(*secrets.API)
		return is && api.TypedSpec().SkipVerifyingClientCert == maintenance, nil
	}))
	return err
}

// runAPI is the service apid: it serves what the real controller decided.
func (n *node) runAPI(ctx context.Context) error {
	decided, err := n.resources.State.WatchFor(ctx, runtime.NewAPIServiceConfig().Metadata(), state.WithEventTypes(state.Created, state.Updated))
	if err != nil {
		return err
	}
	return n.api.open(decided.(*runtime.APIServiceConfig).TypedSpec().SkipVerifyingClientCert)
}

// switchAPI goes over from the API of maintenance to the full one, once the
// node has its certificate.
func (n *node) switchAPI(ctx context.Context) {
	if err := n.awaitAPISecrets(ctx, false); err != nil {
		return
	}
	if err := n.api.open(false); err != nil && ctx.Err() == nil {
		n.logs.talos("service[apid]: %v", err)
	}
}
