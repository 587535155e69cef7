package addressing

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
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/resources"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/service"
)

const loopback = "lo"

// linkController publishes the NICs of the machine, and the links that a config creates on top of them.
func (n *Network) linkController() controller.Controller {
	return &resources.Simulated{
		Real: "network.LinkStatusController",
		Reads: []controller.Input{
			resources.Reads(network.NamespaceName, network.LinkSpecType), resources.Reads(network.NamespaceName, network.LinkAliasSpecType),
			resources.Reads(network.NamespaceName, network.PlatformConfigType), resources.Reads(network.ConfigNamespaceName, network.LinkSpecType),
		},
		Writes: []controller.Output{resources.Writes(network.LinkStatusType)},
		Wake:   n.wired,
		Reconcile: func(ctx context.Context, r controller.Runtime) error {
			if known, err := platformKnown(ctx, r); err != nil || !known {
				return err
			}
			r.StartTrackingOutputs()
			links := map[string]network.LinkStatusSpec{loopback: loopbackLink()}
			for i, nic := range n.boot.Hardware.NICs() {
				link, err := physicalLink(nic, uint32(i)+2)
				if err != nil {
					return err
				}
				link.AltNames = otherNames(n.boot.Platform(), nic)
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
					configureLink(links, *spec.TypedSpec(), n.boot.Host())
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

// platformKnown reports whether all links of the platform's metadata are known. Before that, a NIC would request by DHCP the address that it is about to get.
func platformKnown(ctx context.Context, r controller.Runtime) (bool, error) {
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

// otherNames returns the alternative names of a NIC. On metal, where names follow from the hardware, the one with its MAC is always among them.
func otherNames(platform string, nic machine.NIC) []string {
	name := "enx" + strings.ReplaceAll(strings.ToLower(nic.MAC), ":", "")
	if platform != "metal" || name == nic.Name {
		return nil
	}
	return []string{name}
}

// aliasOf returns the name that a config gives a NIC, if any.
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

// nicOf returns the link with a name, which may be an alternative one.
func nicOf(links map[string]network.LinkStatusSpec, name string) string {
	for own, link := range links {
		if name != "" && link.Alias == name || slices.Contains(link.AltNames, name) {
			return own
		}
	}
	return name
}

// configureLink configures an existing link, and creates those that consist of configuration only.
func configureLink(links map[string]network.LinkStatusSpec, spec network.LinkSpecSpec, host string) {
	name := nicOf(links, spec.Name)
	link, there := links[name]
	if !there {
		if !spec.Logical {
			return
		}
		link = network.LinkStatusSpec{
			Index: uint32(service.PID(host, spec.Name)), Type: spec.Type, Kind: spec.Kind, MTU: 1500, QueueDisc: "noqueue", LinkState: true,
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
