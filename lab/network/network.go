// Package network is the network that contains all machines of a lab: addresses that appear and disappear with the machines, firewalls, and connections with
// a source address.
package network

import (
	"context"
	"net"
	"net/netip"
)

// Network is what a machine or a cloud needs from it.
type Network interface {
	// Add brings an address up, which may be up already. An address that is not up does not answer: packets to it are lost.
	Add(addr netip.Addr) error
	// Remove takes it down, with every connection to it.
	Remove(addr netip.Addr) error
	// Listen accepts TCP on an address that is up, except for what its firewall blocks. Without a listener a connection is refused.
	Listen(at netip.AddrPort) (net.Listener, error)
	// Dial connects from an address, so that firewalls know the source.
	Dial(ctx context.Context, from netip.Addr, to netip.AddrPort) (net.Conn, error)
	// SetFirewall replaces what may reach an address; nil allows everything. Blocked packets are lost, as with a real firewall.
	SetFirewall(addr netip.Addr, firewall *Firewall)
}

// Firewall lists the allowed incoming TCP.
type Firewall struct {
	Allow []Allow
}

// Allow lets sources reach ports From to To.
type Allow struct {
	From, To uint16
	Sources  []netip.Prefix
}
