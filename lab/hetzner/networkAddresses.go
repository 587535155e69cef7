package hetzner

import (
	"net/netip"
	"slices"
)

// privateRanges are those that a network may be in.
var privateRanges = []netip.Prefix{
	netip.MustParsePrefix("10.0.0.0/8"),
	netip.MustParsePrefix("172.16.0.0/12"),
	netip.MustParsePrefix("192.168.0.0/16"),
}

// publicRouter is the gateway of every public interface; no server may have it.
var publicRouter = netip.MustParseAddr("172.31.1.1")

// smallestNetwork is the longest prefix that a network or subnet may have.
const (
	smallestNetwork = 24
	smallestSubnet  = 30
)

// parseRange reads the range of a network or subnet.
func parseRange(field, text string, longest int) (netip.Prefix, error) {
	prefix, err := netip.ParsePrefix(text)
	if err != nil || !prefix.Addr().Is4() {
		return netip.Prefix{}, invalid(field, "must be an IPv4 network in CIDR notation")
	}
	if prefix != prefix.Masked() {
		return netip.Prefix{}, invalid(field, "host bits must not be set")
	}
	if prefix.Bits() > longest {
		return netip.Prefix{}, invalid(field, "must be at least a /%d network", longest)
	}
	if !slices.ContainsFunc(privateRanges, func(private netip.Prefix) bool { return within(prefix, private) }) {
		return netip.Prefix{}, invalid(field, "must be in a private range")
	}
	return prefix, nil
}

// within says whether all of the inner range is in the outer one.
func within(inner, outer netip.Prefix) bool {
	return outer.Bits() <= inner.Bits() && outer.Contains(inner.Addr())
}

// freeRange is the first /24 of the range that overlaps nothing.
func freeRange(whole netip.Prefix, used []netip.Prefix) (netip.Prefix, bool) {
	for at := netip.PrefixFrom(whole.Addr(), smallestNetwork); within(at, whole); at = netip.PrefixFrom(lastOf(at).Next(), smallestNetwork) {
		if !slices.ContainsFunc(used, at.Overlaps) {
			return at, true
		}
	}
	return netip.Prefix{}, false
}

// gatewayOf is the first address of a network, where its virtual router is.
func gatewayOf(network netip.Prefix) netip.Addr { return network.Addr().Next() }

// lastOf is the last address of a range, the broadcast address.
func lastOf(prefix netip.Prefix) netip.Addr {
	bytes := prefix.Masked().Addr().AsSlice()
	for bit := prefix.Bits(); bit < len(bytes)*8; bit++ {
		bytes[bit/8] |= 1 << (7 - bit%8)
	}
	last, _ := netip.AddrFromSlice(bytes)
	return last
}

// usable says whether a server may have the address in a subnet of a network.
func usable(addr netip.Addr, network, subnet netip.Prefix) bool {
	return subnet.Contains(addr) && addr != subnet.Addr() && addr != lastOf(subnet) &&
		addr != gatewayOf(network) && addr != publicRouter
}

// freeAddress is the first one of a subnet that a server may have and none has.
func freeAddress(network, subnet netip.Prefix, taken func(netip.Addr) bool) (netip.Addr, bool) {
	for addr := subnet.Addr(); subnet.Contains(addr); addr = addr.Next() {
		if usable(addr, network, subnet) && !taken(addr) {
			return addr, true
		}
	}
	return netip.Addr{}, false
}
