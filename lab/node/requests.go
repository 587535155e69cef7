package node

import (
	"context"
	"slices"

	talosruntime "github.com/siderolabs/talos/internal/app/machined/pkg/runtime"
	"github.com/siderolabs/talos/pkg/machinery/api/common"
	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/constants"
	"github.com/siderolabs/talos/pkg/machinery/resources/runtime"
	"golang.org/x/sys/unix"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/talosapi"
)

// request is a sequence that somebody asked for.
type request struct {
	actor    string // of its events
	sequence talosruntime.Sequence
	run      func(ctx context.Context) error
}

func (r request) play(ctx context.Context) error {
	return r.run(context.WithValue(ctx, talosruntime.ActorIDCtxKey{}, r.actor))
}

// ask starts a sequence, or says in an event that another one does not let it.
func (n *node) ask(wanted request) error {
	n.mu.Lock()
	running := n.sequence
	booting := running == talosruntime.SequenceNoop || running == talosruntime.SequenceInitialize || running == talosruntime.SequenceBoot
	if free := booting || wanted.sequence.CanTakeOver(running); !free {
		n.mu.Unlock()
		n.publishError(context.WithValue(n.ctx, talosruntime.ActorIDCtxKey{}, wanted.actor), wanted.sequence, &common.Error{
			Code: common.Code_LOCKED, Message: "sequence not started: " + talosruntime.ErrLocked.Error(),
		})
		return nil
	}
	n.sequence = wanted.sequence
	n.mu.Unlock()
	select {
	case n.asked <- wanted:
	default: // one was asked for already, and takes the machine down
	}
	return nil
}

// Reboot implements talosapi.Machine.
func (n *node) Reboot(actor string, force bool) error {
	phases := []phase{n.rebootPhase()}
	if !force {
		phases = slices.Concat([]phase{step("cleanup", n.stopPods()), step("dbus", nothing("stopDBus"))}, n.stopAll(true), phases)
	}
	return n.ask(request{actor, talosruntime.SequenceReboot, func(ctx context.Context) error {
		return n.play(ctx, talosruntime.SequenceReboot, phases...)
	}})
}

// Shutdown implements talosapi.Machine.
func (n *node) Shutdown(actor string, force bool) error {
	phases := []phase{step("storeShutdown", nothing("storeShutdownEmergency"))}
	if !force {
		phases = append(phases, step("drain", nothing("cordonAndDrainNode")))
	}
	phases = append(phases, step("cleanup", n.stopPods()), step("dbus", nothing("stopDBus")))
	phases = append(append(phases, n.stopAll(false)...), n.shutdownPhase())
	return n.ask(request{actor, talosruntime.SequenceShutdown, func(ctx context.Context) error {
		return n.play(ctx, talosruntime.SequenceShutdown, phases...)
	}})
}

// Reset implements talosapi.Machine.
func (n *node) Reset(actor string, reset talosapi.ResetRequest) error {
	return n.ask(request{actor, talosruntime.SequenceReset, func(ctx context.Context) error {
		return n.play(ctx, talosruntime.SequenceReset, n.resetPhases(reset)...)
	}})
}

func (n *node) resetPhases(reset talosapi.ResetRequest) []phase {
	var phases []phase
	if reset.Graceful {
		phases = append(phases, step("drain", nothing("cordonAndDrainNode")))
	}
	phases = append(phases, step("cleanup", n.stopPods()), step("dbus", nothing("stopDBus")))
	if reset.Graceful && n.machineType().IsControlPlane() {
		phases = append(phases, step("leave", task{"leaveEtcd", n.leaveEtcd}))
	}
	phases = append(phases, step("preReset", task{"sendResetSignal", func(ctx context.Context) error {
		n.discovery.remove(n)
		return put(ctx, n.resources.State, "", runtime.NewMachineResetSignal(), func(*runtime.MachineResetSignal) {})
	}}))
	whole := reset.WipeSystem
	kexec := !whole && !slices.Contains(reset.Partitions, constants.BootPartitionLabel)
	phases = append(append(phases, n.stopAll(kexec)...), step("forceCleanup", nothing("forceCleanup")))
	name := task{"resetSystemDiskSpec", func(ctx context.Context) error { return n.wipe(ctx, false, reset.Partitions) }}
	switch {
	case whole:
		name = task{"resetSystemDisk", func(ctx context.Context) error { return n.wipe(ctx, true, nil) }}
	case len(reset.Partitions) == 0:
		name = nothing("resetUserDisks") // the lab keeps nothing on them
	}
	phases = append(phases, step("reset", name))
	if reset.Reboot {
		return append(phases, n.rebootPhase())
	}
	return append(phases, n.shutdownPhase())
}

