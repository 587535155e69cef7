package kube

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"net/netip"
	"slices"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
)

// errRemoved is etcd's error for a start with the data of a member that is no longer in the list.
var errRemoved = errors.New("the member has been permanently removed from the cluster")

// book is the member list of one cluster. The lab runs one etcd process for all members; the book simulates the rest, by etcd's rules: which members there
// are, which of them run, which one leads, and whether there is a majority.
type book struct {
	cluster cluster.ID
	members []*member
	leader  uint64
	joined  uint64 // how many ever joined, so that no id is used twice
}

// member is one entry, with the lab's additional data.
type member struct {
	cluster.MemberInfo
	host    string
	running bool
}

// add adds a member. A learner needs a running majority, and there can be only one learner.
func (b *book) add(host, name string, address netip.Addr, learner bool) (*member, error) {
	if learner {
		if !b.quorum() {
			return nil, rpctypes.Error(rpctypes.ErrGRPCUnhealthy)
		}
		if slices.ContainsFunc(b.members, func(m *member) bool { return m.Learner }) {
			return nil, rpctypes.Error(rpctypes.ErrGRPCTooManyLearners)
		}
	}
	b.joined++
	added := &member{
		MemberInfo: cluster.MemberInfo{
			ID:         memberID(b.cluster, name, b.joined),
			Hostname:   name,
			PeerURLs:   []string{"https://" + netip.AddrPortFrom(address, 2380).String()},
			ClientURLs: []string{"https://" + netip.AddrPortFrom(address, 2379).String()},
			Learner:    learner,
		},
		host: host, running: true,
	}
	b.members = append(b.members, added)
	b.elect()
	return added, nil
}

// memberID returns an id as etcd generates it: the same for the same history.
func memberID(id cluster.ID, name string, joined uint64) uint64 {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(string(id) + "\x00" + name + "\x00"))
	_ = binary.Write(hash, binary.BigEndian, joined)
	return hash.Sum64()
}

func (b *book) find(id uint64) *member {
	for _, m := range b.members {
		if m.ID == id {
			return m
		}
	}
	return nil
}

func (b *book) named(name string) *member {
	for _, m := range b.members {
		if m.Hostname == name {
			return m
		}
	}
	return nil
}

// remove removes a member, unless the others would have no majority.
func (b *book) remove(id uint64) error {
	if b.find(id) == nil {
		return rpctypes.Error(rpctypes.ErrGRPCMemberNotFound)
	}
	rest := slices.DeleteFunc(slices.Clone(b.members), func(m *member) bool { return m.ID == id })
	if !b.find(id).Learner && !majority(rest) {
		return rpctypes.Error(rpctypes.ErrGRPCUnhealthy)
	}
	b.members = rest
	b.elect()
	return nil
}

// forget removes a member, whatever the state of the others.
func (b *book) forget(id uint64) {
	b.members = slices.DeleteFunc(b.members, func(m *member) bool { return m.ID == id })
	b.elect()
}

// promote makes a learner a voter.
func (b *book) promote(id uint64) error {
	m := b.find(id)
	switch {
	case m == nil:
		return rpctypes.Error(rpctypes.ErrGRPCMemberNotFound)
	case !b.quorum():
		return rpctypes.Error(rpctypes.ErrGRPCUnhealthy)
	}
	m.Learner = false
	return nil
}

// setRunning records that the member's process started or stopped.
func (b *book) setRunning(id uint64, running bool) error {
	m := b.find(id)
	if m == nil {
		return fmt.Errorf("etcd: %w", errRemoved)
	}
	m.running = running
	b.elect()
	return nil
}

// elect keeps the leader while it runs and is a voter; otherwise the first such member becomes the leader.
func (b *book) elect() {
	if !b.quorum() {
		b.leader = 0
		return
	}
	if m := b.find(b.leader); m != nil && m.running && !m.Learner {
		return
	}
	for _, m := range b.members {
		if m.running && !m.Learner {
			b.leader = m.ID
			return
		}
	}
}

// move makes another running voter the leader.
func (b *book) move(from uint64) (*member, error) {
	for _, m := range b.members {
		if m.ID != from && m.running && !m.Learner {
			b.leader = m.ID
			return m, nil
		}
	}
	return nil, rpctypes.Error(rpctypes.ErrGRPCBadLeaderTransferee)
}

// quorum reports whether a majority of the voters runs.
func (b *book) quorum() bool { return majority(b.members) }

// idle reports whether no member runs.
func (b *book) idle() bool {
	return !slices.ContainsFunc(b.members, func(m *member) bool { return m.running })
}

func (b *book) list() []cluster.MemberInfo {
	list := make([]cluster.MemberInfo, 0, len(b.members))
	for _, m := range b.members {
		list = append(list, m.MemberInfo)
	}
	return list
}

func majority(members []*member) bool {
	voters, running := 0, 0
	for _, m := range members {
		if !m.Learner {
			voters++
			if m.running {
				running++
			}
		}
	}
	return running > voters/2
}
