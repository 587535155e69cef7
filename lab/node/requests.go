package node

import (
	"context"
	"fmt"
	"slices"

	talosruntime "github.com/siderolabs/talos/internal/app/machined/pkg/runtime"
	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/constants"
	"github.com/siderolabs/talos/pkg/machinery/resources/runtime"
	"golang.org/x/sys/unix"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/boot"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/resources"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/sequence"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/talosapi"
)

// requests are the sequences that clients request (talosapi.Sequences).
type requests struct{ of *node }

// Reboot implements talosapi.Sequences, like all methods up to Rollback.
func (r *requests) Reboot(actor string, force bool) error {
	phases := []sequence.Phase{r.of.rebootPhase()}
	if !force {
		phases = slices.Concat(r.of.cleanupPhases(), r.of.stopAll(true), phases)
	}
	return r.of.sequencer.Ask(actor, talosruntime.SequenceReboot, phases...)
}

func (r *requests) Shutdown(actor string, force bool) error {
	phases := []sequence.Phase{sequence.NewPhase("storeShutdown", sequence.Nothing("storeShutdownEmergency"))}
	if !force {
		phases = append(phases, drainPhase())
	}
	phases = slices.Concat(phases, r.of.cleanupPhases(), r.of.stopAll(false), []sequence.Phase{r.of.shutdownPhase()})
	return r.of.sequencer.Ask(actor, talosruntime.SequenceShutdown, phases...)
}

func (r *requests) Reset(actor string, reset talosapi.ResetRequest) error {
	return r.of.sequencer.Ask(actor, talosruntime.SequenceReset, r.resetPhases(reset)...)
}

func (r *requests) resetPhases(reset talosapi.ResetRequest) []sequence.Phase {
	n := r.of
	var phases []sequence.Phase
	if reset.Graceful {
		phases = append(phases, drainPhase())
	}
	phases = append(phases, n.cleanupPhases()...)
	if reset.Graceful && n.configs.MachineType().IsControlPlane() {
		phases = append(phases, sequence.NewPhase("leave", sequence.Task{Name: "leaveEtcd", Run: n.etcd.Leave}))
	}
	phases = append(phases, sequence.NewPhase("preReset", sequence.Task{Name: "sendResetSignal", Run: func(ctx context.Context) error {
		n.discovery.Remove()
		return resources.Put(ctx, n.boot.State, "", runtime.NewMachineResetSignal(), func(*runtime.MachineResetSignal) {})
	}}))
	whole := reset.WipeSystem
	kexec := !whole && !slices.Contains(reset.Partitions, constants.BootPartitionLabel)
	phases = append(append(phases, n.stopAll(kexec)...), sequence.NewPhase("forceCleanup", sequence.Nothing("forceCleanup")))
	wipe := sequence.Task{Name: "resetSystemDiskSpec", Run: func(ctx context.Context) error { return r.wipe(ctx, false, reset.Partitions) }}
	switch {
	case whole:
		wipe = sequence.Task{Name: "resetSystemDisk", Run: func(ctx context.Context) error { return r.wipe(ctx, true, nil) }}
	case len(reset.Partitions) == 0:
		wipe = sequence.Nothing("resetUserDisks") // the lab keeps nothing on them
	}
	phases = append(phases, sequence.NewPhase("reset", wipe))
	if reset.Reboot {
		return append(phases, n.rebootPhase())
	}
	return append(phases, n.shutdownPhase())
}

func (r *requests) wipe(ctx context.Context, whole bool, labels []string) error {
	n := r.of
	if err := n.boot.Wait(ctx, pace.Wipe); err != nil {
		return err
	}
	n.boot.Disk.Wipe(whole, labels...)
	if whole || slices.Contains(labels, constants.EphemeralPartitionLabel) {
		n.boot.Kubernetes.WipeEtcd(n.boot.Host())
	}
	what := "disk"
	if !whole {
		what = "partitions"
	}
	n.boot.Record("wiped", what)
	return nil
}

