// Package privatenet is the private networks of a project: their subnets and
// routes, and the places of servers in them.
package privatenet

import (
	"maps"
	"net/netip"
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/project"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/server"
)

// Network is a private network.
type Network struct {
	project.Record
	ipRange   netip.Prefix
	subnets   []subnet
	routes    []schema.NetworkRoute
	exposed   bool
	protected bool
}

// subnet is a part of a network from which addresses are assigned.
type subnet struct {
	kind      string // "cloud", "server" or "vswitch"
	ipRange   netip.Prefix
	zone      string
	vSwitchID int64
}

// Balancers are the load balancers, with the calls that networks need.
type Balancers interface {
	// In are the addresses of load balancers in a network, by the ids of the load
	// balancers.
	In(network *Network) map[int64]netip.Addr
	// ServerLeft removes a server from load balancers that reached it through a network.
	ServerLeft(s *server.Server, network *Network)
	// Evict removes all load balancers from a network.
	Evict(network *Network)
	// Retarget applies changes of servers.
	Retarget()
}

// PublicIPs are the public addresses of servers.
type PublicIPs interface {
	HasAny(of *server.Server) bool
}

// Networks are the private networks of a project.
type Networks struct {
	// Balancers is set before the first request.
	Balancers Balancers

	project   *project.Project
	servers   *server.Servers
	publicIPs PublicIPs
	registry  *project.Registry[*Network]
	places    map[*server.Server][]*Place
}

// New returns a project without networks.
func New(in *project.Project, servers *server.Servers, publicIPs PublicIPs) *Networks {
	return &Networks{
		project: in, servers: servers, publicIPs: publicIPs,
		registry: project.NewRegistry[*Network](in, "network"), places: map[*server.Server][]*Place{},
	}
}

// Get returns the network with an id.
func (n *Networks) Get(id int64) (*Network, error) { return n.registry.Get(id) }

// GetAll returns the networks with these ids.
func (n *Networks) GetAll(ids []int64) ([]*Network, error) { return n.registry.GetAll(ids) }

// Reference names a network in an action.
func (n *Networks) Reference(network *Network) project.Reference {
	return n.registry.Reference(network)
}

// Reserve returns the address for a server or load balancer in a zone: the requested one, or a free one in the requested range or in the newest subnet.
func (n *Networks) Reserve(network *Network, zone string, asked, askedRange *string) (netip.Addr, error) {
	if asked != nil && *asked != "" {
		addr, err := netip.ParseAddr(*asked)
		if err != nil {
			return netip.Addr{}, api.Invalid("ip", "must be an IP address")
		}
		if !n.grants(network, zone, addr) {
			return netip.Addr{}, notAvailable()
		}
		return addr, nil
	}
	for _, part := range slices.Backward(network.subnets) {
		if part.zone != zone || askedRange != nil && *askedRange != "" && *askedRange != part.ipRange.String() {
			continue
		}
		if addr, found := freeAddress(network.ipRange, part.ipRange, func(a netip.Addr) bool { return n.taken(network, a) }); found {
			return addr, nil
		}
	}
	return netip.Addr{}, api.Failure(hcloud.ErrorCodeNoSubnetAvailable, "no subnet or IP available")
}

func notAvailable() error {
	return api.Failure(hcloud.ErrorCodeIPNotAvailable, "IP not available")
}

// grants reports whether the address is available in the zone.
func (n *Networks) grants(network *Network, zone string, addr netip.Addr) bool {
	return !n.taken(network, addr) && slices.ContainsFunc(network.subnets, func(part subnet) bool {
		return part.zone == zone && usable(addr, network.ipRange, part.ipRange)
	})
}

// taken reports whether a server or a load balancer has the address.
func (n *Networks) taken(network *Network, addr netip.Addr) bool {
	for _, places := range n.places {
		for _, place := range places {
			if place.network == network && (place.addr == addr || slices.Contains(place.aliases, addr)) {
				return true
			}
		}
	}
	return slices.Contains(slices.Collect(maps.Values(n.Balancers.In(network))), addr)
}

// inUse reports whether anything has an address of a range of the network.
func (n *Networks) inUse(network *Network, ipRange netip.Prefix) bool {
	for _, s := range n.servers.All() {
		if place := n.place(s, network); place != nil && ipRange.Contains(place.addr) {
			return true
		}
	}
	for _, addr := range n.Balancers.In(network) {
		if ipRange.Contains(addr) {
			return true
		}
	}
	return false
}

func (n *Networks) view(network *Network) schema.Network {
	view := schema.Network{
		ID: network.ID, Name: network.Name, Created: network.Created, IPRange: network.ipRange.String(), Subnets: []schema.NetworkSubnet{},
		Routes: append([]schema.NetworkRoute{}, network.routes...), Servers: []int64{},
		LoadBalancers: append([]int64{}, slices.Sorted(maps.Keys(n.Balancers.In(network)))...),
		Protection:    schema.NetworkProtection{Delete: network.protected}, Labels: network.LabelsOf(), ExposeRoutesToVSwitch: network.exposed,
	}
	for _, part := range network.subnets {
		view.Subnets = append(view.Subnets, schema.NetworkSubnet{
			Type: part.kind, IPRange: part.ipRange.String(), NetworkZone: part.zone,
			Gateway: gatewayOf(network.ipRange).String(), VSwitchID: part.vSwitchID,
		})
	}
	for _, s := range n.servers.All() {
		if place := n.place(s, network); place != nil && place.attached {
			view.Servers = append(view.Servers, s.ID)
		}
	}
	return view
}
