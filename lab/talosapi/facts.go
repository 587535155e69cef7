package talosapi

import (
	"context"
	"runtime"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	machined "github.com/siderolabs/talos/internal/app/machined/pkg/runtime"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/version"
)

// Version returns the running Talos version. The commit is only known for the version from which the lab is built.
func (s *factCalls) Version(context.Context, *emptypb.Empty) (*machine.VersionResponse, error) {
	n := s.node
	message := &machine.Version{
		Version:  &machine.VersionInfo{Tag: "v" + n.Machine.Version(), Sha: "undefined", GoVersion: runtime.Version(), Os: "linux", Arch: runtime.GOARCH},
		Platform: &machine.PlatformInfo{Name: n.Platform(), Mode: n.mode().String()},
	}
	if message.Version.Tag == version.Tag {
		message.Version.Sha = version.SHA
	}
	if cfg := n.Config(); cfg != nil && cfg.Machine() != nil {
		message.Features = &machine.FeaturesInfo{Rbac: true}
	}
	return &machine.VersionResponse{Messages: []*machine.Version{message}}, nil
}

// Hostname returns the node's.
func (s *factCalls) Hostname(context.Context, *emptypb.Empty) (*machine.HostnameResponse, error) {
	return &machine.HostnameResponse{Messages: []*machine.Hostname{{Hostname: s.node.Machine.Hostname()}}}, nil
}

// GenerateClientConfiguration returns Talos' own.
func (s *factCalls) GenerateClientConfiguration(ctx context.Context, in *machine.GenerateClientConfigurationRequest) (*machine.GenerateClientConfigurationResponse, error) {
	return s.node.service().GenerateClientConfiguration(ctx, in)
}

// MetaWrite writes a key of the META partition.
func (s *factCalls) MetaWrite(_ context.Context, in *machine.MetaWriteRequest) (*machine.MetaWriteResponse, error) {
	key, err := s.node.metaKey(in.GetKey())
	if err != nil {
		return nil, err
	}
	value := string(in.GetValue())
	s.node.SetMeta(key, &value)
	return &machine.MetaWriteResponse{Messages: []*machine.MetaWrite{{}}}, nil
}

// MetaDelete deletes an existing key.
func (s *factCalls) MetaDelete(_ context.Context, in *machine.MetaDeleteRequest) (*machine.MetaDeleteResponse, error) {
	key, err := s.node.metaKey(in.GetKey())
	if err != nil {
		return nil, err
	}
	if _, there := s.node.Meta()[key]; !there {
		return nil, status.Error(codes.NotFound, "meta key not found")
	}
	s.node.SetMeta(key, nil)
	return &machine.MetaDeleteResponse{Messages: []*machine.MetaDelete{{}}}, nil
}

func (n *node) metaKey(key uint32) (uint8, error) {
	if err := n.supports(machined.MetaKV); err != nil {
		return 0, err
	}
	if key > 255 {
		return 0, status.Error(codes.InvalidArgument, "key must be a uint8")
	}
	return uint8(key), nil
}

// PacketCapture has nothing to capture.
func (s *factCalls) PacketCapture(*machine.PacketCaptureRequest, machine.MachineService_PacketCaptureServer) error {
	return status.Error(codes.Unimplemented, "the lab has no network interfaces to capture packets at")
}

// Netstat has nothing to list.
func (s *factCalls) Netstat(context.Context, *machine.NetstatRequest) (*machine.NetstatResponse, error) {
	return nil, status.Error(codes.Unimplemented, "the lab keeps no list of a node's connections")
}
