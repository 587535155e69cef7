// Package machine is the contract between a platform, which owns boxes, and the operating system in them.
package machine

import (
	"context"
	"net/netip"
)

// Spec describes a box, as its platform creates it.
type Spec struct {
	// Name is its name in facts and faults, unique in one lab.
	Name string
	// Hostname comes from the platform's metadata; it may be empty.
	Hostname string
	UUID     string
	// Platform is Talos' name of it: hcloud, nocloud or metal.
	Platform string
	Arch     string
	CPUs     int
	// MemoryMiB is the memory.
	MemoryMiB int
	Disks     []Disk
	NICs      []NIC
	Image     Image
	// ProviderID is the cloud's id of it, for the cloud controller manager.
	ProviderID string
	// InstanceType, Region and Zone come from the platform's metadata.
	InstanceType, Region, Zone string
	// Resolvers are the name servers of the platform's metadata, if any.
	Resolvers []netip.Addr
	// UserData is a machine config; it may be empty. Meta is Talos' META partition
	// in the image.
	UserData []byte
	Meta     map[uint8]string
	// Serial is the machine's serial number; by default the number that the cloud gave it, if any.
	Serial string
}

// Disk is a block device.
type Disk struct {
	Device                         string // "/dev/sda"
	Bytes                          uint64
	Model, Serial, WWID, Transport string
	BusPath, UUID                  string
	Rotational, ReadOnly, CDROM    bool
}

// NIC is a network interface with the addresses that the cloud gives it.
type NIC struct {
	Name      string // "eth0"
	MAC       string
	Addresses []netip.Prefix
	Gateway   netip.Addr
	// DHCP means that the platform assigns these addresses by DHCP: the node has them only while its config enables DHCP.
	DHCP bool
	// Server is the DHCP server of its network, which is independent of Addresses;
	// nil if there is none.
	Server DHCP
	// Public means that it can be reached from outside.
	Public bool
}

// DHCP is a server that assigns addresses by MAC.
type DHCP interface {
	// Lease returns the lease of a MAC, always the same. The machine's name is for facts.
	Lease(mac, machine string) (Lease, error)
}

// Lease is the answer of a DHCP server.
type Lease struct {
	Address   netip.Prefix
	Gateway   netip.Addr
	Resolvers []netip.Addr
}

// Image is what the box boots from.
type Image struct {
	// Talos is the version, such as "1.13.8"; Schematic the Image Factory's id.
	Talos, Schematic string
	// Installed means that it is a disk image, which needs no installation.
	Installed bool
}

// Box is a machine with an operating system. Calls return at once, before what they start is complete.
type Box interface {
	PowerOn()
	PowerOff() // as pulling the plug
	Shutdown() // as pressing the button
	Reset()    // as pulling the plug and plugging it in again
	Attach(NIC)
	Detach(mac string)
	// Powered reports whether it is on: a box may turn itself off.
	Powered() bool
	// Delete ends it permanently and waits until nothing of it runs.
	Delete(ctx context.Context)
}

// Maker creates boxes, which are off at first.
type Maker interface {
	Make(spec Spec) (Box, error)
}
