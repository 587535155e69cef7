package hardware

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/config/config"
	"github.com/siderolabs/talos/pkg/machinery/config/types/block/blockhelpers"
	"github.com/siderolabs/talos/pkg/machinery/resources/block"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/resources"
)

// Disk is a disk that the kernel found.
type Disk struct{ machine.Disk }

// Links returns the alternative names of the disk.
func (d Disk) Links() []string {
	var links []string
	if d.Serial != "" {
		links = append(links, fmt.Sprintf("/dev/disk/by-id/scsi-0%s_%s", strings.ReplaceAll(d.Model, " ", "_"), d.Serial))
	}
	if d.WWID != "" {
		links = append(links, "/dev/disk/by-id/wwn-"+strings.TrimPrefix(d.WWID, "naa."))
	}
	return links
}

// rootFilesystem is that of the image, on a loop device.
var rootFilesystem = machine.Disk{Device: "/dev/loop0", Bytes: 73 << 20, ReadOnly: true, BusPath: "/virtual"}

// Disks returns those that the kernel has found in this boot.
func (h *Hardware) Disks() []Disk {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.disks
}

// showDisks publishes the disks, as the kernel finds them at boot.
func (h *Hardware) showDisks() error {
	var found []Disk
	for _, disk := range h.boot.Hardware.Disks() {
		outcome, err := h.boot.Faults.Meet(h.boot.Ctx, fault.Point{On: fault.Disk, Name: disk.Device, Subject: h.boot.Host()})
		if err != nil {
			return err
		}
		if outcome == nil {
			found = append(found, Disk{disk})
			h.boot.Logs.Dmesg("sd 0:0:0:0: [%s] %d 512-byte logical blocks", path.Base(disk.Device), disk.Bytes/512)
		}
	}
	h.mu.Lock()
	h.disks = found
	h.mu.Unlock()
	for _, disk := range append(found, Disk{rootFilesystem}) {
		if err := h.showDisk(disk); err != nil {
			return err
		}
	}
	return h.ShowVolumes()
}

func (h *Hardware) showDisk(disk Disk) error {
	id := path.Base(disk.Device)
	if err := h.showDevice(disk, block.DeviceSpec{Type: block.DeviceTypeDisk}, disk.Device); err != nil {
		return err
	}
	err := resources.Put(h.boot.Ctx, h.boot.State, "block.DisksController", block.NewDisk(block.NamespaceName, id), func(r *block.Disk) {
		spec := r.TypedSpec()
		*spec = block.DiskSpec{
			DevPath: disk.Device, IOSize: 512, SectorSize: 512, Readonly: disk.ReadOnly, CDROM: disk.CDROM, Model: disk.Model,
			Serial: disk.Serial, WWID: disk.WWID, UUID: disk.UUID, BusPath: disk.BusPath, SubSystem: "/sys/class/block",
			Transport: disk.Transport, Rotational: disk.Rotational, Symlinks: disk.Links(),
		}
		spec.SetSize(disk.Bytes)
	})
	if err != nil {
		return err
	}
	return resources.Put(h.boot.Ctx, h.boot.State, "block.DiscoveryController", block.NewDiscoveredVolume(block.NamespaceName, id), func(r *block.DiscoveredVolume) {
		spec := r.TypedSpec()
		*spec = block.DiscoveredVolumeSpec{DevPath: disk.Device, Type: "disk", DevicePath: "/sys" + disk.BusPath, SectorSize: 512, IOSize: 512}
		spec.SetSize(disk.Bytes)
		switch {
		case h.isSystem(disk):
			spec.Name = "gpt"
		case disk.Disk == rootFilesystem:
			spec.Name = "squashfs"
		}
	})
}

// SystemDiskBytes is the size of the disk that Talos is on, or 0.
func (h *Hardware) SystemDiskBytes() uint64 {
	for _, disk := range h.Disks() {
		if h.isSystem(disk) {
			return disk.Bytes
		}
	}
	return 0
}

// InstallDisk returns the install disk of a config, if the machine has it.
func (h *Hardware) InstallDisk(ctx context.Context, install config.Install) (string, error) {
	match, err := install.DiskMatchExpression()
	if err != nil {
		return "", fmt.Errorf("failed to get disk match expression: %w", err)
	}
	if match != nil {
		disks, err := blockhelpers.MatchDisks(ctx, h.boot.State, match)
		if err != nil {
			return "", err
		}
		if len(disks) == 0 {
			return "", fmt.Errorf("no disks matched the expression: %s", match)
		}
		return disks[0].TypedSpec().DevPath, nil
	}
	wanted := install.Disk()
	for _, disk := range h.Disks() {
		if disk.Device == wanted || slices.Contains(disk.Links(), wanted) {
			return disk.Device, nil
		}
	}
	return "", fmt.Errorf("lstat %s: no such file or directory", path.Clean(wanted))
}

// Plug publishes a disk that is attached while Talos runs.
func (h *Hardware) Plug(disk machine.Disk) {
	h.mu.Lock()
	h.disks = append(slices.Clone(h.disks), Disk{disk})
	h.mu.Unlock()
	// It fails only when the boot ends, and all resources with it.
	_ = h.showDisk(Disk{disk})
}

// Pull removes a disk that is detached while Talos runs.
func (h *Hardware) Pull(serial string) {
	h.mu.Lock()
	disks := h.disks
	at := slices.IndexFunc(disks, func(disk Disk) bool { return disk.Serial == serial })
	if at >= 0 {
		h.disks = slices.Delete(slices.Clone(disks), at, at+1)
	}
	h.mu.Unlock()
	if at < 0 {
		return
	}
	id := path.Base(disks[at].Device)
	// As above.
	_ = resources.Drop(h.boot.Ctx, h.boot.State, deviceOwner, block.NewDevice(block.NamespaceName, id).Metadata())
	_ = resources.Drop(h.boot.Ctx, h.boot.State, "block.DisksController", block.NewDisk(block.NamespaceName, id).Metadata())
	_ = resources.Drop(h.boot.Ctx, h.boot.State, "block.DiscoveryController", block.NewDiscoveredVolume(block.NamespaceName, id).Metadata())
}
