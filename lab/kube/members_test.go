package kube

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// bookOf has that many voters, all running.
func bookOf(t *testing.T, voters int) *book {
	t.Helper()
	b := &book{cluster: "test"}
	for i := range voters {
		join(t, b, i+1)
	}
	return b
}

func join(t *testing.T, b *book, number int) *member {
	t.Helper()
	name := fmt.Sprintf("cp-%d", number)
	m, err := b.add(name, name, netip.AddrFrom4([4]byte{10, 0, 0, byte(number)}), number > 1)
	require.NoError(t, err)
	if m.Learner {
		require.NoError(t, b.promote(m.ID))
	}
	return m
}

func TestBookKnowsItsMajority(t *testing.T) {
	for _, test := range []struct {
		voters, stopped int
		quorum, idle    bool
	}{
		{voters: 0, quorum: false, idle: true},
		{voters: 1, quorum: true},
		{voters: 1, stopped: 1, idle: true},
		{voters: 2, stopped: 1},
		{voters: 3, stopped: 1, quorum: true},
		{voters: 3, stopped: 2},
		{voters: 5, stopped: 2, quorum: true},
		{voters: 5, stopped: 3},
		{voters: 5, stopped: 5, idle: true},
	} {
		t.Run(fmt.Sprintf("%d of %d stopped", test.stopped, test.voters), func(t *testing.T) {
			b := bookOf(t, test.voters)
			for _, m := range b.members[:test.stopped] {
				require.NoError(t, b.setRunning(m.ID, false))
			}
			require.Equal(t, test.quorum, b.quorum())
			require.Equal(t, test.idle, b.idle())
			require.Equal(t, test.quorum, b.leader != 0, "there is a leader exactly with a majority")
		})
	}
}

func TestBookNamesMembersAsTalosDoes(t *testing.T) {
	list := bookOf(t, 1).list()
	require.Equal(t, "cp-1", list[0].Hostname)
	require.Equal(t, []string{"https://10.0.0.1:2380"}, list[0].PeerURLs)
	require.Equal(t, []string{"https://10.0.0.1:2379"}, list[0].ClientURLs)
	require.Equal(t, list, bookOf(t, 1).list(), "the same history gives the same ids")
}

func TestLearnerIsNoVoter(t *testing.T) {
	b := bookOf(t, 1)
	learner, err := b.add("cp-2", "cp-2", netip.MustParseAddr("10.0.0.2"), true)
	require.NoError(t, err)
	_, err = b.add("cp-3", "cp-3", netip.MustParseAddr("10.0.0.3"), true)
	require.ErrorIs(t, err, rpctypes.ErrTooManyLearners)
	require.NoError(t, b.setRunning(learner.ID, false))
	require.True(t, b.quorum(), "a learner that stopped costs no majority")
	require.NoError(t, b.promote(learner.ID))
	require.False(t, b.quorum(), "a voter that stopped does")
	_, err = b.add("cp-3", "cp-3", netip.MustParseAddr("10.0.0.3"), true)
	require.ErrorIs(t, err, rpctypes.ErrUnhealthy)
}

func TestLeaderIsARunningVoter(t *testing.T) {
	b := bookOf(t, 3)
	first := b.members[0]
	require.Equal(t, first.ID, b.leader)
	require.NoError(t, b.setRunning(first.ID, false))
	require.Equal(t, b.members[1].ID, b.leader)
	require.NoError(t, b.setRunning(first.ID, true))
	require.Equal(t, b.members[1].ID, b.leader, "a leader stays one")
}

func TestLeadersThatForfeit(t *testing.T) {
	b := bookOf(t, 3)
	first, second, third := b.members[0], b.members[1], b.members[2]
	require.NoError(t, b.setRunning(second.ID, false))
	next, err := b.move(first.ID)
	require.NoError(t, err)
	require.Equal(t, third, next, "one that runs")
	require.Equal(t, third.ID, b.leader)
	_, err = bookOf(t, 1).move(first.ID)
	require.ErrorIs(t, err, rpctypes.ErrBadLeaderTransferee)
}

func TestMembersThatAreRemoved(t *testing.T) {
	b := bookOf(t, 3)
	gone := b.members[2]
	require.NoError(t, b.remove(gone.ID))
	require.ErrorIs(t, b.remove(gone.ID), rpctypes.ErrMemberNotFound)
	require.ErrorContains(t, b.setRunning(gone.ID, true), "the member has been permanently removed from the cluster")
	require.NoError(t, b.setRunning(b.members[0].ID, false))
	require.ErrorIs(t, b.remove(b.members[1].ID), rpctypes.ErrUnhealthy, "who stays would have no majority")
	require.NotEqual(t, gone.ID, join(t, bookAfter(t, gone.ID), 3).ID, "who comes again is another member")
}

// bookAfter has two voters and had a third.
func bookAfter(t *testing.T, gone uint64) *book {
	t.Helper()
	b := bookOf(t, 3)
	require.NoError(t, b.remove(gone))
	return b
}
