package node

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/siderolabs/talos/pkg/machinery/resources/network"
)

// guest is an address that a program on the node gave to a link by itself: Talos
// sees it, and has no say.
type guest struct {
	link    string
	address netip.Prefix
}

// Link is the name of a link that the machine has. Without a name it is the one
// of the default route.
func (m *Maker) Link(machine, name string) (string, error) {
	n, err := m.on(machine)
	if err != nil {
		return "", err
	}
	if name == "" {
		return n.defaultLink()
	}
	if _, err := safe.StateGetByID[*network.LinkStatus](n.ctx, n.resources.State, name); err != nil {
		return "", fmt.Errorf("link %q: Link not found", name)
	}
	return name, nil
}

// Hold gives a link of a machine an address more, until it is released or the
// machine goes down.
func (m *Maker) Hold(machine, link string, address netip.Prefix) (release func(), err error) {
	if link, err = m.Link(machine, link); err != nil {
		return nil, err
	}
	n, err := m.on(machine)
	if err != nil {
		return nil, err
	}
	held := &guest{link: link, address: address}
	n.mu.Lock()
	n.guests = append(n.guests, held)
	n.mu.Unlock()
	n.visits.ring()
	return func() {
		n.mu.Lock()
		n.guests = slices.DeleteFunc(n.guests, func(other *guest) bool { return other == held })
		n.mu.Unlock()
		n.visits.ring()
	}, nil
}

// Runs says whether the machine is up: one that lost its power says nothing more.
func (m *Maker) Runs(machine string) bool {
	_, err := m.on(machine)
	return err == nil
}

// on is what runs on a machine.
func (m *Maker) on(machine string) (*node, error) {
	m.mu.Lock()
	box := m.boxes[machine]
	m.mu.Unlock()
	if box == nil {
		return nil, fmt.Errorf("there is no machine %q", machine)
	}
	n := box.running()
	if n == nil || n.ctx.Err() != nil {
		return nil, fmt.Errorf("machine %q is not on", machine)
	}
	return n, nil
}

// guestAddresses are those that programs hold now.
func (n *node) guestAddresses() []network.AddressSpecSpec {
	n.mu.Lock()
	defer n.mu.Unlock()
	var found []network.AddressSpecSpec
	for _, held := range n.guests {
		found = append(found, addressOn(held.link, held.address))
	}
	return found
}

// defaultLink is the one by which packets leave that go to nobody in particular.
func (n *node) defaultLink() (string, error) {
	routes, err := safe.StateListAll[*network.RouteStatus](n.ctx, n.resources.State)
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
