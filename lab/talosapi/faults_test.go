package talosapi

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/client"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"
	"github.com/siderolabs/talos/pkg/machinery/resources/block"
	"github.com/siderolabs/talos/pkg/machinery/role"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
)

func TestFaults(t *testing.T) {
	l := newLab(t)
	arm := func(rule fault.Rule) string {
		rule.On = fault.Talos
		id, err := l.faults.Add(rule)
		require.NoError(t, err)
		return id
	}
	f := l.configured("1.13.8", machine.TypeControlPlane)
	c := l.client(f, role.Reader)
	version := func(ctx context.Context) error { _, err := c.Version(ctx); return err }

	arm(fault.Rule{Name: "Version", Subject: f.host, Do: fault.Fail, Code: "RESOURCE_EXHAUSTED", Message: "too much", Times: 1})
	err := version(within(t))
	require.Equal(t, codes.ResourceExhausted, status.Code(err))
	require.ErrorContains(t, err, "too much")
	require.NoError(t, version(within(t)), "spent")

	arm(fault.Rule{Name: "Version", Do: fault.Refuse, Times: 1})
	require.Equal(t, codes.Unavailable, status.Code(version(within(t))))
	require.NoError(t, version(within(t)), "the client comes back")

	drop := arm(fault.Rule{Name: "Version", Do: fault.Drop})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	require.Equal(t, codes.DeadlineExceeded, status.Code(version(ctx)))
	require.NoError(t, l.faults.Remove(drop))

	arm(fault.Rule{Name: "List", Do: fault.Fail, Code: "Unavailable", Times: 1})
	_, err = safe.StateListAll[*block.Disk](within(t), c.COSI)
	require.Equal(t, codes.Unavailable, status.Code(err))

	// A call that is passed on meets its fault where it is answered, once.
	other := l.configured("1.13.8", machine.TypeWorker)
	arm(fault.Rule{Name: "Version", Do: fault.Fail, Code: "Aborted", Skip: 1, Times: 1})
	to := client.WithNode(within(t), other.addresses[0].String())
	require.NoError(t, version(to))
	require.Equal(t, codes.Aborted, status.Code(version(to)))
	require.Empty(t, l.facts(f, "fault")[4:], "not at the node that passes it on")
}

func TestACallGetsNoAnswer(t *testing.T) {
	l := newLab(t)
	f := l.configured("1.13.8", machine.TypeControlPlane)
	c := l.client(f, role.Admin)
	arm := func(name string, do fault.Action) {
		_, err := l.faults.Add(fault.Rule{On: fault.Talos, Name: name, Do: do, Times: 1})
		require.NoError(t, err)
	}
	arm("Reboot", fault.Lose)
	require.Equal(t, codes.Unavailable, status.Code(c.Reboot(within(t))))
	require.Equal(t, []string{"reboot force=false"}, f.wasAsked(), "it took effect")

	arm("Bootstrap", fault.Cut)
	require.Equal(t, codes.Unavailable, status.Code(c.Bootstrap(within(t), &machineapi.BootstrapRequest{})))
	require.Eventually(t, func() bool { return len(f.wasAsked()) == 2 }, 5*time.Second, time.Millisecond)
	require.Equal(t, "bootstrap context canceled", f.wasAsked()[1], "it was canceled at work")
	require.Equal(t, []string{"bootstrap request received"}, f.said)

	// What Talos does not cancel takes effect.
	arm("Reboot", fault.Cut)
	require.Equal(t, codes.Unavailable, status.Code(c.Reboot(within(t))))
	require.Equal(t, "reboot force=false", f.wasAsked()[2])

	require.NoError(t, c.Bootstrap(within(t), &machineapi.BootstrapRequest{}), "the client comes back")
}

func TestTheFolderOfEtcd(t *testing.T) {
	l := newLab(t)
	f := l.configured("1.13.8", machine.TypeControlPlane)
	c := l.client(f, role.Reader)
	listed := func() []string {
		stream, err := c.LS(within(t), &machineapi.ListRequest{Root: "/var/lib/etcd"})
		require.NoError(t, err)
		var names []string
		for {
			info, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return names
			}
			require.NoError(t, err)
			names = append(names, info.GetRelativeName())
		}
	}
	require.Equal(t, []string{"."}, listed())
	f.etcd.data = true
	require.Equal(t, []string{".", "member"}, listed())
}

func TestFaultInMaintenance(t *testing.T) {
	l := newLab(t)
	for _, f := range []*fake{l.maintenance("1.12.6"), l.maintenance("1.13.8")} {
		_, err := l.faults.Add(fault.Rule{On: fault.Talos, Name: "ApplyConfiguration", Subject: f.host, Do: fault.Fail, Code: "Unavailable", Times: 1})
		require.NoError(t, err)
		_, err = l.insecure(f).ApplyConfiguration(within(t), &machineapi.ApplyConfigurationRequest{Data: l.config(machine.TypeWorker)})
		require.Equal(t, codes.Unavailable, status.Code(err))
		require.Empty(t, f.wasAsked())
	}
}

func TestCodeNamed(t *testing.T) {
	for name, want := range map[string]codes.Code{
		"Unavailable": codes.Unavailable, "PERMISSION_DENIED": codes.PermissionDenied, "unauthenticated": codes.Unauthenticated,
		"": codes.Unknown, "OK": codes.Unknown, "503": codes.Unknown,
	} {
		require.Equal(t, want, codeNamed(name), name)
	}
}

func TestChangesAreRecorded(t *testing.T) {
	l := newLab(t)
	f := l.configured("1.13.8", machine.TypeWorker)
	c := l.client(f, role.Admin)
	// Reading, trying out and what is not allowed change nothing.
	_, err := c.Version(within(t))
	require.NoError(t, err)
	request := &machineapi.ApplyConfigurationRequest{Data: l.config(machine.TypeWorker), Mode: machineapi.ApplyConfigurationRequest_AUTO, DryRun: true}
	_, err = c.ApplyConfiguration(within(t), request)
	require.NoError(t, err)
	require.Error(t, l.client(f, role.Reader).Reboot(within(t)))
	require.Empty(t, l.facts(f, "call"))

	request.DryRun = false
	_, err = c.ApplyConfiguration(within(t), request)
	require.NoError(t, err)
	require.Error(t, c.Bootstrap(within(t), &machineapi.BootstrapRequest{}))
	require.NoError(t, l.client(f, role.Operator).Reboot(within(t)))
	var got []string
	for _, fact := range append(l.facts(f, "call"), l.facts(f, "refused")...) {
		got = append(got, fact.What+" "+fact.Value+" "+fact.Detail["role"]+" "+fact.Detail["mode"]+fact.Detail["code"])
	}
	require.Equal(t, []string{
		"call ApplyConfiguration os:admin auto", "call Bootstrap os:admin ", "call Reboot os:operator ",
		"refused Bootstrap os:admin Unimplemented",
	}, got)
}
