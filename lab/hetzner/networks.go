package hetzner

import (
	"net/netip"
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"
)

// privateNetwork is a network with its subnets.
type privateNetwork struct {
	record
	ipRange   netip.Prefix
	subnets   []subnet
	routes    []schema.NetworkRoute
	exposed   bool
	protected bool
}

// subnet is a part of a network that addresses are given from.
type subnet struct {
	kind      string // "cloud", "server" or "vswitch"
	ipRange   netip.Prefix
	zone      string
	vSwitchID int64
}

func (c *Cloud) viewNetwork(n *privateNetwork) schema.Network {
	view := schema.Network{
		ID: n.id, Name: n.name, Created: n.created, IPRange: n.ipRange.String(), Subnets: []schema.NetworkSubnet{},
		Routes: append([]schema.NetworkRoute{}, n.routes...), Servers: []int64{}, LoadBalancers: []int64{},
		Protection: schema.NetworkProtection{Delete: n.protected}, Labels: labelled(n.labels), ExposeRoutesToVSwitch: n.exposed,
	}
	for _, part := range n.subnets {
		view.Subnets = append(view.Subnets, schema.NetworkSubnet{
			Type: part.kind, IPRange: part.ipRange.String(), NetworkZone: part.zone,
			Gateway: gatewayOf(n.ipRange).String(), VSwitchID: part.vSwitchID,
		})
	}
	for _, server := range c.servers.all() {
		if at := server.attachment(n); at != nil && at.attached {
			view.Servers = append(view.Servers, server.id)
		}
	}
	for _, balancer := range c.loadBalancers.all() {
		if _, attached := balancer.private[n]; attached {
			view.LoadBalancers = append(view.LoadBalancers, balancer.id)
		}
	}
	return view
}

func (c *Cloud) networkRoutes() map[string]handler {
	return map[string]handler{
		"GET /networks":                                 c.listNetworks,
		"POST /networks":                                c.createNetwork,
		"GET /networks/{id}":                            c.getNetwork,
		"PUT /networks/{id}":                            c.updateNetwork,
		"DELETE /networks/{id}":                         c.deleteNetwork,
		"POST /networks/{id}/actions/add_subnet":        c.addSubnet,
		"POST /networks/{id}/actions/delete_subnet":     c.deleteSubnet,
		"POST /networks/{id}/actions/add_route":         c.addRoute,
		"POST /networks/{id}/actions/delete_route":      c.deleteRoute,
		"POST /networks/{id}/actions/change_ip_range":   c.changeIPRange,
		"POST /networks/{id}/actions/change_protection": c.protectNetwork,
	}
}

func (c *Cloud) listNetworks(r *call) (reply, error) {
	return list(r, "networks", c.networks.all(), c.viewNetwork)
}

func (c *Cloud) createNetwork(r *call) (reply, error) {
	var asked schema.NetworkCreateRequest
	if err := r.decode(&asked); err != nil {
		return reply{}, err
	}
	whole, err := parseRange("ip_range", asked.IPRange, smallestNetwork)
	if err != nil {
		return reply{}, err
	}
	network := &privateNetwork{ipRange: whole, exposed: asked.ExposeRoutesToVSwitch}
	for _, wanted := range asked.Subnets {
		part, err := network.plan(wanted.Type, wanted.IPRange, wanted.NetworkZone, wanted.VSwitchID)
		if err != nil {
			return reply{}, err
		}
		network.subnets = append(network.subnets, part)
	}
	for _, wanted := range asked.Routes {
		if err := network.checkRoute(wanted); err != nil {
			return reply{}, err
		}
		network.routes = append(network.routes, wanted)
	}
	if network.record, err = enroll(c, c.networks, asked.Name, asked.Labels); err != nil {
		return reply{}, err
	}
	c.networks.add(network)
	return created(schema.NetworkCreateResponse{Network: c.viewNetwork(network)})
}

func (c *Cloud) getNetwork(r *call) (reply, error) {
	network, err := find(r, c.networks)
	if err != nil {
		return reply{}, err
	}
	return answer(schema.NetworkGetResponse{Network: c.viewNetwork(network)})
}

