package hardware

import (
	"context"
	"fmt"
	"path"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/siderolabs/talos/pkg/machinery/constants"
	"github.com/siderolabs/talos/pkg/machinery/imager/quirks"
	"github.com/siderolabs/talos/pkg/machinery/resources/block"
	"github.com/siderolabs/talos/pkg/machinery/resources/cluster"
	runtimeresource "github.com/siderolabs/talos/pkg/machinery/resources/runtime"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/boot"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/resources"
)

// deviceOwner is who writes about block devices.
const deviceOwner = "block.DevicesController"

// partition is the path of a partition of the disk.
func (d Disk) partition(number int) string {
	if last := d.Device[len(d.Device)-1]; last >= '0' && last <= '9' {
		return fmt.Sprintf("%sp%d", d.Device, number)
	}
	return fmt.Sprintf("%s%d", d.Device, number)
}

// partition is one that Talos makes on its disk.
type partition struct {
	number     int
	label      string
	bytes      uint64
	filesystem block.FilesystemType
	// content is what is found on it, where that is no file system.
	content string
	target  string
}

// partitions are those on the system disk: the installer makes the first four, Talos the
// others when it has a config. EPHEMERAL has all that is left.
func (h *Hardware) partitions(disk Disk) []partition {
	sizes := quirks.New("v" + h.boot.Image.Talos).PartitionSizes()
	all := []partition{
		{1, constants.EFIPartitionLabel, sizes.GrubEFISize(), block.FilesystemTypeVFAT, "", ""},
		{2, constants.BIOSGrubPartitionLabel, sizes.GrubBIOSSize(), block.FilesystemTypeNone, "", ""},
		{3, constants.BootPartitionLabel, sizes.GrubBootSize(), block.FilesystemTypeXFS, "", ""},
		{4, constants.MetaPartitionLabel, sizes.METASize(), block.FilesystemTypeNone, "talosmeta", ""},
	}
	if h.boot.Disk.HasState() {
		all = append(all, partition{5, constants.StatePartitionLabel, sizes.StateSize(), block.FilesystemTypeXFS, "", constants.StateMountPoint})
	}
	if h.boot.Disk.HasEphemeral() {
		left := disk.Bytes
		for _, other := range all {
			left -= min(left, other.bytes)
		}
		all = append(all, partition{6, constants.EphemeralPartitionLabel, left, block.FilesystemTypeXFS, "", constants.EphemeralMountPoint})
	}
	return all
}

func (h *Hardware) isSystem(disk Disk) bool {
	installed, device, _ := h.boot.Disk.Read()
	return installed != nil && device == disk.Device
}

// system is the disk that Talos is on, if any.
func (h *Hardware) system() (Disk, bool) {
	for _, disk := range h.Disks() {
		if h.isSystem(disk) {
			return disk, true
		}
	}
	return Disk{}, false
}

// ShowVolumes shows where Talos' partitions are. What is kept in STATE is known once
// that is mounted.
func (h *Hardware) ShowVolumes() error {
	defer h.volumesChanged.Ring()
	system, installed := h.system()
	if !installed {
		return nil
	}
	err := resources.Put(h.boot.Ctx, h.boot.State, "block.SystemDiskController", block.NewSystemDisk(block.NamespaceName, block.SystemDiskID), func(r *block.SystemDisk) {
		*r.TypedSpec() = block.SystemDiskSpec{DiskID: path.Base(system.Device), DevPath: system.Device}
	})
	if err != nil {
		return err
	}
	for _, partition := range h.partitions(system) {
		if err := h.showPartition(system, partition); err != nil {
			return err
		}
	}
	if !h.boot.Disk.HasState() {
		return nil
	}
	return resources.Put(h.boot.Ctx, h.boot.State, "cluster.NodeIdentityController", cluster.NewIdentity(cluster.NamespaceName, cluster.LocalIdentity), func(r *cluster.Identity) {
		r.TypedSpec().NodeID = h.nodeID
	})
}

