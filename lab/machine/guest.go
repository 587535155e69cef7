package machine

import "net/netip"

// Guest is what the guest agent in a box reports about its operating system.
type Guest struct {
	Hostname string
	// Talos is the running version.
	Talos string
	Links []GuestLink
}

// GuestLink is an interface as the operating system reports it.
type GuestLink struct {
	Name, MAC string
	Addresses []netip.Prefix
}
