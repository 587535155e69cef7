package talosapi

import (
	"cmp"
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/siderolabs/talos/pkg/machinery/api/common"
	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/client"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"
	"github.com/siderolabs/talos/pkg/machinery/resources/block"
	runtimeresource "github.com/siderolabs/talos/pkg/machinery/resources/runtime"
	timeresource "github.com/siderolabs/talos/pkg/machinery/resources/time"
	"github.com/siderolabs/talos/pkg/machinery/role"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
)

func TestBootstrap(t *testing.T) {
	l := newLab(t)
	for name, c := range map[string]struct {
		version string
		of      machine.Type
		before  func(*fake)
		code    codes.Code
		text    string
	}{
		"once":           {"1.13.8", machine.TypeControlPlane, nil, codes.OK, ""},
		"twice":          {"1.13.8", machine.TypeControlPlane, func(f *fake) { f.etcd.data = true }, codes.AlreadyExists, "etcd data directory is not empty"},
		"worker":         {"1.13.8", machine.TypeWorker, nil, codes.Unimplemented, "bootstrap is only available on control plane nodes"},
		"worker of 1.12": {"1.12.6", machine.TypeWorker, nil, codes.FailedPrecondition, "bootstrap can only be performed on a control plane node"},
	} {
		t.Run(name, func(t *testing.T) {
			f := l.configured(c.version, c.of)
			if c.before != nil {
				c.before(f)
			}
			err := l.client(f, role.Admin).Bootstrap(within(t), &machineapi.BootstrapRequest{})
			require.Equal(t, c.code, status.Code(err), "%v", err)
			if err != nil {
				require.Equal(t, c.text, status.Convert(err).Message())
				require.Empty(t, f.wasAsked())
			} else {
				require.Equal(t, []string{"bootstrap"}, f.wasAsked())
			}
		})
	}
}

func TestBootstrapNeedsTheClock(t *testing.T) {
	l := newLab(t)
	f := l.machine("1.13.8", "hcloud")
	l.configure(f, machine.TypeControlPlane)
	require.NoError(t, f.resources.Destroy(t.Context(), timeresource.NewStatus().Metadata()))
	node, err := newNode(f, l.server.options, false, t.Context())
	require.NoError(t, err)
	// A caller that waits less than Talos does.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = newMachineService(node).Bootstrap(ctx, nil)
	require.Equal(t, status.Error(codes.FailedPrecondition, "time is not in sync yet"), err)
}

func TestSequences(t *testing.T) {
	l := newLab(t)
	f := l.configured("1.13.8", machine.TypeControlPlane)
	f.etcd.data, f.etcd.members = true, make([]cluster.MemberInfo, 3)
	for i := range f.etcd.members {
		f.etcd.members[i].Hostname = "member"
	}
	state := block.NewVolumeStatus(block.NamespaceName, "STATE")
	state.TypedSpec().Location = "/dev/sda5"
	require.NoError(t, f.resources.Create(t.Context(), state))
	c := l.client(f, role.Admin)
	for name, step := range map[string]struct {
		call  func() error
		asked []string
		text  string
	}{
		"reboot":            {func() error { return c.Reboot(within(t)) }, []string{"reboot force=false"}, ""},
		"forced reboot":     {func() error { return c.Reboot(within(t), client.WithRebootMode(machineapi.RebootRequest_FORCE)) }, []string{"reboot force=true"}, ""},
		"shutdown":          {func() error { return c.Shutdown(within(t), client.WithShutdownForce(true)) }, []string{"shutdown force=true"}, ""},
		"reset":             {func() error { return c.Reset(within(t), true, false) }, []string{"reset {Graceful:true Reboot:false WipeSystem:true Partitions:[]}"}, ""},
		"reset of a volume": {func() error { return reset(t, c, "STATE", machineapi.ResetRequest_ALL) }, []string{"reset {Graceful:false Reboot:true WipeSystem:false Partitions:[STATE]}"}, ""},
		"reset of nothing":  {func() error { return reset(t, c, "NOPE", machineapi.ResetRequest_ALL) }, nil, `failed to get volume status with label "NOPE"`},
		"reset of both":     {func() error { return reset(t, c, "STATE", machineapi.ResetRequest_USER_DISKS) }, nil, "wipe mode USER_DISKS doesn't support SystemPartitionsToWipe parameter"},
		"reset of a disk that is not there": {func() error {
			return c.ResetGeneric(within(t), &machineapi.ResetRequest{UserDisksToWipe: []string{"/dev/sdz"}})
		}, nil, "reset user disk failed: device /dev/sdz wasn't found"},
		"upgrade":            {func() error { return upgrade(t, c, "installer:2", false) }, []string{"pull system installer:2", "upgrade installer:2 stage=false force=false"}, ""},
		"upgrade to nothing": {func() error { return upgrade(t, c, "missing:2", false) }, nil, `error validating installer image "missing:2"`},
		"rollback":           {func() error { return c.Rollback(within(t)) }, nil, "system disk not found"},
		"start":              {func() error { _, err := c.ServiceStart(within(t), "kubelet"); return err }, []string{"start kubelet"}, ""},
		"stop":               {func() error { _, err := c.ServiceStop(within(t), "kubelet"); return err }, []string{"stop kubelet"}, ""},
		"restart":            {func() error { _, err := c.ServiceRestart(within(t), "apid"); return err }, nil, `service "apid" doesn't support restart operation via API`},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(f.wasAsked())
			err := step.call()
			if step.text == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, step.text)
			}
			require.ElementsMatch(t, step.asked, f.wasAsked()[before:])
		})
	}
}

