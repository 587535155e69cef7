// Package storage simulates CSI drivers: their controllers serve the real
// csi-provisioner, which creates and deletes the volumes of claims.
package storage

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// Volumes keeps the volumes of a driver. Both calls are idempotent.
type Volumes interface {
	Create(ctx context.Context, request Request) (Volume, error)
	Delete(ctx context.Context, id string) error
}

// Request describes a volume to create.
type Request struct {
	Name  string
	Bytes int64
	// Limit is the maximum size; 0 means no limit.
	Limit int64
	// Topologies are the possible places, the preferred ones first; none means anywhere.
	Topologies []map[string]string
	Parameters map[string]string
}

// Volume is a volume that was created.
type Volume struct {
	ID    string
	Bytes int64
	// Topology is where it is.
	Topology map[string]string
}

// ErrSize is the error for an impossible size, ErrExists for a name of another volume that does not match the request.
var (
	ErrSize   = errors.New("size out of range")
	ErrExists = errors.New("volume exists with other properties")
)

// driver is the controller of a CSI driver.
type driver struct {
	csi.UnimplementedIdentityServer
	csi.UnimplementedControllerServer

	name, version string
	volumes       Volumes
	// storage reports free space, for drivers that can; otherwise nil.
	storage storage
}

// storage is the source of volumes.
type storage interface {
	// Free returns the free bytes at a place for volumes with these parameters.
	Free(ctx context.Context, place map[string]string, parameters map[string]string) (int64, error)
}

// serve serves at a unix socket until the context ends. Ready is called once it
// serves.
func (d *driver) serve(ctx context.Context, socket string, ready func()) error {
	// A crashed container leaves its socket behind.
	if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("driver %s: %w", d.name, err)
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return fmt.Errorf("driver %s: %w", d.name, err)
	}
	server := grpc.NewServer()
	csi.RegisterIdentityServer(server, d)
	csi.RegisterControllerServer(server, d)
	defer context.AfterFunc(ctx, server.Stop)()
	ready()
	if err := server.Serve(listener); err != nil && ctx.Err() == nil {
		return fmt.Errorf("driver %s: %w", d.name, err)
	}
	return nil
}

// GetPluginInfo returns the name and the version of the driver.
func (d *driver) GetPluginInfo(context.Context, *csi.GetPluginInfoRequest) (*csi.GetPluginInfoResponse, error) {
	return &csi.GetPluginInfoResponse{Name: d.name, VendorVersion: d.version}, nil
}

// Probe reports that it is ready.
func (d *driver) Probe(context.Context, *csi.ProbeRequest) (*csi.ProbeResponse, error) {
	return &csi.ProbeResponse{Ready: wrapperspb.Bool(true)}, nil
}

// GetPluginCapabilities reports that it creates volumes, which may not be reachable from every node.
func (d *driver) GetPluginCapabilities(context.Context, *csi.GetPluginCapabilitiesRequest) (*csi.GetPluginCapabilitiesResponse, error) {
	response := &csi.GetPluginCapabilitiesResponse{}
	for _, service := range []csi.PluginCapability_Service_Type{
		csi.PluginCapability_Service_CONTROLLER_SERVICE,
		csi.PluginCapability_Service_VOLUME_ACCESSIBILITY_CONSTRAINTS,
	} {
		response.Capabilities = append(response.Capabilities, &csi.PluginCapability{
			Type: &csi.PluginCapability_Service_{Service: &csi.PluginCapability_Service{Type: service}},
		})
	}
	return response, nil
}

// ControllerGetCapabilities reports that it creates and deletes volumes.
func (d *driver) ControllerGetCapabilities(context.Context, *csi.ControllerGetCapabilitiesRequest) (*csi.ControllerGetCapabilitiesResponse, error) {
	calls := []csi.ControllerServiceCapability_RPC_Type{csi.ControllerServiceCapability_RPC_CREATE_DELETE_VOLUME}
	if d.storage != nil {
		calls = append(calls, csi.ControllerServiceCapability_RPC_GET_CAPACITY)
	}
	response := &csi.ControllerGetCapabilitiesResponse{}
	for _, call := range calls {
		response.Capabilities = append(response.Capabilities, &csi.ControllerServiceCapability{
			Type: &csi.ControllerServiceCapability_Rpc{Rpc: &csi.ControllerServiceCapability_RPC{Type: call}},
		})
	}
	return response, nil
}

