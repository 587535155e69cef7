package addressing

import (
	"context"
	"net/netip"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/talos/pkg/machinery/nethelpers"
	"github.com/siderolabs/talos/pkg/machinery/resources/network"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/resources"
)

// routeController shows the routes that were decided, and those that the kernel adds for
// each address.
func (n *Network) routeController() controller.Controller {
	return &resources.Simulated{
		Real: "network.RouteStatusController",
		Reads: []controller.Input{
			resources.Reads(network.NamespaceName, network.RouteSpecType), resources.Reads(network.NamespaceName, network.LinkStatusType),
			resources.Reads(network.NamespaceName, network.AddressStatusType),
		},
		Writes: []controller.Output{resources.Writes(network.RouteStatusType)},
		Reconcile: func(ctx context.Context, r controller.Runtime) error {
			r.StartTrackingOutputs()
			specs, err := safe.ReaderListAll[*network.RouteSpec](ctx, r)
			if err != nil {
				return err
			}
			addresses, err := safe.ReaderListAll[*network.AddressStatus](ctx, r)
			if err != nil {
				return err
			}
			var wanted []network.RouteSpecSpec
			for spec := range specs.All() {
				if spec.Metadata().Phase() == resource.PhaseRunning {
					wanted = append(wanted, *spec.TypedSpec())
				}
			}
			for address := range addresses.All() {
				wanted = append(wanted, kernelRoutes(*address.TypedSpec())...)
			}
			links, err := safe.ReaderListAll[*network.LinkStatus](ctx, r)
			if err != nil {
				return err
			}
			names := network.NewLinkResolver(links.All)
			for _, route := range wanted {
				route.OutLinkName = names.Resolve(route.OutLinkName)
				if err := showRoute(ctx, r, route); err != nil {
					return err
				}
			}
			return safe.CleanupOutputs[*network.RouteStatus](ctx, r)
		},
	}
}

// showRoute shows a route, unless its link is missing.
func showRoute(ctx context.Context, r controller.Runtime, route network.RouteSpecSpec) error {
	link, err := safe.ReaderGetByID[*network.LinkStatus](ctx, r, route.OutLinkName)
	if state.IsNotFoundError(err) {
		return nil
	}
	if err != nil {
		return err
	}
	id := network.RouteID(route.Table, route.Family, route.Destination, route.Gateway, route.Priority, route.OutLinkName)
	return safe.WriterModify(ctx, r, network.NewRouteStatus(network.NamespaceName, id), func(status *network.RouteStatus) error {
		*status.TypedSpec() = network.RouteStatusSpec{
			Family: route.Family, Destination: route.Destination, Source: route.Source, Gateway: route.Gateway,
			OutLinkIndex: link.TypedSpec().Index, OutLinkName: route.OutLinkName, Table: route.Table, Priority: route.Priority,
			Scope: route.Scope, Type: route.Type, Flags: route.Flags, Protocol: route.Protocol, MTU: route.MTU,
		}
		return nil
	})
}

// linkLocal is the address that the kernel makes from the MAC of a NIC.
func linkLocal(link *network.LinkStatus) (network.AddressSpecSpec, bool) {
	mac := link.TypedSpec().HardwareAddr
	if !link.TypedSpec().Physical() || len(mac) != 6 {
		return network.AddressSpecSpec{}, false
	}
	addr := netip.AddrFrom16([16]byte{0xfe, 0x80, 8: mac[0] ^ 2, 9: mac[1], 10: mac[2], 11: 0xff, 12: 0xfe, 13: mac[3], 14: mac[4], 15: mac[5]})
	return network.AddressSpecSpec{
		LinkName: link.Metadata().ID(), Address: netip.PrefixFrom(addr, 64), Family: nethelpers.FamilyInet6, Scope: nethelpers.ScopeLink,
	}, true
}

// broadcast is the last address of a network of IPv4, where it is not an address of its
// own.
func broadcast(spec network.AddressSpecSpec) netip.Addr {
	if spec.Address.Bits() > 30 || spec.LinkName == loopback {
		return netip.Addr{}
	}
	last := spec.Address.Masked().Addr().As4()
	for bit := spec.Address.Bits(); bit < 32; bit++ {
		last[bit/8] |= 1 << (7 - bit%8)
	}
	return netip.AddrFrom4(last)
}

// ipv6Priority is that of the kernel's own routes of IPv6 to a network.
const ipv6Priority = 256

// kernelRoutes are those that the kernel adds for an address: to itself, to its network
// and to the broadcast address of that.
func kernelRoutes(address network.AddressStatusSpec) []network.RouteSpecSpec {
	own := network.RouteSpecSpec{
		Family: address.Family, Destination: netip.PrefixFrom(address.Address.Addr(), address.Address.Addr().BitLen()), OutLinkName: address.LinkName,
		Table: nethelpers.TableLocal, Scope: nethelpers.ScopeHost, Type: nethelpers.TypeLocal, Protocol: nethelpers.ProtocolKernel,
	}
	if address.Family == nethelpers.FamilyInet4 {
		own.Source = address.Address.Addr()
	}
	routes := []network.RouteSpecSpec{own}
	net := own
	net.Destination = address.Address.Masked()
	switch {
	case address.LinkName == loopback && address.Family == nethelpers.FamilyInet4:
		return append(routes, net) // 127.0.0.0/8 is local as a whole
	case net.Destination == own.Destination:
		return routes
	}
	net.Table, net.Scope, net.Type, net.Priority = nethelpers.TableMain, nethelpers.ScopeLink, nethelpers.TypeUnicast, address.Priority
	if address.Family == nethelpers.FamilyInet6 {
		net.Scope, net.Priority = nethelpers.ScopeGlobal, ipv6Priority
	}
	routes = append(routes, net)
	if address.Broadcast.IsValid() {
		all := own
		all.Destination, all.Scope, all.Type = netip.PrefixFrom(address.Broadcast, 32), nethelpers.ScopeLink, nethelpers.TypeBroadcast
		routes = append(routes, all)
	}
	return routes
}
