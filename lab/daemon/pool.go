package daemon

import (
	"encoding/binary"
	"net/netip"
)

// Pool is what DHCP servers give to whoever asks.
type Pool struct {
	From netip.Addr `json:"from"`
	To   netip.Addr `json:"to"`
}

// The addresses of a network that routers give away as they are sold, counted
// from its first.
const poolFrom, poolTo = 100, 199

// In is the pool in a network: the one that was asked for, if it lies there.
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
	// The upper half of a small one, without the address of all.
	return at(size / 2), at(size - 2)
}
