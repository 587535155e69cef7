package talosapi

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"
	"github.com/siderolabs/talos/pkg/machinery/role"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
)

func TestASnapshotIsUploaded(t *testing.T) {
	l := newLab(t)
	f := l.configured("1.13.8", machine.TypeControlPlane)
	snapshot := bytes.Repeat([]byte("snapshot"), 100_000)
	upload := func(as role.Role) error {
		_, err := l.client(f, as).EtcdRecover(within(t), bytes.NewReader(snapshot))
		return err
	}

	f.unmounted = true
	err := upload(role.Admin)
	require.Equal(t, codes.FailedPrecondition, status.Code(err))
	require.ErrorContains(t, err, "etcd service is not ready for recovery yet")
	f.unmounted = false
	require.Equal(t, codes.PermissionDenied, status.Code(upload(role.Operator)))
	require.Nil(t, f.etcd.uploaded)
	require.NoError(t, upload(role.Admin))
	require.Equal(t, snapshot, f.etcd.uploaded)

	worker := l.configured("1.13.8", machine.TypeWorker)
	_, err = l.client(worker, role.Admin).EtcdRecover(within(t), bytes.NewReader(snapshot))
	require.Equal(t, codes.Unimplemented, status.Code(err))
	require.ErrorContains(t, err, "etcd recover is only available on control plane nodes")

	request := &machineapi.BootstrapRequest{RecoverEtcd: true, RecoverSkipHashCheck: true}
	require.NoError(t, l.client(f, role.Admin).Bootstrap(within(t), request))
	require.Equal(t, []string{"bootstrap {Recover:true SkipHashCheck:true}"}, f.wasAsked())
	require.Equal(t, "EtcdRecover", l.facts(f, "call")[0].Value)
}

func TestAnUploadIsInterrupted(t *testing.T) {
	l := newLab(t)
	f := l.configured("1.13.8", machine.TypeControlPlane)
	c := l.client(f, role.Admin)
	snapshot := bytes.Repeat([]byte("snapshot"), 100_000)
	upload := func() error {
		_, err := c.EtcdRecover(within(t), bytes.NewReader(snapshot))
		return err
	}
	arm := func(do fault.Action) {
		_, err := l.faults.Add(fault.Rule{On: fault.Talos, Name: "EtcdRecover", Do: do, Times: 1})
		require.NoError(t, err)
	}
	arm(fault.Cut)
	require.Equal(t, codes.Unavailable, status.Code(upload()))
	require.Eventually(t, func() bool { return len(l.facts(f, "refused")) == 1 }, 5*time.Second, time.Millisecond)
	require.Nil(t, f.etcd.uploaded, "what was cut off is not kept")

	arm(fault.Lose)
	require.Equal(t, codes.Unavailable, status.Code(upload()))
	require.Equal(t, snapshot, f.etcd.uploaded, "it took effect")
	require.NoError(t, upload(), "the client comes back")
}
