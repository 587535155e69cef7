package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

// imageFaults are the pod reasons that are about its image.
var imageFaults = []string{"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName"}

// pull pulls the image once for the node. Faults about images apply here.
func (c *slot) pull(ctx context.Context, outcome *fault.Outcome) error {
	image, host := c.spec.Image, c.worker.kubelet.host
	if outcome != nil && slices.Contains(imageFaults, outcome.Code) {
		return c.pullFails(ctx, outcome)
	}
	begun := time.Now()
	pulled, err := host.pullOnce(ctx, image, func() error {
		if disk := c.worker.kubelet.images(); disk != nil {
			return c.pullTo(ctx, disk)
		}
		c.event(corev1.EventTypeNormal, "Pulling", fmt.Sprintf("Pulling image %q", image))
		if err := c.worker.kubelet.k.options.Pace.Wait(ctx, pace.Pull, host.name+" "+image); err != nil {
			return err
		}
		c.worker.kubelet.k.record(host.name, "image", "pulled", "image", image)
		return nil
	})
	if failed := (*pullFailed)(nil); errors.As(err, &failed) {
		return c.reportFailure(failed.Error())
	}
	if err != nil {
		return err
	}
	message := fmt.Sprintf("Container image %q already present on machine and can be accessed by the pod", image)
	if took := time.Since(begun).Truncate(time.Millisecond); pulled {
		message = fmt.Sprintf("Successfully pulled image %q in %v (%v including waiting). Image size: %d bytes.", image, took, took, imageSize(image))
	}
	c.event(corev1.EventTypeNormal, "Pulled", message)
	return nil
}

// pullFailed is the error of a node that cannot pull an image.
type pullFailed struct{ error }

// pullTo pulls the image to the node's disk, unless it is there.
func (c *slot) pullTo(ctx context.Context, disk cluster.Images) error {
	image := c.spec.Image
	if disk.Has(image) {
		return nil
	}
	c.event(corev1.EventTypeNormal, "Pulling", fmt.Sprintf("Pulling image %q", image))
	err := disk.Pull(ctx, image)
	if err != nil && ctx.Err() == nil {
		return &pullFailed{err}
	}
	return err
}

// pullFails returns what a kubelet reports about an image that cannot be pulled, and how long it waits then.
func (c *slot) pullFails(ctx context.Context, outcome *fault.Outcome) error {
	image := c.spec.Image
	c.event(corev1.EventTypeNormal, "Pulling", fmt.Sprintf("Pulling image %q", image))
	if err := c.worker.kubelet.k.options.Pace.Wait(ctx, pace.Pull, c.worker.kubelet.host.name+" "+image); err != nil {
		return err
	}
	return c.reportFailure(orElse(outcome.Message, fmt.Sprintf("failed to pull and unpack image %q: failed to resolve image: %s: not found", image, image)))
}

// reportFailure reports a failed pull like a kubelet.
func (c *slot) reportFailure(message string) error {
	image := c.spec.Image
	c.event(corev1.EventTypeWarning, "Failed", fmt.Sprintf("Failed to pull image %q: %s", image, message))
	c.event(corev1.EventTypeWarning, "Failed", "Error: ErrImagePull")
	c.wait("ErrImagePull", message)
	back := fmt.Sprintf("Back-off pulling image %q", image)
	c.event(corev1.EventTypeNormal, "BackOff", back)
	c.event(corev1.EventTypeWarning, "Failed", "Error: ImagePullBackOff")
	return &notStarted{waiting: "ImagePullBackOff", message: back + ": ErrImagePull: " + message}
}

// imageSize is invented, but always the same.
func imageSize(image string) int {
	size := 10_000_000
	for _, letter := range image {
		size += 40_009 * int(letter)
	}
	return size
}
