package privatenet

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/project"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/server"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

const (
	// perServer is the number of networks that a server can be attached to.
	perServer = 3
	// maxAliases is the number of additional addresses that it can have in one.
	maxAliases = 5
)

// Place is the place of a server in a network.
type Place struct {
	network *Network
	name    string // of the interface, such as "eth1"
	mac     string
	addr    netip.Addr
	aliases []netip.Addr
	// attached means that the interface exists; before that the address is only reserved.
	attached bool
}

// place returns the place of a server in a network, or nil.
func (n *Networks) place(of *server.Server, in *Network) *Place {
	for _, place := range n.places[of] {
		if place.network == in {
			return place
		}
	}
	return nil
}

// Has reports whether a server has a place in a network, attached or not.
func (n *Networks) Has(s *server.Server, network *Network) bool { return n.place(s, network) != nil }

// Address returns the address of a server in a network that it is attached to.
func (n *Networks) Address(of *server.Server, in *Network) (netip.Addr, bool) {
	place := n.place(of, in)
	if place == nil || !place.attached {
		return netip.Addr{}, false
	}
	return place.addr, true
}

// ViewOf returns the networks that a server is attached to.
func (n *Networks) ViewOf(s *server.Server) []schema.ServerPrivateNet {
	views := []schema.ServerPrivateNet{}
	for _, place := range n.places[s] {
		if !place.attached {
			continue
		}
		view := schema.ServerPrivateNet{Network: place.network.ID, IP: place.addr.String(), AliasIPs: []string{}, MACAddress: place.mac}
		for _, alias := range place.aliases {
			view.AliasIPs = append(view.AliasIPs, alias.String())
		}
		views = append(views, view)
	}
	return views
}

// NICs returns the interfaces of a server in networks that it is attached to.
func (n *Networks) NICs(of *server.Server) []machine.NIC {
	var nics []machine.NIC
	for _, place := range n.places[of] {
		if place.attached {
			nics = append(nics, place.nic())
		}
	}
	return nics
}

func (p *Place) nic() machine.NIC {
	return machine.NIC{
		Name: p.name, MAC: p.mac, DHCP: true, Gateway: gatewayOf(p.network.ipRange),
		Addresses: []netip.Prefix{netip.PrefixFrom(p.addr, p.addr.BitLen())},
	}
}

// Join reserves a place in a network for a new server. Public means that the server has a public interface, which is the first.
func (n *Networks) Join(s *server.Server, network *Network, public bool) error {
	addr, err := n.Reserve(network, s.Location.NetworkZone, nil, nil)
	if err != nil {
		return err
	}
	n.places[s] = append(n.places[s], n.newPlace(s, network, addr, public))
	return nil
}

// Forget releases all places of a server.
func (n *Networks) Forget(s *server.Server) { delete(n.places, s) }

// Attaching returns the steps that give a new server its interfaces.
func (n *Networks) Attaching(s *server.Server) []project.Step {
	var steps []project.Step
	for _, place := range n.places[s] {
		steps = append(steps, n.attaching(s, place))
	}
	return steps
}

func (n *Networks) newPlace(s *server.Server, network *Network, addr netip.Addr, public bool) *Place {
	number := 0
	if public {
		number = 1
	}
	name := func() string { return fmt.Sprintf("eth%d", number) }
	for slices.ContainsFunc(n.places[s], func(other *Place) bool { return other.name == name() }) {
		number++
	}
	return &Place{network: network, name: name(), addr: addr, mac: n.project.Identities.MAC(false, s.Machine+"/"+network.Name)}
}

// attaching returns the step that puts the interface into the machine.
func (n *Networks) attaching(s *server.Server, place *Place) project.Step {
	return project.Step{
		Command: "attach_to_network", Takes: pace.NetworkAttach,
		About: []project.Reference{n.servers.Reference(s), n.registry.Reference(place.network)},
		Done: func() error {
			n.attach(s, place)
			return nil
		},
		Undone: func() { n.drop(s, place) },
	}
}

func (n *Networks) attach(s *server.Server, place *Place) {
	if !slices.Contains(n.places[s], place) {
		return // the network was deleted in the meantime
	}
	place.attached = true
	for _, box := range s.Boxes() {
		box.Attach(place.nic())
	}
	n.project.Timeline.Record(s.Machine, "network", "attached", "network", place.network.Name, "address", place.addr.String())
	n.Balancers.Retarget()
}

func (n *Networks) drop(s *server.Server, place *Place) {
	n.places[s] = slices.DeleteFunc(n.places[s], func(other *Place) bool { return other == place })
}

