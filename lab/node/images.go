package node

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/constants"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/boot"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/kubernetes"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/talosapi"
)

// images are the images on the disk, and that of Talos itself (talosapi.Images).
type images struct{ of *node }

// Images implements talosapi.Images, like all methods that follow.
func (i *images) Images(namespace string) []talosapi.Image { return i.of.boot.Disk.Images(namespace) }

// Pull takes no time for an image that was pulled before.
func (i *images) Pull(ctx context.Context, namespace, reference string, progress func(done, total int64)) (talosapi.Image, error) {
	this := i.of.boot
	if image, there := this.Disk.Image(namespace, reference); there {
		return image, nil
	}
	if err := i.exists(ctx, reference); err != nil {
		return talosapi.Image{}, err
	}
	const mib = 1 << 20
	sum := sha256.Sum256([]byte(reference))
	image := talosapi.Image{
		Name: reference, Digest: fmt.Sprintf("sha256:%x", sum),
		Bytes: 20*mib + int64(binary.BigEndian.Uint32(sum[:4])%(80*mib)),
	}
	progress(0, image.Bytes)
	if err := this.Wait(ctx, pace.Pull); err != nil {
		return talosapi.Image{}, err
	}
	progress(image.Bytes, image.Bytes)
	image.Created = time.Now()
	this.Disk.AddImage(namespace, image)
	this.Record("image", reference)
	return image, nil
}

// exists makes a pull fail if there is no such image, or if a fault requires it. An Image Factory has no installer of a schematic that nobody uploaded.
func (i *images) exists(ctx context.Context, reference string) error {
	this := i.of.boot
	if schematic, version, err := boot.ParseInstaller(reference); err == nil && !this.HasInstaller(schematic, version) {
		return fmt.Errorf("failed to pull image %q: failed to resolve image: %w", reference, talosapi.ErrNoImage)
	}
	outcome, err := this.Faults.Meet(ctx, fault.Point{On: fault.Image, Name: reference, Subject: this.Host()})
	if err != nil || outcome == nil {
		return err
	}
	if outcome.Message == "" {
		return fmt.Errorf("failed to pull image %q: failed to resolve image: %w", reference, talosapi.ErrNoImage)
	}
	return fmt.Errorf("failed to pull image %q: failed to resolve image: %s", reference, outcome.Message)
}

// podImages are those that pods run, on the same disk (cluster.Images).
type podImages struct{ *images }

// Has implements cluster.Images, like Pull.
func (p *podImages) Has(image string) bool {
	_, there := p.of.boot.Disk.Image(kubernetes.Namespace, image)
	return there
}

func (p *podImages) Pull(ctx context.Context, image string) error {
	_, err := p.images.Pull(ctx, kubernetes.Namespace, image, func(int64, int64) {})
	return err
}

// PullForService pulls the image of a Talos service, again after each failure. As in Talos, only machined's log shows the failures.
func (i *images) PullForService(ctx context.Context, reference string) error {
	this := i.of.boot
	for {
		if _, there := this.Disk.Image(constants.SystemContainerdNamespace, reference); !there && this.Version.ReportsPulls() {
			this.Logs.Talos("pulling image %s: starting...", reference)
		}
		_, err := i.Pull(ctx, constants.SystemContainerdNamespace, reference, func(int64, int64) {})
		if err == nil || ctx.Err() != nil {
			return err
		}
		this.Logs.Talos("retrying error: %v", err)
		if err := this.Wait(ctx, pace.Retry); err != nil {
			return err
		}
	}
}
