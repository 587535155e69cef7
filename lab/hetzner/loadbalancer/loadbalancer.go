// Package loadbalancer is the load balancers of a project. They forward real
// connections on the lab's network, to targets that pass real health checks.
package loadbalancer

import (
	"errors"
	"maps"
	"net/netip"
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/catalog"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/privatenet"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/project"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/server"
)

// Balancer is a load balancer as it is configured.
type Balancer struct {
	project.Record
	kind      schema.LoadBalancerType
	location  schema.Location
	algorithm string // "round_robin" or "least_connections"
	ipv4      netip.Addr
	net6      netip.Prefix
	names     project.ReverseNames
	// public means that it listens on its public address; private are its addresses in networks.
	public    bool
	private   map[*privatenet.Network]netip.Addr
	services  []*schema.LoadBalancerService
	targets   []*target
	protected bool
	traffic   *traffic
}

// addresses returns those on which the load balancer must listen.
func (b *Balancer) addresses() []netip.Addr {
	var addresses []netip.Addr
	if b.public {
		addresses = append(addresses, b.ipv4)
	}
	return slices.AppendSeq(addresses, maps.Values(b.private))
}

// PublicIPs are the public addresses of servers.
type PublicIPs interface {
	Address(of *server.Server) (netip.Addr, bool)
}

// Balancers are the load balancers of a project.
type Balancers struct {
	project   *project.Project
	catalog   *catalog.Catalog
	servers   *server.Servers
	publicIPs PublicIPs
	networks  *privatenet.Networks
	registry  *project.Registry[*Balancer]
}

// New returns a project without load balancers.
func New(in *project.Project, catalog *catalog.Catalog, servers *server.Servers, publicIPs PublicIPs, networks *privatenet.Networks) *Balancers {
	return &Balancers{
		project: in, catalog: catalog, servers: servers, publicIPs: publicIPs, networks: networks,
		registry: project.NewRegistry[*Balancer](in, "load_balancer"),
	}
}

// Silence ends the traffic of all load balancers.
func (s *Balancers) Silence() error {
	var failures []error
	for _, b := range s.registry.All() {
		failures = append(failures, b.traffic.silence())
	}
	return errors.Join(failures...)
}

// Retarget applies changes of servers to the traffic of all load balancers.
func (s *Balancers) Retarget() {
	for _, b := range s.registry.All() {
		b.traffic.steerOrRecord()
	}
}

// In implements privatenet.Balancers.
func (s *Balancers) In(network *privatenet.Network) map[int64]netip.Addr {
	found := map[int64]netip.Addr{}
	for _, b := range s.registry.All() {
		if addr, attached := b.private[network]; attached {
			found[b.ID] = addr
		}
	}
	return found
}

// ServerLeft implements privatenet.Balancers.
func (s *Balancers) ServerLeft(gone *server.Server, network *privatenet.Network) {
	for _, b := range s.registry.All() {
		if _, shared := b.private[network]; shared {
			b.targets = slices.DeleteFunc(b.targets, func(t *target) bool { return t.server == gone && t.usePrivate })
		}
	}
}

// Evict implements privatenet.Balancers.
func (s *Balancers) Evict(network *privatenet.Network) {
	for _, b := range s.registry.All() {
		s.leaveNetwork(b, network)
	}
}

// leaveNetwork removes a load balancer from a network, if it is in it, together with the targets that it reached there.
func (s *Balancers) leaveNetwork(b *Balancer, from *privatenet.Network) {
	if _, attached := b.private[from]; !attached {
		return
	}
	delete(b.private, from)
	b.targets = slices.DeleteFunc(b.targets, func(t *target) bool { return t.usePrivate })
	b.traffic.steerOrRecord()
}

// Targeting returns the ids of the load balancers that a server is a target of.
func (s *Balancers) Targeting(of *server.Server) []int64 {
	ids := []int64{}
	for _, b := range s.registry.All() {
		if slices.ContainsFunc(b.targets, func(t *target) bool { return t.server == of }) {
			ids = append(ids, b.ID)
		}
	}
	return ids
}

// Forget removes a server from the targets of all load balancers.
func (s *Balancers) Forget(gone *server.Server) {
	for _, b := range s.registry.All() {
		b.targets = slices.DeleteFunc(b.targets, func(t *target) bool { return t.server == gone })
	}
	s.Retarget()
}

func (s *Balancers) view(b *Balancer) schema.LoadBalancer {
	view := schema.LoadBalancer{
		ID: b.ID, Name: b.Name, Location: b.location, LoadBalancerType: b.kind, Labels: b.LabelsOf(), Created: b.Created,
		Protection: schema.LoadBalancerProtection{Delete: b.protected}, Algorithm: schema.LoadBalancerAlgorithm{Type: b.algorithm},
		PrivateNet: []schema.LoadBalancerPrivateNet{}, Services: []schema.LoadBalancerService{}, Targets: []schema.LoadBalancerTarget{},
		IncludedTraffic: 20 << 40,
	}
	view.PublicNet.Enabled = b.public
	view.PublicNet.IPv4 = schema.LoadBalancerPublicNetIPv4{IP: b.ipv4.String(), DNSPtr: b.names[b.ipv4.String()]}
	address6 := b.net6.Addr().Next().String()
	view.PublicNet.IPv6 = schema.LoadBalancerPublicNetIPv6{IP: address6, DNSPtr: b.names[address6]}
	for network, addr := range b.private {
		view.PrivateNet = append(view.PrivateNet, schema.LoadBalancerPrivateNet{Network: network.ID, IP: addr.String()})
	}
	for _, service := range b.services {
		view.Services = append(view.Services, *service)
	}
	for _, one := range b.targets {
		view.Targets = append(view.Targets, s.viewTarget(b, one))
	}
	return view
}
