package node

import (
	"maps"
	"sync"

	"github.com/siderolabs/talos/pkg/machinery/constants"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/talosapi"
)

// disk is what stays when the power goes: the content of the system disk. Data
// of etcd and of Kubernetes is kept by cluster.Kubernetes.
type disk struct {
	mu sync.Mutex
	// installed is the Talos that boots from it, nil before an install.
	installed *machine.Image
	device    string
	// staged is an installer that the next boot runs first.
	staged *machine.Image
	config []byte // in STATE
	meta   map[uint8]string
	// ephemeral says that EPHEMERAL was made.
	ephemeral bool
	booted    bool // has ever been
	// images are those pulled, in EPHEMERAL, by namespace and reference.
	images map[string]map[string]talosapi.Image
	// brought is the META that an installer medium brings along each time that
	// it boots; a disk's own image had it once.
	brought map[uint8]string
}

func newDisk(spec machine.Spec) *disk {
	d := &disk{meta: maps.Clone(spec.Meta), images: map[string]map[string]talosapi.Image{}}
	if d.meta == nil {
		d.meta = map[uint8]string{}
	}
	if spec.Image.Installed {
		image := spec.Image
		d.installed, d.device = &image, spec.Disks[0].Device
	} else {
		d.brought = spec.Meta
	}
	return d
}

func (d *disk) read() (installed *machine.Image, device string, config []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.installed, d.device, d.config
}

func (d *disk) install(image machine.Image, device string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	image.Installed = true
	d.installed, d.staged = &image, nil
	if device != "" {
		d.device = device
	}
}

func (d *disk) stage(image machine.Image) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.staged = &image
}

func (d *disk) stagedImage() *machine.Image {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.staged
}

func (d *disk) save(config []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.config = config
}

// mountEphemeral says whether the partition had to be made.
func (d *disk) mountEphemeral() (fresh bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	fresh = !d.ephemeral
	d.ephemeral = true
	return fresh
}

// wipe clears partitions by label, or the whole disk.
func (d *disk) wipe(whole bool, labels ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if whole {
		d.installed, d.staged, d.config, d.ephemeral = nil, nil, nil, false
		d.meta = map[uint8]string{}
		maps.Copy(d.meta, d.brought)
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

func (d *disk) hasEphemeral() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ephemeral
}

func (d *disk) metaKeys() map[uint8]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.meta)
}

func (d *disk) setMeta(key uint8, value *string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if value == nil {
		delete(d.meta, key)
		return
	}
	d.meta[key] = *value
}

// firstBoot is true once.
func (d *disk) firstBoot() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	first := !d.booted
	d.booted = true
	return first
}
