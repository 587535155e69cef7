// Package addressing is the network of a simulated node: links, addresses, routes, DHCP, shared addresses, and the platform's network metadata.
package addressing

import (
	"context"
	"net/netip"
	"slices"
	"sync"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/nethelpers"
	filesresource "github.com/siderolabs/talos/pkg/machinery/resources/files"
	"github.com/siderolabs/talos/pkg/machinery/resources/network"
	timeresource "github.com/siderolabs/talos/pkg/machinery/resources/time"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/boot"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/resources"
)

// Follower listens at the addresses of a node.
type Follower interface {
	// Moved is called with all addresses when they have changed.
	Moved(to []netip.Addr)
}

// Network is the network of one boot.
type Network struct {
	boot      *boot.Boot
	member    *Member
	followers []Follower
	// wired rings when NICs are added or removed, guestsChanged when guests are.
	wired, guestsChanged resources.Bell

	mu        sync.Mutex
	addresses []netip.Addr
	guests    []*guest
}

// New returns a boot without addresses. Followers listen at those that are added.
func New(of *boot.Boot, member *Member, followers ...Follower) *Network {
	return &Network{boot: of, member: member, followers: followers, wired: resources.NewBell(), guestsChanged: resources.NewBell()}
}

// Controllers simulate those of Talos that would configure the host.
func (n *Network) Controllers() []controller.Controller {
	return []controller.Controller{
		n.linkController(), n.addressController(), n.routeController(), n.operatorController(), n.etcFileController(), n.timeController(),
	}
}

// Rewired is called when NICs were added or removed.
func (n *Network) Rewired() { n.wired.Ring() }

// Addresses returns the addresses that are up.
func (n *Network) Addresses() []netip.Addr {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.addresses)
}

// Hostname returns the name of the node, or "" while it is not known.
func (n *Network) Hostname() string {
	name, err := safe.StateGetByID[*network.HostnameStatus](n.boot.Ctx, n.boot.State, network.HostnameID)
	if err != nil {
		return ""
	}
	return name.TypedSpec().FQDN()
}

// Ready returns when the node has addresses, a hostname and the files that need them.
func (n *Network) Ready(ctx context.Context) error {
	return network.NewReadyCondition(n.boot.State, network.AddressReady, network.HostnameReady, network.EtcFilesReady).Wait(ctx)
}

// TimeSynced returns when the clock is synchronized.
func (n *Network) TimeSynced(ctx context.Context) error {
	return timeresource.NewSyncCondition(n.boot.State).Wait(ctx)
}

// addressController brings up the addresses that Talos' controllers have determined.
func (n *Network) addressController() controller.Controller {
	return &resources.Simulated{
		Real: "network.AddressStatusController",
		Reads: []controller.Input{
			resources.Reads(network.NamespaceName, network.AddressSpecType), resources.Reads(network.NamespaceName, network.LinkStatusType),
		},
		Writes: []controller.Output{resources.Shares(network.AddressStatusType)},
		Wake:   n.guestsChanged,
		Reconcile: func(ctx context.Context, r controller.Runtime) error {
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
			// A link can have several names.
			names := network.NewLinkResolver(links.All)
			var up []netip.Addr
			for link := range links.All() {
				if own, has := linkLocal(link); has {
					if err := n.showAddress(ctx, r, own, link.TypedSpec().Index); err != nil {
						return err
					}
				}
			}
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
			// An address can be reached, and is served, before clients see it in the resources.
			if err := n.setAddresses(up); err != nil {
				return err
			}
			return safe.CleanupOutputs[*network.AddressStatus](ctx, r)
		},
	}
}

func (n *Network) showAddress(ctx context.Context, r controller.Runtime, spec network.AddressSpecSpec, index uint32) error {
	status := network.NewAddressStatus(network.NamespaceName, network.AddressID(spec.LinkName, spec.Address))
	return safe.WriterModify(ctx, r, status, func(status *network.AddressStatus) error {
		*status.TypedSpec() = network.AddressStatusSpec{
			Address: spec.Address, LinkName: spec.LinkName, LinkIndex: index,
			Family: spec.Family, Scope: spec.Scope, Flags: nethelpers.AddressFlags(nethelpers.AddressPermanent), Priority: spec.Priority,
		}
		if spec.Family == nethelpers.FamilyInet4 {
			status.TypedSpec().Local, status.TypedSpec().Broadcast = spec.Address.Addr(), broadcast(spec)
		}
		return nil
	})
}

// setAddresses gives the node exactly these addresses in the lab's network.
func (n *Network) setAddresses(up []netip.Addr) error {
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
			if err := n.member.plug(addr); err != nil {
				return err
			}
			n.boot.Record("address", addr.String())
		}
	}
	for _, follower := range n.followers {
		follower.Moved(up)
	}
	for _, addr := range before {
		if !slices.Contains(up, addr) {
			if err := n.member.unplug(addr); err != nil {
				return err
			}
			n.boot.Record("address gone", addr.String())
		}
	}
	texts := make([]string, len(up))
	for i, addr := range up {
		texts[i] = addr.String()
	}
	n.boot.Events.Publish(n.boot.Ctx, &machineapi.AddressEvent{Hostname: n.Hostname(), Addresses: texts})
	return nil
}

// Unplug takes all addresses down when the boot has ended.
func (n *Network) Unplug() {
	for _, addr := range n.Addresses() {
		if err := n.member.unplug(addr); err != nil {
			n.boot.Record("network", "failed", "error", err.Error())
		}
	}
}

// etcFileController reports that the files are written which need a hostname.
func (n *Network) etcFileController() controller.Controller {
	return &resources.Simulated{
		Real:   "filesresource.EtcFileController",
		Reads:  []controller.Input{resources.Reads(network.NamespaceName, network.HostnameStatusType), resources.Reads(network.NamespaceName, network.ResolverStatusType)},
		Writes: []controller.Output{resources.Writes(filesresource.EtcFileStatusType)},
		Reconcile: func(ctx context.Context, r controller.Runtime) error {
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

// timeController synchronizes the clock as soon as the node is connected: the time
// servers of the lab fail on purpose alone.
func (n *Network) timeController() controller.Controller {
	return &resources.Simulated{
		Real:   "time.SyncController",
		Reads:  []controller.Input{resources.Reads(network.NamespaceName, network.StatusType)},
		Writes: []controller.Output{resources.Writes(timeresource.StatusType)},
		Reconcile: func(ctx context.Context, r controller.Runtime) error {
			status, err := safe.ReaderGetByID[*network.Status](ctx, r, network.StatusID)
			if err != nil && !state.IsNotFoundError(err) {
				return err
			}
			synced := false
			show := func(change func(*timeresource.StatusSpec)) error {
				return safe.WriterModify(ctx, r, timeresource.NewStatus(), func(clock *timeresource.Status) error {
					change(clock.TypedSpec())
					return nil
				})
			}
			if err := show(func(clock *timeresource.StatusSpec) { synced = clock.Synced }); err != nil {
				return err
			}
			// A clock that was synchronized once stays right without a network.
			if connected := status != nil && status.TypedSpec().ConnectivityReady; synced || !connected {
				return nil
			}
			if err := n.boot.SetClock(ctx, "sync"); err != nil {
				return err
			}
			return show(func(clock *timeresource.StatusSpec) { clock.Synced = true })
		},
	}
}
