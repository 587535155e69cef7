package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

// etcd is the etcd of one cluster: the member list and the process behind it.
type etcd struct {
	mu      sync.Mutex
	book    book
	process *etcdProcess
	changed chan struct{} // closed when the book changes
}

// data is the etcd data on a node's disk.
type data struct {
	cluster cluster.ID
	member  uint64 // 0 after a recovery that failed
}

// update changes the book and makes the process follow.
func (e *etcd) update(ctx context.Context, change func(*book) error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := change(&e.book); err != nil {
		return err
	}
	close(e.changed)
	e.changed = make(chan struct{})
	return e.process.settle(ctx, e.book.quorum(), e.book.idle())
}

// await waits until the book is as requested.
func (e *etcd) await(ctx context.Context, as func(*book) bool) error {
	for {
		e.mu.Lock()
		fulfilled, changed := as(&e.book), e.changed
		e.mu.Unlock()
		if fulfilled {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// StartEtcd starts a member.
func (k *Kubernetes) StartEtcd(ctx context.Context, host string, spec cluster.Member, bootstrap bool) error {
	h, e := k.host(host), k.cluster(spec.Cluster).etcd
	stored := h.etcdData()
	switch {
	case stored != nil && stored.cluster != spec.Cluster:
		return fmt.Errorf("etcd: the data is of another cluster: %w", rpctypes.Error(rpctypes.ErrGRPCClusterIDMismatch))
	case stored != nil && stored.member == 0:
		return errIncomplete
	case stored != nil:
		if err := e.update(ctx, func(b *book) error { return b.setRunning(stored.member, true) }); err != nil {
			return err
		}
		return k.becomeVoter(ctx, host, e, stored.member)
	case bootstrap:
		return k.bootstrapEtcd(ctx, h, e, spec)
	}
	return k.joinEtcd(ctx, h, e, spec)
}

func (k *Kubernetes) bootstrapEtcd(ctx context.Context, h *host, e *etcd, spec cluster.Member) error {
	if err := k.options.Pace.Wait(ctx, pace.Join, h.name); err != nil {
		return err
	}
	err := e.update(ctx, func(b *book) error {
		if len(b.members) > 0 {
			// In reality this creates a second cluster next to the first. The lab has one etcd per cluster, so it refuses.
			return fmt.Errorf("etcd: the cluster has %d members already", len(b.members))
		}
		if err := e.process.prepare(spec); err != nil {
			return err
		}
		first, err := b.add(h.name, spec.Name, spec.Address, false)
		if err != nil {
			return err
		}
		h.setEtcdData(&data{cluster: spec.Cluster, member: first.ID})
		return nil
	})
	if err != nil {
		return err
	}
	k.record(h.name, "etcd", "voter", "member", spec.Name)
	return nil
}

// joinEtcd adds the node as a learner, as Talos does: an existing entry with the same name is removed first.
func (k *Kubernetes) joinEtcd(ctx context.Context, h *host, e *etcd, spec cluster.Member) error {
	var added *member
	for added == nil {
		if err := e.await(ctx, func(b *book) bool { return len(b.members) > 0 && b.quorum() }); err != nil {
			return err
		}
		err := e.update(ctx, func(b *book) error {
			if old := b.named(spec.Name); old != nil {
				if err := b.remove(old.ID); err != nil {
					return err
				}
			}
			m, err := b.add(h.name, spec.Name, spec.Address, true)
			if err != nil {
				return err
			}
			added = m
			return nil
		})
		if errors.Is(err, rpctypes.ErrTooManyLearners) || errors.Is(err, rpctypes.ErrUnhealthy) {
			if err := k.options.Pace.Wait(ctx, pace.Join, h.name); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
	}
	h.setEtcdData(&data{cluster: spec.Cluster, member: added.ID})
	k.record(h.name, "etcd", "learner", "member", spec.Name)
	return k.becomeVoter(ctx, h.name, e, added.ID)
}

// becomeVoter returns when the member is a voter.
func (k *Kubernetes) becomeVoter(ctx context.Context, host string, e *etcd, id uint64) error {
	learner, name := false, ""
	if err := e.await(ctx, func(b *book) bool {
		m := b.find(id)
		if m != nil {
			learner, name = m.Learner, m.Hostname
		}
		return true
	}); err != nil {
		return err
	}
	if !learner {
		k.record(host, "etcd", "started", "member", name)
		return nil
	}
	if err := k.options.Pace.Wait(ctx, pace.Join, host); err != nil {
		return err
	}
	if _, err := k.options.Faults.Meet(ctx, fault.Point{On: fault.Member, Name: "promote", Subject: host}); err != nil {
		return err
	}
	if err := e.await(ctx, (*book).quorum); err != nil {
		return err
	}
	if err := e.update(ctx, func(b *book) error { return b.promote(id) }); err != nil {
		return err
	}
	k.record(host, "etcd", "voter", "member", name)
	return nil
}

// StopEtcd stops the process; the member stays in the list.
func (k *Kubernetes) StopEtcd(host string) {
	stored := k.host(host).etcdData()
	if stored == nil {
		return
	}
	// Only a member of the list can stop.
	err := k.cluster(stored.cluster).etcd.update(k.ctx, func(b *book) error { return b.setRunning(stored.member, false) })
	if err == nil {
		k.record(host, "etcd", "stopped")
	}
}

// Initialized reports whether the cluster has an etcd to join.
func (k *Kubernetes) Initialized(id cluster.ID) bool {
	e := k.cluster(id).etcd
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.book.members) > 0
}

// HasData reports whether the node's disk has etcd data.
func (k *Kubernetes) HasData(host string) bool { return k.host(host).etcdData() != nil }

// WipeEtcd deletes the data, an uploaded snapshot, and the images, which are on the same partition. When no node has data any more, the cluster's data is deleted too.
func (k *Kubernetes) WipeEtcd(host string) {
	h := k.host(host)
	stored := h.etcdData()
	h.wipe()
	k.dropSnapshot(host)
	if stored == nil {
		return
	}
	k.StopEtcd(host)
	if k.anyData(stored.cluster) {
		return
	}
	e := k.cluster(stored.cluster).etcd
	err := e.update(k.ctx, func(b *book) error {
		for _, m := range b.list() {
			b.forget(m.ID)
		}
		return nil
	})
	if err := errors.Join(err, e.process.wipe()); err != nil {
		k.options.Log.Error("drop the data of etcd", "cluster", stored.cluster, "error", err)
	}
}

// answering runs a call of a node's own member against the real etcd. Without a majority it fails as in etcd, after a timeout.
func (k *Kubernetes) answering(ctx context.Context, host string, call func(*etcd, *member, *clientv3.Client) error) error {
	stored := k.host(host).etcdData()
	if stored == nil {
		return errors.New("etcd is not running")
	}
	e := k.cluster(stored.cluster).etcd
	e.mu.Lock()
	var own *member
	if m := e.book.find(stored.member); m != nil && m.running {
		entry := *m
		own = &entry
	}
	answers, client := e.book.quorum(), e.process.client
	e.mu.Unlock()
	if own == nil {
		return errors.New("etcd is not running")
	}
	if !answers || client == nil {
		if err := k.options.Pace.Wait(ctx, pace.Quorum, host); err != nil {
			return err
		}
		return rpctypes.Error(rpctypes.ErrGRPCTimeout)
	}
	return call(e, own, client)
}

// Members returns the member list.
func (k *Kubernetes) Members(ctx context.Context, host string) (members []cluster.MemberInfo, err error) {
	err = k.answering(ctx, host, func(e *etcd, _ *member, _ *clientv3.Client) error {
		e.mu.Lock()
		defer e.mu.Unlock()
		members = e.book.list()
		return nil
	})
	return members, err
}

// RemoveMember removes a member from the list.
func (k *Kubernetes) RemoveMember(ctx context.Context, host string, id uint64) error {
	return k.answering(ctx, host, func(e *etcd, _ *member, _ *clientv3.Client) error {
		return e.update(ctx, func(b *book) error {
			m := b.find(id)
			if err := b.remove(id); err != nil {
				return err
			}
			k.record(m.host, "etcd", "removed", "member", m.Hostname)
			return nil
		})
	})
}

// Leave removes the node's own member from the list and stops it.
func (k *Kubernetes) Leave(ctx context.Context, host string) error {
	return k.answering(ctx, host, func(e *etcd, own *member, _ *clientv3.Client) error {
		return e.update(ctx, func(b *book) error {
			b.forget(own.ID)
			k.record(host, "etcd", "left", "member", own.Hostname)
			return nil
		})
	})
}

// MoveLeader makes another member the leader, and returns its name.
func (k *Kubernetes) MoveLeader(ctx context.Context, host string) (leader string, err error) {
	err = k.answering(ctx, host, func(e *etcd, own *member, _ *clientv3.Client) error {
		return e.update(ctx, func(b *book) error {
			m, err := b.move(own.ID)
			if err != nil {
				return err
			}
			leader = m.Hostname
			k.record(m.host, "etcd", "leads", "member", m.Hostname)
			return nil
		})
	})
	return leader, err
}

// MemberStatus returns the status that a member reports: whatever follows from the member list is simulated, the rest is the real etcd's.
func (k *Kubernetes) MemberStatus(ctx context.Context, host string) (status cluster.MemberStatus, err error) {
	err = k.answering(ctx, host, func(e *etcd, own *member, client *clientv3.Client) error {
		real, err := client.Status(ctx, e.process.endpoint())
		if err != nil {
			return err
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		status = cluster.MemberStatus{
			ID: own.ID, Leader: e.book.leader, Learner: own.Learner,
			RaftIndex: real.RaftIndex, RaftTerm: real.RaftTerm,
			DBSize: real.DbSize, Version: real.Version, Errors: real.Errors,
		}
		return nil
	})
	return status, err
}

// Snapshot writes the real etcd's data.
func (k *Kubernetes) Snapshot(ctx context.Context, host string, to io.Writer) error {
	return k.answering(ctx, host, func(_ *etcd, _ *member, client *clientv3.Client) error {
		snapshot, err := client.Snapshot(ctx)
		if err != nil {
			return err
		}
		_, err = io.Copy(to, snapshot)
		return errors.Join(err, snapshot.Close())
	})
}
