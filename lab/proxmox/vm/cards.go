package vm

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/siderolabs/image-factory/pkg/schematic"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/api"
)

// models are those of network cards.
var models = []string{"virtio", "e1000", "e1000e", "rtl8139", "vmxnet3"}

// ParseCard reads a network card of the configuration; its MAC may be the value of
// the model.
func ParseCard(text string) api.Properties {
	found := api.ParseProperties(text, "model")
	for _, model := range models {
		if mac, has := found[model]; has {
			found["model"], found["macaddr"] = model, mac
			delete(found, model)
		}
	}
	return found
}

// printCard writes it as the API does: "virtio=<MAC>,bridge=vmbr0".
func printCard(card api.Properties) string {
	shown := maps.Clone(card)
	mac := strings.ToUpper(card["macaddr"])
	delete(shown, "macaddr")
	shown["model"] = card["model"] + "=" + mac
	return shown.Print("model")
}

// Settled returns a value as the configuration stores it: a network card gets its MAC.
func (s *VMs) Settled(m *VM, key, value string) string {
	if !strings.HasPrefix(key, "net") {
		return value
	}
	card := ParseCard(value)
	if card["macaddr"] == "" {
		if before, has := m.Config[key]; has {
			card["macaddr"] = ParseCard(before)["macaddr"]
		} else {
			card["macaddr"] = s.newMAC(m, key)
		}
	}
	return printCard(card)
}

// newMAC returns a MAC in the range of Proxmox.
func (s *VMs) newMAC(m *VM, key string) string {
	number := s.datacenter.Identities.Number("mac", m.Machine+"/"+key)
	return fmt.Sprintf("BC:24:11:%02X:%02X:%02X", byte(number>>16), byte(number>>8), byte(number))
}

// hasCloudInit reports whether there is a drive for cloud-init.
func (m *VM) hasCloudInit() bool { return slices.ContainsFunc(m.Drives(), Drive.IsCloudInit) }

// cards returns the interfaces as the operating system finds them.
func (s *VMs) cards(m *VM, platform string, known schematic.Schematic) []machine.NIC {
	var found []machine.NIC
	for number := range 32 {
		text, has := m.Config[fmt.Sprintf("net%d", number)]
		if !has {
			continue
		}
		card := ParseCard(text)
		nic := machine.NIC{Name: m.linkName(number, platform, known), MAC: strings.ToLower(card["macaddr"]), Server: s.DHCP}
		if card["link_down"] == "1" {
			continue
		}
		static, configured := m.static(number)
		if platform == "nocloud" && m.hasCloudInit() && configured {
			nic.Addresses, nic.Gateway = static.addresses, static.gateway
		} else {
			nic.DHCP = true
		}
		found = append(found, nic)
	}
	return found
}

// linkName returns Linux' name of a network card: eth0 if predictable names are turned off, otherwise derived from the slot that Proxmox gives net0.
func (m *VM) linkName(number int, platform string, known schematic.Schematic) string {
	if platform == "nocloud" || slices.Contains(known.Customization.ExtraKernelArgs, "net.ifnames=0") {
		return fmt.Sprintf("eth%d", number)
	}
	slot := 18 + number
	if strings.HasPrefix(m.Config["machine"], "q35") || strings.Contains(m.Config["machine"], "-q35-") {
		return fmt.Sprintf("enp6s%d", slot)
	}
	return fmt.Sprintf("ens%d", slot)
}

// static are the addresses that cloud-init gives an interface.
type static struct {
	addresses []netip.Prefix
	gateway   netip.Addr
}

// static parses them; there are none with DHCP, or without any configuration.
func (m *VM) static(number int) (static, bool) {
	given := api.ParseProperties(m.Config[fmt.Sprintf("ipconfig%d", number)], "ip")
	address, err := netip.ParsePrefix(given["ip"])
	if err != nil {
		return static{}, false
	}
	found := static{addresses: []netip.Prefix{address}}
	if gateway, err := netip.ParseAddr(given["gw"]); err == nil {
		found.gateway = gateway
	}
	return found, true
}

// Rewire gives the machine its current interfaces.
func (s *VMs) Rewire(m *VM) {
	if m.box == nil || m.disk == nil || m.disk.Image == nil {
		return
	}
	known, err := s.Schematic(m.disk.Image.Schematic)
	if err != nil {
		return // it was not known when the machine was created either
	}
	now := s.cards(m, m.disk.Image.Platform, known)
	same := func(a, b machine.NIC) bool {
		return a.Name == b.Name && a.MAC == b.MAC && a.DHCP == b.DHCP && a.Gateway == b.Gateway && slices.Equal(a.Addresses, b.Addresses)
	}
	for _, before := range m.nics {
		if !slices.ContainsFunc(now, func(nic machine.NIC) bool { return same(nic, before) }) {
			m.box.Detach(before.MAC)
		}
	}
	for _, nic := range now {
		if !slices.ContainsFunc(m.nics, func(before machine.NIC) bool { return same(nic, before) }) {
			m.box.Attach(nic)
		}
	}
	m.nics = now
}
