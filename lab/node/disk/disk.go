// Package disk is the content of the system disk of a node.
package disk

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/siderolabs/talos/pkg/machinery/constants"
	"github.com/siderolabs/talos/pkg/machinery/meta"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/talosapi"
)

// labels are the names of the boot entries.
var labels = [2]string{"A", "B"}

// Disk is the content of the system disk, which survives a loss of power. The data of etcd and Kubernetes is in cluster.Kubernetes.
type Disk struct {
	mu sync.Mutex
	// entries are the boot entries A and B; both are nil before an installation. The bootloader boots that at the index in boots.
	entries [2]*machine.Image
	boots   int
	device  string
	// staged is an installer that the next boot runs first.
	staged *machine.Image
	config []byte // in STATE
	meta   map[uint8]string
	// ephemeral means that EPHEMERAL was created.
	ephemeral bool
	booted    bool // at least once
	// images are those pulled, in EPHEMERAL, by namespace and reference.
	images map[string]map[string]talosapi.Image
	// medium is the META that an installer medium has at each boot; that of a disk image is on the disk only once.
	medium map[uint8]string
}

// New returns the system disk of a machine that was never on.
func New(spec machine.Spec) *Disk {
	d := &Disk{meta: maps.Clone(spec.Meta), images: map[string]map[string]talosapi.Image{}}
	if d.meta == nil {
		d.meta = map[uint8]string{}
	}
	if spec.Image.Installed {
		image := spec.Image
		d.entries[0], d.device = &image, spec.Disks[0].Device
	} else {
		d.medium = spec.Meta
	}
	return d
}

// Read returns the Talos that boots from the disk, or nil; the device that it was installed on; and the config in STATE, or nil.
func (d *Disk) Read() (installed *machine.Image, device string, config []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.entries[d.boots], d.device, d.config
}

// Install writes Talos to an empty device.
func (d *Disk) Install(image machine.Image, device string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	image.Installed = true
	d.entries, d.boots, d.device, d.staged = [2]*machine.Image{&image}, 0, device, nil
}

// Upgrade writes Talos to the boot entry that is not the default one and makes it the default. A tag in META names the one before, until the new one was up: so
// after two upgrades without a boot there is nothing to return to but the first of them.
func (d *Disk) Upgrade(image machine.Image) {
	d.mu.Lock()
	defer d.mu.Unlock()
	image.Installed = true
	d.meta[meta.Upgrade] = labels[d.boots]
	d.boots = 1 - d.boots
	d.entries[d.boots], d.staged = &image, nil
}

// Revert makes the former boot entry the default again if the last upgrade was not up yet, and returns its label.
func (d *Disk) Revert() (label string, reverted bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	label, tagged := d.meta[meta.Upgrade]
	delete(d.meta, meta.Upgrade)
	if !tagged || d.entries[1-d.boots] == nil {
		return "", false
	}
	d.boots = 1 - d.boots
	return label, true
}

// Rollback makes the other boot entry the default one, and reports whether there is one.
func (d *Disk) Rollback() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.entries[1-d.boots] == nil {
		return false
	}
	d.boots = 1 - d.boots
	return true
}

// Stage makes the next boot run an installer first.
func (d *Disk) Stage(image machine.Image) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.staged = &image
}

// StagedImage returns the installer that the next boot runs first, or nil.
func (d *Disk) StagedImage() *machine.Image {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.staged
}

// Save writes a config to STATE.
func (d *Disk) Save(config []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.config = config
}

// MountEphemeral mounts EPHEMERAL, and reports whether it had to be created.
func (d *Disk) MountEphemeral() (fresh bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	fresh = !d.ephemeral
	d.ephemeral = true
	return fresh
}

// Wipe clears partitions by label, or the whole disk.
func (d *Disk) Wipe(whole bool, labels ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if whole {
		d.entries, d.boots, d.staged, d.config, d.ephemeral = [2]*machine.Image{}, 0, nil, nil, false
		d.meta = map[uint8]string{}
		maps.Copy(d.meta, d.medium)
		clear(d.images)
		return
	}
	for _, label := range labels {
		switch label {
		case constants.StatePartitionLabel:
			d.config = nil
		case constants.EphemeralPartitionLabel:
			d.ephemeral = false
			clear(d.images)
		case constants.MetaPartitionLabel:
			d.meta = map[uint8]string{}
		}
	}
}

// HasEphemeral reports whether EPHEMERAL was created.
func (d *Disk) HasEphemeral() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ephemeral
}

// HasState reports whether STATE was made, which has the config.
func (d *Disk) HasState() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.config != nil
}

// Meta are the keys of the META partition.
func (d *Disk) Meta() map[uint8]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.meta)
}

// SetMeta sets a key of the META partition, or deletes it if the value is nil.
func (d *Disk) SetMeta(key uint8, value *string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if value == nil {
		delete(d.meta, key)
		return
	}
	d.meta[key] = *value
}

// FirstBoot returns true only once.
func (d *Disk) FirstBoot() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	first := !d.booted
	d.booted = true
	return first
}

// Images returns the images in a namespace of containerd, by name.
func (d *Disk) Images(namespace string) []talosapi.Image {
	d.mu.Lock()
	defer d.mu.Unlock()
	images := slices.Collect(maps.Values(d.images[namespace]))
	slices.SortFunc(images, func(a, b talosapi.Image) int { return strings.Compare(a.Name, b.Name) })
	return images
}

// Image returns the image with a reference in a namespace, if it was pulled.
func (d *Disk) Image(namespace, reference string) (talosapi.Image, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	image, there := d.images[namespace][reference]
	return image, there
}

// AddImage adds an image that was pulled.
func (d *Disk) AddImage(namespace string, image talosapi.Image) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.images[namespace] == nil {
		d.images[namespace] = map[string]talosapi.Image{}
	}
	d.images[namespace][image.Name] = image
}
