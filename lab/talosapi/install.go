package talosapi

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/siderolabs/talos/internal/app/machined/pkg/runtime"
	"github.com/siderolabs/talos/pkg/machinery/api/common"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
)

// lifecycleService is machine.LifecycleService, which Talos has since 1.13.
type lifecycleService struct {
	machine.UnimplementedLifecycleServiceServer
	node *node
}

// Install installs Talos on a machine that does not have it.
func (s *lifecycleService) Install(in *machine.LifecycleServiceInstallRequest, stream grpc.ServerStreamingServer[machine.LifecycleServiceInstallResponse]) error {
	return s.node.install(stream.Context(), installation{
		what: "installation", source: in.GetSource(), containerd: in.GetContainerd(),
		refuse: func() error {
			switch {
			case s.node.Installed():
				return status.Error(codes.AlreadyExists, "machine is already installed")
			case in.GetSource().GetImageName() == "":
				return status.Error(codes.InvalidArgument, "installer image name is required")
			case in.GetDestination().GetDisk() == "":
				return status.Error(codes.InvalidArgument, "destination disk is required")
			}
			return nil
		},
		send: func(progress *machine.LifecycleServiceInstallProgress) error {
			return stream.Send(&machine.LifecycleServiceInstallResponse{Progress: progress})
		},
	})
}

// Upgrade installs another Talos, which runs from the next boot on.
func (s *lifecycleService) Upgrade(in *machine.LifecycleServiceUpgradeRequest, stream grpc.ServerStreamingServer[machine.LifecycleServiceUpgradeResponse]) error {
	return s.node.install(stream.Context(), installation{
		what: "upgrade", source: in.GetSource(), containerd: in.GetContainerd(),
		refuse: func() error {
			switch {
			case !s.node.Installed():
				return status.Error(codes.FailedPrecondition, "machine is not installed")
			case in.GetSource().GetImageName() == "":
				return status.Error(codes.InvalidArgument, "installer image name is required")
			}
			return nil
		},
		send: func(progress *machine.LifecycleServiceInstallProgress) error {
			return stream.Send(&machine.LifecycleServiceUpgradeResponse{Progress: progress})
		},
	})
}

// installation is a run of an installer.
type installation struct {
	what       string
	source     *machine.InstallArtifactsSource
	containerd *common.ContainerdInstance
	refuse     func() error
	send       func(*machine.LifecycleServiceInstallProgress) error
}

// install runs an installer whose image was pulled, one at a time.
func (n *node) install(ctx context.Context, run installation) error {
	if err := n.supports(runtime.Upgrade); err != nil {
		return err
	}
	if !n.installing.TryLock() {
		return status.Error(codes.FailedPrecondition, "another installation/upgrade is already in progress")
	}
	defer n.installing.Unlock()
	if err := run.refuse(); err != nil {
		return err
	}
	namespace, err := containerdNamespace(run.containerd)
	if err != nil {
		return status.Errorf(codes.Internal, "%s failed: %v", run.what, err)
	}
	image := run.source.GetImageName()
	if !slices.ContainsFunc(n.Images(namespace), func(pulled Image) bool { return pulled.Name == image }) {
		return status.Errorf(codes.Internal, "%s failed: installer image %q not found in containerd store: image %q: not found", run.what, image, image)
	}
	err = n.Machine.Install(ctx, image, func(line string) error {
		return run.send(&machine.LifecycleServiceInstallProgress{Response: &machine.LifecycleServiceInstallProgress_Message{Message: line}})
	})
	exit := int32(0)
	if err != nil {
		exit = 1
		line := fmt.Sprintf("Error: %v\n", err)
		if err := run.send(&machine.LifecycleServiceInstallProgress{Response: &machine.LifecycleServiceInstallProgress_Message{Message: line}}); err != nil {
			return err
		}
	}
	return run.send(&machine.LifecycleServiceInstallProgress{Response: &machine.LifecycleServiceInstallProgress_ExitCode{ExitCode: exit}})
}
