package node

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/constants"
	"github.com/siderolabs/talos/pkg/machinery/resources/block"
	runtimeresource "github.com/siderolabs/talos/pkg/machinery/resources/runtime"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
)

const (
	mib = 1 << 20
	// volumeOwner is who writes about volumes.
	volumeOwner = "block.VolumeManagerController"
)

// blockDevice is a disk that the kernel found.
type blockDevice struct{ machine.Disk }

// links are the other names of the disk.
func (d blockDevice) links() []string {
	var links []string
	if d.Serial != "" {
		links = append(links, fmt.Sprintf("/dev/disk/by-id/scsi-0%s_%s", strings.ReplaceAll(d.Model, " ", "_"), d.Serial))
	}
	if d.WWID != "" {
		links = append(links, "/dev/disk/by-id/wwn-"+strings.TrimPrefix(d.WWID, "naa."))
	}
	return links
}

// partition is the path of a partition of the disk.
func (d blockDevice) partition(number int) string {
	if last := d.Device[len(d.Device)-1]; last >= '0' && last <= '9' {
		return fmt.Sprintf("%sp%d", d.Device, number)
	}
	return fmt.Sprintf("%s%d", d.Device, number)
}

// partition is one that Talos makes on its disk.
type partition struct {
	label      string
	bytes      uint64
	filesystem block.FilesystemType
	target     string
}

var partitions = []partition{
	{constants.EFIPartitionLabel, 100 * mib, block.FilesystemTypeVFAT, ""},
	{constants.BIOSGrubPartitionLabel, 1 * mib, block.FilesystemTypeNone, ""},
	{constants.BootPartitionLabel, 1000 * mib, block.FilesystemTypeXFS, ""},
	{constants.MetaPartitionLabel, 1 * mib, block.FilesystemTypeNone, ""},
	{constants.StatePartitionLabel, 100 * mib, block.FilesystemTypeXFS, "/system/state"},
	{constants.EphemeralPartitionLabel, 0, block.FilesystemTypeXFS, "/var"}, // all that is left
}

// disks are those that the kernel found at this boot.
func (n *node) disks() []blockDevice {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.devices
}

// showDisks looks for the disks, as the kernel does at boot.
func (n *node) showDisks() error {
	var found []blockDevice
	for _, disk := range n.bays() {
		outcome, err := n.Faults.Meet(n.ctx, fault.Point{On: fault.Disk, Name: disk.Device, Subject: n.Host()})
		if err != nil {
			return err
		}
		if outcome == nil {
			found = append(found, blockDevice{disk})
			n.logs.dmesg("sd 0:0:0:0: [%s] %d 512-byte logical blocks", path.Base(disk.Device), disk.Bytes/512)
		}
	}
	n.mu.Lock()
	n.devices = found
	n.mu.Unlock()
	for _, disk := range found {
		if err := n.showDisk(disk); err != nil {
			return err
		}
	}
	return n.showVolumes()
}

func (n *node) showDisk(disk blockDevice) error {
	id := path.Base(disk.Device)
	err := put(n.ctx, n.resources.State, "block.DisksController", block.NewDisk(block.NamespaceName, id), func(r *block.Disk) {
		spec := r.TypedSpec()
		*spec = block.DiskSpec{
			DevPath: disk.Device, IOSize: 512, SectorSize: 512, Readonly: disk.ReadOnly, CDROM: disk.CDROM, Model: disk.Model,
			Serial: disk.Serial, WWID: disk.WWID, UUID: disk.UUID, BusPath: disk.BusPath, SubSystem: "/sys/class/block",
			Transport: disk.Transport, Rotational: disk.Rotational, Symlinks: disk.links(),
		}
		spec.SetSize(disk.Bytes)
	})
	if err != nil {
		return err
	}
	return put(n.ctx, n.resources.State, "block.DiscoveryController", block.NewDiscoveredVolume(block.NamespaceName, id), func(r *block.DiscoveredVolume) {
		spec := r.TypedSpec()
		*spec = block.DiscoveredVolumeSpec{DevPath: disk.Device, Type: "disk", DevicePath: "/sys" + disk.BusPath, SectorSize: 512, IOSize: 512}
		spec.SetSize(disk.Bytes)
		if n.isSystem(disk) {
			spec.Name = "gpt"
		}
	})
}

