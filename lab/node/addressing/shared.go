package addressing

import (
	"net/netip"
	"slices"
	"sync"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/network"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/resources"
)

// Shared are the addresses of a lab: who has which one, and which control plane holds each address that several control planes share. Real holders are
// elected through etcd.
type Shared struct {
	network network.Network

	mu         sync.Mutex
	candidates map[netip.Addr][]*Member
	able       map[*Member]bool // etcd runs there
	holders    map[netip.Addr]*Member
	// plugged is the owner of each address that is up: an address that another node has taken over must not be taken down by its previous owner.
	plugged map[netip.Addr]*Member
}

// NewShared returns a lab without addresses.
func NewShared(network network.Network) *Shared {
	return &Shared{
		network: network, candidates: map[netip.Addr][]*Member{}, able: map[*Member]bool{},
		holders: map[netip.Addr]*Member{}, plugged: map[netip.Addr]*Member{},
	}
}

// Member is a node that takes part in the elections.
type Member struct {
	shared *Shared
	// changed rings when a shared address is gained or lost.
	changed resources.Bell
}

// NewMember returns a node that has no address yet.
func (s *Shared) NewMember() *Member { return &Member{shared: s, changed: resources.NewBell()} }

// want sets the shared addresses for which the node is a candidate.
func (m *Member) want(addrs []netip.Addr) {
	s := m.shared
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, addr := range addrs {
		if !slices.Contains(s.candidates[addr], m) {
			s.candidates[addr] = append(s.candidates[addr], m)
		}
	}
	for addr, members := range s.candidates {
		if !slices.Contains(addrs, addr) {
			s.candidates[addr] = without(members, m)
		}
	}
	s.elect()
}

func without(members []*Member, m *Member) []*Member {
	return slices.DeleteFunc(members, func(other *Member) bool { return other == m })
}

// Claim declares that etcd runs on the node, so that it can be elected.
func (m *Member) Claim() {
	m.shared.mu.Lock()
	defer m.shared.mu.Unlock()
	m.shared.able[m] = true
	m.shared.elect()
}

// Yield declares that etcd no longer runs on the node.
func (m *Member) Yield() {
	m.shared.mu.Lock()
	defer m.shared.mu.Unlock()
	delete(m.shared.able, m)
	m.shared.elect()
}

// Leave removes the node from all elections.
func (m *Member) Leave() {
	s := m.shared
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.able, m)
	for addr, members := range s.candidates {
		s.candidates[addr] = without(members, m)
	}
	s.elect()
}

// elect is called with the lock.
func (s *Shared) elect() {
	for addr, members := range s.candidates {
		before := s.holders[addr]
		if before != nil && s.able[before] && slices.Contains(members, before) {
			continue
		}
		delete(s.holders, addr)
		for _, candidate := range members {
			if s.able[candidate] {
				s.holders[addr] = candidate
				candidate.changed.Ring()
				break
			}
		}
		if before != nil && before != s.holders[addr] {
			before.changed.Ring()
		}
	}
}

// holds reports whether the node holds a shared address.
func (m *Member) holds(addr netip.Addr) bool {
	m.shared.mu.Lock()
	defer m.shared.mu.Unlock()
	return m.shared.holders[addr] == m
}

// plug brings an address up for the node.
func (m *Member) plug(addr netip.Addr) error {
	m.shared.mu.Lock()
	defer m.shared.mu.Unlock()
	m.shared.plugged[addr] = m
	return m.shared.network.Add(addr)
}

// unplug takes an address down, unless another node has taken it over.
func (m *Member) unplug(addr netip.Addr) error {
	m.shared.mu.Lock()
	defer m.shared.mu.Unlock()
	if m.shared.plugged[addr] != m {
		return nil
	}
	delete(m.shared.plugged, addr)
	return m.shared.network.Remove(addr)
}
