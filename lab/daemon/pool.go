package daemon

import (
	"encoding/binary"
	"net/netip"
)

// Pool is the range of addresses that DHCP servers assign.
type Pool struct {
	From netip.Addr `json:"from"`
	To   netip.Addr `json:"to"`
}

// The addresses of a network that common routers assign by default, counted from its first.
const poolFrom, poolTo = 100, 199

// In returns the pool in a network: the configured one, if it is in the network.
func (p *Pool) In(network netip.Prefix) (from, to netip.Addr) {
	if p != nil && network.Contains(p.From) {
		return p.From, p.To
	}
	bytes := network.Masked().Addr().As4()
	first := binary.BigEndian.Uint32(bytes[:])
	size := uint32(1) << (32 - network.Bits())
	at := func(n uint32) netip.Addr {
		return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, first+n)))
	}
	if network.Bits() <= 24 {
		return at(poolFrom), at(poolTo)
	}
	// In a small network: its upper half, without the broadcast address.
	return at(size / 2), at(size - 2)
}
