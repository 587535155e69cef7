package node

import (
	"net/netip"
	"slices"
	"sync"
)

// sharedAddresses are addresses of which one control plane at a time holds
// each, elected through etcd in life.
type sharedAddresses struct {
	mu         sync.Mutex
	candidates map[netip.Addr][]*node
	able       map[*node]bool // etcd runs there
	holders    map[netip.Addr]*node
	// plugged says whose each address of the network is: one that another node
	// has taken over must not be taken down by the one before.
	plugged map[netip.Addr]*node
}

func newSharedAddresses() *sharedAddresses {
	return &sharedAddresses{
		candidates: map[netip.Addr][]*node{}, able: map[*node]bool{}, holders: map[netip.Addr]*node{}, plugged: map[netip.Addr]*node{},
	}
}

// wants says which shared addresses the node stands for.
func (s *sharedAddresses) wants(n *node, addrs []netip.Addr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, addr := range addrs {
		if !slices.Contains(s.candidates[addr], n) {
			s.candidates[addr] = append(s.candidates[addr], n)
		}
	}
	for addr, nodes := range s.candidates {
		if !slices.Contains(addrs, addr) {
			s.candidates[addr] = slices.DeleteFunc(nodes, func(other *node) bool { return other == n })
		}
	}
	s.elect()
}

// claim says that etcd runs on the node, so that it can be elected.
func (s *sharedAddresses) claim(n *node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.able[n] = true
	s.elect()
}

// yield says that etcd does not run there any more.
func (s *sharedAddresses) yield(n *node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.able, n)
	s.elect()
}

// leave takes the node out of every election.
func (s *sharedAddresses) leave(n *node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.able, n)
	for addr, nodes := range s.candidates {
		s.candidates[addr] = slices.DeleteFunc(nodes, func(other *node) bool { return other == n })
	}
	s.elect()
}

func (s *sharedAddresses) elect() {
	for addr, nodes := range s.candidates {
		before := s.holders[addr]
		if before != nil && s.able[before] && slices.Contains(nodes, before) {
			continue
		}
		delete(s.holders, addr)
		for _, candidate := range nodes {
			if s.able[candidate] {
				s.holders[addr] = candidate
				candidate.leases.ring()
				break
			}
		}
		if before != nil && before != s.holders[addr] {
			before.leases.ring()
		}
	}
}

func (s *sharedAddresses) holds(n *node, addr netip.Addr) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.holders[addr] == n
}

// plug brings an address up for the node.
func (s *sharedAddresses) plug(n *node, addr netip.Addr) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plugged[addr] = n
	return n.Network.Add(addr)
}

// unplug takes it down, unless it is another node's by now.
func (s *sharedAddresses) unplug(n *node, addr netip.Addr) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.plugged[addr] != n {
		return nil
	}
	delete(s.plugged, addr)
	return n.Network.Remove(addr)
}
