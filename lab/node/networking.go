package node

import (
	"context"
	"net/netip"
	"slices"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/nethelpers"
	filesresource "github.com/siderolabs/talos/pkg/machinery/resources/files"
	"github.com/siderolabs/talos/pkg/machinery/resources/network"
	timeresource "github.com/siderolabs/talos/pkg/machinery/resources/time"
)

// addressController brings the addresses up that Talos' controllers decided.
func (n *node) addressController() controller.Controller {
	return &played{
		name: "network.AddressStatusController",
		inputs: []controller.Input{
			reads(network.NamespaceName, network.AddressSpecType), reads(network.NamespaceName, network.LinkStatusType),
		},
		outputs: []controller.Output{shares(network.AddressStatusType)},
		wake:    n.visits,
		reconcile: func(ctx context.Context, r controller.Runtime) error {
			r.StartTrackingOutputs()
			specs, err := safe.ReaderListAll[*network.AddressSpec](ctx, r)
			if err != nil {
				return err
			}
			wanted := []network.AddressSpecSpec{
				{LinkName: loopback, Address: netip.MustParsePrefix("127.0.0.1/8"), Family: nethelpers.FamilyInet4, Scope: nethelpers.ScopeHost},
				{LinkName: loopback, Address: netip.MustParsePrefix("::1/128"), Family: nethelpers.FamilyInet6, Scope: nethelpers.ScopeHost},
			}
			for spec := range specs.All() {
				if spec.Metadata().Phase() == resource.PhaseRunning {
					wanted = append(wanted, *spec.TypedSpec())
				}
			}
			wanted = append(wanted, n.guestAddresses()...)
			links, err := safe.ReaderListAll[*network.LinkStatus](ctx, r)
			if err != nil {
				return err
			}
			// A link has more than one name.
			names := network.NewLinkResolver(links.All)
			var up []netip.Addr
			for _, spec := range wanted {
				spec.LinkName = names.Resolve(spec.LinkName)
				link, err := safe.ReaderGetByID[*network.LinkStatus](ctx, r, spec.LinkName)
				if state.IsNotFoundError(err) {
					continue
				}
				if err != nil {
					return err
				}
				if spec.LinkName != loopback {
					up = append(up, spec.Address.Addr())
				}
				if err := n.showAddress(ctx, r, spec, link.TypedSpec().Index); err != nil {
					return err
				}
			}
			// Before clients see an address it can be reached, and is served.
			if err := n.addressed(up); err != nil {
				return err
			}
			return safe.CleanupOutputs[*network.AddressStatus](ctx, r)
		},
	}
}

func (n *node) showAddress(ctx context.Context, r controller.Runtime, spec network.AddressSpecSpec, index uint32) error {
	status := network.NewAddressStatus(network.NamespaceName, network.AddressID(spec.LinkName, spec.Address))
	return safe.WriterModify(ctx, r, status, func(status *network.AddressStatus) error {
		*status.TypedSpec() = network.AddressStatusSpec{
			Address: spec.Address, Local: spec.Address.Addr(), LinkName: spec.LinkName, LinkIndex: index,
			Family: spec.Family, Scope: spec.Scope, Flags: nethelpers.AddressFlags(nethelpers.AddressPermanent), Priority: spec.Priority,
		}
		return nil
	})
}

// addressed makes exactly these addresses the node's in the lab's network.
func (n *node) addressed(up []netip.Addr) error {
	slices.SortFunc(up, netip.Addr.Compare)
	up = slices.Compact(up)
	n.mu.Lock()
	before := n.addresses
	n.addresses = up
	n.mu.Unlock()
	if slices.Equal(before, up) {
		return nil
	}
	for _, addr := range up {
		if !slices.Contains(before, addr) {
			if err := n.shared.plug(n, addr); err != nil {
				return err
			}
			n.Timeline.Record(n.Host(), "address", addr.String())
		}
	}
	n.api.moved(up)
	n.doors.moved(up)
	for _, addr := range before {
		if !slices.Contains(up, addr) {
			if err := n.shared.unplug(n, addr); err != nil {
				return err
			}
			n.Timeline.Record(n.Host(), "address gone", addr.String())
		}
	}
	texts := make([]string, len(up))
	for i, addr := range up {
		texts[i] = addr.String()
	}
	n.events.Publish(n.ctx, &machineapi.AddressEvent{Hostname: n.Hostname(), Addresses: texts})
	return nil
}

