package kube

import (
	"context"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

const leaseNamespace = "kube-node-lease"

// beat renews the node's lease until the kubelet ends. While a fault blocks the heartbeat, no other call of the kubelet arrives either.
func (k *kubelet) beat() {
	var lease *coordinationv1.Lease
	for {
		k.audible.set(false)
		outcome, err := k.k.options.Faults.Meet(k.ctx, fault.Point{On: fault.Node, Name: "lease", Subject: k.name()})
		if err != nil {
			return
		}
		if outcome == nil {
			k.audible.set(true)
			if lease, err = k.renew(lease); err != nil && k.ctx.Err() == nil {
				k.k.options.Log.Warn("renew a lease", "node", k.name(), "error", err)
			}
		}
		if err := k.k.options.Pace.Wait(k.ctx, pace.Lease, k.host.name); err != nil {
			return
		}
	}
}

// renew writes the lease and returns it as written; nil means that the current one is not known.
func (k *kubelet) renew(lease *coordinationv1.Lease) (written *coordinationv1.Lease, err error) {
	err = k.try(func(ctx context.Context, a *api) error {
		leases := a.client.CoordinationV1().Leases(leaseNamespace)
		name, seconds, now := k.name(), int32(40), metav1.NewMicroTime(time.Now())
		if lease == nil {
			if lease, err = leases.Get(ctx, name, metav1.GetOptions{}); apierrors.IsNotFound(err) {
				written, err = leases.Create(ctx, &coordinationv1.Lease{
					ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: k.owners(false)},
					Spec:       coordinationv1.LeaseSpec{HolderIdentity: &name, LeaseDurationSeconds: &seconds, RenewTime: &now},
				}, metav1.CreateOptions{})
				return err
			}
			if err != nil {
				lease = nil
				return err
			}
		}
		lease.Spec.RenewTime = &now
		written, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return nil, err
	}
	return written, nil
}

// owners returns the Node as an owner reference.
func (k *kubelet) owners(controller bool) []metav1.OwnerReference {
	k.mu.Lock()
	defer k.mu.Unlock()
	owner := metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: k.spec.Node, UID: k.uid}
	if controller {
		owner.Controller = &controller
	}
	return []metav1.OwnerReference{owner}
}
