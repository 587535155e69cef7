package node

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/talos/pkg/machinery/nethelpers"
	"github.com/siderolabs/talos/pkg/machinery/resources/network"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
)

const loopback = "lo"

// linkController shows the NICs of the box, and the links that a config makes
// on top of them.
func (n *node) linkController() controller.Controller {
	return &played{
		name: "network.LinkStatusController",
		inputs: []controller.Input{
			reads(network.NamespaceName, network.LinkSpecType), reads(network.NamespaceName, network.LinkAliasSpecType),
			reads(network.NamespaceName, network.PlatformConfigType), reads(network.ConfigNamespaceName, network.LinkSpecType),
		},
		outputs: []controller.Output{writes(network.LinkStatusType)},
		wake:    n.wires,
		reconcile: func(ctx context.Context, r controller.Runtime) error {
			if told, err := platformTold(ctx, r); err != nil || !told {
				return err
			}
			r.StartTrackingOutputs()
			links := map[string]network.LinkStatusSpec{loopback: loopbackLink()}
			for i, nic := range n.wiring() {
				link, err := physicalLink(nic, uint32(i)+2)
				if err != nil {
					return err
				}
				link.AltNames = n.otherNames(nic)
				if link.Alias, err = aliasOf(ctx, r, nic.Name); err != nil {
					return err
				}
				links[nic.Name] = link
			}
			specs, err := safe.ReaderListAll[*network.LinkSpec](ctx, r)
			if err != nil {
				return err
			}
			for spec := range specs.All() {
				if spec.Metadata().Namespace() == network.NamespaceName && spec.Metadata().Phase() == resource.PhaseRunning {
					n.configureLink(links, *spec.TypedSpec())
				}
			}
			for name, link := range links {
				if err := safe.WriterModify(ctx, r, network.NewLinkStatus(network.NamespaceName, name), func(status *network.LinkStatus) error {
					*status.TypedSpec() = link
					return nil
				}); err != nil {
					return err
				}
			}
			return safe.CleanupOutputs[*network.LinkStatus](ctx, r)
		},
	}
}

// platformTold says whether all that the platform says of links is known. Before
// that a NIC would ask by DHCP for the address that it is about to be given.
func platformTold(ctx context.Context, r controller.Runtime) (bool, error) {
	config, err := safe.ReaderGetByID[*network.PlatformConfig](ctx, r, network.PlatformConfigActiveID)
	if state.IsNotFoundError(err) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	for _, link := range config.TypedSpec().Links {
		id := network.LayeredID(network.ConfigPlatform, network.LinkID(link.Name))
		spec := network.NewLinkSpec(network.ConfigNamespaceName, id)
		if _, err := safe.ReaderGet[*network.LinkSpec](ctx, r, spec.Metadata()); state.IsNotFoundError(err) {
			return false, nil
		} else if err != nil {
			return false, err
		}
	}
	return true, nil
}

func loopbackLink() network.LinkStatusSpec {
	return network.LinkStatusSpec{
		Index: 1, Type: nethelpers.LinkLoopbck, MTU: 65536, QueueDisc: "noqueue", LinkState: true,
		HardwareAddr: make(nethelpers.HardwareAddr, 6), BroadcastAddr: make(nethelpers.HardwareAddr, 6),
		Flags:            nethelpers.LinkFlags(nethelpers.LinkUp | nethelpers.LinkLoopback | nethelpers.LinkRunning),
		OperationalState: nethelpers.OperStateUnknown,
	}
}

func physicalLink(nic machine.NIC, index uint32) (network.LinkStatusSpec, error) {
	mac, err := net.ParseMAC(nic.MAC)
	if err != nil {
		return network.LinkStatusSpec{}, fmt.Errorf("NIC %s: %w", nic.Name, err)
	}
	return network.LinkStatusSpec{
		Index: index, Type: nethelpers.LinkEther, MTU: 1500, QueueDisc: "pfifo_fast", LinkState: true,
		HardwareAddr: nethelpers.HardwareAddr(mac), PermanentAddr: nethelpers.HardwareAddr(slices.Clone(mac)),
		BroadcastAddr:    nethelpers.HardwareAddr{0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		Flags:            nethelpers.LinkFlags(nethelpers.LinkUp | nethelpers.LinkBroadcast | nethelpers.LinkRunning | nethelpers.LinkMulticast),
		OperationalState: nethelpers.OperStateUp,
		BusPath:          fmt.Sprintf("0000:0%d:00.0", index-1), PCIID: "1AF4:1041", Driver: "virtio_net", DriverVersion: "1.0.0",
		ProductID: "0x1041", VendorID: "0x1af4", Product: "Virtio 1.0 network device", Vendor: "Red Hat, Inc.",
		Port: nethelpers.Other, Duplex: nethelpers.Unknown,
	}, nil
}

// otherNames are what a NIC may be called besides. On metal, where names follow
// from the hardware, the one of its MAC is always among them.
func (n *node) otherNames(nic machine.NIC) []string {
	name := "enx" + strings.ReplaceAll(strings.ToLower(nic.MAC), ":", "")
	if n.Platform() != "metal" || name == nic.Name {
		return nil
	}
	return []string{name}
}

// aliasOf is what a config calls a NIC, if it does.
func aliasOf(ctx context.Context, r controller.Runtime, name string) (string, error) {
	alias, err := safe.ReaderGetByID[*network.LinkAliasSpec](ctx, r, name)
	if state.IsNotFoundError(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return alias.TypedSpec().Alias, nil
}

// nicOf is the link of that name, which may be one of its other names.
func nicOf(links map[string]network.LinkStatusSpec, name string) string {
	for own, link := range links {
		if name != "" && link.Alias == name || slices.Contains(link.AltNames, name) {
			return own
		}
	}
	return name
}

// configureLink does what a config asks of a link that is there, and makes the
// links that are nothing but config.
func (n *node) configureLink(links map[string]network.LinkStatusSpec, spec network.LinkSpecSpec) {
	name := nicOf(links, spec.Name)
	link, there := links[name]
	if !there {
		if !spec.Logical {
			return
		}
		link = network.LinkStatusSpec{
			Index: uint32(pid(n.Host(), spec.Name)), Type: spec.Type, Kind: spec.Kind, MTU: 1500, QueueDisc: "noqueue", LinkState: true,
			Flags:            nethelpers.LinkFlags(nethelpers.LinkUp | nethelpers.LinkBroadcast | nethelpers.LinkRunning | nethelpers.LinkMulticast),
			OperationalState: nethelpers.OperStateUp,
			VLAN:             spec.VLAN, BondMaster: spec.BondMaster, BridgeMaster: spec.BridgeMaster,
			HardwareAddr: links[nicOf(links, spec.ParentName)].HardwareAddr,
		}
	}
	if spec.MTU != 0 {
		link.MTU = spec.MTU
	}
	if len(spec.HardwareAddress) > 0 {
		link.HardwareAddr = spec.HardwareAddress
	}
	links[name] = link
}
