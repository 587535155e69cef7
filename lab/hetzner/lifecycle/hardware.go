package lifecycle

import (
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/catalog"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/server"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
)

// assemble creates the machine of a server with its current disk. Without Talos on the disk, or if the machine cannot be created, nothing answers there.
func (p *Parts) assemble(s *server.Server) error {
	s.Box = &machine.Silent{}
	if s.Disk.Talos == "" {
		return nil
	}
	box, err := p.Project.Machines.Make(p.spec(s))
	if err != nil {
		return err
	}
	s.Box = box
	return nil
}

// spec returns the hardware of a server, and its metadata from the platform.
func (p *Parts) spec(s *server.Server) machine.Spec {
	arch := "amd64"
	if s.Kind.Architecture == "arm" {
		arch = "arm64"
	}
	spec := machine.Spec{
		Name: s.Machine, Hostname: s.Name, UUID: s.UUID, Platform: "hcloud", Arch: arch,
		CPUs: s.Kind.Cores, MemoryMiB: memoryMiB(s),
		Disks: []machine.Disk{{
			Device: "/dev/sda", Bytes: diskBytes(s), Model: "QEMU HARDDISK", Serial: api.IDText(s.ID),
			Transport: "virtio", BusPath: "/pci0000:00/0000:00:02.5/0000:06:00.0/virtio5/host0/target0:0:0/0:0:0:0", Rotational: true,
		}},
		Image:        s.Disk,
		ProviderID:   "hcloud://" + api.IDText(s.ID),
		InstanceType: s.Kind.Name, Region: s.Location.NetworkZone, Zone: catalog.AvailabilityZone(s.Location),
		UserData: []byte(s.UserData),
	}
	for _, attached := range p.Volumes.Of(s) {
		spec.Disks = append(spec.Disks, attached.Disk())
	}
	if nic, has := p.PublicIPs.NIC(s); has {
		spec.NICs = append(spec.NICs, nic)
	}
	spec.NICs = append(spec.NICs, p.Networks.NICs(s)...)
	return spec
}

func memoryMiB(s *server.Server) int { return int(s.Kind.Memory * 1024) }

func diskBytes(s *server.Server) uint64 { return uint64(s.DiskGB) * 1_000_000_000 }
