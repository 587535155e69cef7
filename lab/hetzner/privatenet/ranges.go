package privatenet

import (
	"net/netip"
	"slices"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/project"
)

// privateRanges are those that a network may be in.
var privateRanges = []netip.Prefix{
	netip.MustParsePrefix("10.0.0.0/8"),
	netip.MustParsePrefix("172.16.0.0/12"),
	netip.MustParsePrefix("192.168.0.0/16"),
}

// The longest prefixes that a network and a subnet may have.
const (
	smallestNetwork = 24
	smallestSubnet  = 30
)

// parseRange reads the range of a network or subnet.
func parseRange(field, text string, longest int) (netip.Prefix, error) {
	prefix, err := netip.ParsePrefix(text)
	if err != nil || !prefix.Addr().Is4() {
		return netip.Prefix{}, api.Invalid(field, "must be an IPv4 network in CIDR notation")
	}
	if prefix != prefix.Masked() {
		return netip.Prefix{}, api.Invalid(field, "host bits must not be set")
	}
	if prefix.Bits() > longest {
		return netip.Prefix{}, api.Invalid(field, "must be at least a /%d network", longest)
	}
	if !slices.ContainsFunc(privateRanges, func(private netip.Prefix) bool { return within(prefix, private) }) {
		return netip.Prefix{}, api.Invalid(field, "must be in a private range")
	}
	return prefix, nil
}

// within reports whether the inner range is a part of the outer one.
func within(inner, outer netip.Prefix) bool {
	return outer.Bits() <= inner.Bits() && outer.Contains(inner.Addr())
}

// freeRange returns the first /24 of a range that overlaps with none in use.
func freeRange(of netip.Prefix, used []netip.Prefix) (netip.Prefix, bool) {
	for at := netip.PrefixFrom(of.Addr(), smallestNetwork); within(at, of); at = netip.PrefixFrom(project.LastAddress(at).Next(), smallestNetwork) {
		if !slices.ContainsFunc(used, at.Overlaps) {
			return at, true
		}
	}
	return netip.Prefix{}, false
}

// gatewayOf returns the first address of a network, where its virtual router is.
func gatewayOf(network netip.Prefix) netip.Addr { return network.Addr().Next() }

// usable reports whether a server may have the address in a subnet of a network.
func usable(addr netip.Addr, network, subnet netip.Prefix) bool {
	return subnet.Contains(addr) && addr != subnet.Addr() && addr != project.LastAddress(subnet) &&
		addr != gatewayOf(network) && addr != project.PublicRouter
}

// freeAddress returns the first address of a subnet that a server may have and that is
// not taken.
func freeAddress(network, subnet netip.Prefix, taken func(netip.Addr) bool) (netip.Addr, bool) {
	for addr := subnet.Addr(); subnet.Contains(addr); addr = addr.Next() {
		if usable(addr, network, subnet) && !taken(addr) {
			return addr, true
		}
	}
	return netip.Addr{}, false
}
