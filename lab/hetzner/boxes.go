package hetzner

import (
	"net/netip"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
)

// What a box may be able to do beyond its contract. A cloud changes the
// hardware of a server that lives; without these the server learns of it when
// it is rebuilt.
type (
	// diskBay takes disks while the box lives.
	diskBay interface {
		AttachDisk(disk machine.Disk)
		DetachDisk(serial string)
	}
	// resizable gets other hardware while it is off.
	resizable interface {
		Resize(cpus, memoryMiB int, diskBytes uint64)
	}
	// imaged tells what is on its disk by now: Talos upgrades itself.
	imaged interface {
		Image() machine.Image
	}
)

// spec is the machine of a server.
func (c *Cloud) spec(s *server) machine.Spec {
	arch := "amd64"
	if s.kind.Architecture == "arm" {
		arch = "arm64"
	}
	spec := machine.Spec{
		Name: s.lab, Hostname: s.name, UUID: s.uuid, Platform: "hcloud", Arch: arch,
		CPUs: s.kind.Cores, MemoryMiB: int(s.kind.Memory * 1024),
		Disks: []machine.Disk{{
			Device: "/dev/sda", Bytes: uint64(s.diskGB) * 1_000_000_000, Model: "QEMU HARDDISK", Serial: idText(s.id),
			Transport: "virtio", BusPath: "/pci0000:00/0000:00:02.5/0000:06:00.0/virtio5/host0/target0:0:0/0:0:0:0", Rotational: true,
		}},
		Image:        s.disk,
		ProviderID:   "hcloud://" + idText(s.id),
		InstanceType: s.kind.Name, Region: s.location.NetworkZone, Zone: zoneOf(s.location),
		UserData: []byte(s.userData),
	}
	for _, attached := range c.volumesOf(s) {
		spec.Disks = append(spec.Disks, attached.disk())
	}
	if nic, has := s.publicNIC(); has {
		spec.NICs = append(spec.NICs, nic)
	}
	for _, at := range s.private {
		if at.attached {
			spec.NICs = append(spec.NICs, at.nic())
		}
	}
	return spec
}

// assemble makes the server's box as its disk is now. Without Talos, or when it
// cannot be made, nothing answers there.
func (c *Cloud) assemble(s *server) error {
	s.box = &machine.Silent{}
	if s.disk.Talos == "" {
		return nil
	}
	box, err := c.Machines.Make(c.spec(s))
	if err != nil {
		return err
	}
	s.box = box
	return nil
}

// publicNIC is eth0, when the server has a public address.
func (s *server) publicNIC() (machine.NIC, bool) {
	nic := machine.NIC{Name: "eth0", MAC: s.publicMAC, DHCP: true, Public: true}
	if s.ipv4 != nil {
		nic.Addresses = []netip.Prefix{netip.PrefixFrom(s.ipv4.addr, s.ipv4.addr.BitLen())}
		nic.Gateway = publicRouter
	}
	return nic, s.ipv4 != nil || s.ipv6 != nil
}

// renewPublicNIC tells the box what eth0 is now.
func (c *Cloud) renewPublicNIC(s *server) {
	for _, box := range s.boxes() {
		box.Detach(s.publicMAC)
		if nic, has := s.publicNIC(); has {
			box.Attach(nic)
		}
	}
}

// nic is the interface in a private network.
func (a *attachment) nic() machine.NIC {
	return machine.NIC{
		Name: a.name, MAC: a.mac, DHCP: true, Gateway: gatewayOf(a.network.ipRange),
		Addresses: []netip.Prefix{netip.PrefixFrom(a.addr, a.addr.BitLen())},
	}
}