func (h *Hardware) showPartition(disk Disk, partition partition) error {
	device := disk.partition(partition.number)
	err := h.showDevice(disk, block.DeviceSpec{
		Type: block.DeviceTypePartition, PartitionName: partition.label, PartitionNumber: partition.number, Parent: path.Base(disk.Device),
	}, device)
	if err != nil {
		return err
	}
	err = resources.Put(h.boot.Ctx, h.boot.State, "block.DiscoveryController", block.NewDiscoveredVolume(block.NamespaceName, path.Base(device)), func(r *block.DiscoveredVolume) {
		spec := r.TypedSpec()
		*spec = block.DiscoveredVolumeSpec{
			DevPath: device, Type: "partition", Parent: path.Base(disk.Device), ParentDevPath: disk.Device, SectorSize: 512, IOSize: 512,
			PartitionLabel: partition.label, PartitionIndex: uint(partition.number), PartitionUUID: h.partitionUUID(partition.label),
			Name: partition.content,
		}
		if partition.filesystem != block.FilesystemTypeNone {
			spec.Name, spec.Label = partition.filesystem.String(), partition.label
		}
		spec.SetSize(partition.bytes)
	})
	if err != nil || partition.target == "" {
		return err
	}
	return resources.Put(h.boot.Ctx, h.boot.State, "runtime.MountStatusController", runtimeresource.NewMountStatus(runtimeresource.NamespaceName, partition.label), func(r *runtimeresource.MountStatus) {
		*r.TypedSpec() = runtimeresource.MountStatusSpec{Source: device, Target: partition.target, FilesystemType: partition.filesystem.String()}
	})
}

func (h *Hardware) showDevice(disk Disk, spec block.DeviceSpec, device string) error {
	return resources.Put(h.boot.Ctx, h.boot.State, deviceOwner, block.NewDevice(block.NamespaceName, path.Base(device)), func(r *block.Device) {
		*r.TypedSpec() = spec
		r.TypedSpec().DevicePath, r.TypedSpec().Generation = disk.BusPath+"/block/"+path.Base(device), 1
	})
}

func (h *Hardware) partitionUUID(label string) string {
	return boot.DerivedUUID(h.boot.Spec.UUID + "/" + label)
}

// VolumeController shows each volume that Talos' own controller decided on.
func (h *Hardware) VolumeController() controller.Controller {
	return &resources.Simulated{
		Real:   "block.VolumeManagerController",
		Reads:  []controller.Input{resources.Reads(block.NamespaceName, block.VolumeConfigType)},
		Writes: []controller.Output{resources.Writes(block.VolumeStatusType)},
		Wake:   h.volumesChanged,
		Reconcile: func(ctx context.Context, r controller.Runtime) error {
			configs, err := safe.ReaderListAll[*block.VolumeConfig](ctx, r)
			if err != nil {
				return err
			}
			for config := range configs.All() {
				status := block.NewVolumeStatus(block.NamespaceName, config.Metadata().ID())
				if err := safe.WriterModify(ctx, r, status, func(status *block.VolumeStatus) error {
					*status.TypedSpec() = h.volume(config)
					return nil
				}); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// volume is the state of a volume: one on a partition has it or waits for it, one below
// EPHEMERAL waits for that.
func (h *Hardware) volume(config *block.VolumeConfig) block.VolumeStatusSpec {
	spec := config.TypedSpec()
	status := block.VolumeStatusSpec{Phase: block.VolumePhaseWaiting, Type: spec.Type, ParentID: spec.ParentID, MountSpec: spec.Mount, SymlinkSpec: spec.Symlink}
	system, installed := h.system()
	if spec.Type != block.VolumeTypePartition {
		if installed && h.boot.Disk.HasEphemeral() {
			status.Phase = block.VolumePhaseReady
		}
		return status
	}
	if installed {
		for _, partition := range h.partitions(system) {
			if partition.label == config.Metadata().ID() {
				device := system.partition(partition.number)
				status.Phase, status.Location, status.MountLocation, status.ParentLocation = block.VolumePhaseReady, device, device, system.Device
				status.PartitionIndex, status.Filesystem, status.PartitionUUID = partition.number, partition.filesystem, h.partitionUUID(partition.label)
				status.SetSize(partition.bytes)
				return status
			}
		}
	}
	if spec.Provisioning.PartitionSpec.Label == "" {
		status.Phase = block.VolumePhaseMissing // it is not to be made
	}
	return status
}

// MountEphemeral makes the partition in the first boot after an install.
func (h *Hardware) MountEphemeral(context.Context) error {
	if h.boot.Disk.MountEphemeral() {
		h.boot.Logs.Talos("formatting %q as xfs", constants.EphemeralPartitionLabel)
	}
	h.mu.Lock()
	h.mounted = true
	h.mu.Unlock()
	return h.ShowVolumes()
}

// Mounted reports whether EPHEMERAL is mounted.
func (h *Hardware) Mounted() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.mounted
}
