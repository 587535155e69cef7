package daemon

import (
	"fmt"
	"net/netip"
	"slices"
)

// Proxmox is a cluster of Proxmox VE hosts.
type Proxmox struct {
	// Address and Port are where its API is served, by any host that is up.
	Address netip.Addr `json:"address"`
	Port    uint16     `json:"port,omitempty"`
	// Hosts are the names of the hosts; the default is one, "pve".
	Hosts []string `json:"hosts,omitempty"`
	// Storages are those of each host, or shared by all; by default "local" for files, including images to import, and "local-lvm" for disks.
	Storages []ProxmoxStorage `json:"storages,omitempty"`
	// Network is that of the machines, and Gateway its router.
	Network netip.Prefix `json:"network"`
	Gateway netip.Addr   `json:"gateway"`
	// DHCP means that the router is a DHCP server.
	DHCP bool `json:"dhcp,omitempty"`
	// Reservations are addresses that the router reserves, each for a MAC.
	Reservations []Reservation `json:"reservations,omitempty"`
}

// Reservation is an address that a router reserves for a MAC.
type Reservation struct {
	MAC     string     `json:"mac"`
	Address netip.Addr `json:"address"`
}

// ProxmoxStorage is a place for images and disks.
type ProxmoxStorage struct {
	Name string `json:"name"`
	// Content is what the storage may contain.
	Content []string `json:"content"`
	// Shared means that all hosts see the same content, as on a file server.
	Shared bool `json:"shared,omitempty"`
}

// contentTypes are the possible values of Content.
var contentTypes = []string{"backup", "images", "import", "iso", "rootdir", "snippets", "vztmpl"}

// Complete returns the cluster with defaults for what is not configured.
func (p Proxmox) Complete() Proxmox {
	if p.Port == 0 {
		p.Port = 8006
	}
	if len(p.Hosts) == 0 {
		p.Hosts = []string{"pve"}
	}
	if len(p.Storages) == 0 {
		p.Storages = []ProxmoxStorage{
			{Name: "local", Content: []string{"backup", "import", "iso", "vztmpl"}},
			{Name: "local-lvm", Content: []string{"images", "rootdir"}},
		}
	}
	return p
}

// check returns all faults of the cluster.
func (p Proxmox) check() []error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("proxmox."+format, args...)) }
	if !p.Network.IsValid() || !p.Network.Addr().Is4() {
		fault("network: is not an IPv4 network")
	}
	for _, one := range []struct {
		field string
		addr  netip.Addr
	}{{"address", p.Address}, {"gateway", p.Gateway}} {
		if !one.addr.IsValid() {
			fault("%s: is missing", one.field)
		}
	}
	if p.Gateway.IsValid() && p.Network.IsValid() && !p.Network.Contains(p.Gateway) {
		fault("gateway: %s is not in %s", p.Gateway, p.Network)
	}
	if len(p.Reservations) > 0 && !p.DHCP {
		fault("reservations: are for a router that gives addresses, and dhcp is off")
	}
	for i, name := range p.Hosts {
		if name == "" || slices.Contains(p.Hosts[:i], name) {
			fault("hosts[%d]: %q is not a unique name", i, name)
		}
	}
	for i, storage := range p.Storages {
		if storage.Name == "" || slices.ContainsFunc(p.Storages[:i], func(other ProxmoxStorage) bool { return other.Name == storage.Name }) {
			fault("storages[%d].name: %q is not a unique name", i, storage.Name)
		}
		for _, content := range storage.Content {
			if !slices.Contains(contentTypes, content) {
				fault("storages[%d].content: %q is not one of %q", i, content, contentTypes)
			}
		}
	}
	return faults
}
