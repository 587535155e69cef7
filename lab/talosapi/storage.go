package talosapi

import (
	"context"
	"path"

	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	storaged "github.com/siderolabs/talos/internal/app/storaged"
	"github.com/siderolabs/talos/pkg/grpc/middleware/authz"
	"github.com/siderolabs/talos/pkg/machinery/api/storage"
	"github.com/siderolabs/talos/pkg/machinery/resources/block"
	"github.com/siderolabs/talos/pkg/machinery/role"
)

// storageService is storage.StorageService.
type storageService struct {
	storage.UnimplementedStorageServiceServer
	node  *node
	disks *storaged.Server
}

// Disks returns Talos' own: it only reads the node's resources.
func (s *storageService) Disks(ctx context.Context, in *emptypb.Empty) (*storage.DisksResponse, error) {
	return s.disks.Disks(ctx, in)
}

// BlockDeviceWipe refuses what Talos refuses. It never is Talos' own, which would wipe
// devices of the host. Disks without Talos hold nothing, and so are wiped already.
func (s *storageService) BlockDeviceWipe(ctx context.Context, in *storage.BlockDeviceWipeRequest) (*storage.BlockDeviceWipeResponse, error) {
	if !s.node.Maintenance() && !authz.GetRoles(ctx).Includes(role.Admin) {
		return nil, authz.ErrNotAuthorized
	}
	for _, device := range in.GetDevices() {
		if err := s.node.checkWipe(ctx, device); err != nil {
			return nil, err
		}
	}
	return &storage.BlockDeviceWipeResponse{Messages: []*storage.BlockDeviceWipe{{}}}, nil
}

func (n *node) checkWipe(ctx context.Context, in *storage.BlockDeviceWipeDescriptor) error {
	name := in.GetDevice()
	device, err := safe.StateGetByID[*block.Device](ctx, n.Resources(), name)
	if state.IsNotFoundError(err) {
		return status.Errorf(codes.NotFound, "blockdevice %q not found", name)
	}
	if err != nil {
		return err
	}
	parent := device.TypedSpec().Parent
	if parent == "" {
		disk, err := safe.StateGetByID[*block.Disk](ctx, n.Resources(), name)
		if err != nil {
			return err
		}
		if disk.TypedSpec().Readonly {
			return status.Errorf(codes.FailedPrecondition, "blockdevice %q is read-only", name)
		}
	}
	if !in.GetSkipVolumeCheck() {
		if err := n.checkVolumes(ctx, name); err != nil {
			return err
		}
	}
	system, err := block.GetSystemDisk(ctx, n.Resources())
	if err != nil {
		return err
	}
	if parent != "" || system != nil && system.DiskID == name {
		return status.Error(codes.Unimplemented, "the lab wipes no part of the disk of Talos; reset the node to wipe it")
	}
	return nil
}

// checkVolumes refuses a device that a volume is on.
func (n *node) checkVolumes(ctx context.Context, name string) error {
	volumes, err := safe.StateListAll[*block.VolumeStatus](ctx, n.Resources())
	if err != nil {
		return err
	}
	for volume := range volumes.All() {
		spec := volume.TypedSpec()
		for _, location := range []string{spec.Location, spec.MountLocation, spec.ParentLocation} {
			if path.Base(location) == name {
				return status.Errorf(codes.FailedPrecondition, "blockdevice %q is in use by volume %q", name, volume.Metadata().ID())
			}
		}
	}
	return nil
}
