package network

import "net/netip"

// The addresses that every lab has.
var (
	// Operator is the default source of connections: those of the user and of the tools that run in the lab.
	Operator = netip.MustParseAddr("192.0.2.100")
	// Outsider is another source, which firewalls should block.
	Outsider = netip.MustParseAddr("192.0.2.200")

	Operator6 = netip.MustParseAddr("2001:db8::100")
	Outsider6 = netip.MustParseAddr("2001:db8::200")

	// Control serves the lab's own API; Cloud that of Hetzner; Factory is the
	// Image Factory and Git the git server.
	Control = netip.MustParseAddr("192.0.2.2")
	Cloud   = netip.MustParseAddr("192.0.2.10")
	Factory = netip.MustParseAddr("192.0.2.20")
	Git     = netip.MustParseAddr("192.0.2.30")
)
