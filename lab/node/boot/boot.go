// Package boot is one boot of a node as its parts share it: the machine, the lab around it, and what starts and ends with the boot.
//
// Each part of a node has its own lock for its own fields. Locks are taken in the direction of the dependencies: while holding its lock, a part may call the
// parts that it depends on, and never one that depends on it. Calls in the other direction are made without a lock. The only exception is the state of the
// resources: it reports the machine status while holding its lock (resources.New).
package boot

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cosi-project/runtime/pkg/state"
	"github.com/google/uuid"
	talosruntime "github.com/siderolabs/talos/internal/app/machined/pkg/runtime"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/network"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/disk"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/journal"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// Extension is a system extension that an image has.
type Extension struct {
	Name, Version, Author, Description string
	// ExtraInfo is the content of the schematic, which is listed as an extension.
	ExtraInfo string
	// Service is the id of the service that it runs, without "ext-", or "".
	Service string
}

// Lab is what a node uses of the lab.
type Lab struct {
	Network    network.Network
	Kubernetes cluster.Kubernetes
	Pace       *pace.Pace
	Faults     *fault.Set
	Timeline   *timeline.Timeline
	// Extensions are those of a schematic in a version of Talos; nil means that none are known.
	Extensions func(schematic, version string) []Extension
	// SchematicText is the content of a schematic, as YAML; "" if it is not known.
	SchematicText func(schematic string) string
	// HasInstaller reports whether there is an installer image of a schematic, or a plain one for "", in a version of Talos.
	HasInstaller func(schematic, version string) bool
}

// Hardware is what can be attached to a machine while it is on.
type Hardware interface {
	NICs() []machine.NIC
	Disks() []machine.Disk
}

// Boot is one boot: it starts with the kernel, and ends with a reboot or a loss of power.
type Boot struct {
	Lab
	Spec     machine.Spec // as it was when the boot started
	Hardware Hardware
	Disk     *disk.Disk
	Image    machine.Image
	Version  Version
	Mode     talosruntime.Mode
	ID       string
	Began    time.Time

	// Ctx ends with the boot.
	Ctx    context.Context
	State  state.State
	Events *journal.Events
	Logs   *journal.Logs

	cancel context.CancelCauseFunc
	work   sync.WaitGroup
	skew   atomic.Int64 // how far the clock is ahead, in nanoseconds
}

// New starts the boot of an image, with the given number. The state must be set afterwards.
func New(ctx context.Context, lab Lab, spec machine.Spec, hardware Hardware, disk *disk.Disk, image machine.Image, number int) (*Boot, error) {
	version, err := ParseVersion(image.Talos)
	if err != nil {
		return nil, err
	}
	mode, err := ModeOf(spec.Platform)
	if err != nil {
		return nil, err
	}
	b := &Boot{
		Lab: lab, Spec: spec, Hardware: hardware, Disk: disk, Image: image, Version: version, Mode: mode,
		ID: DerivedUUID(fmt.Sprintf("%s/boot/%d", spec.UUID, number)), Began: time.Now(), Logs: journal.NewLogs(),
	}
	b.Ctx, b.cancel = context.WithCancelCause(ctx)
	b.Events = journal.NewEvents(b.Ctx)
	return b, nil
}

// Host returns the lab's name of the machine.
func (b *Boot) Host() string { return b.Spec.Name }

// Platform returns Talos' name of the platform.
func (b *Boot) Platform() string { return b.Spec.Platform }

// Record writes a fact about the machine to the timeline.
func (b *Boot) Record(what, value string, detail ...string) {
	b.Timeline.Record(b.Host(), what, value, detail...)
}

// Extensions returns those of the running image.
func (b *Boot) Extensions() []Extension {
	return b.Lab.Extensions(b.Image.Schematic, b.Image.Talos)
}

// Now is the time by the clock of the machine.
func (b *Boot) Now() time.Time { return time.Now().Add(time.Duration(b.skew.Load())) }