func reset(t *testing.T, c *client.Client, label string, mode machineapi.ResetRequest_WipeMode) error {
	return c.ResetGeneric(within(t), &machineapi.ResetRequest{
		Reboot: true, Mode: mode, SystemPartitionsToWipe: []*machineapi.ResetPartitionSpec{{Label: label, Wipe: true}},
	})
}

func upgrade(t *testing.T, c *client.Client, image string, force bool) error {
	//lint:ignore SA1019 it is what clients of Talos 1.12 call
	_, err := c.Upgrade(within(t), image, false, force)
	return err
}

func TestUpgradeKeepsQuorum(t *testing.T) {
	l := newLab(t)
	f := l.configured("1.12.6", machine.TypeControlPlane)
	f.etcd.data = true
	for name, c := range map[string]struct {
		members []cluster.MemberInfo
		text    string
	}{
		"two":         {[]cluster.MemberInfo{{Hostname: "a"}, {Hostname: "b"}}, "etcd member count(2) is insufficient to maintain quorum"},
		"not started": {[]cluster.MemberInfo{{Hostname: "a"}, {ID: 7}, {Hostname: "c"}}, "etcd member 0000000000000007 is not started"},
	} {
		f.etcd.members = c.members
		require.ErrorContains(t, upgrade(t, l.client(f, role.Admin), "installer:2", false), c.text, name)
	}
	require.NoError(t, upgrade(t, l.client(f, role.Admin), "installer:2", true), "forced")
}

func TestSequencesInAContainer(t *testing.T) {
	l := newLab(t)
	f := l.machine("1.13.8", "container")
	l.configure(f, machine.TypeWorker)
	l.serve(f)
	c := l.client(f, role.Admin)
	for name, call := range map[string]func() error{
		"reboot":   func() error { return c.Reboot(within(t)) },
		"shutdown": func() error { return c.Shutdown(within(t)) },
		"upgrade":  func() error { return upgrade(t, c, "installer:2", false) },
		"rollback": func() error { return c.Rollback(within(t)) },
		"meta":     func() error { return c.MetaWrite(within(t), 10, []byte("x")) },
	} {
		err := call()
		require.Equal(t, codes.FailedPrecondition, status.Code(err), name)
		require.ErrorContains(t, err, "method is not supported in container mode", name)
	}
}

// containerd is where talosctl keeps installers.
var containerd = &common.ContainerdInstance{Driver: common.ContainerDriver_CRI, Namespace: common.ContainerdNamespace_NS_SYSTEM}

// install returns what an installer prints, and how it ends.
func install(t *testing.T, c *client.Client, image string) (lines string, exit int32, err error) {
	stream, err := c.LifecycleClient.Upgrade(within(t), &machineapi.LifecycleServiceUpgradeRequest{
		Containerd: containerd, Source: &machineapi.InstallArtifactsSource{ImageName: image},
	})
	require.NoError(t, err)
	exit = -1
	for {
		response, err := stream.Recv()
		if err != nil {
			return lines, exit, err
		}
		if code, is := response.GetProgress().GetResponse().(*machineapi.LifecycleServiceInstallProgress_ExitCode); is {
			exit = code.ExitCode
		}
		lines += response.GetProgress().GetMessage()
	}
}

