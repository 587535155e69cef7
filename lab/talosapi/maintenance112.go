package talosapi

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
)

// errNotInMaintenance is for calls that are only allowed over SideroLink, which the lab does not have.
var errNotInMaintenance = status.Error(codes.Unimplemented, "API is not implemented in maintenance mode")

// maintenance112 is the machine service that Talos 1.12 has in maintenance: a separate program, which later versions no longer have.
type maintenance112 struct {
	machine.UnimplementedMachineServiceServer
	node *node
}

// ApplyConfiguration accepts a valid config.
func (s *maintenance112) ApplyConfiguration(ctx context.Context, in *machine.ApplyConfigurationRequest) (*machine.ApplyConfigurationResponse, error) {
	if in.Mode == machine.ApplyConfigurationRequest_NO_REBOOT || in.Mode == machine.ApplyConfigurationRequest_STAGED {
		return nil, status.Errorf(codes.Unimplemented, "apply configuration --mode='%s' is not supported in maintenance mode",
			strings.ReplaceAll(strings.ToLower(in.Mode.String()), "_", "-"))
	}
	s.node.applying.Lock()
	defer s.node.applying.Unlock()
	cfg, warnings, err := s.check(ctx, in.GetData())
	if err != nil {
		return nil, err
	}
	message := &machine.ApplyConfiguration{Warnings: warnings}
	response := &machine.ApplyConfigurationResponse{Messages: []*machine.ApplyConfiguration{message}}
	if in.DryRun {
		message.ModeDetails = "Dry run summary:\nNode is running in maintenance mode and does not have a config yet."
		return response, nil
	}
	return response, s.node.SetConfig(cfg, true, 0)
}

// check parses and validates a config, also against the disks of the node.
func (s *maintenance112) check(ctx context.Context, data []byte) (config.Provider, []string, error) {
	mode := s.node.mode()
	own := s.node.validate(data)
	if unreadable(own) {
		return nil, nil, fmt.Errorf("failed to parse config: %w", own)
	}
	cfg, err := configloader.NewFromBytes(data)
	if err != nil {
		return nil, nil, fmt.Errorf("failed to parse config: %w", err)
	}
	if own != nil {
		return nil, nil, status.Errorf(codes.InvalidArgument, "configuration validation failed: %s", own)
	}
	warnings, err := cfg.Validate(mode)
	if err != nil {
		return nil, nil, status.Errorf(codes.InvalidArgument, "configuration validation failed: %s", err)
	}
	more, err := cfg.RuntimeValidate(ctx, s.node.Resources(), mode)
	if err == nil {
		err = s.node.kubernetesFits(cfg)
	}
	if err != nil {
		return nil, nil, status.Errorf(codes.InvalidArgument, "runtime configuration validation failed: %s", err)
	}
	more = slices.DeleteFunc(more, func(warning string) bool { return warning == sdBootWarning })
	return cfg, append(warnings, more...), nil
}

// GenerateClientConfiguration is refused: there is no cluster yet.
func (s *maintenance112) GenerateClientConfiguration(context.Context, *machine.GenerateClientConfigurationRequest) (*machine.GenerateClientConfigurationResponse, error) {
	return nil, status.Error(codes.Unimplemented, "client configuration (talosconfig) can't be generated in the maintenance mode")
}

// Version is refused for callers that 1.12 does not know.
func (s *maintenance112) Version(context.Context, *emptypb.Empty) (*machine.VersionResponse, error) {
	return nil, errNotInMaintenance
}

// Upgrade is refused in the same way.
func (s *maintenance112) Upgrade(context.Context, *machine.UpgradeRequest) (*machine.UpgradeResponse, error) {
	return nil, errNotInMaintenance
}

// Reset is refused in the same way.
func (s *maintenance112) Reset(context.Context, *machine.ResetRequest) (*machine.ResetResponse, error) {
	return nil, errNotInMaintenance
}

// MetaWrite is refused in the same way.
func (s *maintenance112) MetaWrite(context.Context, *machine.MetaWriteRequest) (*machine.MetaWriteResponse, error) {
	return nil, errNotInMaintenance
}

// MetaDelete is refused in the same way.
func (s *maintenance112) MetaDelete(context.Context, *machine.MetaDeleteRequest) (*machine.MetaDeleteResponse, error) {
	return nil, errNotInMaintenance
}