func (r *requests) Upgrade(actor, image string, stage, _ bool) error {
	n := r.of
	schematic, version, err := boot.ParseInstaller(image)
	if err != nil {
		return err
	}
	next := machine.Image{Talos: version, Schematic: schematic}
	upgrade := sequence.NewPhase("upgrade", sequence.Task{Name: "upgrade", Run: func(ctx context.Context) error {
		n.boot.Logs.Talos("performing upgrade via %q", image)
		if err := n.upgrade(ctx, next, pace.Upgrade, n.installerSays); err != nil {
			return fmt.Errorf("error running installer: %w", err)
		}
		n.boot.Logs.Talos("upgrade successful")
		return nil
	}})
	last := []sequence.Phase{
		sequence.NewPhase("meta", sequence.Nothing("reloadMeta")), sequence.NewPhase("kexec", sequence.Nothing("kexecPrepare")),
		sequence.NewPhase("stopEverything", n.stopTask(pace.Restart)), n.rebootPhase(),
	}
	switch {
	case n.Maintenance():
		return n.sequencer.Ask(actor, talosruntime.SequenceMaintenanceUpgrade, append([]sequence.Phase{upgrade}, last...)...)
	case stage:
		n.boot.Disk.Stage(next)
		phases := slices.Concat(n.cleanupPhases(), n.stopAll(true), []sequence.Phase{n.rebootPhase()})
		return n.sequencer.Ask(actor, talosruntime.SequenceStageUpgrade, phases...)
	default:
		phases := slices.Concat([]sequence.Phase{drainPhase()}, n.cleanupPhases(), n.unmountPhases(), []sequence.Phase{upgrade}, last)
		return n.sequencer.Ask(actor, talosruntime.SequenceUpgrade, phases...)
	}
}

func (r *requests) Rollback() bool {
	r.of.boot.Logs.Talos("rollback via API received")
	return r.of.boot.Disk.Rollback()
}

func drainPhase() sequence.Phase {
	return sequence.NewPhase("drain", sequence.Nothing("cordonAndDrainNode"))
}

// cleanupPhases stop the pods.
func (n *node) cleanupPhases() []sequence.Phase {
	return []sequence.Phase{
		sequence.NewPhase("cleanup", sequence.Task{Name: "stopAllPods", Run: func(context.Context) error {
			n.controlPlane.StopPods()
			return nil
		}}),
		sequence.NewPhase("dbus", sequence.Nothing("stopDBus")),
	}
}

// unmountPhases stop everything that uses EPHEMERAL, and unmount it.
func (n *node) unmountPhases() []sequence.Phase {
	return []sequence.Phase{
		sequence.NewPhase("stopServices", sequence.Task{Name: "stopServicesForUpgrade", Run: func(ctx context.Context) error {
			return n.services.Stop(ctx, "etcd", "kubelet", "trustd", "cri")
		}}),
		sequence.NewPhase("unmount", sequence.Nothing("unmountPodMounts")),
		sequence.NewPhase("unmountBind", sequence.Nothing("unmountSystemDiskBindMounts")),
		sequence.NewPhase("unmountSystem", sequence.Nothing("unmountEphemeralPartition")),
		sequence.NewPhase("volumeFinalize", sequence.Nothing("teardownLifecycle")),
	}
}

func (n *node) stopAll(kexec bool) []sequence.Phase {
	phases := n.unmountPhases()
	if !kexec {
		return append(phases, sequence.NewPhase("stopEverything", n.stopTask(pace.Shutdown)))
	}
	return append(phases, sequence.NewPhase("kexec", sequence.Nothing("kexecPrepare")), sequence.NewPhase("stopEverything", n.stopTask(pace.Restart)))
}

// stopTask stops all services, which takes as long as a machine needs to go down.
// machined, on which nothing depends, is the first to end, and apid answers for a
// moment without it.
func (n *node) stopTask(takes pace.Step) sequence.Task {
	return sequence.Task{Name: "stopAllServices", Run: func(ctx context.Context) error {
		if err := n.boot.Wait(ctx, takes); err != nil {
			return err
		}
		n.api.loseMachined()
		if err := n.boot.Wait(ctx, pace.Socket); err != nil {
			return err
		}
		return n.services.Stop(ctx, n.services.IDs()...)
	}}
}

func (n *node) rebootPhase() sequence.Phase {
	return n.lastPhase("reboot", unix.LINUX_REBOOT_CMD_RESTART, boot.Reboot)
}

func (n *node) shutdownPhase() sequence.Phase {
	return n.lastPhase("shutdown", unix.LINUX_REBOOT_CMD_POWER_OFF, boot.Off)
}

func (n *node) lastPhase(name string, command int64, how boot.Ending) sequence.Phase {
	return sequence.NewPhase(name, sequence.Task{Name: name, Run: func(ctx context.Context) error {
		n.boot.Events.Publish(ctx, &machineapi.RestartEvent{Cmd: command})
		return boot.Ended{How: how}
	}})
}
