package talosapi

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"
	"github.com/siderolabs/talos/pkg/machinery/role"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
)

func TestEtcd(t *testing.T) {
	l := newLab(t)
	f := l.configured("1.13.8", machine.TypeControlPlane)
	c := l.client(f, role.Admin)

	_, err := c.EtcdMemberList(within(t), &machineapi.EtcdMemberListRequest{})
	require.Equal(t, codes.Unknown, status.Code(err))
	require.ErrorContains(t, err, "no controlplane endpoints discovered yet")
	_, err = c.EtcdMemberList(within(t), &machineapi.EtcdMemberListRequest{QueryLocal: true})
	require.ErrorContains(t, err, errNoEtcd.Error())

	f.etcd.data = true
	f.etcd.members = []cluster.MemberInfo{{ID: 1, Hostname: "a", PeerURLs: []string{"https://10.0.0.11:2380"}}, {ID: 2, Hostname: "b", Learner: true}}
	f.etcd.status = cluster.MemberStatus{ID: 1, Leader: 1, Version: "3.6.14", DBSize: 42, Errors: []string{"memberID:1 alarm:NOSPACE"}}
	list, err := c.EtcdMemberList(within(t), &machineapi.EtcdMemberListRequest{})
	require.NoError(t, err)
	require.Len(t, list.GetMessages()[0].GetMembers(), 2)
	require.Equal(t, "https://10.0.0.11:2380", list.GetMessages()[0].GetMembers()[0].GetPeerUrls()[0])
	require.True(t, list.GetMessages()[0].GetMembers()[1].GetIsLearner())

	own, err := c.EtcdStatus(within(t))
	require.NoError(t, err)
	require.Equal(t, "3.6.0", own.GetMessages()[0].GetMemberStatus().GetStorageVersion())
	raised, err := c.EtcdAlarmList(within(t))
	require.NoError(t, err)
	require.Equal(t, machineapi.EtcdMemberAlarm_NOSPACE, raised.GetMessages()[0].GetMemberAlarms()[0].GetAlarm())
	_, err = c.EtcdDefragment(within(t))
	require.NoError(t, err)

	snapshot, err := c.EtcdSnapshot(within(t), &machineapi.EtcdSnapshotRequest{})
	require.NoError(t, err)
	data, err := io.ReadAll(snapshot)
	require.NoError(t, err)
	require.Equal(t, bytes.Repeat([]byte("snapshot"), 10_000), data)

	_, err = c.EtcdForfeitLeadership(within(t), &machineapi.EtcdForfeitLeadershipRequest{})
	require.Equal(t, codes.Unimplemented, status.Code(err), "this etcd cannot")
	f.etcd.status.Leader = 2
	_, err = c.EtcdForfeitLeadership(within(t), &machineapi.EtcdForfeitLeadershipRequest{})
	require.NoError(t, err, "it does not lead")

	err = c.EtcdRemoveMemberByID(within(t), &machineapi.EtcdRemoveMemberByIDRequest{MemberId: 9})
	require.Equal(t, codes.NotFound, status.Code(err))
	require.NoError(t, c.EtcdRemoveMemberByID(within(t), &machineapi.EtcdRemoveMemberByIDRequest{MemberId: 2}))
	_, err = c.EtcdForfeitLeadership(within(t), &machineapi.EtcdForfeitLeadershipRequest{})
	require.ErrorContains(t, err, "cannot forfeit leadership, only one member")
	require.NoError(t, c.EtcdLeaveCluster(within(t), &machineapi.EtcdLeaveClusterRequest{}))
	require.Empty(t, f.etcd.members)
}

func TestWorkerHasNoControlPlane(t *testing.T) {
	l := newLab(t)
	c := l.client(l.configured("1.13.8", machine.TypeWorker), role.Admin)
	_, status1 := c.EtcdStatus(within(t))
	_, members := c.EtcdMemberList(within(t), &machineapi.EtcdMemberListRequest{})
	_, kubeconfig := c.Kubeconfig(within(t))
	for text, err := range map[string]error{
		"etcd status is only available on control plane nodes": status1,
		"member list is only available on control plane nodes": members,
		"kubeconfig is only available on control plane nodes":  kubeconfig,
		"etcd leave is only available on control plane nodes":  c.EtcdLeaveCluster(within(t), &machineapi.EtcdLeaveClusterRequest{}),
	} {
		require.ErrorContains(t, err, text)
	}
}
