// Package network is the network that all machines of a lab are in: addresses
// that come and go with the machines, firewalls, and connections that say where
// they come from.
package network

import (
	"context"
	"net"
	"net/netip"
)

// Network is what a machine or a cloud needs of it.
type Network interface {
	// Add brings an address up, which may be up already. Nobody answers at an
	// address that is not up: packets to it are lost.
	Add(addr netip.Addr) error
	// Remove takes it down, with every connection to it.
	Remove(addr netip.Addr) error
	// Listen accepts TCP at an address that is up, but for what its firewall
	// keeps out. Where nobody listens, a connection is refused.
	Listen(at netip.AddrPort) (net.Listener, error)
	// Dial connects from an address, so that firewalls know who comes.
	Dial(ctx context.Context, from netip.Addr, to netip.AddrPort) (net.Conn, error)
	// SetFirewall replaces what may reach an address; nil opens all. Packets
	// that are kept out are lost, as with a real one.
	SetFirewall(addr netip.Addr, firewall *Firewall)
}

// Firewall lists what may come in over TCP.
type Firewall struct {
	Allow []Allow
}

// Allow lets sources reach ports From to To.
type Allow struct {
	From, To uint16
	Sources  []netip.Prefix
}
