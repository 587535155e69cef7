package node

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/talosapi"
)

// kubernetesImages is the namespace of containerd with the images of Kubernetes
// and of Talos' services for it.
const kubernetesImages = "k8s.io"

// Images implements talosapi.Machine.
func (n *node) Images(namespace string) []talosapi.Image {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	images := slices.Collect(maps.Values(n.disk.images[namespace]))
	slices.SortFunc(images, func(a, b talosapi.Image) int { return strings.Compare(a.Name, b.Name) })
	return images
}

// Pull implements talosapi.Machine. An image that is there takes no time.
func (n *node) Pull(ctx context.Context, namespace, reference string) (talosapi.Image, error) {
	n.disk.mu.Lock()
	image, there := n.disk.images[namespace][reference]
	n.disk.mu.Unlock()
	if there {
		return image, nil
	}
	if err := n.Pace.Wait(ctx, pace.Pull, n.Host()); err != nil {
		return talosapi.Image{}, err
	}
	sum := sha256.Sum256([]byte(reference))
	image = talosapi.Image{
		Name: reference, Digest: fmt.Sprintf("sha256:%x", sum), Created: time.Now(),
		Bytes: 20*mib + int64(binary.BigEndian.Uint32(sum[:4])%(80*mib)),
	}
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	if n.disk.images[namespace] == nil {
		n.disk.images[namespace] = map[string]talosapi.Image{}
	}
	n.disk.images[namespace][reference] = image
	n.Timeline.Record(n.Host(), "image", reference)
	return image, nil
}

// Install implements talosapi.Machine.
func (n *node) Install(ctx context.Context, image string, progress func(line string) error) error {
	schematic, version, err := parseInstaller(image)
	if err != nil {
		return err
	}
	device := n.spec.Disks[0].Device
	if cfg := n.Config(); cfg != nil && cfg.Machine() != nil {
		if device, err = n.installDisk(ctx); err != nil {
			return err
		}
	}
	if err := progress(fmt.Sprintf("running Talos installer v%s", version)); err != nil {
		return err
	}
	if err := n.Pace.Wait(ctx, pace.Install, n.Host()); err != nil {
		return err
	}
	n.disk.install(machine.Image{Talos: version, Schematic: schematic}, device)
	n.Timeline.Record(n.Host(), "installed", version, "schematic", schematic, "disk", device)
	return progress("installation of v" + version + " complete")
}
