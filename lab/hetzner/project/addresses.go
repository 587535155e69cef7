package project

import (
	"net/netip"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
)

// Addresses are the public IPv4 addresses of a project.
type Addresses struct {
	ranges     []netip.Prefix
	identities *Identities
	taken      map[netip.Addr]bool
}

// Take returns a free address for a resource of that name.
func (a *Addresses) Take(name string) (netip.Addr, error) {
	addr, found := a.identities.pick(a.ranges, name, a.Taken)
	if !found {
		return addr, api.Failure(hcloud.ErrorCodeResourceUnavailable, "no public IPv4 address is available")
	}
	a.taken[addr] = true
	return addr, nil
}

// Release makes an address available again.
func (a *Addresses) Release(addr netip.Addr) { delete(a.taken, addr) }

// Taken reports whether a resource of the project has the address.
func (a *Addresses) Taken(addr netip.Addr) bool { return a.taken[addr] }

// LastAddress returns the last address of a range, in IPv4 the broadcast address.
func LastAddress(prefix netip.Prefix) netip.Addr {
	bytes := prefix.Masked().Addr().AsSlice()
	for bit := prefix.Bits(); bit < len(bytes)*8; bit++ {
		bytes[bit/8] |= 1 << (7 - bit%8)
	}
	last, _ := netip.AddrFromSlice(bytes)
	return last
}

// PublicRouter is the gateway of every public interface; no server can have it.
var PublicRouter = netip.MustParseAddr("172.31.1.1")

// ReverseNames are the reverse DNS entries of a resource, by address.
type ReverseNames map[string]string

// Set sets an entry, or removes it for nil.
func (n ReverseNames) Set(address string, name *string) {
	if name == nil {
		delete(n, address)
		return
	}
	n[address] = *name
}
