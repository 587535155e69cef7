// Package machinetest has fake machines for the tests of platforms. They run nothing, and record what the platform does to them.
package machinetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
)

// Box is a machine that records what happens to it.
type Box struct {
	machine.Silent
	// Spec is what it was created from.
	Spec machine.Spec

	mu    sync.Mutex
	notes []string
	nics  []machine.NIC
	disk  machine.Image
	guest *machine.Guest
	// deleting is closed when the box is to be deleted; while hold is set, the deletion waits until hold is closed.
	deleting, hold chan struct{}
}

func (b *Box) note(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.notes = append(b.notes, fmt.Sprintf(format, args...))
}

// Happened returns the records since its last call.
func (b *Box) Happened() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	notes := b.notes
	b.notes = nil
	return notes
}

// NIC returns the box's current interface with that name.
func (b *Box) NIC(t *testing.T, name string) machine.NIC {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	at := slices.IndexFunc(b.nics, func(nic machine.NIC) bool { return nic.Name == name })
	require.GreaterOrEqual(t, at, 0, "the box has an interface %s", name)
	return b.nics[at]
}

// Answer makes a guest agent answer with this.
func (b *Box) Answer(guest machine.Guest) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.guest = &guest
}

// HoldDeletion makes Delete wait until release is called. Deleting is closed when
// Delete was called.
func (b *Box) HoldDeletion() (deleting <-chan struct{}, release func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deleting, b.hold = make(chan struct{}), make(chan struct{})
	hold := b.hold
	return b.deleting, func() { close(hold) }
}

// Upgrade puts another image on the disk, as an upgrade of Talos does.
func (b *Box) Upgrade(to machine.Image) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.disk = to
}

// PowerOn implements machine.Box, like all methods up to Delete.
func (b *Box) PowerOn()  { b.Silent.PowerOn(); b.note("on") }
func (b *Box) PowerOff() { b.Silent.PowerOff(); b.note("off") }
func (b *Box) Shutdown() { b.Silent.Shutdown(); b.note("shutdown") }
func (b *Box) Reset()    { b.note("reset") }

func (b *Box) Attach(nic machine.NIC) {
	b.note("attach %s %s", nic.Name, nic.MAC)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.nics = append(b.nics, nic)
}

func (b *Box) Detach(mac string) {
	b.note("detach %s", mac)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.nics = slices.DeleteFunc(b.nics, func(nic machine.NIC) bool { return nic.MAC == mac })
}

func (b *Box) Delete(ctx context.Context) {
	b.Silent.PowerOff()
	b.note("delete")
	b.mu.Lock()
	deleting, hold := b.deleting, b.hold
	b.deleting = nil
	b.mu.Unlock()
	if deleting != nil {
		close(deleting)
	}
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
		}
	}
}

// AttachDisk and DetachDisk are for platforms that attach disks to a running machine.
func (b *Box) AttachDisk(disk machine.Disk) { b.note("disk %s %d", disk.Device, disk.Bytes) }
func (b *Box) DetachDisk(serial string)     { b.note("no disk %s", serial) }

// Resize is for platforms that change the hardware of a machine.
func (b *Box) Resize(cpus, memoryMiB int, diskBytes uint64) {
	b.note("hardware %d %d %d", cpus, memoryMiB, diskBytes>>30)
}

// Image returns what is on the disk.
func (b *Box) Image() machine.Image {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.disk
}

// Guest returns what a guest agent answers, if one does.
func (b *Box) Guest() (machine.Guest, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.guest == nil {
		return machine.Guest{}, false
	}
	return *b.guest, true
}

// Maker makes boxes, and knows them by name.
type Maker struct {
	mu    sync.Mutex
	boxes map[string]*Box
	err   error
}

// Fail makes Make fail with this error.
func (m *Maker) Fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.err = err
}

// Make implements machine.Maker.
func (m *Maker) Make(spec machine.Spec) (machine.Box, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return nil, m.err
	}
	if m.boxes == nil {
		m.boxes = map[string]*Box{}
	}
	box := &Box{Spec: spec, nics: slices.Clone(spec.NICs), disk: spec.Image}
	m.boxes[spec.Name] = box
	return box, nil
}

// Box returns the last box that was created with that name.
func (m *Maker) Box(t *testing.T, name string) *Box {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	require.Contains(t, m.boxes, name)
	return m.boxes[name]
}

// Count returns the number of names for which boxes were created.
func (m *Maker) Count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.boxes)
}
