package node

import (
	"context"
	"fmt"

	talosruntime "github.com/siderolabs/talos/internal/app/machined/pkg/runtime"
	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/resources/runtime"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/boot"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/sequence"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

// bootUp contains the sequences that bring a node up.
type bootUp struct{ *node }

// run runs the sequences of machined's main, in its order.
func (b *bootUp) run(ctx context.Context) error {
	if err := b.sequencer.Run(ctx, talosruntime.SequenceInitialize, b.initialize()...); err != nil {
		return err
	}
	if err := b.sequencer.Run(ctx, talosruntime.SequenceInstall, b.install()...); err != nil {
		return err
	}
	if !b.boot.Version.EarlyAPI() {
		b.services.Start("apid")
	}
	return b.sequencer.Run(ctx, talosruntime.SequenceBoot, b.phases()...)
}

func (b *bootUp) initialize() []sequence.Phase {
	early := []sequence.Task{b.startTask("startUdevd", "udevd"), b.startTask("startMachined", "machined")}
	if b.boot.Version.EarlyAPI() {
		early = append(early, sequence.Task{Name: "startApid", Run: func(context.Context) error {
			b.services.Start("apid")
			return nil
		}})
	}
	if b.boot.Version.Syslogd() {
		early = append(early, b.startTask("startAuditd", "auditd"), b.startTask("startSyslogd", "syslogd"))
	}
	early = append(early, b.startTask("startContainerd", "containerd"))
	return []sequence.Phase{
		sequence.NewPhase("systemRequirements", sequence.Nothing("enforceKSPPRequirements")),
		sequence.NewPhase("earlyServices", early...),
		sequence.NewPhase("usb", sequence.Nothing("waitForUSB")),
		sequence.NewPhase("meta", sequence.Nothing("reloadMeta")),
		sequence.NewPhase("dashboard", sequence.Task{Name: "startDashboard", Run: func(context.Context) error {
			b.services.Start("dashboard")
			return nil
		}}),
		sequence.NewPhase("config", sequence.Task{Name: "loadConfig", Run: b.loadConfig}),
	}
}

func (b *bootUp) startTask(name, service string) sequence.Task {
	return sequence.Task{Name: name, Run: func(ctx context.Context) error {
		b.services.Start(service)
		return b.services.Await(ctx, service)
	}}
}

// loadConfig loads a config from where Talos looks for it, and waits in maintenance if there is none.
func (b *bootUp) loadConfig(ctx context.Context) error {
	complete, err := b.configs.Load(ctx)
	if err != nil || complete {
		return err
	}
	return b.maintain(ctx)
}

// install is empty if Talos is on the disk and no upgrade was staged.
func (b *bootUp) install() []sequence.Phase {
	installed, _, _ := b.boot.Disk.Read()
	staged := b.boot.Disk.StagedImage()
	if installed != nil && staged == nil {
		return nil
	}
	return []sequence.Phase{
		sequence.NewPhase("env", sequence.Nothing("setUserEnvVars")),
		sequence.NewPhase("install", sequence.Task{Name: "install", Run: func(ctx context.Context) error { return b.runInstaller(ctx, staged) }}),
		sequence.NewPhase("meta", sequence.Nothing("reloadMeta")),
		sequence.NewPhase("saveMeta", sequence.Nothing("flushMeta")),
		sequence.NewPhase("volumeFinalize", sequence.Nothing("teardownLifecycle")),
		sequence.NewPhase("stopEverything", b.stopTask(pace.Shutdown)),
		sequence.NewPhase("kexec", sequence.Nothing("kexecPrepare")),
		b.rebootPhase(),
	}
}

func (b *bootUp) runInstaller(ctx context.Context, staged *machine.Image) error {
	if staged != nil {
		b.boot.Logs.Talos("performing staged upgrade to v%s", staged.Talos)
		return b.upgrade(ctx, *staged, pace.Upgrade, b.installerSays)
	}
	device, err := b.hardware.InstallDisk(ctx, b.Config().Machine().Install())
	if err != nil {
		return err
	}
	image := b.boot.Image
	if schematic, version, err := boot.ParseInstaller(b.Config().Machine().Install().Image()); err == nil {
		image.Talos, image.Schematic = version, schematic
	}
	b.boot.Logs.Talos("installing Talos to disk %s", device)
	if err := b.boot.Wait(ctx, pace.Install); err != nil {
		return err
	}
	// A failed installation leaves a disk that does not boot, and a config that only this boot had.
	if err := b.boot.Meet(ctx, fault.Install, device); err != nil {
		return fmt.Errorf("task %q failed: %w", "upgrade", err)
	}
	b.boot.Disk.Install(image, device)
	if err := b.configs.Persist(); err != nil {
		return err
	}
	b.boot.Record("installed", image.Talos, "schematic", image.Schematic, "disk", device)
	b.boot.Logs.Talos("install successful")
	return nil
}

func (b *bootUp) phases() []sequence.Phase {
	return []sequence.Phase{
		sequence.NewPhase("memorySizeCheck", sequence.Nothing("memorySizeCheck")),
		sequence.NewPhase("diskSizeCheck", sequence.Nothing("diskSizeCheck")),
		sequence.NewPhase("env", sequence.Nothing("setUserEnvVars"), sequence.Nothing("waitForCARoots")),
		sequence.NewPhase("dbus", sequence.Nothing("startDBus")),
		sequence.NewPhase("ephemeral", sequence.Task{Name: "mountEphemeralPartition", Run: b.hardware.MountEphemeral}),
		sequence.NewPhase("udevSetup", sequence.Nothing("writeUdevRules")),
		sequence.NewPhase("userDisks", sequence.Nothing("mountUserDisks")),
		sequence.NewPhase("userSetup", sequence.Nothing("writeUserFiles")),
		sequence.NewPhase("startEverything", sequence.Task{Name: "startAllServices", Run: b.startAllServices}),
	}
}

func (b *bootUp) startAllServices(ctx context.Context) error {
	wanted := []string{"cri", "kubelet"}
	if b.configs.MachineType().IsControlPlane() {
		wanted = append(wanted, "trustd", "etcd")
	}
	wanted = append(wanted, b.extensionServices()...)
	for _, id := range wanted {
		b.services.Start(id)
	}
	if err := b.services.Await(ctx, "apid"); err != nil {
		return err
	}
	if err := b.boot.Meet(ctx, fault.Boot, b.boot.Image.Talos); err != nil {
		return err
	}
	all := b.services.IDs()
	b.boot.Logs.Talos("task startAllServices (1/1): waiting for %d services", len(all))
	for _, id := range all {
		if err := b.services.Await(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// maintain waits for a complete config, like the maintenance service.
func (b *bootUp) maintain(ctx context.Context) error {
	if err := b.configs.RequestMaintenance(ctx); err != nil {
		return err
	}
	// The stage starts when a client can see it.
	if b.boot.Version.EarlyAPI() {
		if err := b.services.Await(ctx, "apid"); err != nil {
			return err
		}
	} else {
		if err := b.trust.AwaitCertificate(ctx, true); err != nil {
			return err
		}
		if err := b.api.open(true); err != nil {
			return err
		}
	}
	b.boot.Logs.Talos("this machine is reachable at: %v", b.Addresses())
	if err := b.sequencer.Enter(ctx, runtime.MachineStageMaintenance, &machineapi.TaskEvent{Task: "runningMaintenance", Action: machineapi.TaskEvent_START}); err != nil {
		return err
	}
	for {
		select {
		case cfg := <-b.configs.Sent():
			if !cfg.CompleteForBoot() {
				continue
			}
			return b.leaveMaintenance(ctx)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// leaveMaintenance ends the API of maintenance a moment after it took the config. That
// API answers no config any more, and then the port refuses connections.
func (b *bootUp) leaveMaintenance(ctx context.Context) error {
	if !b.boot.Version.EarlyAPI() {
		if err := b.boot.Wait(ctx, pace.Withdraw); err != nil {
			return err
		}
		b.api.close(true)
	}
	if err := b.configs.WithdrawMaintenance(ctx); err != nil {
		return err
	}
	if b.boot.Version.EarlyAPI() {
		b.boot.Spawn(b.replaceAPI)
	}
	return b.sequencer.Enter(ctx, runtime.MachineStageBooting, &machineapi.TaskEvent{Task: "runningMaintenance", Action: machineapi.TaskEvent_STOP})
}

// replaceAPI replaces the API of maintenance by the full one, once the node has its
// certificate, which names the node: one that makes its hostname from its identity has
// none before STATE is mounted, and refuses connections until it was installed. The
// certificate may be gone when the API starts, because the node lost its address
// meanwhile: apid starts again then, as every service does.
func (b *bootUp) replaceAPI(ctx context.Context) {
	if b.boot.Wait(ctx, pace.Withdraw) != nil {
		return
	}
	b.api.close(true)
	if b.trust.AwaitCertificate(ctx, false) != nil || b.boot.Wait(ctx, pace.Reopen) != nil {
		return
	}
	for b.trust.AwaitCertificate(ctx, false) == nil {
		err := b.api.open(false)
		if err == nil || ctx.Err() != nil {
			return
		}
		b.boot.Logs.Talos("service[apid]: %v", err)
		if b.boot.Wait(ctx, pace.Retry) != nil {
			return
		}
	}
}
