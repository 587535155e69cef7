package node

import (
	"context"
	"slices"
	"sync"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/boot"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/disk"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

// box is a machine: power, disks, NICs and the running Talos.
type box struct {
	maker *Maker
	name  string
	disk  *disk.Disk

	mu      sync.Mutex
	spec    machine.Spec
	nics    []machine.NIC
	extra   []machine.Disk // attached later
	on      bool
	deleted bool
	unplug  context.CancelCauseFunc
	// ended is closed when nothing runs any more since it was last on.
	ended chan struct{}
	node  *node
	boots int
}

var _ machine.Box = (*box)(nil)

func newBox(m *Maker, spec machine.Spec) *box {
	ended := make(chan struct{})
	close(ended)
	return &box{maker: m, name: spec.Name, spec: spec, disk: disk.New(spec), nics: slices.Clone(spec.NICs), ended: ended}
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
	b.record("power", "on")
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
		b.record("power", "off")
		b.unplug(boot.ErrUnplugged)
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

// Shutdown implements machine.Box. Firmware ignores the power button.
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
		node.network.Rewired()
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
	b.maker.options.Kubernetes.WipeEtcd(b.name)
	b.maker.forget(b.name)
}

func (b *box) record(what, value string, detail ...string) {
	b.maker.options.Timeline.Record(b.name, what, value, detail...)
}

func (b *box) currentSpec() machine.Spec {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spec
}

// running returns the running node, or nil.
func (b *box) running() *node {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.node
}

// NICs implements boot.Hardware.
func (b *box) NICs() []machine.NIC {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.nics
}

// run is the time from power on to power off, with all its boots.
func (b *box) run(ctx context.Context) {
	for {
		if b.maker.options.Pace.Wait(ctx, pace.Firmware, b.name) != nil {
			return
		}
		image, found := b.bootable()
		if !found {
			b.record("boot", "no bootable device")
			<-ctx.Done()
			return
		}
		switch b.bootImage(ctx, image) {
		case boot.Unplugged:
			return
		case boot.Off, boot.Dead:
			b.turnOff(ctx)
			return
		case boot.Crash:
			b.record("power", "lost")
		case boot.Reboot:
		}
	}
}

// turnOff turns the machine off by itself, unless its power was cut before.
func (b *box) turnOff(ctx context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if ctx.Err() == nil {
		b.on = false
		b.record("power", "off")
	}
}

// bootable returns what the firmware finds: Talos on the disk, otherwise the medium.
func (b *box) bootable() (machine.Image, bool) {
	if installed, _, _ := b.disk.Read(); installed != nil {
		return *installed, true
	}
	medium := b.currentSpec().Image
	if medium.Installed {
		return machine.Image{}, false // it was the image of the disk, which was wiped
	}
	return medium, true
}

func (b *box) bootImage(ctx context.Context, image machine.Image) boot.Ending {
	b.mu.Lock()
	b.boots++
	count := b.boots
	b.mu.Unlock()
	n, err := newNode(ctx, b, image, count)
	if err != nil {
		b.record("boot", "failed", "error", err.Error())
		<-ctx.Done()
		return boot.Unplugged
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
