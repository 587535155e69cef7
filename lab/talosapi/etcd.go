package talosapi

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/siderolabs/talos/internal/app/internal/machinehelper"
	"github.com/siderolabs/talos/internal/pkg/etcd"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
)

// leaderMover is an etcd that can move its leadership. It returns the new leader.
type leaderMover interface {
	MoveLeader(ctx context.Context, host string) (string, error)
}

// etcdFor returns the etcd, if the node runs it.
func (n *node) etcdFor(ctx context.Context, api string) (cluster.Etcd, error) {
	if err := machinehelper.CheckControlplane(ctx, n.Resources(), api); err != nil {
		return nil, err
	}
	return n.Etcd(), nil
}

// etcdOfCluster returns the etcd, if the node knows a member to ask.
func (n *node) etcdOfCluster(ctx context.Context, api string) (cluster.Etcd, error) {
	members, err := n.etcdFor(ctx, api)
	if err != nil || members.HasData(n.Host()) {
		return members, err
	}
	_, err = etcd.GetEndpoints(ctx, n.Resources())
	return members, err
}

// EtcdMemberList lists the members.
func (s *etcdCalls) EtcdMemberList(ctx context.Context, in *machine.EtcdMemberListRequest) (*machine.EtcdMemberListResponse, error) {
	find := s.node.etcdOfCluster
	if in.GetQueryLocal() {
		find = s.node.etcdFor
	}
	members, err := find(ctx, "member list")
	if err != nil {
		return nil, err
	}
	list, err := members.Members(ctx, s.node.Host())
	if err != nil {
		return nil, err
	}
	message := &machine.EtcdMembers{}
	for _, member := range list {
		message.LegacyMembers = append(message.LegacyMembers, member.Hostname)
		message.Members = append(message.Members, &machine.EtcdMember{
			Id: member.ID, Hostname: member.Hostname, PeerUrls: member.PeerURLs, ClientUrls: member.ClientURLs, IsLearner: member.Learner,
		})
	}
	return &machine.EtcdMemberListResponse{Messages: []*machine.EtcdMembers{message}}, nil
}

// EtcdRemoveMemberByID removes a member from the list.
func (s *etcdCalls) EtcdRemoveMemberByID(ctx context.Context, in *machine.EtcdRemoveMemberByIDRequest) (*machine.EtcdRemoveMemberByIDResponse, error) {
	members, err := s.node.etcdOfCluster(ctx, "etcd remove member")
	if err != nil {
		return nil, err
	}
	if err := members.RemoveMember(ctx, s.node.Host(), in.GetMemberId()); err != nil {
		if errors.Is(err, rpctypes.ErrMemberNotFound) {
			return nil, status.Error(codes.NotFound, err.Error())
		}
		return nil, fmt.Errorf("failed to remove member: %w", err)
	}
	return &machine.EtcdRemoveMemberByIDResponse{Messages: []*machine.EtcdRemoveMemberByID{{}}}, nil
}

// EtcdLeaveCluster removes the node's own member from the list.
func (s *etcdCalls) EtcdLeaveCluster(ctx context.Context, _ *machine.EtcdLeaveClusterRequest) (*machine.EtcdLeaveClusterResponse, error) {
	members, err := s.node.etcdOfCluster(ctx, "etcd leave")
	if err != nil {
		return nil, err
	}
	if err := members.Leave(ctx, s.node.Host()); err != nil {
		return nil, fmt.Errorf("failed to leave cluster: %w", err)
	}
	return &machine.EtcdLeaveClusterResponse{Messages: []*machine.EtcdLeaveCluster{{}}}, nil
}

// EtcdForfeitLeadership makes another member the leader.
func (s *etcdCalls) EtcdForfeitLeadership(ctx context.Context, _ *machine.EtcdForfeitLeadershipRequest) (*machine.EtcdForfeitLeadershipResponse, error) {
	members, err := s.node.etcdOfCluster(ctx, "etcd forfeit leadership")
	if err != nil {
		return nil, err
	}
	list, err := members.Members(ctx, s.node.Host())
	if err != nil {
		return nil, fmt.Errorf("failed to forfeit leadership: failed to list etcd members: %w", err)
	}
	if len(list) == 1 {
		return nil, errors.New("failed to forfeit leadership: cannot forfeit leadership, only one member")
	}
	own, err := members.MemberStatus(ctx, s.node.Host())
	if err != nil {
		return nil, fmt.Errorf("failed to forfeit leadership: %w", err)
	}
	message := &machine.EtcdForfeitLeadership{}
	if own.Leader == own.ID {
		mover, can := members.(leaderMover)
		if !can {
			return nil, status.Error(codes.Unimplemented, "the etcd of this lab does not move its leadership")
		}
		if message.Member, err = mover.MoveLeader(ctx, s.node.Host()); err != nil {
			return nil, fmt.Errorf("failed to forfeit leadership: %w", err)
		}
	}
	return &machine.EtcdForfeitLeadershipResponse{Messages: []*machine.EtcdForfeitLeadership{message}}, nil
}

