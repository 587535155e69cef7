package vm

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/factory"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/storage"
)

// Optional capabilities of a machine, besides machine.Box.
type (
	// resizable can get other hardware while it is off.
	resizable interface {
		Resize(cpus, memoryMiB int, diskBytes uint64)
	}
	// diskBay accepts disks while it is on.
	diskBay interface {
		AttachDisk(disk machine.Disk)
		DetachDisk(serial string)
	}
	// guest has an operating system that answers through a guest agent, if one runs.
	guest interface {
		Guest() (machine.Guest, bool)
	}
)

// PowerOn starts a virtual machine with its current configuration. Its host must be up, and Retire must have been called unless it is new.
func (s *VMs) PowerOn(m *VM) error {
	if err := s.datacenter.Reachable(m.Host); err != nil {
		return err
	}
	m.Started = time.Now()
	m.Config = m.Next()
	clear(m.Pending)
	if err := s.assemble(m); err != nil {
		return err
	}
	m.agent = m.AgentEnabled()
	m.box.PowerOn()
	s.State(m)
	return nil
}

// PowerOff cuts the power of a virtual machine.
func (s *VMs) PowerOff(m *VM) {
	if m.box != nil {
		m.box.PowerOff()
	}
	s.State(m)
}

// Reset cuts the power of a virtual machine that is on, and restores it.
func (m *VM) Reset() { m.box.Reset() }

// PressPower asks the operating system to turn the machine off. If it was started with a guest agent, the agent is asked; without an answer from the agent,
// the operating system is not asked at all.
func (m *VM) PressPower() {
	_, answers := m.Guest()
	if m.Powered() && (answers || !m.agent) {
		m.box.Shutdown()
	}
}

// HasAgent reports whether it was started with the device for the guest agent.
func (m *VM) HasAgent() bool { return m.agent }

// Guest returns the answer of the guest agent, if there is one.
func (m *VM) Guest() (machine.Guest, bool) {
	box, can := m.box.(guest)
	if !can || !m.agent {
		return machine.Guest{}, false
	}
	return box.Guest()
}

// Retire deletes the machine of a virtual machine that is off and will boot from another disk. It is called without the lock, because a machine takes time to
// end.
func (s *VMs) Retire(ctx context.Context, m *VM) {
	s.datacenter.Lock()
	box := m.box
	if box == nil || m.disk == s.bootVolume(m) || box.Powered() {
		s.datacenter.Unlock()
		return
	}
	s.datacenter.Unlock()
	box.Delete(ctx)
	s.datacenter.Lock()
	defer s.datacenter.Unlock()
	if m.box == box {
		m.box, m.disk, m.nics = nil, nil, nil
	}
}

// Delete deletes the machine of a virtual machine, and waits until nothing of it
// runs. It is called without the lock.
func (s *VMs) Delete(ctx context.Context, m *VM) {
	s.datacenter.Lock()
	box := m.box
	s.datacenter.Unlock()
	if box != nil {
		box.Delete(ctx)
	}
}

// assemble creates the machine, unless it exists; an existing one gets the hardware of the configuration.
func (s *VMs) assemble(m *VM) error {
	disk := s.bootVolume(m)
	if m.box != nil && m.disk != disk {
		return api.Failure("VM %d: its disk was changed while it was to start", m.ID)
	}
	if m.box != nil {
		s.Resize(m)
		s.Rewire(m)
		return nil
	}
	m.disk, m.nics = disk, nil
	if disk == nil || !m.firmwareBoots(disk.Image) {
		m.box = &machine.Silent{}
		return nil
	}
	spec, err := s.spec(m, disk)
	if err != nil {
		return err
	}
	box, err := s.Machines.Make(spec)
	if err != nil {
		return err
	}
	m.box, m.nics = box, spec.NICs
	return nil
}

// firmwareBoots reports whether the firmware boots an image: with enrolled keys only one that is signed for Secure Boot, and such an image only with UEFI.
func (m *VM) firmwareBoots(image *factory.Image) bool {
	uefi := m.Config["bios"] == "ovmf"
	enrolled := api.ParseProperties(m.Config["efidisk0"], "file")["pre-enrolled-keys"] == "1"
	if image.SecureBoot {
		return uefi
	}
	return !uefi || !enrolled
}

// spec returns the machine that boots from a disk.
func (s *VMs) spec(m *VM, disk *storage.Volume) (machine.Spec, error) {
	image := disk.Image
	known, err := s.Schematic(image.Schematic)
	if err != nil {
		return machine.Spec{}, err
	}
	smbios := api.ParseProperties(m.Config["smbios1"], "uuid")
	spec := machine.Spec{
		Name: m.Machine, UUID: cmp.Or(smbios["uuid"], uuid.Nil.String()), Serial: smbios.Plain("serial"), Platform: image.Platform, Arch: image.Arch,
		CPUs: m.CPUs(), MemoryMiB: m.MemoryMiB(), Disks: s.disks(m),
		Image: machine.Image{Talos: image.Version, Schematic: image.Schematic, Installed: !image.ISO},
		NICs:  s.cards(m, image.Platform, known),
		Meta:  map[uint8]string{},
	}
	if m.hasCloudInit() && image.Platform == "nocloud" {
		spec.Hostname = m.Config["name"]
		for _, text := range api.List(m.Config["nameserver"]) {
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

// Resize gives the machine its current CPUs, memory and disk.
func (s *VMs) Resize(m *VM) {
	if box, can := m.box.(resizable); can {
		box.Resize(m.CPUs(), m.MemoryMiB(), uint64(s.BootBytes(m)))
	}
}

// Plug attaches the disk of a drive to a machine that is on.
func (s *VMs) Plug(m *VM, key string) {
	if box, can := m.box.(diskBay); can && m.Powered() {
		if disk, is := s.diskAt(m, key); is {
			box.AttachDisk(disk)
		}
	}
}

// Unplug detaches the disk of a drive from a machine that is on.
func (s *VMs) Unplug(m *VM, key string) {
	if box, can := m.box.(diskBay); can && m.Powered() {
		if disk, is := s.diskAt(m, key); is {
			box.DetachDisk(disk.Serial)
		}
	}
}

// diskAt returns the disk of a drive as the operating system finds it.
func (s *VMs) diskAt(m *VM, key string) (machine.Disk, bool) {
	serial := cmp.Or(m.Drive(key).Properties["serial"], "drive-"+key)
	disks := s.disks(m)
	at := slices.IndexFunc(disks, func(disk machine.Disk) bool { return disk.Serial == serial })
	if at < 0 {
		return machine.Disk{}, false
	}
	return disks[at], true
}
