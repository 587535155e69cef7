package network

import "net/netip"

// The addresses that every lab has.
var (
	// Operator is where connections come from that name no source: those of the
	// person and of the tools that run in the lab.
	Operator = netip.MustParseAddr("192.0.2.100")
	// Stranger is someone else, for firewalls to keep out.
	Stranger = netip.MustParseAddr("192.0.2.200")

	Operator6 = netip.MustParseAddr("2001:db8::100")
	Stranger6 = netip.MustParseAddr("2001:db8::200")

	// Control serves the lab's own API; Cloud that of Hetzner; Factory is the
	// Image Factory and Git the git server.
	Control = netip.MustParseAddr("192.0.2.2")
	Cloud   = netip.MustParseAddr("192.0.2.10")
	Factory = netip.MustParseAddr("192.0.2.20")
	Git     = netip.MustParseAddr("192.0.2.30")
)
