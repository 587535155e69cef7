package machine

import "net/netip"

// Guest is what the agent in a box says of the operating system there.
type Guest struct {
	Hostname string
	// Talos is the version that runs.
	Talos string
	Links []GuestLink
}

// GuestLink is an interface as the operating system has it.
type GuestLink struct {
	Name, MAC string
	Addresses []netip.Prefix
}
