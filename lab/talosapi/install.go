package talosapi

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/siderolabs/talos/internal/app/machined/pkg/runtime"
	"github.com/siderolabs/talos/internal/app/machined/pkg/system/pid"
	"github.com/siderolabs/talos/pkg/machinery/api/common"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/resources/block"
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
		disk: in.GetDestination().GetDisk,
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
		disk: func() string { return s.node.systemDisk(stream.Context()) },
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
	disk       func() string
	send       func(*machine.LifecycleServiceInstallProgress) error
}

// install runs an installer whose image was pulled, one at a time. An installer that has started runs to its end, even if the stream breaks; nothing else can be
// installed until then.
func (n *node) install(ctx context.Context, run installation) error {
	if err := n.supports(runtime.Upgrade); err != nil {
		return err
	}
	if !n.installing.TryLock() {
		return status.Error(codes.FailedPrecondition, "another installation/upgrade is already in progress")
	}
	image, err := run.source.GetImageName(), run.refuse()
	if err == nil {
		err = n.hasPulled(run.containerd, image)
		if err != nil {
			err = status.Errorf(codes.Internal, "%s failed: %v", run.what, err)
		}
	}
	if err != nil {
		n.installing.Unlock()
		return err
	}
	n.Say(fmt.Sprintf("starting %s: installer_image=%s, disk=%s", run.what, image, run.disk()))
	lines, ended, unheard := make(chan string), make(chan error, 1), make(chan struct{})
	defer close(unheard)
	go func() {
		defer n.installing.Unlock()
		ended <- n.runInstaller(run.what, image, func(line string) {
			select {
			case lines <- line:
			case <-unheard:
			}
		})
	}()
	atWork(ctx)
	for {
		select {
		case line := <-lines:
			// Nobody may listen any more.
			_ = run.send(&machine.LifecycleServiceInstallProgress{Response: &machine.LifecycleServiceInstallProgress_Message{Message: line}})
		case err := <-ended:
			exit := int32(0)
			if err != nil {
				exit = 1
			}
			return run.send(&machine.LifecycleServiceInstallProgress{Response: &machine.LifecycleServiceInstallProgress_ExitCode{ExitCode: exit}})
		case <-n.up.Done():
			return status.Error(codes.Unavailable, "error reading from server: EOF")
		}
	}
}

// systemDisk returns the device that Talos is on.
func (n *node) systemDisk(ctx context.Context) string {
	disk, err := block.GetSystemDisk(ctx, n.Resources())
	if err != nil || disk == nil {
		return "" // it is only shown
	}
	return disk.DevPath
}

// hasPulled returns an error if an image is not in containerd.
func (n *node) hasPulled(containerd *common.ContainerdInstance, image string) error {
	namespace, err := containerdNamespace(containerd)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(n.Images(namespace), func(pulled Image) bool { return pulled.Name == image }) {
		return fmt.Errorf("installer image %q not found in containerd store: image %q: not found", image, image)
	}
	return nil
}

// runInstaller runs an installer, as a process that clients see while it runs.
func (n *node) runInstaller(what, image string, send func(line string)) error {
	record := pid.NewStateRecorder(n.Resources()).Record
	_ = record("installer", installerPID, false)
	defer func() { _ = record("installer", 0, true) }()
	err := n.Machine.Install(image, send)
	if err != nil {
		send(fmt.Sprintf("Error: %v\n", err))
		n.Say(fmt.Sprintf("%s failed: exit_code=1", what))
		return err
	}
	n.Say(fmt.Sprintf("%s completed successfully: exit_code=0", what))
	return nil
}

// installerPID is higher than any process id of Linux, so that no real process is meant.
const installerPID = 1 << 23
