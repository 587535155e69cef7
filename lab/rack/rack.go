package rack

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/siderolabs/talos/pkg/machinery/meta"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/dhcp"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// Options is what a rack needs from the lab.
type Options struct {
	Makes    machine.Maker
	Timeline *timeline.Timeline
	// LAN is the router of a network, which is also its DHCP server.
	LAN func(network netip.Prefix, gateway netip.Addr) (*dhcp.Server, error)
	// Schematic is that of machines that name none; Meta is the META that a schematic adds to a medium.
	Schematic string
	Meta      func(schematic string) (map[uint8]string, error)
	// Learn uploads the schematic of a machine.
	Learn func(schematic, customization string) error
}

// Rack contains the machines. It is safe for concurrent use.
type Rack struct {
	Options

	mu    sync.Mutex
	slots map[string]*slot
}

// slot is a place in the rack, with its machine.
type slot struct {
	machine Machine
	box     machine.Box
	// before counts the machines that were in this slot.
	before int
}

// New returns a rack with machines, and turns them on.
func New(options Options, machines []Machine) (*Rack, error) {
	r := &Rack{Options: options, slots: map[string]*slot{}}
	_, err := r.Add(machines)
	return r, err
}

// Add adds the machines that the rack does not have, by name, and turns them on. It returns their names.
func (r *Rack) Add(machines []Machine) ([]string, error) {
	if faults := Check(machines); len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	added := []string{}
	for _, machine := range machines {
		if r.slots[machine.Name] != nil {
			continue
		}
		if err := r.put(machine.withDefaults(r.Schematic)); err != nil {
			return added, fmt.Errorf("machine %s: %w", machine.Name, err)
		}
		r.slots[machine.Name].box.PowerOn()
		added = append(added, machine.Name)
	}
	return added, nil
}

// put gives a machine a slot; the caller holds the lock.
func (r *Rack) put(m Machine) error {
	for name, slot := range r.slots {
		if slot.machine.Address.Addr() == m.Address.Addr() {
			return fmt.Errorf("machine %s has the address %s", name, m.Address.Addr())
		}
	}
	if err := r.Learn(m.Schematic, m.Customization); err != nil {
		return err
	}
	box, err := r.mount(m)
	if err == nil {
		r.slots[m.Name] = &slot{machine: m, box: box}
	}
	return err
}

// mount creates the box of a machine and connects it to its network.
func (r *Rack) mount(m Machine) (machine.Box, error) {
	router, err := r.LAN(m.Address.Masked(), m.Gateway)
	if err != nil {
		return nil, err
	}
	spec, err := r.spec(m, router)
	if err != nil {
		return nil, err
	}
	if m.DHCP {
		if err := router.Reserve(m.MAC, m.Address.Addr()); err != nil {
			return nil, fmt.Errorf("reserve its address: %w", err)
		}
	}
	box, err := r.Makes.Make(spec)
	if err != nil && m.DHCP {
		router.Release(m.MAC)
	}
	return box, err
}

func (r *Rack) spec(m Machine, router machine.DHCP) (machine.Spec, error) {
	values, err := r.Meta(m.Schematic)
	if err != nil {
		return machine.Spec{}, err
	}
	if _, brought := values[meta.MetalNetworkPlatformConfig]; !brought && !m.DHCP {
		values = maps.Clone(values)
		if values == nil {
			values = map[uint8]string{}
		}
		if values[meta.MetalNetworkPlatformConfig], err = networkOf(m); err != nil {
			return machine.Spec{}, err
		}
	}
	spec := machine.Spec{
		Name: m.Name, UUID: m.UUID, Serial: m.Serial, Platform: "metal", Arch: m.Arch, CPUs: m.CPUs, MemoryMiB: m.MemoryMiB,
		NICs:  []machine.NIC{{Name: "enp1s0", MAC: m.MAC, Server: router}},
		Image: machine.Image{Talos: m.Talos, Schematic: m.Schematic, Installed: m.Installed},
		Meta:  values,
	}
	for i, disk := range m.Disks {
		serial := disk.Serial
		if serial == "" {
			serial = fmt.Sprintf("%s-disk-%d", m.Serial, i+1)
		}
		path := disk.BusPath
		if path == "" {
			path = fmt.Sprintf("/pci0000:00/0000:00:17.0/ata%d", i+1)
		}
		spec.Disks = append(spec.Disks, machine.Disk{
			Device: disk.Device, Bytes: uint64(math.Round(disk.GB * 1e9)), Model: disk.Model, Serial: serial, WWID: disk.WWID,
			Transport: disk.Transport, Rotational: disk.Rotational, BusPath: path,
		})
	}
	return spec, nil
}

