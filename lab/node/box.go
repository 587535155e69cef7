package node

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

// errUnplugged is how a boot ends when the power goes.
var errUnplugged = errors.New("the power is off")

// box is a machine: power, disks, NICs and the Talos that runs.
type box struct {
	*Maker
	spec machine.Spec
	disk *disk

	mu      sync.Mutex
	nics    []machine.NIC
	extra   []machine.Disk // attached since
	on      bool
	deleted bool
	unplug  context.CancelCauseFunc
	// ended is closed when nothing runs any more of the last time it was on.
	ended chan struct{}
	node  *node
	boots int
}

var _ machine.Box = (*box)(nil)

func newBox(m *Maker, spec machine.Spec) *box {
	ended := make(chan struct{})
	close(ended)
	return &box{Maker: m, spec: spec, disk: newDisk(spec), nics: slices.Clone(spec.NICs), ended: ended}
}

// PowerOn implements machine.Box.
func (b *box) PowerOn() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.powerOn()
}

func (b *box) powerOn() {
	if b.on || b.deleted {
		return
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	before, ended := b.ended, make(chan struct{})
	b.on, b.unplug, b.ended = true, cancel, ended
	b.Timeline.Record(b.spec.Name, "power", "on")
	go func() {
		defer close(ended)
		defer cancel(nil)
		<-before
		b.run(ctx)
	}()
}

// PowerOff implements machine.Box.
func (b *box) PowerOff() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.powerOff()
}

func (b *box) powerOff() {
	if b.on {
		b.on = false
		b.Timeline.Record(b.spec.Name, "power", "off")
		b.unplug(errUnplugged)
	}
}

// Reset implements machine.Box.
func (b *box) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.on {
		b.powerOff()
		b.powerOn()
	}
}

// Shutdown implements machine.Box. Firmware does not heed the button.
func (b *box) Shutdown() {
	if node := b.running(); node != nil {
		_ = node.Shutdown("", true)
	}
}

// Powered implements machine.Box.
func (b *box) Powered() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.on
}

// Attach implements machine.Box.
func (b *box) Attach(nic machine.NIC) {
	b.mu.Lock()
	b.nics = append(slices.DeleteFunc(slices.Clone(b.nics), func(other machine.NIC) bool { return other.MAC == nic.MAC }), nic)
	b.mu.Unlock()
	b.rewired()
}

// Detach implements machine.Box.
func (b *box) Detach(mac string) {
	b.mu.Lock()
	b.nics = slices.DeleteFunc(slices.Clone(b.nics), func(nic machine.NIC) bool { return nic.MAC == mac })
	b.mu.Unlock()
	b.rewired()
}

func (b *box) rewired() {
	if node := b.running(); node != nil {
		node.wires.ring()
	}
}

// Delete implements machine.Box.
func (b *box) Delete(ctx context.Context) {
	b.mu.Lock()
	b.deleted = true
	b.powerOff()
	ended := b.ended
	b.mu.Unlock()
	select {
	case <-ended:
	case <-ctx.Done():
		return
	}
	b.Kubernetes.WipeEtcd(b.spec.Name)
	b.forget(b.spec.Name)
}

func (b *box) running() *node {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.node
}

func (b *box) wiring() []machine.NIC {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.nics
}

// run is one time from power on to off, with as many boots as there are.
func (b *box) run(ctx context.Context) {
	for {
		if b.Pace.Wait(ctx, pace.Firmware, b.spec.Name) != nil {
			return
		}
		image, found := b.bootable()
		if !found {
			b.Timeline.Record(b.spec.Name, "boot", "no bootable device")
			<-ctx.Done()
			return
		}
		switch b.boot(ctx, image) {
		case endUnplugged:
			return
		case endOff, endDead:
			b.turnOff(ctx)
			return
		case endCrash:
			b.Timeline.Record(b.spec.Name, "power", "lost")
		case endReboot:
		}
	}
}

// turnOff is the machine's own doing: nobody pulled the plug meanwhile.
func (b *box) turnOff(ctx context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if ctx.Err() == nil {
		b.on = false
		b.Timeline.Record(b.spec.Name, "power", "off")
	}
}

// bootable is what the firmware finds: Talos on the disk, else the medium.
func (b *box) bootable() (machine.Image, bool) {
	if installed, _, _ := b.disk.read(); installed != nil {
		return *installed, true
	}
	if b.spec.Image.Installed {
		return machine.Image{}, false // it was the disk's own image, and was wiped
	}
	return b.spec.Image, true
}

func (b *box) boot(ctx context.Context, image machine.Image) end {
	b.mu.Lock()
	b.boots++
	count := b.boots
	b.mu.Unlock()
	n, err := newNode(ctx, b, image, count)
	if err != nil {
		b.Timeline.Record(b.spec.Name, "boot", "failed", "error", err.Error())
		<-ctx.Done()
		return endUnplugged
	}
	b.mu.Lock()
	b.node = n
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.node = nil
	}()
	return n.run()
}