func (c *Cloud) updateNetwork(r *call) (reply, error) {
	network, asked, err := ask[schema.NetworkUpdateRequest](r, c.networks)
	if err != nil {
		return reply{}, err
	}
	if err := c.networks.change(network, asked.Name, asked.Labels); err != nil {
		return reply{}, err
	}
	network.exposed = valueOr(asked.ExposeRoutesToVSwitch, network.exposed)
	return answer(schema.NetworkUpdateResponse{Network: c.viewNetwork(network)})
}

// deleteNetwork takes servers and load balancers out of it.
func (c *Cloud) deleteNetwork(r *call) (reply, error) {
	network, err := find(r, c.networks)
	if err != nil {
		return reply{}, err
	}
	if network.protected {
		return reply{}, protected("network")
	}
	if err := c.unlocked("network", network.id); err != nil {
		return reply{}, err
	}
	for _, server := range c.servers.all() {
		c.detach(server, network)
	}
	for _, balancer := range c.loadBalancers.all() {
		c.leaveNetwork(balancer, network)
	}
	c.networks.remove(network)
	return nothing()
}

func (c *Cloud) changeIPRange(r *call) (reply, error) {
	network, asked, err := ask[schema.NetworkActionChangeIPRangeRequest](r, c.networks)
	if err != nil {
		return reply{}, err
	}
	whole, err := parseRange("ip_range", asked.IPRange, smallestNetwork)
	if err != nil {
		return reply{}, err
	}
	if !within(network.ipRange, whole) {
		return reply{}, invalid("ip_range", "must contain the present range %s", network.ipRange)
	}
	return c.act(subject, "change_ip_range", "network", network.id, func() { network.ipRange = whole })
}

func (c *Cloud) protectNetwork(r *call) (reply, error) {
	network, asked, err := ask[schema.NetworkActionChangeProtectionRequest](r, c.networks)
	if err != nil {
		return reply{}, err
	}
	return c.act(subject, "change_protection", "network", network.id, func() {
		network.protected = valueOr(asked.Delete, network.protected)
	})
}

// taken says whether a server or a load balancer has the address in a network.
func (c *Cloud) taken(n *privateNetwork, addr netip.Addr) bool {
	has := func(server *server) bool {
		at := server.attachment(n)
		return at != nil && (at.addr == addr || slices.Contains(at.aliases, addr))
	}
	for server := range c.leaving {
		if has(server) {
			return true
		}
	}
	return slices.ContainsFunc(c.servers.all(), has) ||
		slices.ContainsFunc(c.loadBalancers.all(), func(b *loadBalancer) bool { return b.private[n] == addr })
}

// reserve finds the address for who is attached in a zone: the one that is asked
// for, or a free one of the range that is asked for, or of the newest subnet.
func (c *Cloud) reserve(n *privateNetwork, zone string, asked, askedRange *string) (netip.Addr, error) {
	if asked != nil && *asked != "" {
		addr, err := netip.ParseAddr(*asked)
		if err != nil {
			return netip.Addr{}, invalid("ip", "must be an IP address")
		}
		if !c.grants(n, zone, addr) {
			return netip.Addr{}, failure(hcloud.ErrorCodeIPNotAvailable, "IP not available")
		}
		return addr, nil
	}
	for _, part := range slices.Backward(n.subnets) {
		if part.zone != zone || askedRange != nil && *askedRange != "" && *askedRange != part.ipRange.String() {
			continue
		}
		if addr, found := freeAddress(n.ipRange, part.ipRange, func(a netip.Addr) bool { return c.taken(n, a) }); found {
			return addr, nil
		}
	}
	return netip.Addr{}, failure(hcloud.ErrorCodeNoSubnetAvailable, "no subnet or IP available")
}

// grants says whether the address can be had in the zone.
func (c *Cloud) grants(n *privateNetwork, zone string, addr netip.Addr) bool {
	return !c.taken(n, addr) && slices.ContainsFunc(n.subnets, func(part subnet) bool {
		return part.zone == zone && usable(addr, n.ipRange, part.ipRange)
	})
}
