package hetzner

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

// maxNetworks is how many a server can be attached to, and maxAliases how many
// more addresses it can have in one.
const (
	maxNetworks = 3
	maxAliases  = 5
)

// newAttachment is a place in a network that waits for its interface.
func (c *Cloud) newAttachment(s *server, network *privateNetwork, addr netip.Addr, public bool) *attachment {
	number := 0
	if public {
		number = 1
	}
	name := func() string { return fmt.Sprintf("eth%d", number) }
	for slices.ContainsFunc(s.private, func(other *attachment) bool { return other.name == name() }) {
		number++
	}
	return &attachment{network: network, name: name(), addr: addr, mac: c.identities.mac(false, s.lab+"/"+network.name)}
}

// plugIn puts the interface into the machine.
func (c *Cloud) plugIn(s *server, at *attachment) {
	if !slices.Contains(s.private, at) {
		return // the network was deleted meanwhile
	}
	at.attached = true
	for _, box := range s.boxes() {
		box.Attach(at.nic())
	}
	c.Timeline.Record(s.lab, "network", "attached", "network", at.network.name, "address", at.addr.String())
	c.retarget()
}

// plugging is the step that puts an interface into the machine.
func (c *Cloud) plugging(s *server, at *attachment) step {
	return step{
		command: "attach_to_network", takes: pace.NetworkAttach,
		about: []reference{{Type: "server", ID: s.id}, {Type: "network", ID: at.network.id}},
		done: func() error {
			c.plugIn(s, at)
			return nil
		},
		undone: func() {
			s.private = slices.DeleteFunc(s.private, func(other *attachment) bool { return other == at })
		},
	}
}

// detach takes a server out of a network that it may be in.
func (c *Cloud) detach(s *server, from *privateNetwork) {
	at := s.attachment(from)
	if at == nil {
		return
	}
	s.private = slices.DeleteFunc(s.private, func(other *attachment) bool { return other == at })
	for _, box := range s.boxes() {
		box.Detach(at.mac)
	}
	for _, balancer := range c.loadBalancers.all() {
		if _, shared := balancer.private[from]; shared {
			balancer.targets = slices.DeleteFunc(balancer.targets, func(t *target) bool { return t.server == s && t.usePrivate })
		}
	}
	c.Timeline.Record(s.lab, "network", "detached", "network", from.name)
	c.retarget()
}

func (c *Cloud) attachServer(r *call) (reply, error) {
	s, asked, err := ask[schema.ServerActionAttachToNetworkRequest](r, c.servers)
	if err != nil {
		return reply{}, err
	}
	if err := c.unlocked("server", s.id); err != nil {
		return reply{}, err
	}
	network, err := c.networks.get(asked.Network)
	if err != nil {
		return reply{}, err
	}
	if s.attachment(network) != nil {
		return reply{}, failure(hcloud.ErrorCodeServerAlreadyAttached, "server is already attached to network")
	}
	if len(s.private) >= maxNetworks {
		return reply{}, failure(hcloud.ErrorCodeResourceLimitExceeded, "server can be attached to at most %d networks", maxNetworks)
	}
	if slices.ContainsFunc(s.private, func(at *attachment) bool { return at.network.ipRange.Overlaps(network.ipRange) }) {
		return reply{}, failure(hcloud.ErrorCodeNetworksOverlap, "IP range overlaps with another network of the server")
	}
	addr, err := c.reserve(network, s.location.NetworkZone, asked.IP, asked.IPRange)
	if err != nil {
		return reply{}, err
	}
	at := c.newAttachment(s, network, addr, s.ipv4 != nil || s.ipv6 != nil)
	wanted := make([]string, 0, len(asked.AliasIPs))
	for _, alias := range asked.AliasIPs {
		wanted = append(wanted, valueOr(alias, ""))
	}
	if at.aliases, err = c.aliases(s, at, wanted); err != nil {
		return reply{}, err
	}
	s.private = append(s.private, at)
	return acting(c.startOne(s.lab, c.plugging(s, at)))
}

// aliases reads the further addresses that a server is to have in a network.
func (c *Cloud) aliases(s *server, at *attachment, asked []string) ([]netip.Addr, error) {
	if len(asked) > maxAliases {
		return nil, invalid("alias_ips", "there can be %d at most", maxAliases)
	}
	var aliases []netip.Addr
	for _, text := range asked {
		addr, err := netip.ParseAddr(text)
		if err != nil {
			return nil, invalid("alias_ips", "'%s' is no IP address", text)
		}
		own := slices.Contains(at.aliases, addr)
		if addr == at.addr || slices.Contains(aliases, addr) || !own && !c.grants(at.network, s.location.NetworkZone, addr) {
			return nil, failure(hcloud.ErrorCodeIPNotAvailable, "IP not available")
		}
		aliases = append(aliases, addr)
	}
	return aliases, nil
}

func (c *Cloud) detachServer(r *call) (reply, error) {
	s, asked, err := ask[schema.ServerActionDetachFromNetworkRequest](r, c.servers)
	if err != nil {
		return reply{}, err
	}
	if err := c.unlocked("server", s.id); err != nil {
		return reply{}, err
	}
	network, err := c.networks.get(asked.Network)
	if err != nil {
		return reply{}, err
	}
	if s.attachment(network) == nil {
		return reply{}, failure(hcloud.ErrorCodeNotFound, "server is not attached to network")
	}
	return acting(c.startOne(s.lab, step{
		command: "detach_from_network",
		about:   []reference{{Type: "server", ID: s.id}, {Type: "network", ID: network.id}},
		done: func() error {
			c.detach(s, network)
			return nil
		},
	}))
}

func (c *Cloud) changeAliases(r *call) (reply, error) {
	s, asked, err := ask[schema.ServerActionChangeAliasIPsRequest](r, c.servers)
	if err != nil {
		return reply{}, err
	}
	if err := c.unlocked("server", s.id); err != nil {
		return reply{}, err
	}
	network, err := c.networks.get(asked.Network)
	if err != nil {
		return reply{}, err
	}
	at := s.attachment(network)
	if at == nil {
		return reply{}, failure(hcloud.ErrorCodeNotFound, "server is not attached to network")
	}
	aliases, err := c.aliases(s, at, asked.AliasIPs)
	if err != nil {
		return reply{}, err
	}
	return c.act(s.lab, "change_alias_ips", "server", s.id, func() { at.aliases = aliases })
}
