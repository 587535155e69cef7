package talosapi

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/siderolabs/talos/pkg/machinery/api/inspect"
	timeapi "github.com/siderolabs/talos/pkg/machinery/api/time"
	"github.com/siderolabs/talos/pkg/machinery/constants"
)

// timeService is time.TimeService.
type timeService struct {
	timeapi.UnimplementedTimeServiceServer
	node *node
}

// Time compares the clock with the first time server in the config.
func (s *timeService) Time(ctx context.Context, _ *emptypb.Empty) (*timeapi.TimeResponse, error) {
	server := constants.DefaultNTPServer
	if cfg := s.node.Config(); cfg != nil {
		if sync := cfg.NetworkTimeSyncConfig(); sync != nil && len(sync.Servers()) > 0 {
			server = sync.Servers()[0]
		}
	}
	return s.TimeCheck(ctx, &timeapi.TimeRequest{Server: server})
}

// TimeCheck compares the clock of the node with that of the lab.
func (s *timeService) TimeCheck(_ context.Context, in *timeapi.TimeRequest) (*timeapi.TimeResponse, error) {
	if in.GetServer() == "" {
		return nil, status.Error(codes.InvalidArgument, "ntp server is required")
	}
	local, remote := timestamppb.New(s.node.Now()), timestamppb.Now()
	return &timeapi.TimeResponse{Messages: []*timeapi.Time{{Server: in.GetServer(), Localtime: local, Remotetime: remote}}}, nil
}

// inspectService is inspect.InspectService.
type inspectService struct {
	inspect.UnimplementedInspectServiceServer
}

// ControllerRuntimeDependencies would list controllers, some of which the lab does not have.
func (s *inspectService) ControllerRuntimeDependencies(context.Context, *emptypb.Empty) (*inspect.ControllerRuntimeDependenciesResponse, error) {
	return nil, status.Error(codes.Unimplemented, "a node of the lab does not run all of Talos' controllers, so it has no graph of them")
}