// unplugNetwork takes all addresses down when the boot ends.
func (n *node) unplugNetwork() {
	for _, addr := range n.Addresses() {
		if err := n.shared.unplug(n, addr); err != nil {
			n.Timeline.Record(n.Host(), "network", "failed", "error", err.Error())
		}
	}
}

// routeController shows the routes that were decided.
func (n *node) routeController() controller.Controller {
	return &played{
		name: "network.RouteStatusController",
		inputs: []controller.Input{
			reads(network.NamespaceName, network.RouteSpecType), reads(network.NamespaceName, network.LinkStatusType),
		},
		outputs: []controller.Output{writes(network.RouteStatusType)},
		reconcile: func(ctx context.Context, r controller.Runtime) error {
			r.StartTrackingOutputs()
			specs, err := safe.ReaderListAll[*network.RouteSpec](ctx, r)
			if err != nil {
				return err
			}
			links, err := safe.ReaderListAll[*network.LinkStatus](ctx, r)
			if err != nil {
				return err
			}
			names := network.NewLinkResolver(links.All)
			for spec := range specs.All() {
				route := *spec.TypedSpec()
				route.OutLinkName = names.Resolve(route.OutLinkName)
				link, err := safe.ReaderGetByID[*network.LinkStatus](ctx, r, route.OutLinkName)
				if state.IsNotFoundError(err) || spec.Metadata().Phase() != resource.PhaseRunning {
					continue
				}
				if err != nil {
					return err
				}
				id := network.RouteID(route.Table, route.Family, route.Destination, route.Gateway, route.Priority, route.OutLinkName)
				if err := safe.WriterModify(ctx, r, network.NewRouteStatus(network.NamespaceName, id), func(status *network.RouteStatus) error {
					*status.TypedSpec() = network.RouteStatusSpec{
						Family: route.Family, Destination: route.Destination, Source: route.Source, Gateway: route.Gateway,
						OutLinkIndex: link.TypedSpec().Index, OutLinkName: route.OutLinkName, Table: route.Table, Priority: route.Priority,
						Scope: route.Scope, Type: route.Type, Flags: route.Flags, Protocol: route.Protocol, MTU: route.MTU,
					}
					return nil
				}); err != nil {
					return err
				}
			}
			return safe.CleanupOutputs[*network.RouteStatus](ctx, r)
		},
	}
}

// etcFileController says that the files are written which need a hostname.
func (n *node) etcFileController() controller.Controller {
	return &played{
		name:    "filesresource.EtcFileController",
		inputs:  []controller.Input{reads(network.NamespaceName, network.HostnameStatusType), reads(network.NamespaceName, network.ResolverStatusType)},
		outputs: []controller.Output{writes(filesresource.EtcFileStatusType)},
		reconcile: func(ctx context.Context, r controller.Runtime) error {
			for file, from := range map[string]resource.Pointer{
				"hosts":       network.NewHostnameStatus(network.NamespaceName, network.HostnameID).Metadata(),
				"resolv.conf": network.NewResolverStatus(network.NamespaceName, network.ResolverID).Metadata(),
			} {
				source, err := r.Get(ctx, from)
				if state.IsNotFoundError(err) {
					continue
				}
				if err != nil {
					return err
				}
				if err := safe.WriterModify(ctx, r, filesresource.NewEtcFileStatus(filesresource.NamespaceName, file), func(status *filesresource.EtcFileStatus) error {
					status.TypedSpec().SpecVersion = source.Metadata().Version().String()
					return nil
				}); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// timeController says that the clock is right as soon as the node is connected:
// the time servers of the lab never fail.
func (n *node) timeController() controller.Controller {
	return &played{
		name:    "time.SyncController",
		inputs:  []controller.Input{reads(network.NamespaceName, network.StatusType)},
		outputs: []controller.Output{writes(timeresource.StatusType)},
		reconcile: func(ctx context.Context, r controller.Runtime) error {
			status, err := safe.ReaderGetByID[*network.Status](ctx, r, network.StatusID)
			if err != nil && !state.IsNotFoundError(err) {
				return err
			}
			connected := status != nil && status.TypedSpec().ConnectivityReady
			return safe.WriterModify(ctx, r, timeresource.NewStatus(), func(clock *timeresource.Status) error {
				// A clock that was set stays right without a network.
				if connected && !clock.TypedSpec().Synced {
					clock.TypedSpec().Synced, clock.TypedSpec().Epoch = true, 1
				}
				return nil
			})
		},
	}
}
