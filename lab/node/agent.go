package node

import (
	"slices"

	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/siderolabs/talos/pkg/machinery/nethelpers"
	"github.com/siderolabs/talos/pkg/machinery/resources/network"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
)

// agentExtension runs the guest agent, which talks to the hypervisor.
const agentExtension = "siderolabs/qemu-guest-agent"

// Guest returns the answer of the guest agent, while Talos runs with one. The agent needs no config, so it answers in maintenance too.
func (b *box) Guest() (machine.Guest, bool) {
	n := b.running()
	if n == nil || !n.hasAgent() {
		return machine.Guest{}, false
	}
	links, err := safe.StateListAll[*network.LinkStatus](n.boot.Ctx, n.boot.State)
	if err != nil {
		return machine.Guest{}, false // the boot ends
	}
	addresses, err := safe.StateListAll[*network.AddressStatus](n.boot.Ctx, n.boot.State)
	if err != nil {
		return machine.Guest{}, false
	}
	guest := machine.Guest{Hostname: n.Hostname(), Talos: n.Version()}
	for link := range links.All() {
		status := link.TypedSpec()
		if status.Type != nethelpers.LinkEther && status.Type != nethelpers.LinkLoopbck {
			continue
		}
		shown := machine.GuestLink{Name: link.Metadata().ID(), MAC: status.HardwareAddr.String()}
		for address := range addresses.All() {
			if address.TypedSpec().LinkName == shown.Name {
				shown.Addresses = append(shown.Addresses, address.TypedSpec().Address)
			}
		}
		guest.Links = append(guest.Links, shown)
	}
	return guest, len(guest.Links) > 0
}

func (n *node) hasAgent() bool {
	return slices.ContainsFunc(n.boot.Extensions(), func(e Extension) bool {
		return e.Name == agentExtension || e.Service == "qemu-guest-agent"
	})
}