// EtcdSnapshot streams the database.
func (s *etcdCalls) EtcdSnapshot(_ *machine.EtcdSnapshotRequest, stream machine.MachineService_EtcdSnapshotServer) error {
	members, err := s.node.etcdFor(stream.Context(), "etcd snapshot")
	if err != nil {
		return err
	}
	if err := members.Snapshot(stream.Context(), s.node.Host(), dataWriter(stream.Send)); err != nil {
		return fmt.Errorf("failed reading etcd snapshot: %w", err)
	}
	return nil
}

// EtcdStatus returns the status of the node's own member.
func (s *etcdCalls) EtcdStatus(ctx context.Context, _ *emptypb.Empty) (*machine.EtcdStatusResponse, error) {
	own, err := s.node.memberStatus(ctx, "etcd status")
	if err != nil {
		return nil, err
	}
	return &machine.EtcdStatusResponse{Messages: []*machine.EtcdStatus{{MemberStatus: &machine.EtcdMemberStatus{
		MemberId: own.ID, ProtocolVersion: own.Version, StorageVersion: storageVersion(own.Version),
		DbSize: own.DBSize, DbSizeInUse: own.DBSize,
		Leader: own.Leader, RaftIndex: own.RaftIndex, RaftTerm: own.RaftTerm, RaftAppliedIndex: own.RaftIndex,
		Errors: own.Errors, IsLearner: own.Learner,
	}}}}, nil
}

// EtcdAlarmList lists the alarms in the member's status.
func (s *etcdCalls) EtcdAlarmList(ctx context.Context, _ *emptypb.Empty) (*machine.EtcdAlarmListResponse, error) {
	own, err := s.node.memberStatus(ctx, "etcd alarm list")
	if err != nil {
		return nil, err
	}
	return &machine.EtcdAlarmListResponse{Messages: []*machine.EtcdAlarm{{MemberAlarms: alarms(own)}}}, nil
}

// EtcdAlarmDisarm answers with the existing alarms. They stay as long as their causes.
func (s *etcdCalls) EtcdAlarmDisarm(ctx context.Context, _ *emptypb.Empty) (*machine.EtcdAlarmDisarmResponse, error) {
	own, err := s.node.memberStatus(ctx, "etcd alarm disarm")
	if err != nil {
		return nil, err
	}
	return &machine.EtcdAlarmDisarmResponse{Messages: []*machine.EtcdAlarmDisarm{{MemberAlarms: alarms(own)}}}, nil
}

// EtcdDefragment has no visible effect.
func (s *etcdCalls) EtcdDefragment(ctx context.Context, _ *emptypb.Empty) (*machine.EtcdDefragmentResponse, error) {
	if _, err := s.node.memberStatus(ctx, "etcd defragment"); err != nil {
		return nil, err
	}
	return &machine.EtcdDefragmentResponse{Messages: []*machine.EtcdDefragment{{}}}, nil
}

func (n *node) memberStatus(ctx context.Context, api string) (cluster.MemberStatus, error) {
	members, err := n.etcdFor(ctx, api)
	if err != nil {
		return cluster.MemberStatus{}, err
	}
	own, err := members.MemberStatus(ctx, n.Host())
	if err != nil {
		return own, fmt.Errorf("failed to query etcd status: %w", err)
	}
	return own, nil
}

// storageVersion returns the format of the database: that of the minor version.
func storageVersion(version string) string {
	parts := strings.Split(version, ".")
	if len(parts) < 2 {
		return "unknown"
	}
	return parts[0] + "." + parts[1] + ".0"
}

func alarms(own cluster.MemberStatus) []*machine.EtcdMemberAlarm {
	var found []*machine.EtcdMemberAlarm
	for _, kind := range []machine.EtcdMemberAlarm_AlarmType{machine.EtcdMemberAlarm_NOSPACE, machine.EtcdMemberAlarm_CORRUPT} {
		if strings.Contains(strings.Join(own.Errors, " "), kind.String()) {
			found = append(found, &machine.EtcdMemberAlarm{MemberId: own.ID, Alarm: kind})
		}
	}
	return found
}

// quorumSurvivesReboot refuses an upgrade that would stop etcd.
func (n *node) quorumSurvivesReboot(ctx context.Context) error {
	list, err := n.Etcd().Members(ctx, n.Host())
	if err != nil {
		return err
	}
	if len(list) == 2 {
		return fmt.Errorf("etcd member count(%d) is insufficient to maintain quorum if upgrade commences", len(list))
	}
	for _, member := range list {
		if member.Hostname == "" {
			return fmt.Errorf("etcd member %016x is not started, all members must be running to perform an upgrade", member.ID)
		}
	}
	return nil
}