func (n *node) wipe(ctx context.Context, whole bool, labels []string) error {
	if err := n.Pace.Wait(ctx, pace.Wipe, n.Host()); err != nil {
		return err
	}
	n.disk.wipe(whole, labels...)
	if whole || slices.Contains(labels, constants.EphemeralPartitionLabel) {
		n.Kubernetes.WipeEtcd(n.Host())
	}
	what := "disk"
	if !whole {
		what = "partitions"
	}
	n.Timeline.Record(n.Host(), "wiped", what)
	return nil
}

// Upgrade implements talosapi.Machine.
func (n *node) Upgrade(actor, image string, stage, _ bool) error {
	schematic, version, err := parseInstaller(image)
	if err != nil {
		return err
	}
	next := machine.Image{Talos: version, Schematic: schematic}
	upgrade := step("upgrade", task{"upgrade", func(ctx context.Context) error {
		n.logs.talos("performing upgrade via %q", image)
		if err := n.Pace.Wait(ctx, pace.Upgrade, n.Host()); err != nil {
			return err
		}
		n.disk.install(next, "")
		n.Timeline.Record(n.Host(), "installed", version, "schematic", schematic)
		return nil
	}})
	sequence, phases := talosruntime.SequenceUpgrade, []phase(nil)
	last := []phase{step("meta", nothing("reloadMeta")), step("kexec", nothing("kexecPrepare")), step("stopEverything", n.stopTask(pace.Restart)), n.rebootPhase()}
	switch {
	case n.Maintenance():
		sequence, phases = talosruntime.SequenceMaintenanceUpgrade, append([]phase{upgrade}, last...)
	case stage:
		n.disk.stage(next)
		sequence = talosruntime.SequenceStageUpgrade
		phases = append(slices.Concat([]phase{step("cleanup", n.stopPods()), step("dbus", nothing("stopDBus"))}, n.stopAll(true)), n.rebootPhase())
	default:
		phases = slices.Concat([]phase{step("drain", nothing("cordonAndDrainNode")), step("cleanup", n.stopPods()), step("dbus", nothing("stopDBus"))},
			n.unmount(), []phase{upgrade}, last)
	}
	return n.ask(request{actor, sequence, func(ctx context.Context) error { return n.play(ctx, sequence, phases...) }})
}

// unmount stops what holds EPHEMERAL, and lets go of it.
func (n *node) unmount() []phase {
	return []phase{
		step("stopServices", task{"stopServicesForUpgrade", func(ctx context.Context) error {
			return n.services.stop(ctx, "etcd", "kubelet", "trustd", "cri")
		}}),
		step("unmount", nothing("unmountPodMounts")),
		step("unmountBind", nothing("unmountSystemDiskBindMounts")),
		step("unmountSystem", nothing("unmountEphemeralPartition")),
		step("volumeFinalize", nothing("teardownLifecycle")),
	}
}

func (n *node) stopAll(kexec bool) []phase {
	phases := n.unmount()
	if !kexec {
		return append(phases, step("stopEverything", n.stopTask(pace.Shutdown)))
	}
	return append(phases, step("kexec", nothing("kexecPrepare")), step("stopEverything", n.stopTask(pace.Restart)))
}

func (n *node) stopPods() task {
	return task{"stopAllPods", func(context.Context) error {
		n.Kubernetes.StopStaticPods(n.Host())
		return nil
	}}
}

// stopTask stops all services, which takes a machine's time to go down.
func (n *node) stopTask(takes pace.Step) task {
	return task{"stopAllServices", func(ctx context.Context) error {
		if err := n.Pace.Wait(ctx, takes, n.Host()); err != nil {
			return err
		}
		return n.services.stop(ctx, n.services.ids()...)
	}}
}

func (n *node) rebootPhase() phase {
	return step("reboot", task{"reboot", func(ctx context.Context) error {
		n.events.Publish(ctx, &machineapi.RestartEvent{Cmd: int64(unix.LINUX_REBOOT_CMD_RESTART)})
		return ended{endReboot}
	}})
}

func (n *node) shutdownPhase() phase {
	return step("shutdown", task{"shutdown", func(ctx context.Context) error {
		n.events.Publish(ctx, &machineapi.RestartEvent{Cmd: int64(unix.LINUX_REBOOT_CMD_POWER_OFF)})
		return ended{endOff}
	}})
}
