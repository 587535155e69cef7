package node

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/constants"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/boot"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/talosapi"
)

// images are the images on the disk, and that of Talos itself (talosapi.Images).
type images struct{ of *node }

// Images implements talosapi.Images, like all methods that follow.
func (i *images) Images(namespace string) []talosapi.Image { return i.of.boot.Disk.Images(namespace) }

// Pull takes no time for an image that was pulled before.
func (i *images) Pull(ctx context.Context, namespace, reference string) (talosapi.Image, error) {
	this := i.of.boot
	if image, there := this.Disk.Image(namespace, reference); there {
		return image, nil
	}
	if err := i.meetFault(ctx, reference); err != nil {
		return talosapi.Image{}, err
	}
	if err := this.Wait(ctx, pace.Pull); err != nil {
		return talosapi.Image{}, err
	}
	const mib = 1 << 20
	sum := sha256.Sum256([]byte(reference))
	image := talosapi.Image{
		Name: reference, Digest: fmt.Sprintf("sha256:%x", sum), Created: time.Now(),
		Bytes: 20*mib + int64(binary.BigEndian.Uint32(sum[:4])%(80*mib)),
	}
	this.Disk.AddImage(namespace, image)
	this.Record("image", reference)
	return image, nil
}

// meetFault makes a pull fail if a fault requires it.
func (i *images) meetFault(ctx context.Context, reference string) error {
	this := i.of.boot
	outcome, err := this.Faults.Meet(ctx, fault.Point{On: fault.Image, Name: reference, Subject: this.Host()})
	if err != nil || outcome == nil {
		return err
	}
	message := outcome.Message
	if message == "" {
		message = "not found"
	}
	return fmt.Errorf("failed to pull image %q: failed to resolve image: %s", reference, message)
}

// PullForService pulls the image of a Talos service, again after each failure. As in Talos, only machined's log shows the failures.
func (i *images) PullForService(ctx context.Context, reference string) error {
	this := i.of.boot
	for {
		if _, there := this.Disk.Image(constants.SystemContainerdNamespace, reference); !there && this.Version.ReportsPulls() {
			this.Logs.Talos("pulling image %s: starting...", reference)
		}
		_, err := i.Pull(ctx, constants.SystemContainerdNamespace, reference)
		if err == nil || ctx.Err() != nil {
			return err
		}
		this.Logs.Talos("retrying error: %v", err)
		if err := this.Wait(ctx, pace.Retry); err != nil {
			return err
		}
	}
}

func (i *images) Install(ctx context.Context, image string, progress func(line string) error) error {
	n := i.of
	schematic, version, err := boot.ParseInstaller(image)
	if err != nil {
		return err
	}
	device := n.boot.Spec.Disks[0].Device
	if cfg := n.Config(); cfg != nil && cfg.Machine() != nil {
		if device, err = n.hardware.InstallDisk(ctx, cfg.Machine().Install()); err != nil {
			return err
		}
	}
	if err := progress(fmt.Sprintf("running Talos installer v%s", version)); err != nil {
		return err
	}
	if err := n.boot.Wait(ctx, pace.Install); err != nil {
		return err
	}
	n.boot.Disk.Install(machine.Image{Talos: version, Schematic: schematic}, device)
	n.boot.Record("installed", version, "schematic", schematic, "disk", device)
	return progress("installation of v" + version + " complete")
}