func (n *node) isSystem(disk blockDevice) bool {
	installed, device, _ := n.disk.read()
	return installed != nil && device == disk.Device
}

// showVolumes says where Talos' partitions are; without an install they are
// missing.
func (n *node) showVolumes() error {
	var system *blockDevice
	for _, disk := range n.disks() {
		if n.isSystem(disk) {
			system = &disk
		}
	}
	if system == nil {
		for _, label := range []string{constants.MetaPartitionLabel, constants.StatePartitionLabel, constants.EphemeralPartitionLabel} {
			err := put(n.ctx, n.resources.State, volumeOwner, block.NewVolumeStatus(block.NamespaceName, label), func(r *block.VolumeStatus) {
				phase := block.VolumePhaseMissing
				if label == constants.EphemeralPartitionLabel {
					phase = block.VolumePhaseWaiting
				}
				*r.TypedSpec() = block.VolumeStatusSpec{Phase: phase, Type: block.VolumeTypePartition}
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
	err := put(n.ctx, n.resources.State, "block.SystemDiskController", block.NewSystemDisk(block.NamespaceName, block.SystemDiskID), func(r *block.SystemDisk) {
		*r.TypedSpec() = block.SystemDiskSpec{DiskID: path.Base(system.Device), DevPath: system.Device}
	})
	if err != nil {
		return err
	}
	for i, partition := range partitions {
		if partition.label == constants.EphemeralPartitionLabel && !n.disk.hasEphemeral() {
			continue
		}
		if err := n.showPartition(*system, i+1, partition); err != nil {
			return err
		}
	}
	return nil
}

func (n *node) showPartition(disk blockDevice, number int, partition partition) error {
	size := partition.bytes
	if size == 0 {
		size = disk.Bytes
		for _, other := range partitions {
			size -= min(size, other.bytes)
		}
	}
	device := disk.partition(number)
	err := put(n.ctx, n.resources.State, "block.DiscoveryController", block.NewDiscoveredVolume(block.NamespaceName, path.Base(device)), func(r *block.DiscoveredVolume) {
		spec := r.TypedSpec()
		*spec = block.DiscoveredVolumeSpec{
			DevPath: device, Type: "partition", Parent: path.Base(disk.Device), ParentDevPath: disk.Device, SectorSize: 512, IOSize: 512,
			PartitionLabel: partition.label, PartitionIndex: uint(number),
			PartitionUUID: derivedUUID(n.spec.UUID + "/" + partition.label),
		}
		if partition.filesystem != block.FilesystemTypeNone {
			spec.Name, spec.Label = partition.filesystem.String(), partition.label
		}
		spec.SetSize(size)
	})
	if err != nil || partition.target == "" && partition.label != constants.MetaPartitionLabel {
		return err
	}
	err = put(n.ctx, n.resources.State, volumeOwner, block.NewVolumeStatus(block.NamespaceName, partition.label), func(r *block.VolumeStatus) {
		spec := r.TypedSpec()
		*spec = block.VolumeStatusSpec{
			Phase: block.VolumePhaseReady, Type: block.VolumeTypePartition, Location: device, MountLocation: device, ParentLocation: disk.Device,
			PartitionIndex: number, Filesystem: partition.filesystem, PartitionUUID: derivedUUID(n.spec.UUID + "/" + partition.label),
			MountSpec: block.MountSpec{TargetPath: partition.target},
		}
		spec.SetSize(size)
	})
	if err != nil || partition.target == "" {
		return err
	}
	return put(n.ctx, n.resources.State, "runtime.MountStatusController", runtimeresource.NewMountStatus(runtimeresource.NamespaceName, partition.label), func(r *runtimeresource.MountStatus) {
		*r.TypedSpec() = runtimeresource.MountStatusSpec{Source: device, Target: partition.target, FilesystemType: partition.filesystem.String()}
	})
}

// mountEphemeral makes the partition at the first boot after an install.
func (n *node) mountEphemeral(context.Context) error {
	if n.disk.mountEphemeral() {
		n.logs.talos("formatting %q as xfs", constants.EphemeralPartitionLabel)
	}
	return n.showVolumes()
}
