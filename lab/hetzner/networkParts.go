package hetzner

import (
	"net/netip"
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"
)

// plan checks a subnet that is to be added, and finds a range for one without.
func (n *privateNetwork) plan(kind, ipRange, zone string, vSwitchID int64) (subnet, error) {
	part := subnet{kind: kind, zone: zone, vSwitchID: vSwitchID}
	if !slices.Contains([]string{"cloud", "server", "vswitch"}, kind) {
		return part, invalid("type", "must be cloud, server or vswitch")
	}
	if !networkZone(zone) {
		return part, invalid("network_zone", "unknown network zone '%s'", zone)
	}
	if (vSwitchID != 0) != (kind == "vswitch") {
		return part, invalid("vswitch_id", "is needed for type vswitch, and for no other")
	}
	used := make([]netip.Prefix, 0, len(n.subnets))
	for _, other := range n.subnets {
		used = append(used, other.ipRange)
	}
	if ipRange == "" {
		free, found := freeRange(n.ipRange, used)
		if !found {
			return part, invalid("ip_range", "no free range is left in the network")
		}
		part.ipRange = free
		return part, nil
	}
	asked, err := parseRange("ip_range", ipRange, smallestSubnet)
	if err != nil {
		return part, err
	}
	if !within(asked, n.ipRange) {
		return part, invalid("ip_range", "must be in the network's range %s", n.ipRange)
	}
	if slices.ContainsFunc(used, asked.Overlaps) {
		return part, invalid("ip_range", "overlaps with another subnet")
	}
	part.ipRange = asked
	return part, nil
}

func (c *Cloud) addSubnet(r *call) (reply, error) {
	network, asked, err := ask[schema.NetworkActionAddSubnetRequest](r, c.networks)
	if err != nil {
		return reply{}, err
	}
	part, err := network.plan(asked.Type, asked.IPRange, asked.NetworkZone, asked.VSwitchID)
	if err != nil {
		return reply{}, err
	}
	// It is there at once, as for whoever adds an overlapping one meanwhile.
	network.subnets = append(network.subnets, part)
	return c.act(subject, "add_subnet", "network", network.id, func() {})
}

func (c *Cloud) deleteSubnet(r *call) (reply, error) {
	network, asked, err := ask[schema.NetworkActionDeleteSubnetRequest](r, c.networks)
	if err != nil {
		return reply{}, err
	}
	at := slices.IndexFunc(network.subnets, func(part subnet) bool { return part.ipRange.String() == asked.IPRange })
	if at < 0 {
		return reply{}, failure(hcloud.ErrorCodeNotFound, "subnet not found")
	}
	if c.inUse(network, network.subnets[at].ipRange) {
		return reply{}, failure(hcloud.ErrorCodeServiceError, "cannot remove subnet because servers are attached to it")
	}
	network.subnets = slices.Delete(network.subnets, at, at+1)
	return c.act(subject, "delete_subnet", "network", network.id, func() {})
}

// inUse says whether anyone has an address of the range in the network.
func (c *Cloud) inUse(n *privateNetwork, ipRange netip.Prefix) bool {
	return slices.ContainsFunc(c.servers.all(), func(server *server) bool {
		at := server.attachment(n)
		return at != nil && ipRange.Contains(at.addr)
	}) || slices.ContainsFunc(c.loadBalancers.all(), func(b *loadBalancer) bool {
		addr, attached := b.private[n]
		return attached && ipRange.Contains(addr)
	})
}

// checkRoute says what is wrong with a route that is to be added.
func (n *privateNetwork) checkRoute(route schema.NetworkRoute) error {
	destination, err := netip.ParsePrefix(route.Destination)
	if err != nil || destination != destination.Masked() {
		return invalid("destination", "must be a network in CIDR notation")
	}
	gateway, err := netip.ParseAddr(route.Gateway)
	if err != nil {
		return invalid("gateway", "must be an IP address")
	}
	if gateway == gatewayOf(n.ipRange) || gateway == publicRouter || !n.ipRange.Contains(gateway) {
		return invalid("gateway", "must be an address of the network that is not its first")
	}
	if slices.ContainsFunc(n.routes, func(other schema.NetworkRoute) bool { return other.Destination == route.Destination }) {
		return invalid("destination", "there is a route to %s already", route.Destination)
	}
	return nil
}

func (c *Cloud) addRoute(r *call) (reply, error) {
	network, asked, err := ask[schema.NetworkActionAddRouteRequest](r, c.networks)
	if err != nil {
		return reply{}, err
	}
	route := schema.NetworkRoute(asked)
	if err := network.checkRoute(route); err != nil {
		return reply{}, err
	}
	network.routes = append(network.routes, route)
	return c.act(subject, "add_route", "network", network.id, func() {})
}

func (c *Cloud) deleteRoute(r *call) (reply, error) {
	network, asked, err := ask[schema.NetworkActionDeleteRouteRequest](r, c.networks)
	if err != nil {
		return reply{}, err
	}
	at := slices.Index(network.routes, schema.NetworkRoute(asked))
	if at < 0 {
		return reply{}, failure(hcloud.ErrorCodeNotFound, "route not found")
	}
	network.routes = slices.Delete(network.routes, at, at+1)
	return c.act(subject, "delete_route", "network", network.id, func() {})
}
