package node

import (
	"context"
	"fmt"
	"path"
	"slices"

	talosruntime "github.com/siderolabs/talos/internal/app/machined/pkg/runtime"
	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"
	"github.com/siderolabs/talos/pkg/machinery/config/types/block/blockhelpers"
	"github.com/siderolabs/talos/pkg/machinery/resources/runtime"

	lab "github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

// start is what happens before machined's sequences.
func (n *node) start() error {
	n.logs.dmesg("Linux version %s (talos) #1 SMP PREEMPT_DYNAMIC", n.kernelVersion())
	n.logs.dmesg("Command line: %s", n.cmdline())
	if err := n.Pace.Wait(n.ctx, pace.Kernel, n.Host()); err != nil {
		return err
	}
	n.logs.talos("[initramfs] booting Talos v%s", n.image.Talos)
	if err := n.describe(); err != nil {
		return err
	}
	return n.runControllers()
}

// bootUp runs the sequences of machined's main, in its order.
func (n *node) bootUp(ctx context.Context) error {
	if err := n.play(ctx, talosruntime.SequenceInitialize, n.initialize()...); err != nil {
		return err
	}
	if err := n.play(ctx, talosruntime.SequenceInstall, n.install()...); err != nil {
		return err
	}
	if !n.version.earlyAPI() {
		n.services.start("apid")
	}
	return n.play(ctx, talosruntime.SequenceBoot, n.bootPhases()...)
}

func (n *node) initialize() []phase {
	early := []task{n.startTask("startUdevd", "udevd"), n.startTask("startMachined", "machined")}
	if n.version.earlyAPI() {
		early = append(early, task{"startApid", func(context.Context) error {
			n.services.start("apid")
			return nil
		}})
	}
	if n.version.syslogd() {
		early = append(early, n.startTask("startAuditd", "auditd"), n.startTask("startSyslogd", "syslogd"))
	}
	early = append(early, n.startTask("startContainerd", "containerd"))
	return []phase{
		step("systemRequirements", nothing("enforceKSPPRequirements")),
		step("earlyServices", early...),
		step("usb", nothing("waitForUSB")),
		step("meta", nothing("reloadMeta")),
		step("dashboard", task{"startDashboard", func(context.Context) error {
			n.services.start("dashboard")
			return nil
		}}),
		step("config", task{"loadConfig", n.loadConfig}),
	}
}

func (n *node) startTask(name, service string) task {
	return task{name, func(ctx context.Context) error {
		n.services.start(service)
		return n.services.await(ctx, service)
	}}
}

// install is empty when Talos is on the disk and no upgrade was staged.
func (n *node) install() []phase {
	installed, _, _ := n.disk.read()
	staged := n.disk.stagedImage()
	if installed != nil && staged == nil {
		return nil
	}
	return append([]phase{
		step("env", nothing("setUserEnvVars")),
		step("install", task{"install", func(ctx context.Context) error { return n.runInstaller(ctx, staged) }}),
		step("meta", nothing("reloadMeta")),
		step("saveMeta", nothing("flushMeta")),
		step("volumeFinalize", nothing("teardownLifecycle")),
		step("stopEverything", n.stopTask(pace.Shutdown)),
		step("kexec", nothing("kexecPrepare")),
	}, n.rebootPhase())
}

func (n *node) runInstaller(ctx context.Context, staged *lab.Image) error {
	if staged != nil {
		n.logs.talos("performing staged upgrade to v%s", staged.Talos)
		if err := n.Pace.Wait(ctx, pace.Upgrade, n.Host()); err != nil {
			return err
		}
		n.disk.install(*staged, "")
		return nil
	}
	device, err := n.installDisk(ctx)
	if err != nil {
		return err
	}
	image := n.image
	if schematic, version, err := parseInstaller(n.Config().Machine().Install().Image()); err == nil {
		image.Talos, image.Schematic = version, schematic
	}
	n.logs.talos("installing Talos to disk %s", device)
	if err := n.Pace.Wait(ctx, pace.Install, n.Host()); err != nil {
		return err
	}
	n.disk.install(image, device)
	if err := n.persist(n.Config()); err != nil {
		return err
	}
	n.Timeline.Record(n.Host(), "installed", image.Talos, "schematic", image.Schematic, "disk", device)
	n.logs.talos("install successful")
	return nil
}

// installDisk is the disk that the config asks for, if the machine has it.
func (n *node) installDisk(ctx context.Context) (string, error) {
	install := n.Config().Machine().Install()
	match, err := install.DiskMatchExpression()
	if err != nil {
		return "", fmt.Errorf("failed to get disk match expression: %w", err)
	}
	if match != nil {
		disks, err := blockhelpers.MatchDisks(ctx, n.resources.State, match)
		if err != nil {
			return "", err
		}
		if len(disks) == 0 {
			return "", fmt.Errorf("no disks matched the expression: %s", match)
		}
		return disks[0].TypedSpec().DevPath, nil
	}
	wanted := install.Disk()
	for _, disk := range n.disks() {
		if disk.Device == wanted || slices.Contains(disk.links(), wanted) {
			return disk.Device, nil
		}
	}
	return "", fmt.Errorf("lstat %s: no such file or directory", path.Clean(wanted))
}

func (n *node) bootPhases() []phase {
	return []phase{
		step("memorySizeCheck", nothing("memorySizeCheck")),
		step("diskSizeCheck", nothing("diskSizeCheck")),
		step("env", nothing("setUserEnvVars"), nothing("waitForCARoots")),
		step("dbus", nothing("startDBus")),
		step("ephemeral", task{"mountEphemeralPartition", n.mountEphemeral}),
		step("udevSetup", nothing("writeUdevRules")),
		step("userDisks", nothing("mountUserDisks")),
		step("userSetup", nothing("writeUserFiles")),
		step("startEverything", task{"startAllServices", n.startAllServices}),
	}
}

func (n *node) startAllServices(ctx context.Context) error {
	wanted := []string{"cri", "kubelet"}
	if n.Config().Machine().Type().IsControlPlane() {
		wanted = append(wanted, "trustd", "etcd")
	}
	wanted = append(wanted, n.extensionServices()...)
	for _, id := range wanted {
		n.services.start(id)
	}
	all := n.services.ids()
	n.logs.talos("task startAllServices (1/1): waiting for %d services", len(all))
	for _, id := range all {
		if err := n.services.await(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// maintain waits for a config that is complete for boot, as the maintenance
// service does.
func (n *node) maintain(ctx context.Context) error {
	if err := n.requestMaintenance(ctx); err != nil {
		return err
	}
	// The stage counts from when a client can see it.
	if n.version.earlyAPI() {
		if err := n.services.await(ctx, "apid"); err != nil {
			return err
		}
	} else {
		if err := n.awaitAPISecrets(ctx, true); err != nil {
			return err
		}
		if err := n.api.open(true); err != nil {
			return err
		}
	}
	n.logs.talos("this machine is reachable at: %v", n.Addresses())
	if err := n.enter(ctx, runtime.MachineStageMaintenance, &machineapi.TaskEvent{Task: "runningMaintenance", Action: machineapi.TaskEvent_START}); err != nil {
		return err
	}
	for {
		select {
		case cfg := <-n.configs:
			if !cfg.CompleteForBoot() {
				continue
			}
			return n.leaveMaintenance(ctx)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (n *node) leaveMaintenance(ctx context.Context) error {
	if !n.version.earlyAPI() {
		n.api.close(true)
	}
	if err := n.withdrawMaintenance(ctx); err != nil {
		return err
	}
	if n.version.earlyAPI() {
		n.spawn(n.switchAPI)
	}
	return n.enter(ctx, runtime.MachineStageBooting, &machineapi.TaskEvent{Task: "runningMaintenance", Action: machineapi.TaskEvent_STOP})
}

// machineType is that of the config in force.
func (n *node) machineType() machine.Type {
	cfg := n.Config()
	if cfg == nil || cfg.Machine() == nil {
		return machine.TypeUnknown
	}
	return cfg.Machine().Type()
}
