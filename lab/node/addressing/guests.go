package addressing

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/siderolabs/talos/pkg/machinery/resources/network"
)

// guest is an address that a program on the node added to a link by itself: Talos sees it, but does not control it.
type guest struct {
	link    string
	address netip.Prefix
}

// Link returns the name of a link of the node. An empty name means the link with the default route.
func (n *Network) Link(name string) (string, error) {
	if name == "" {
		return n.defaultLink()
	}
	if _, err := safe.StateGetByID[*network.LinkStatus](n.boot.Ctx, n.boot.State, name); err != nil {
		return "", fmt.Errorf("link %q: Link not found", name)
	}
	return name, nil
}

// Hold adds an address to a link, until it is released or the boot ends.
func (n *Network) Hold(link string, address netip.Prefix) (release func()) {
	held := &guest{link: link, address: address}
	n.mu.Lock()
	n.guests = append(n.guests, held)
	n.mu.Unlock()
	n.guestsChanged.Ring()
	return func() {
		n.mu.Lock()
		n.guests = slices.DeleteFunc(n.guests, func(other *guest) bool { return other == held })
		n.mu.Unlock()
		n.guestsChanged.Ring()
	}
}

// guestAddresses returns those that programs hold now.
func (n *Network) guestAddresses() []network.AddressSpecSpec {
	n.mu.Lock()
	defer n.mu.Unlock()
	var found []network.AddressSpecSpec
	for _, held := range n.guests {
		found = append(found, addressOn(held.link, held.address))
	}
	return found
}

// defaultLink returns the link of the default route.
func (n *Network) defaultLink() (string, error) {
	routes, err := safe.StateListAll[*network.RouteStatus](n.boot.Ctx, n.boot.State)
	if err != nil {
		return "", err
	}
	for route := range routes.All() {
		if spec := route.TypedSpec(); spec.Gateway.IsValid() && spec.Destination.Bits() <= 0 {
			return spec.OutLinkName, nil
		}
	}
	return "", errors.New("unable to find default route")
}
