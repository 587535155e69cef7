package lab

import (
	"fmt"
	"net/netip"
	"slices"
	"sync"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/daemon"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/dhcp"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// lans are the networks at home, each with a router that is also a DHCP server.
type lans struct {
	pool     *daemon.Pool
	timeline *timeline.Timeline

	mu      sync.Mutex
	servers map[netip.Prefix]*dhcp.Server
}

func newLANs(pool *daemon.Pool, timeline *timeline.Timeline) *lans {
	return &lans{pool: pool, timeline: timeline, servers: map[netip.Prefix]*dhcp.Server{}}
}

// server returns the DHCP server of a network, which all its machines share.
func (l *lans) server(network netip.Prefix, gateway netip.Addr) (*dhcp.Server, error) {
	network = network.Masked()
	l.mu.Lock()
	defer l.mu.Unlock()
	if known := l.servers[network]; known != nil {
		if known.Gateway != gateway {
			return nil, fmt.Errorf("network %s has the gateway %s, it cannot have %s too", network, known.Gateway, gateway)
		}
		return known, nil
	}
	from, to := l.pool.In(network)
	server, err := dhcp.New(dhcp.Options{
		Network: network, Gateway: gateway, Resolvers: []netip.Addr{gateway}, From: from, To: to, Timeline: l.timeline,
	})
	if err != nil {
		return nil, fmt.Errorf("the DHCP server of network %s: %w", network, err)
	}
	l.servers[network] = server
	return server, nil
}

// leases returns those of all networks.
func (l *lans) leases() []dhcp.Lease {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := []dhcp.Lease{}
	for _, server := range l.servers {
		all = append(all, server.Leases()...)
	}
	slices.SortFunc(all, func(a, b dhcp.Lease) int { return a.Address.Compare(b.Address) })
	return all
}
