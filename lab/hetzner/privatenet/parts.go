package privatenet

import (
	"net/netip"
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/catalog"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/project"
)

// newSubnet checks a new subnet, and finds a range if none is given.
func (n *Network) newSubnet(kind, ipRange, zone string, vSwitchID int64) (subnet, error) {
	part := subnet{kind: kind, zone: zone, vSwitchID: vSwitchID}
	if !slices.Contains([]string{"cloud", "server", "vswitch"}, kind) {
		return part, api.Invalid("type", "must be cloud, server or vswitch")
	}
	if !catalog.HasNetworkZone(zone) {
		return part, api.Invalid("network_zone", "unknown network zone '%s'", zone)
	}
	if (vSwitchID != 0) != (kind == "vswitch") {
		return part, api.Invalid("vswitch_id", "is needed for type vswitch, and for no other")
	}
	used := make([]netip.Prefix, 0, len(n.subnets))
	for _, other := range n.subnets {
		used = append(used, other.ipRange)
	}
	if ipRange == "" {
		free, found := freeRange(n.ipRange, used)
		if !found {
			return part, api.Invalid("ip_range", "no free range is left in the network")
		}
		part.ipRange = free
		return part, nil
	}
	asked, err := parseRange("ip_range", ipRange, smallestSubnet)
	if err != nil {
		return part, err
	}
	if !within(asked, n.ipRange) {
		return part, api.Invalid("ip_range", "must be in the network's range %s", n.ipRange)
	}
	if slices.ContainsFunc(used, asked.Overlaps) {
		return part, api.Invalid("ip_range", "overlaps with another subnet")
	}
	part.ipRange = asked
	return part, nil
}

// checkRoute returns an error if a route cannot be added.
func (n *Network) checkRoute(route schema.NetworkRoute) error {
	destination, err := netip.ParsePrefix(route.Destination)
	if err != nil || destination != destination.Masked() {
		return api.Invalid("destination", "must be a network in CIDR notation")
	}
	gateway, err := netip.ParseAddr(route.Gateway)
	if err != nil {
		return api.Invalid("gateway", "must be an IP address")
	}
	if gateway == gatewayOf(n.ipRange) || gateway == project.PublicRouter || !n.ipRange.Contains(gateway) {
		return api.Invalid("gateway", "must be an address of the network that is not its first")
	}
	if slices.ContainsFunc(n.routes, func(other schema.NetworkRoute) bool { return other.Destination == route.Destination }) {
		return api.Invalid("destination", "there is a route to %s already", route.Destination)
	}
	return nil
}

func (n *Networks) addSubnet(r *api.Call) (api.Reply, error) {
	network, asked, err := project.Ask[schema.NetworkActionAddSubnetRequest](r, n.registry)
	if err != nil {
		return api.Reply{}, err
	}
	part, err := network.newSubnet(asked.Type, asked.IPRange, asked.NetworkZone, asked.VSwitchID)
	if err != nil {
		return api.Reply{}, err
	}
	// It exists at once, because another one must not overlap with it.
	network.subnets = append(network.subnets, part)
	return n.registry.Act(network, project.Subject, "add_subnet", func() {})
}

func (n *Networks) deleteSubnet(r *api.Call) (api.Reply, error) {
	network, asked, err := project.Ask[schema.NetworkActionDeleteSubnetRequest](r, n.registry)
	if err != nil {
		return api.Reply{}, err
	}
	at := slices.IndexFunc(network.subnets, func(part subnet) bool { return part.ipRange.String() == asked.IPRange })
	if at < 0 {
		return api.Reply{}, api.Failure(hcloud.ErrorCodeNotFound, "subnet not found")
	}
	if n.inUse(network, network.subnets[at].ipRange) {
		return api.Reply{}, api.Failure(hcloud.ErrorCodeServiceError, "cannot remove subnet because servers are attached to it")
	}
	network.subnets = slices.Delete(network.subnets, at, at+1)
	return n.registry.Act(network, project.Subject, "delete_subnet", func() {})
}

func (n *Networks) addRoute(r *api.Call) (api.Reply, error) {
	network, asked, err := project.Ask[schema.NetworkActionAddRouteRequest](r, n.registry)
	if err != nil {
		return api.Reply{}, err
	}
	route := schema.NetworkRoute(asked)
	if err := network.checkRoute(route); err != nil {
		return api.Reply{}, err
	}
	network.routes = append(network.routes, route)
	return n.registry.Act(network, project.Subject, "add_route", func() {})
}

func (n *Networks) deleteRoute(r *api.Call) (api.Reply, error) {
	network, asked, err := project.Ask[schema.NetworkActionDeleteRouteRequest](r, n.registry)
	if err != nil {
		return api.Reply{}, err
	}
	at := slices.Index(network.routes, schema.NetworkRoute(asked))
	if at < 0 {
		return api.Reply{}, api.Failure(hcloud.ErrorCodeNotFound, "route not found")
	}
	network.routes = slices.Delete(network.routes, at, at+1)
	return n.registry.Act(network, project.Subject, "delete_route", func() {})
}
