package node

import (
	"context"
	"fmt"
	"strings"

	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/compatibility"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/boot"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

// Install implements talosapi.Images. An installer that has started runs to its end, or to that of the boot.
func (i *images) Install(image string, progress func(line string)) error {
	n := i.of
	ctx := n.boot.Ctx
	schematic, version, err := boot.ParseInstaller(image)
	if err != nil {
		return err
	}
	if n.Installed() {
		return n.upgrade(ctx, machine.Image{Talos: version, Schematic: schematic}, pace.Install, progress)
	}
	device := n.boot.Spec.Disks[0].Device
	if cfg := n.Config(); cfg != nil && cfg.Machine() != nil {
		if device, err = n.hardware.InstallDisk(ctx, cfg.Machine().Install()); err != nil {
			return err
		}
	}
	progress(fmt.Sprintf("running Talos installer v%s\n", version))
	if err := n.boot.Wait(ctx, pace.Install); err != nil {
		return err
	}
	if err := n.boot.Meet(ctx, fault.Install, device); err != nil {
		return err
	}
	n.boot.Disk.Install(machine.Image{Talos: version, Schematic: schematic}, device)
	n.boot.Record("installed", version, "schematic", schematic, "disk", device)
	progress(fmt.Sprintf("installation of v%s complete\n", version))
	return nil
}

// upgrade runs an installer that writes the second boot entry. It fails before it writes anything, but a loss of power may come at any moment.
func (n *node) upgrade(ctx context.Context, next machine.Image, takes pace.Step, progress func(line string)) error {
	_, device, _ := n.boot.Disk.Read()
	progress(fmt.Sprintf("running Talos installer v%s\n", next.Talos))
	if err := upgradeable(n.boot.Image.Talos, next.Talos); err != nil {
		return fmt.Errorf("pre-flight checks failed: %w", err)
	}
	if err := n.boot.Wait(ctx, takes); err != nil {
		return err
	}
	if err := n.boot.Meet(ctx, fault.Install, device); err != nil {
		return err
	}
	n.boot.Disk.Upgrade(next)
	n.boot.Record("installed", next.Talos, "schematic", next.Schematic, "disk", device)
	progress(fmt.Sprintf("installation of v%s complete\n", next.Talos))
	return nil
}

// installerSays writes a line of an installer that Talos itself runs to the log of the kernel.
func (n *node) installerSays(line string) { n.boot.Logs.Dmesg("%s", strings.TrimSpace(line)) }

// upgradeable returns why the installer of a version refuses to run on a host.
func upgradeable(host, next string) error {
	versions := make([]*compatibility.TalosVersion, 2)
	for at, version := range []string{host, next} {
		parsed, err := compatibility.ParseTalosVersion(&machineapi.VersionInfo{Tag: "v" + version})
		if err != nil {
			return err
		}
		versions[at] = parsed
	}
	return versions[1].UpgradeableFrom(versions[0])
}
