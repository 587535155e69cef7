// Package machine is the contract between a cloud, which owns boxes, and the
// operating system in them.
package machine

import (
	"context"
	"net/netip"
)

// Spec is a box as its cloud makes it.
type Spec struct {
	// Name is the lab's name of it, unique in one lab: in facts and faults.
	Name string
	// Hostname is what the platform tells the operating system, or nothing.
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
	// ProviderID is what the cloud calls it, for its controller manager.
	ProviderID string
	// InstanceType, Region and Zone are what the platform's metadata says.
	InstanceType, Region, Zone string
	// Resolvers are the name servers that the platform's metadata says, if any.
	Resolvers []netip.Addr
	// UserData is a machine config, or nothing. Meta is Talos' META partition as
	// the image brings it along.
	UserData []byte
	Meta     map[uint8]string
	// Serial is the machine's serial number; without one it is the number that
	// the cloud gave it, if any.
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
	// DHCP says that the cloud would hand these addresses out by DHCP: the node
	// has them only while it asks.
	DHCP bool
	// Server is the DHCP server of the network that it is plugged into, which
	// knows nothing of Addresses; nil where there is none.
	Server DHCP
	// Public says that the world can reach it.
	Public bool
}

// DHCP is a server that hands out addresses by MAC.
type DHCP interface {
	// Lease is what a MAC gets: always the same. The machine's name is for facts.
	Lease(mac, machine string) (Lease, error)
}

// Lease is what a DHCP server hands out.
type Lease struct {
	Address   netip.Prefix
	Gateway   netip.Addr
	Resolvers []netip.Addr
}

// Image is what the box boots from.
type Image struct {
	// Talos is the version, such as "1.13.8"; Schematic the Image Factory's id.
	Talos, Schematic string
	// Installed says that it is a disk image which needs no install.
	Installed bool
}

// Box is a machine with an operating system. Calls return at once; what they
// start takes its time.
type Box interface {
	PowerOn()
	PowerOff() // as pulling the plug
	Shutdown() // as pressing the button
	Reset()    // as pulling the plug and putting it back
	Attach(NIC)
	Detach(mac string)
	// Powered says whether it is on: a box may turn itself off.
	Powered() bool
	// Delete ends it for good and waits until nothing of it runs.
	Delete(ctx context.Context)
}

// Maker makes boxes; they are off at first.
type Maker interface {
	Make(spec Spec) (Box, error)
}
