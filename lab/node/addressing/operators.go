package addressing

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
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/resources"
)

// operatorController answers the DHCP requests of Talos' controllers, as the cloud would, and holds shared addresses.
func (n *Network) operatorController() controller.Controller {
	return &resources.Simulated{
		Real: "network.OperatorSpecController",
		Reads: []controller.Input{
			resources.Reads(network.NamespaceName, network.OperatorSpecType), resources.Reads(network.NamespaceName, network.LinkStatusType),
		},
		Writes: []controller.Output{
			resources.Shares(network.AddressSpecType), resources.Shares(network.RouteSpecType), resources.Shares(network.ResolverSpecType),
		},
		Wake: n.member.changed,
		Reconcile: func(ctx context.Context, r controller.Runtime) error {
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
			n.member.want(shared)
			return r.CleanupOutputs(ctx,
				resource.NewMetadata(network.ConfigNamespaceName, network.AddressSpecType, "", resource.VersionUndefined),
				resource.NewMetadata(network.ConfigNamespaceName, network.RouteSpecType, "", resource.VersionUndefined),
				resource.NewMetadata(network.ConfigNamespaceName, network.ResolverSpecType, "", resource.VersionUndefined),
			)
		},
	}
}

func (n *Network) operate(ctx context.Context, r controller.Runtime, spec network.OperatorSpecSpec) error {
	prefix := fmt.Sprintf("%s/%s", spec.Operator, spec.LinkName)
	if spec.Operator == network.OperatorVIP {
		if !n.member.holds(spec.VIP.IP) {
			return nil
		}
		address := netip.PrefixFrom(spec.VIP.IP, spec.VIP.IP.BitLen())
		return leaseAddress(ctx, r, prefix, addressOn(spec.LinkName, address))
	}
	for _, nic := range n.boot.Hardware.NICs() {
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

// requestLease asks the DHCP server of a network. If it has no free address, the node gets none.
func (n *Network) requestLease(ctx context.Context, r controller.Runtime, prefix string, nic machine.NIC, metric uint32) error {
	lease, err := nic.Server.Lease(nic.MAC, n.boot.Host())
	if err != nil {
		n.boot.Logs.Talos("DHCP request/renew failed on %s: %v", nic.Name, err)
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

// take gives a NIC an address that it got by DHCP.
func (n *Network) take(ctx context.Context, r controller.Runtime, prefix string, nic machine.NIC, address netip.Prefix, metric uint32) error {
	lease := addressOn(nic.Name, address)
	lease.Priority = metric
	if err := leaseAddress(ctx, r, prefix, lease); err != nil {
		return err
	}
	for _, route := range routes(n.boot.Platform(), nic, address, metric) {
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

// routes returns those that belong to an address of a NIC.
func routes(platform string, nic machine.NIC, address netip.Prefix, metric uint32) []network.RouteSpecSpec {
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
	// The router of a cloud's private network leads to that network only.
	if !nic.Public && platform == "hcloud" {
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
