package daemon

import (
	"fmt"
	"net/netip"
	"slices"
)

// Proxmox is a cluster of Proxmox VE hosts.
type Proxmox struct {
	// Address and Port are where its API is served, by whichever host is up.
	Address netip.Addr `json:"address"`
	Port    uint16     `json:"port,omitempty"`
	// Hosts are the names of the hosts; the default is one, "pve".
	Hosts []string `json:"hosts,omitempty"`
	// Storages are what each host has, or all together; the default is "local" for files, images to
	// import among them, and "local-lvm" for disks.
	Storages []ProxmoxStorage `json:"storages,omitempty"`
	// Network is that of the machines, and Gateway its router.
	Network netip.Prefix `json:"network"`
	Gateway netip.Addr   `json:"gateway"`
	// DHCP says that the router gives addresses to whoever asks.
	DHCP bool `json:"dhcp,omitempty"`
	// Reservations are addresses that the router keeps for a MAC each.
	Reservations []Reservation `json:"reservations,omitempty"`
}

// Reservation is an address that a router keeps for a MAC.
type Reservation struct {
	MAC     string     `json:"mac"`
	Address netip.Addr `json:"address"`
}

// ProxmoxStorage is a place for images and disks.
type ProxmoxStorage struct {
	Name string `json:"name"`
	// Content is what may be there.
	Content []string `json:"content"`
	// Shared says that all hosts see the same, as on a server for files.
	Shared bool `json:"shared,omitempty"`
}

// contentTypes are those that a storage may have.
var contentTypes = []string{"backup", "images", "import", "iso", "rootdir", "snippets", "vztmpl"}

// Complete is the cluster with the defaults of what was not said.
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

// check says all that is wrong with it.
func (p Proxmox) check() []error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("proxmox."+format, args...)) }
	if !p.Network.IsValid() || !p.Network.Addr().Is4() {
		fault("network: is no IPv4 network")
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
			fault("hosts[%d]: %q is no name of its own", i, name)
		}
	}
	for i, storage := range p.Storages {
		if storage.Name == "" || slices.ContainsFunc(p.Storages[:i], func(other ProxmoxStorage) bool { return other.Name == storage.Name }) {
			fault("storages[%d].name: %q is no name of its own", i, storage.Name)
		}
		for _, content := range storage.Content {
			if !slices.Contains(contentTypes, content) {
				fault("storages[%d].content: %q is none of %q", i, content, contentTypes)
			}
		}
	}
	return faults
}