// GetCapacity returns the free space.
func (d *driver) GetCapacity(ctx context.Context, asked *csi.GetCapacityRequest) (*csi.GetCapacityResponse, error) {
	if d.storage == nil {
		return nil, status.Errorf(codes.Unimplemented, "%s does not know its capacity", d.name)
	}
	free, err := d.storage.Free(ctx, asked.GetAccessibleTopology().GetSegments(), asked.GetParameters())
	if err != nil {
		return nil, code(err)
	}
	return &csi.GetCapacityResponse{AvailableCapacity: free}, nil
}

// CreateVolume creates a volume.
func (d *driver) CreateVolume(ctx context.Context, asked *csi.CreateVolumeRequest) (*csi.CreateVolumeResponse, error) {
	if asked.GetName() == "" {
		return nil, status.Error(codes.InvalidArgument, "missing name")
	}
	if len(asked.GetVolumeCapabilities()) == 0 {
		return nil, status.Error(codes.InvalidArgument, "missing volume capabilities")
	}
	for _, capability := range asked.GetVolumeCapabilities() {
		if mode := capability.GetAccessMode().GetMode(); !oneNode(mode) {
			return nil, status.Errorf(codes.InvalidArgument, "access mode %s is not supported: a volume is on one node at a time", mode)
		}
	}
	made, err := d.volumes.Create(ctx, Request{
		Name:       asked.GetName(),
		Bytes:      asked.GetCapacityRange().GetRequiredBytes(),
		Limit:      asked.GetCapacityRange().GetLimitBytes(),
		Topologies: preferred(asked.GetAccessibilityRequirements()),
		Parameters: asked.GetParameters(),
	})
	if err != nil {
		return nil, code(err)
	}
	volume := &csi.Volume{VolumeId: made.ID, CapacityBytes: made.Bytes}
	if len(made.Topology) > 0 {
		volume.AccessibleTopology = []*csi.Topology{{Segments: made.Topology}}
	}
	return &csi.CreateVolumeResponse{Volume: volume}, nil
}

// DeleteVolume deletes a volume.
func (d *driver) DeleteVolume(ctx context.Context, asked *csi.DeleteVolumeRequest) (*csi.DeleteVolumeResponse, error) {
	if asked.GetVolumeId() == "" {
		return nil, status.Error(codes.InvalidArgument, "missing volume id")
	}
	if err := d.volumes.Delete(ctx, asked.GetVolumeId()); err != nil {
		return nil, code(err)
	}
	return &csi.DeleteVolumeResponse{}, nil
}

func oneNode(mode csi.VolumeCapability_AccessMode_Mode) bool {
	switch mode {
	case csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER,
		csi.VolumeCapability_AccessMode_SINGLE_NODE_SINGLE_WRITER,
		csi.VolumeCapability_AccessMode_SINGLE_NODE_MULTI_WRITER:
		return true
	default:
		return false
	}
}

// preferred lists where the volume may be, the preferred places first.
func preferred(requirement *csi.TopologyRequirement) []map[string]string {
	var topologies []map[string]string
	for _, topology := range append(requirement.GetPreferred(), requirement.GetRequisite()...) {
		topologies = append(topologies, topology.GetSegments())
	}
	return topologies
}

// code returns the gRPC code of an error, from which the provisioner knows whether to retry.
func code(err error) error {
	switch {
	case errors.Is(err, ErrSize):
		return status.Error(codes.OutOfRange, err.Error())
	case errors.Is(err, ErrExists):
		return status.Error(codes.AlreadyExists, err.Error())
	default:
		return status.Error(codes.Internal, err.Error())
	}
}