// pull pulls an image and returns its name, and how many of its bytes were seen to arrive.
func pull(t *testing.T, c *client.Client, image string) (name string, bytes int64, err error) {
	stream, err := c.ImageClient.Pull(within(t), &machineapi.ImageServicePullRequest{Containerd: containerd, ImageRef: image})
	require.NoError(t, err)
	for {
		response, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return name, bytes, nil
		}
		if err != nil {
			return name, bytes, err
		}
		bytes = max(bytes, response.GetPullProgress().GetProgress().GetOffset())
		name = cmp.Or(response.GetName(), name)
	}
}

func TestInstallerService(t *testing.T) {
	l := newLab(t)
	f := l.configured("1.13.8", machine.TypeWorker)
	c := l.client(f, role.Admin)
	_, _, err := install(t, c, "installer:2")
	require.Equal(t, codes.Internal, status.Code(err))
	require.ErrorContains(t, err, `installer image "installer:2" not found in containerd store`)

	_, _, err = pull(t, c, "missing:2")
	require.Equal(t, codes.NotFound, status.Code(err))
	name, bytes, err := pull(t, c, "installer:2")
	require.NoError(t, err)
	require.Equal(t, "docker.io/library/installer@sha256:1", name)
	require.EqualValues(t, 1<<20, bytes)

	lines, exit, _ := install(t, c, "installer:2")
	require.Equal(t, "copying\n", lines)
	require.Zero(t, exit)
	require.Equal(t, []string{"pull system installer:2", "install installer:2"}, f.wasAsked())

	f.onInstall = func() error { return errors.New("no space left on device") }
	lines, exit, err = install(t, c, "installer:2")
	require.ErrorIs(t, err, io.EOF, "an installer that fails is no error of the call")
	require.Equal(t, "copying\nError: no space left on device\n", lines)
	require.EqualValues(t, 1, exit)
	require.Equal(t, []string{
		"starting upgrade: installer_image=installer:2, disk=", "upgrade completed successfully: exit_code=0",
		"starting upgrade: installer_image=installer:2, disk=", "upgrade failed: exit_code=1",
	}, f.said)

	first, err := c.LifecycleClient.Install(within(t), &machineapi.LifecycleServiceInstallRequest{Containerd: containerd})
	require.NoError(t, err)
	_, err = first.Recv()
	require.Equal(t, codes.AlreadyExists, status.Code(err))

	_, _, err = install(t, l.client(l.configured("1.12.6", machine.TypeWorker), role.Admin), "installer:2")
	require.Equal(t, codes.Unimplemented, status.Code(err), "1.12 has no such service")
}

// Nobody has to listen to an installer: it runs to its end, and meanwhile no other starts.
func TestAnInstallerSurvivesItsStream(t *testing.T) {
	l := newLab(t)
	f := l.configured("1.13.8", machine.TypeWorker)
	c := l.client(f, role.Admin)
	_, _, err := pull(t, c, "installer:2")
	require.NoError(t, err)
	running := func() bool {
		_, err := safe.StateGetByID[*runtimeresource.ServicePID](t.Context(), f.resources, "installer")
		return err == nil
	}
	for _, do := range []fault.Action{fault.Cut, fault.Lose} {
		t.Run(string(do), func(t *testing.T) {
			_, err := l.faults.Add(fault.Rule{On: fault.Talos, Name: "Upgrade", Do: do, Times: 1})
			require.NoError(t, err)
			ended := make(chan struct{})
			f.onInstall = func() error { <-ended; return nil }
			if do == fault.Lose {
				close(ended)
			}
			lines, exit, err := install(t, c, "installer:2")
			require.Equal(t, codes.Unavailable, status.Code(err))
			require.EqualValues(t, -1, exit, lines)
			if do == fault.Cut {
				require.True(t, running())
				_, _, err = install(t, c, "installer:2")
				require.Equal(t, codes.FailedPrecondition, status.Code(err))
				require.ErrorContains(t, err, "another installation/upgrade is already in progress")
				close(ended)
			}
			require.Eventually(t, func() bool { return !running() }, 5*time.Second, time.Millisecond)
			f.onInstall = nil
			_, exit, _ = install(t, c, "installer:2")
			require.Zero(t, exit)
		})
	}
}