// PowerOn turns on a machine that is off.
func (r *Rack) PowerOn(name string) error { return r.do(name, machine.Box.PowerOn) }

// PowerOff cuts the power of a machine.
func (r *Rack) PowerOff(name string) error { return r.do(name, machine.Box.PowerOff) }

func (r *Rack) do(name string, do func(machine.Box)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	slot, err := r.slot(name)
	if err == nil {
		do(slot.box)
	}
	return err
}

// Replace removes a machine and puts another in its slot, with the same medium, the same address and an empty disk. Parts of the identity that are not given
// are generated.
func (r *Rack) Replace(ctx context.Context, name string, by Identity) (Identity, error) {
	if faults := by.check(); len(faults) > 0 {
		return Identity{}, errors.Join(faults...)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	slot, err := r.slot(name)
	if err != nil {
		return Identity{}, err
	}
	own := identityOf(fmt.Sprintf("%s/%d", name, slot.before+1))
	if by.MAC == "" {
		by.MAC = own.MAC
	}
	if by.UUID == "" {
		by.UUID = own.UUID
	}
	after := slot.machine
	after.MAC, after.UUID, after.Serial = by.MAC, by.UUID, "SN-"+by.UUID[:8]
	box, err := r.exchange(ctx, slot, after)
	if err != nil {
		return Identity{}, fmt.Errorf("machine %s: %w", name, err)
	}
	slot.machine, slot.box = after, box
	slot.before++
	r.Timeline.Record(name, "machine", "replaced", "mac", by.MAC, "uuid", by.UUID)
	box.PowerOn()
	return by, nil
}

// exchange deletes the box of a machine and creates that of its replacement, unless something that the new one needs is missing.
func (r *Rack) exchange(ctx context.Context, slot *slot, after Machine) (machine.Box, error) {
	before := slot.machine
	router, err := r.LAN(after.Address.Masked(), after.Gateway)
	if err != nil {
		return nil, err
	}
	spec, err := r.spec(after, router)
	if err != nil {
		return nil, err
	}
	if after.DHCP {
		if err := router.Pass(before.MAC, after.MAC); err != nil {
			return nil, fmt.Errorf("its address: %w", err)
		}
	}
	slot.box.Delete(ctx)
	var box machine.Box
	if err = ctx.Err(); err != nil {
		err = fmt.Errorf("does not end: %w", err)
	} else {
		box, err = r.Makes.Make(spec)
	}
	switch {
	case err != nil && after.DHCP:
		err = errors.Join(err, router.Pass(after.MAC, before.MAC))
	case err == nil && !after.DHCP:
		router.Release(before.MAC) // it may have asked for one
	}
	return box, err
}

// slot returns that of a machine; the caller holds the lock.
func (r *Rack) slot(name string) (*slot, error) {
	if slot := r.slots[name]; slot != nil {
		return slot, nil
	}
	if len(r.slots) == 0 {
		return nil, fmt.Errorf("no machine %q: this lab has none of its own", name)
	}
	return nil, fmt.Errorf("no machine %q: there are %s", name, strings.Join(slices.Sorted(maps.Keys(r.slots)), ", "))
}

// Close turns all machines off, and returns when nothing of them runs.
func (r *Rack) Close(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var boxes []machine.Box
	for _, slot := range r.slots {
		boxes = append(boxes, slot.box)
	}
	return machine.DeleteAll(ctx, boxes)
}
