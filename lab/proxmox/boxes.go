package proxmox

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/siderolabs/image-factory/pkg/schematic"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/factory"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
)

// What a box may be able to do beyond its contract.
type (
	// resizable gets other hardware while it is off.
	resizable interface {
		Resize(cpus, memoryMiB int, diskBytes uint64)
	}
	// diskBay takes disks while the box lives.
	diskBay interface {
		AttachDisk(disk machine.Disk)
		DetachDisk(serial string)
	}
)

// powerUp starts the machine with its config as it is by now.
func (c *Cluster) powerUp(m *vm) error {
	m.config = m.next()
	clear(m.pending)
	if err := c.assemble(m); err != nil {
		return err
	}
	m.agent = m.agentEnabled()
	m.box.PowerOn()
	c.stateOf(m)
	return nil
}

// retire ends the box of a machine that is off and will boot from another disk:
// what was on that one is no more. It is called without the lock, as a box takes
// its time to end.
func (c *Cluster) retire(ctx context.Context, m *vm) {
	c.mu.Lock()
	_, disk := c.bootDrive(m)
	box := m.box
	if box == nil || m.disk == disk || box.Powered() {
		c.mu.Unlock()
		return
	}
	c.mu.Unlock()
	box.Delete(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.box == box {
		m.box, m.disk, m.wired = nil, nil, nil
	}
}

// assemble makes the machine's box, unless it has one.
func (c *Cluster) assemble(m *vm) error {
	_, disk := c.bootDrive(m)
	if m.box != nil && m.disk != disk {
		return failure("VM %d: its disk was changed while it was to start", m.id)
	}
	if m.box != nil {
		c.outfit(m)
		c.rewire(m)
		return nil
	}
	m.disk, m.wired = disk, nil
	if disk == nil || !m.firmwareTakes(disk.image) {
		m.box = &machine.Silent{}
		return nil
	}
	spec, err := c.spec(m, disk)
	if err != nil {
		return err
	}
	box, err := c.Machines.Make(spec)
	if err != nil {
		return err
	}
	m.box, m.wired = box, spec.NICs
	return nil
}

// firmwareTakes says whether the firmware boots an image: with enrolled keys
// only one that is signed for Secure Boot, and that one under UEFI only.
func (m *vm) firmwareTakes(image *factory.Image) bool {
	uefi := m.config["bios"] == "ovmf"
	enrolled := parseProperties(m.config["efidisk0"], "file")["pre-enrolled-keys"] == "1"
	if image.SecureBoot {
		return uefi
	}
	return !uefi || !enrolled
}

// spec is the machine that boots from the disk.
func (c *Cluster) spec(m *vm, disk *volume) (machine.Spec, error) {
	image := disk.image
	known, err := c.Schematic(image.Schematic)
	if err != nil {
		return machine.Spec{}, err
	}
	smbios := parseProperties(m.config["smbios1"], "uuid")
	spec := machine.Spec{
		Name: m.lab, UUID: cmp.Or(smbios["uuid"], uuid.Nil.String()), Serial: smbios.plain("serial"), Platform: image.Platform, Arch: image.Arch,
		CPUs: m.cpus(), MemoryMiB: m.memoryMiB(), Disks: c.disks(m),
		Image: machine.Image{Talos: image.Version, Schematic: image.Schematic, Installed: !image.ISO},
		NICs:  c.cards(m, image.Platform, known),
		Meta:  map[uint8]string{},
	}
	if m.cloudInit() && image.Platform == "nocloud" {
		spec.Hostname = m.config["name"]
		for _, text := range list(m.config["nameserver"]) {
			if addr, err := netip.ParseAddr(text); err == nil {
				spec.Resolvers = append(spec.Resolvers, addr)
			}
		}
	}
	for _, value := range known.Customization.Meta {
		spec.Meta[value.Key] = value.Value
	}
	return spec, nil
}

// cloudInit says that the machine has a drive for cloud-init.
func (m *vm) cloudInit() bool { return slices.ContainsFunc(m.drives(), drive.isCloudInit) }

// cards are the interfaces as the operating system finds them.
func (c *Cluster) cards(m *vm, platform string, known schematic.Schematic) []machine.NIC {
	var found []machine.NIC
	for number := range 32 {
		text, has := m.config[fmt.Sprintf("net%d", number)]
		if !has {
			continue
		}
		card := netOf(text)
		nic := machine.NIC{Name: m.linkName(number, platform, known), MAC: strings.ToLower(card["macaddr"]), Server: c.DHCP}
		if card["link_down"] == "1" {
			continue
		}
		static, configured := m.ipConfig(number)
		if platform == "nocloud" && m.cloudInit() && configured {
			nic.Addresses, nic.Gateway = static.addresses, static.gateway
		} else {
			nic.DHCP = true
		}
		found = append(found, nic)
	}
	return found
}

// linkName is what Linux calls a network card: eth0 where predictable names are
// turned off, else after the slot that Proxmox gives net0.
func (m *vm) linkName(number int, platform string, known schematic.Schematic) string {
	if platform == "nocloud" || slices.Contains(known.Customization.ExtraKernelArgs, "net.ifnames=0") {
		return fmt.Sprintf("eth%d", number)
	}
	slot := 18 + number
	if strings.HasPrefix(m.config["machine"], "q35") || strings.Contains(m.config["machine"], "-q35-") {
		return fmt.Sprintf("enp6s%d", slot)
	}
	return fmt.Sprintf("ens%d", slot)
}

// static are addresses that cloud-init gives an interface.
type static struct {
	addresses []netip.Prefix
	gateway   netip.Addr
}

// ipConfig reads them; there are none where DHCP is asked for, or nothing.
func (m *vm) ipConfig(number int) (static, bool) {
	given := parseProperties(m.config[fmt.Sprintf("ipconfig%d", number)], "ip")
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

// outfit tells the box what hardware it has by now.
func (c *Cluster) outfit(m *vm) {
	if box, can := m.box.(resizable); can {
		box.Resize(m.cpus(), m.memoryMiB(), uint64(c.bootBytes(m)))
	}
}

// rewire tells the box what interfaces it has by now.
func (c *Cluster) rewire(m *vm) {
	if m.box == nil || m.disk == nil || m.disk.image == nil {
		return
	}
	known, err := c.Schematic(m.disk.image.Schematic)
	if err != nil {
		return // it had none that anybody knows when it was made either
	}
	now := c.cards(m, m.disk.image.Platform, known)
	same := func(a, b machine.NIC) bool {
		return a.Name == b.Name && a.MAC == b.MAC && a.DHCP == b.DHCP && a.Gateway == b.Gateway && slices.Equal(a.Addresses, b.Addresses)
	}
	for _, before := range m.wired {
		if !slices.ContainsFunc(now, func(nic machine.NIC) bool { return same(nic, before) }) {
			m.box.Detach(before.MAC)
		}
	}
	for _, nic := range now {
		if !slices.ContainsFunc(m.wired, func(before machine.NIC) bool { return same(nic, before) }) {
			m.box.Attach(nic)
		}
	}
	m.wired = now
}

// plug and unplug tell a box of a disk that came or goes while it lives.
func (c *Cluster) plug(m *vm, key string) {
	if box, can := m.box.(diskBay); can && m.powered() {
		if disk, is := c.diskAt(m, key); is {
			box.AttachDisk(disk)
		}
	}
}

func (c *Cluster) unplug(m *vm, key string) {
	if box, can := m.box.(diskBay); can && m.powered() {
		if disk, is := c.diskAt(m, key); is {
			box.DetachDisk(disk.Serial)
		}
	}
}

// diskAt is the disk of a drive as the operating system finds it.
func (c *Cluster) diskAt(m *vm, key string) (machine.Disk, bool) {
	serial := cmp.Or(parseDrive(key, m.config[key]).properties["serial"], "drive-"+key)
	disks := c.disks(m)
	at := slices.IndexFunc(disks, func(disk machine.Disk) bool { return disk.Serial == serial })
	if at < 0 {
		return machine.Disk{}, false
	}
	return disks[at], true
}