// detach removes a server from a network, if it is in it.
func (n *Networks) detach(s *server.Server, from *Network) {
	place := n.place(s, from)
	if place == nil {
		return
	}
	n.drop(s, place)
	for _, box := range s.Boxes() {
		box.Detach(place.mac)
	}
	n.Balancers.ServerLeft(s, from)
	n.project.Timeline.Record(s.Machine, "network", "detached", "network", from.Name)
	n.Balancers.Retarget()
}

// askServer returns the server of a call, which no action has locked, and the network that the body names.
func askServer[Q any](n *Networks, r *api.Call, network func(Q) int64) (*server.Server, Q, *Network, error) {
	s, asked, err := project.AskUnlocked[Q](r, n.servers.Registry)
	if err != nil {
		return s, asked, nil, err
	}
	found, err := n.registry.Get(network(asked))
	return s, asked, found, err
}

func notAttached() error {
	return api.Failure(hcloud.ErrorCodeNotFound, "server is not attached to network")
}

func (n *Networks) attachServer(r *api.Call) (api.Reply, error) {
	s, asked, network, err := askServer(n, r, func(q schema.ServerActionAttachToNetworkRequest) int64 { return q.Network })
	if err != nil {
		return api.Reply{}, err
	}
	if n.Has(s, network) {
		return api.Reply{}, api.Failure(hcloud.ErrorCodeServerAlreadyAttached, "server is already attached to network")
	}
	if len(n.places[s]) >= perServer {
		return api.Reply{}, api.Failure(hcloud.ErrorCodeResourceLimitExceeded, "server can be attached to at most %d networks", perServer)
	}
	if slices.ContainsFunc(n.places[s], func(place *Place) bool { return place.network.ipRange.Overlaps(network.ipRange) }) {
		return api.Reply{}, api.Failure(hcloud.ErrorCodeNetworksOverlap, "IP range overlaps with another network of the server")
	}
	addr, err := n.Reserve(network, s.Location.NetworkZone, asked.IP, asked.IPRange)
	if err != nil {
		return api.Reply{}, err
	}
	place := n.newPlace(s, network, addr, n.publicIPs.HasAny(s))
	wanted := make([]string, 0, len(asked.AliasIPs))
	for _, alias := range asked.AliasIPs {
		wanted = append(wanted, api.ValueOr(alias, ""))
	}
	if place.aliases, err = n.aliases(s, place, wanted); err != nil {
		return api.Reply{}, err
	}
	n.places[s] = append(n.places[s], place)
	return n.servers.Start(s, n.attaching(s, place))
}

// aliases reads the additional addresses of a server in a network.
func (n *Networks) aliases(s *server.Server, place *Place, asked []string) ([]netip.Addr, error) {
	if len(asked) > maxAliases {
		return nil, api.Invalid("alias_ips", "there can be %d at most", maxAliases)
	}
	var aliases []netip.Addr
	for _, text := range asked {
		addr, err := netip.ParseAddr(text)
		if err != nil {
			return nil, api.Invalid("alias_ips", "'%s' is no IP address", text)
		}
		own := slices.Contains(place.aliases, addr)
		if addr == place.addr || slices.Contains(aliases, addr) || !own && !n.grants(place.network, s.Location.NetworkZone, addr) {
			return nil, notAvailable()
		}
		aliases = append(aliases, addr)
	}
	return aliases, nil
}

func (n *Networks) detachServer(r *api.Call) (api.Reply, error) {
	s, _, network, err := askServer(n, r, func(q schema.ServerActionDetachFromNetworkRequest) int64 { return q.Network })
	if err != nil {
		return api.Reply{}, err
	}
	if !n.Has(s, network) {
		return api.Reply{}, notAttached()
	}
	return n.servers.Start(s, project.Step{
		Command: "detach_from_network",
		About:   []project.Reference{n.servers.Reference(s), n.registry.Reference(network)},
		Done: func() error {
			n.detach(s, network)
			return nil
		},
	})
}

func (n *Networks) changeAliases(r *api.Call) (api.Reply, error) {
	s, asked, network, err := askServer(n, r, func(q schema.ServerActionChangeAliasIPsRequest) int64 { return q.Network })
	if err != nil {
		return api.Reply{}, err
	}
	place := n.place(s, network)
	if place == nil {
		return api.Reply{}, notAttached()
	}
	aliases, err := n.aliases(s, place, asked.AliasIPs)
	if err != nil {
		return api.Reply{}, err
	}
	return n.servers.Act(s, s.Machine, "change_alias_ips", func() { place.aliases = aliases })
}
