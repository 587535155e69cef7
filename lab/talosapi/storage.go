package talosapi

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	storaged "github.com/siderolabs/talos/internal/app/storaged"
	"github.com/siderolabs/talos/pkg/machinery/api/storage"
)

// storageService is storage.StorageService.
type storageService struct {
	storage.UnimplementedStorageServiceServer
	disks *storaged.Server
}

// Disks is Talos' own: it only reads the node's resources.
func (s *storageService) Disks(ctx context.Context, in *emptypb.Empty) (*storage.DisksResponse, error) {
	return s.disks.Disks(ctx, in)
}

// BlockDeviceWipe has nothing to wipe.
func (s *storageService) BlockDeviceWipe(context.Context, *storage.BlockDeviceWipeRequest) (*storage.BlockDeviceWipeResponse, error) {
	return nil, status.Error(codes.Unimplemented, "disks of the lab hold nothing but Talos; reset the node to wipe them")
}
