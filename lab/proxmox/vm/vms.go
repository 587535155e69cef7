package vm

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/siderolabs/image-factory/pkg/schematic"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/datacenter"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/storage"
)

// Lab is what virtual machines use from the lab.
type Lab struct {
	Machines machine.Maker
	// Schematic returns what the Image Factory knows about the customization of an image.
	Schematic func(id string) (schematic.Schematic, error)
	// DHCP is the server of the network that the machines are in; nil is none.
	DHCP machine.DHCP
}

// VMs are the virtual machines of a cluster.
type VMs struct {
	Lab
	datacenter *datacenter.Datacenter
	storages   *storage.Storages
	byID       map[int]*VM
}

var _ storage.Machines = (*VMs)(nil)

// NewVMs returns a cluster without virtual machines.
func NewVMs(lab Lab, in *datacenter.Datacenter, storages *storage.Storages) *VMs {
	return &VMs{Lab: lab, datacenter: in, storages: storages, byID: map[int]*VM{}}
}

// Get returns the virtual machine with an id, or nil.
func (s *VMs) Get(id int) *VM { return s.byID[id] }

// Add adds a virtual machine.
func (s *VMs) Add(m *VM) { s.byID[m.ID] = m }

// Remove removes a virtual machine with its volumes.
func (s *VMs) Remove(m *VM) {
	s.storages.RemoveOf(m.ID, m.Host)
	delete(s.byID, m.ID)
}

// Sorted returns the virtual machines, by id.
func (s *VMs) Sorted() []*VM {
	return slices.SortedFunc(maps.Values(s.byID), func(a, b *VM) int { return cmp.Compare(a.ID, b.ID) })
}

// On returns the virtual machines on a host, by id.
func (s *VMs) On(host string) []*VM {
	return slices.DeleteFunc(s.Sorted(), func(m *VM) bool { return m.Host != host })
}

// Boxes returns the machines of all virtual machines.
func (s *VMs) Boxes() []machine.Box {
	var boxes []machine.Box
	for _, m := range s.byID {
		if m.box != nil {
			boxes = append(boxes, m.box)
		}
	}
	return boxes
}

// PoolOf implements storage.Machines.
func (s *VMs) PoolOf(id int) string {
	if m := s.byID[id]; m != nil {
		return m.Pool
	}
	return ""
}

// Uses implements storage.Machines.
func (s *VMs) Uses(id int, volume *storage.Volume) bool {
	m := s.byID[id]
	return m != nil && slices.ContainsFunc(m.Drives(), func(d Drive) bool { return d.File() == volume.ID })
}

// MemoryBytesOn returns the memory that the virtual machines on a host use.
func (s *VMs) MemoryBytesOn(host string) int {
	total := 0
	for _, m := range s.byID {
		if m.Host == host && m.Powered() {
			total += m.MemoryMiB() << 20
		}
	}
	return total
}

// State returns the current state of a virtual machine. A new one is recorded on the timeline: a machine may turn itself off, which is noticed when the state
// is read.
func (s *VMs) State(m *VM) string {
	state := "stopped"
	if m.Powered() {
		state = "running"
	}
	if state != m.recorded {
		m.recorded = state
		s.datacenter.Timeline.Record(m.Machine, "vm", state)
	}
	return state
}

// Find returns the virtual machine that the path of a call names, on its host.
func (s *VMs) Find(r *api.Call) (*VM, error) {
	id, err := strconv.Atoi(r.PathValue("vmid"))
	if err != nil {
		return nil, api.Invalid("vmid", "type check ('integer') failed - got '%s'", r.PathValue("vmid"))
	}
	found := s.byID[id]
	if found == nil || found.Host != r.PathValue("node") {
		// A caller who may not see it gets that error first.
		if err := r.Some(api.VMPath(id), "VM.Audit", "VM.Allocate", "VM.PowerMgmt", "VM.Config.Options"); err != nil {
			return nil, err
		}
		return nil, api.Failure("Configuration file 'nodes/%s/qemu-server/%d.conf' does not exist", r.PathValue("node"), id)
	}
	return found, nil
}

// FindWith is Find for a caller who needs all of these privileges.
func (s *VMs) FindWith(r *api.Call, privileges ...string) (*VM, error) {
	found, err := s.Find(r)
	if err != nil {
		return nil, err
	}
	return found, r.OnVM(found.ID, found.Pool, privileges...)
}

// MachineName returns the name of a new virtual machine, or a similar one that no machine has.
func (s *VMs) MachineName(name string, id int) string {
	if name == "" {
		name = fmt.Sprintf("vm-%d", id)
	}
	used := map[string]bool{}
	for _, other := range s.byID {
		used[other.Machine] = true
	}
	free := name
	for number := 2; used[free]; number++ {
		free = fmt.Sprintf("%s-%d", name, number)
	}
	return free
}
