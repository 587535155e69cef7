package node

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/siderolabs/talos/pkg/machinery/nethelpers"
	"github.com/siderolabs/talos/pkg/machinery/resources/network"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
)

// operatorController answers the DHCP requests that Talos' controllers decide
// on, with what the cloud would hand out, and holds shared addresses.
func (n *node) operatorController() controller.Controller {
	return &played{
		name: "network.OperatorSpecController",
		inputs: []controller.Input{
			reads(network.NamespaceName, network.OperatorSpecType), reads(network.NamespaceName, network.LinkStatusType),
		},
		outputs: []controller.Output{
			shares(network.AddressSpecType), shares(network.RouteSpecType), shares(network.ResolverSpecType),
		},
		wake: n.leases,
		reconcile: func(ctx context.Context, r controller.Runtime) error {
			r.StartTrackingOutputs()
			specs, err := safe.ReaderListAll[*network.OperatorSpec](ctx, r)
			if err != nil {
				return err
			}
			var shared []netip.Addr
			for spec := range specs.All() {
				if spec.Metadata().Phase() != resource.PhaseRunning {
					continue
				}
				if spec.TypedSpec().Operator == network.OperatorVIP {
					shared = append(shared, spec.TypedSpec().VIP.IP)
				}
				if err := n.operate(ctx, r, *spec.TypedSpec()); err != nil {
					return err
				}
			}
			n.shared.wants(n, shared)
			return r.CleanupOutputs(ctx,
				resource.NewMetadata(network.ConfigNamespaceName, network.AddressSpecType, "", resource.VersionUndefined),
				resource.NewMetadata(network.ConfigNamespaceName, network.RouteSpecType, "", resource.VersionUndefined),
				resource.NewMetadata(network.ConfigNamespaceName, network.ResolverSpecType, "", resource.VersionUndefined),
			)
		},
	}
}

func (n *node) operate(ctx context.Context, r controller.Runtime, spec network.OperatorSpecSpec) error {
	prefix := fmt.Sprintf("%s/%s", spec.Operator, spec.LinkName)
	if spec.Operator == network.OperatorVIP {
		if !n.shared.holds(n, spec.VIP.IP) {
			return nil
		}
		address := netip.PrefixFrom(spec.VIP.IP, spec.VIP.IP.BitLen())
		return leaseAddress(ctx, r, prefix, addressOn(spec.LinkName, address))
	}
	for _, nic := range n.wiring() {
		if nic.Name != spec.LinkName {
			continue
		}
		if nic.Server != nil && spec.Operator == network.OperatorDHCP4 {
			return n.requestLease(ctx, r, prefix, nic, spec.DHCP4.RouteMetric)
		}
		if !nic.DHCP {
			continue
		}
		for _, address := range nic.Addresses {
			if address.Addr().Is4() != (spec.Operator == network.OperatorDHCP4) {
				continue
			}
			if err := n.take(ctx, r, prefix, nic, address, spec.DHCP4.RouteMetric); err != nil {
				return err
			}
		}
	}
	return nil
}

// requestLease asks the DHCP server of a network. One that has nothing left to give
// leaves the node without an address, as it would in life.
func (n *node) requestLease(ctx context.Context, r controller.Runtime, prefix string, nic machine.NIC, metric uint32) error {
	lease, err := nic.Server.Lease(nic.MAC, n.Host())
	if err != nil {
		n.logs.talos("DHCP request/renew failed on %s: %v", nic.Name, err)
		return nil
	}
	nic.Gateway = lease.Gateway
	if err := n.take(ctx, r, prefix, nic, lease.Address, metric); err != nil || len(lease.Resolvers) == 0 {
		return err
	}
	resolvers := network.NewResolverSpec(network.ConfigNamespaceName, prefix+"/"+network.ResolverID)
	return safe.WriterModify(ctx, r, resolvers, func(resolvers *network.ResolverSpec) error {
		*resolvers.TypedSpec() = network.ResolverSpecSpec{DNSServers: lease.Resolvers, ConfigLayer: network.ConfigOperator}
		return nil
	})
}

// take gives a NIC what it got by DHCP.
func (n *node) take(ctx context.Context, r controller.Runtime, prefix string, nic machine.NIC, address netip.Prefix, metric uint32) error {
	if err := leaseAddress(ctx, r, prefix, addressOn(nic.Name, address)); err != nil {
		return err
	}
	for _, route := range n.routes(nic, address, metric) {
		if err := leaseRoute(ctx, r, prefix, route); err != nil {
			return err
		}
	}
	return nil
}

func addressOn(link string, address netip.Prefix) network.AddressSpecSpec {
	family := nethelpers.FamilyInet6
	if address.Addr().Is4() {
		family = nethelpers.FamilyInet4
	}
	return network.AddressSpecSpec{
		Address: address, LinkName: link, Family: family, Scope: nethelpers.ScopeGlobal,
		Flags: nethelpers.AddressFlags(nethelpers.AddressPermanent), ConfigLayer: network.ConfigOperator,
	}
}

// routes are those that come with an address of a NIC.
func (n *node) routes(nic machine.NIC, address netip.Prefix, metric uint32) []network.RouteSpecSpec {
	if !nic.Gateway.IsValid() || nic.Gateway.Is4() != address.Addr().Is4() {
		return nil
	}
	route := network.RouteSpecSpec{
		Family: nethelpers.FamilyInet4, Gateway: nic.Gateway, Source: address.Addr(), OutLinkName: nic.Name,
		Table: nethelpers.TableMain, Priority: metric, Scope: nethelpers.ScopeGlobal, Type: nethelpers.TypeUnicast,
		Protocol: nethelpers.ProtocolBoot, ConfigLayer: network.ConfigOperator,
	}
	if address.Addr().Is6() {
		route.Family = nethelpers.FamilyInet6
	}
	// A cloud's private network leads to itself, and not to the world.
	if !nic.Public && n.Platform() == "hcloud" {
		route.Destination = address.Masked()
		return []network.RouteSpecSpec{route}
	}
	routes := []network.RouteSpecSpec{route}
	if !address.Contains(nic.Gateway) {
		onLink := route
		onLink.Destination, onLink.Gateway = netip.PrefixFrom(nic.Gateway, nic.Gateway.BitLen()), netip.Addr{}
		onLink.Scope = nethelpers.ScopeLink
		routes = append(routes, onLink)
	}
	return routes
}

func leaseAddress(ctx context.Context, r controller.Runtime, prefix string, spec network.AddressSpecSpec) error {
	id := prefix + "/" + network.AddressID(spec.LinkName, spec.Address)
	return safe.WriterModify(ctx, r, network.NewAddressSpec(network.ConfigNamespaceName, id), func(lease *network.AddressSpec) error {
		*lease.TypedSpec() = spec
		return nil
	})
}

func leaseRoute(ctx context.Context, r controller.Runtime, prefix string, spec network.RouteSpecSpec) error {
	id := prefix + "/" + network.RouteID(spec.Table, spec.Family, spec.Destination, spec.Gateway, spec.Priority, spec.OutLinkName)
	return safe.WriterModify(ctx, r, network.NewRouteSpec(network.ConfigNamespaceName, id), func(lease *network.RouteSpec) error {
		*lease.TypedSpec() = spec
		return nil
	})
}
