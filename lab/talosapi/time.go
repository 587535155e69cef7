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

// Time compares the clock with the first time server of the config.
func (s *timeService) Time(ctx context.Context, _ *emptypb.Empty) (*timeapi.TimeResponse, error) {
	server := constants.DefaultNTPServer
	if cfg := s.node.Config(); cfg != nil {
		if sync := cfg.NetworkTimeSyncConfig(); sync != nil && len(sync.Servers()) > 0 {
			server = sync.Servers()[0]
		}
	}
	return s.TimeCheck(ctx, &timeapi.TimeRequest{Server: server})
}

// TimeCheck finds every clock of the lab right.
func (s *timeService) TimeCheck(_ context.Context, in *timeapi.TimeRequest) (*timeapi.TimeResponse, error) {
	if in.GetServer() == "" {
		return nil, status.Error(codes.InvalidArgument, "ntp server is required")
	}
	now := timestamppb.Now()
	return &timeapi.TimeResponse{Messages: []*timeapi.Time{{Server: in.GetServer(), Localtime: now, Remotetime: now}}}, nil
}

// inspectService is inspect.InspectService.
type inspectService struct {
	inspect.UnimplementedInspectServiceServer
}

// ControllerRuntimeDependencies would show controllers that the lab has not all.
func (s *inspectService) ControllerRuntimeDependencies(context.Context, *emptypb.Empty) (*inspect.ControllerRuntimeDependenciesResponse, error) {
	return nil, status.Error(codes.Unimplemented, "a node of the lab does not run all of Talos' controllers, so it has no graph of them")
}
