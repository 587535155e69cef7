package talosapi

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/siderolabs/talos/internal/app/internal/machinehelper"
	"github.com/siderolabs/talos/internal/app/machined/pkg/runtime"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/resources/block"
	timeresource "github.com/siderolabs/talos/pkg/machinery/resources/time"
)

// clockPatience is how long Bootstrap waits for the clock, as in Talos.
const clockPatience = 5 * time.Second

// Bootstrap makes the node the first member of its etcd, once.
func (s *lifecycleCalls) Bootstrap(ctx context.Context, in *machine.BootstrapRequest) (*machine.BootstrapResponse, error) {
	n := s.node
	n.Say("bootstrap request received")
	if !n.serviceUp("cri") {
		return nil, status.Error(codes.FailedPrecondition, "bootstrap is not available yet")
	}
	if err := machinehelper.CheckControlplane(ctx, n.Resources(), "bootstrap"); err != nil {
		if n.old && status.Code(err) == codes.Unimplemented {
			err = status.Error(codes.FailedPrecondition, "bootstrap can only be performed on a control plane node")
		}
		return nil, err
	}
	clock, cancel := context.WithTimeout(ctx, clockPatience)
	defer cancel()
	if err := timeresource.NewSyncCondition(n.Resources()).Wait(clock); err != nil {
		return nil, status.Error(codes.FailedPrecondition, "time is not in sync yet")
	}
	if n.Etcd().HasData(n.Host()) {
		return nil, status.Error(codes.AlreadyExists, "etcd data directory is not empty")
	}
	atWork(ctx)
	if err := n.Machine.Bootstrap(ctx, BootstrapRequest{Recover: in.GetRecoverEtcd(), SkipHashCheck: in.GetRecoverSkipHashCheck()}); err != nil {
		return nil, err
	}
	return &machine.BootstrapResponse{Messages: []*machine.Bootstrap{{}}}, nil
}

// serviceUp reports whether a service runs and, if that is known, is healthy.
func (n *node) serviceUp(id string) bool {
	for _, service := range n.Services() {
		if service.GetId() == id {
			return service.GetState() == "Running" && (service.GetHealth().GetUnknown() || service.GetHealth().GetHealthy())
		}
	}
	return false
}

// Reboot starts the sequence with that name.
func (s *lifecycleCalls) Reboot(_ context.Context, in *machine.RebootRequest) (*machine.RebootResponse, error) {
	if err := s.node.supports(runtime.Reboot); err != nil {
		return nil, err
	}
	actor := uuid.NewString()
	s.node.begin("Reboot", s.node.Machine.Reboot(actor, in.GetMode() == machine.RebootRequest_FORCE))
	return &machine.RebootResponse{Messages: []*machine.Reboot{{ActorId: actor}}}, nil
}

// Shutdown starts the sequence with that name.
func (s *lifecycleCalls) Shutdown(_ context.Context, in *machine.ShutdownRequest) (*machine.ShutdownResponse, error) {
	if err := s.node.supports(runtime.Shutdown); err != nil {
		return nil, err
	}
	actor := uuid.NewString()
	s.node.begin("Shutdown", s.node.Machine.Shutdown(actor, in.GetForce()))
	return &machine.ShutdownResponse{Messages: []*machine.Shutdown{{ActorId: actor}}}, nil
}

// Upgrade checks the image and etcd, and starts the sequence.
func (s *lifecycleCalls) Upgrade(ctx context.Context, in *machine.UpgradeRequest) (*machine.UpgradeResponse, error) {
	n := s.node
	if err := n.supports(runtime.Upgrade); err != nil {
		return nil, err
	}
	if !n.Installed() {
		return nil, status.Error(codes.FailedPrecondition, "Talos is not installed")
	}
	n.Say(fmt.Sprintf("upgrade request received: staged %v, force %v, reboot mode %s", in.GetStage(), in.GetForce(), in.GetRebootMode()))
	n.Say(fmt.Sprintf("validating %q", in.GetImage()))
	if _, err := n.Pull(ctx, systemNamespace, in.GetImage(), unseen); err != nil {
		return nil, fmt.Errorf("error validating installer image %q: %w", in.GetImage(), err)
	}
	if n.Etcd() != nil && !in.GetForce() && !in.GetPreserve() {
		if err := n.quorumSurvivesReboot(ctx); err != nil {
			return nil, fmt.Errorf("error validating etcd for upgrade: %w", err)
		}
	}
	actor := uuid.NewString()
	n.begin("Upgrade", n.Machine.Upgrade(actor, in.GetImage(), in.GetStage(), in.GetForce()))
	return &machine.UpgradeResponse{Messages: []*machine.Upgrade{{Ack: "Upgrade request received", ActorId: actor}}}, nil
}

// Rollback makes the other boot entry the default one, and reboots.
func (s *lifecycleCalls) Rollback(ctx context.Context, _ *machine.RollbackRequest) (*machine.RollbackResponse, error) {
	n := s.node
	if err := n.supports(runtime.Rollback); err != nil {
		return nil, err
	}
	disk, err := block.GetSystemDisk(ctx, n.Resources())
	if err != nil {
		return nil, fmt.Errorf("system disk lookup failed: %w", err)
	}
	if disk == nil {
		return nil, status.Error(codes.FailedPrecondition, "system disk not found")
	}
	if !n.Machine.Rollback() {
		return nil, fmt.Errorf("cannot rollback to %q, label does not exist", "")
	}
	n.begin("Reboot", n.Machine.Reboot(uuid.NewString(), false))
	return &machine.RollbackResponse{Messages: []*machine.Rollback{{}}}, nil
}
