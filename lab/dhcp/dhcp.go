// Package dhcp is the DHCP server of a network at home: it assigns addresses by MAC, and keeps its leases.
package dhcp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"net/netip"
	"slices"
	"sync"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// Options define what a server assigns, and where.
type Options struct {
	// Network is that of all its addresses, such as 10.0.0.0/16.
	Network   netip.Prefix
	Gateway   netip.Addr
	Resolvers []netip.Addr
	// From and To are the first and the last address for unknown MACs.
	From, To netip.Addr
	Timeline *timeline.Timeline
}

// Lease is the address of a MAC.
type Lease struct {
	MAC     string     `json:"mac"`
	Address netip.Addr `json:"address"`
	// Machine is the lab's name of the machine that requested it; a real router would not know it.
	Machine string `json:"machine,omitempty"`
	// Reserved means that it was configured, and not assigned on request.
	Reserved bool `json:"reserved,omitempty"`
}

// Server assigns addresses. It is safe for concurrent use.
type Server struct {
	Options

	mu     sync.Mutex
	leases map[string]*Lease // by MAC
	taken  map[netip.Addr]bool
}

var _ machine.DHCP = (*Server)(nil)

// New returns a server without leases.
func New(options Options) (*Server, error) {
	for _, one := range []struct {
		what string
		addr netip.Addr
	}{{"gateway", options.Gateway}, {"first address", options.From}, {"last address", options.To}} {
		if !options.Network.Contains(one.addr) {
			return nil, fmt.Errorf("the %s, %s, is not in %s", one.what, one.addr, options.Network)
		}
	}
	if !options.From.Is4() || options.To.Less(options.From) {
		return nil, fmt.Errorf("%s to %s is no range of IPv4 addresses", options.From, options.To)
	}
	return &Server{Options: options, leases: map[string]*Lease{}, taken: map[netip.Addr]bool{options.Gateway: true}}, nil
}

// Reserve determines the address that a MAC gets.
func (s *Server) Reserve(mac string, addr netip.Addr) error {
	mac, err := canonical(mac)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.Network.Contains(addr):
		return fmt.Errorf("%s is not in %s", addr, s.Network)
	case s.taken[addr]:
		return fmt.Errorf("%s is taken", addr)
	case s.leases[mac] != nil:
		return fmt.Errorf("%s has %s already", mac, s.leases[mac].Address)
	}
	s.hand(&Lease{MAC: mac, Address: addr, Reserved: true})
	return nil
}

// Pass moves the address of a MAC to another one, for which it is then reserved.
func (s *Server) Pass(from, to string) error {
	from, err := canonical(from)
	if err != nil {
		return err
	}
	to, err = canonical(to)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	lease := s.leases[from]
	switch {
	case lease == nil:
		return fmt.Errorf("%s has no address", from)
	case from != to && s.leases[to] != nil:
		return fmt.Errorf("%s has %s already", to, s.leases[to].Address)
	}
	delete(s.leases, from)
	s.hand(&Lease{MAC: to, Address: lease.Address, Reserved: true})
	return nil
}

// Release deletes the lease of a MAC.
func (s *Server) Release(mac string) {
	mac, err := canonical(mac)
	if err != nil {
		return // it never got any
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if lease := s.leases[mac]; lease != nil {
		delete(s.leases, mac)
		delete(s.taken, lease.Address)
	}
}

// Lease implements machine.DHCP.
func (s *Server) Lease(mac, name string) (machine.Lease, error) {
	mac, err := canonical(mac)
	if err != nil {
		return machine.Lease{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	lease := s.leases[mac]
	if lease == nil {
		addr, err := s.free(mac)
		if err != nil {
			return machine.Lease{}, err
		}
		lease = &Lease{MAC: mac, Address: addr}
		s.hand(lease)
	}
	if lease.Machine != name {
		lease.Machine = name
		s.Timeline.Record(name, "lease", lease.Address.String(), "mac", mac)
	}
	return machine.Lease{
		Address: netip.PrefixFrom(lease.Address, s.Network.Bits()), Gateway: s.Gateway, Resolvers: s.Resolvers,
	}, nil
}

// Leases returns all leases, ordered by address.
func (s *Server) Leases() []Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Lease, 0, len(s.leases))
	for _, lease := range s.leases {
		all = append(all, *lease)
	}
	slices.SortFunc(all, func(a, b Lease) int { return a.Address.Compare(b.Address) })
	return all
}

func (s *Server) hand(lease *Lease) {
	s.leases[lease.MAC] = lease
	s.taken[lease.Address] = true
}

// free returns an address without a lease. The MAC determines where the search starts, so that the order of requests matters only for MACs that collide.
func (s *Server) free(mac string) (netip.Addr, error) {
	first, last := number(s.From), number(s.To)
	size := uint64(last-first) + 1
	hash := fnv.New32a()
	hash.Write([]byte(mac))
	for i := range size {
		addr := address(first + uint32((uint64(hash.Sum32())+i)%size))
		if !s.taken[addr] {
			return addr, nil
		}
	}
	return netip.Addr{}, errors.New("no address is left")
}

func number(addr netip.Addr) uint32 {
	bytes := addr.As4()
	return binary.BigEndian.Uint32(bytes[:])
}

func address(number uint32) netip.Addr {
	return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, number)))
}

// canonical returns a MAC in the form in which leases contain it.
func canonical(mac string) (string, error) {
	parsed, err := net.ParseMAC(mac)
	if err != nil {
		return "", fmt.Errorf("no MAC: %q", mac)
	}
	return parsed.String(), nil
}