// SetClock sets the clock at a point where a fault may make it wrong; otherwise it is
// right afterwards.
func (b *Boot) SetClock(ctx context.Context, name string) error {
	outcome, err := b.Faults.Meet(ctx, fault.Point{On: fault.Clock, Name: name, Subject: b.Host()})
	if err != nil {
		return err
	}
	by := time.Duration(0)
	if outcome != nil {
		by = outcome.By
		b.Record("clock", "wrong", "by", by.String())
	}
	b.skew.Store(int64(by))
	return nil
}

// Wait waits for the duration of a step.
func (b *Boot) Wait(ctx context.Context, step pace.Step) error {
	return b.Pace.Wait(ctx, step, b.Host())
}

// Spawn runs something in parallel to the sequences until the boot ends.
func (b *Boot) Spawn(do func(ctx context.Context)) {
	b.work.Go(func() { do(b.Ctx) })
}

// AwaitSpawned waits for everything that was spawned. The boot must have ended.
func (b *Boot) AwaitSpawned() { b.work.Wait() }

// End ends the boot with a reason.
func (b *Boot) End(reason error) { b.cancel(reason) }

// Meet passes a fault point. A fault that is an error of the step is returned as an error; a crash ends the boot.
func (b *Boot) Meet(ctx context.Context, on fault.Kind, name string) error {
	outcome, err := b.Faults.Meet(ctx, fault.Point{On: on, Name: name, Subject: b.Host()})
	if err != nil || outcome == nil {
		return err
	}
	switch outcome.Do {
	case fault.Crash:
		how := Ended{Crash}
		if outcome.Code == fault.StaysOff {
			how = Ended{Dead}
		}
		b.End(how)
		return how
	default:
		message := outcome.Message
		if message == "" {
			message = "failed on purpose"
		}
		return fmt.Errorf("%s %q: %s", on, name, message)
	}
}

// Ending is how a boot ends.
type Ending int

// The endings of a boot.
const (
	Unplugged Ending = iota // by the box
	Reboot
	Off
	Crash // lost its power and gets it back
	Dead  // lost its power for good
)

// Ended is the error that carries an ending through a sequence.
type Ended struct{ How Ending }

func (e Ended) Error() string {
	return [...]string{"unplugged", "rebooting", "powering off", "lost its power", "lost its power for good"}[e.How]
}

// ErrUnplugged is the reason of a boot that ends because the box has no power.
var ErrUnplugged = errors.New("the power is off")

// DerivedUUID returns always the same for the same text: one seed, one run.
func DerivedUUID(text string) string {
	sum := sha256.Sum256([]byte(text))
	id, _ := uuid.FromBytes(sum[:16]) // sixteen bytes are never refused
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id.String()
}

// Serial returns the machine's serial number, or what a cloud writes instead.
func (b *Boot) Serial() string {
	if b.Spec.Serial != "" {
		return b.Spec.Serial
	}
	if at := strings.LastIndex(b.Spec.ProviderID, "/"); at >= 0 {
		return b.Spec.ProviderID[at+1:]
	}
	return ""
}

// kernels are those of the versions of Talos, by the prefix of a version.
var kernels = []struct{ talos, kernel string }{
	{"1.14.", "6.18.51-talos"},
	{"1.13.", "6.18.18-talos"},
	{"1.12.", "6.18.9-talos"},
	{"", "6.12.57-talos"},
}

// Kernel returns the version of the kernel.
func (b *Boot) Kernel() string {
	for _, known := range kernels {
		if strings.HasPrefix(b.Image.Talos, known.talos) {
			return known.kernel
		}
	}
	return ""
}

// CommandLine returns that of the kernel.
func (b *Boot) CommandLine() string {
	return fmt.Sprintf("talos.platform=%s console=tty1 console=ttyS0 init_on_alloc=1 slab_nomerge pti=on consoleblank=0 "+
		"nvme_core.io_timeout=4294967295 printk.devkmsg=on selinux=1 module.sig_enforce=1 proc_mem.force_override=never", b.Platform())
}
