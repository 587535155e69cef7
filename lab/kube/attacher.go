package kube

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

// attacher reports whether the pod attaches volumes and is Ready.
func attacher(pod *corev1.Pod) bool {
	if !isReady(pod) {
		return false
	}
	for _, c := range pod.Spec.Containers {
		if c.Name == "csi-attacher" {
			return true
		}
	}
	return false
}

// attach simulates the csi-attacher: volumes that the controller manager wants attached are attached after a delay, while a pod for that is Ready.
func (s *space) attach() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pods == nil || !anyAttacher(s.pods.List()) {
		return
	}
	for _, object := range s.attachments.List() {
		wanted := object.(*storagev1.VolumeAttachment)
		if wanted.Status.Attached || wanted.DeletionTimestamp != nil || s.attaching[wanted.UID] {
			continue
		}
		s.attaching[wanted.UID] = true
		s.watching.Go(func() { s.attachOne(wanted) })
	}
}

func anyAttacher(pods []any) bool {
	for _, object := range pods {
		if attacher(object.(*corev1.Pod)) {
			return true
		}
	}
	return false
}

func (s *space) attachOne(wanted *storagev1.VolumeAttachment) {
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.attaching, wanted.UID)
	}()
	ctx := s.k.ctx
	if err := s.k.options.Pace.Wait(ctx, pace.Attach, wanted.Spec.NodeName); err != nil {
		return
	}
	err := s.try(ctx, func(ctx context.Context, a *api) error {
		_, err := a.client.StorageV1().VolumeAttachments().Patch(ctx, wanted.Name, types.MergePatchType,
			[]byte(`{"status":{"attached":true}}`), metav1.PatchOptions{}, "status")
		return err
	})
	if err != nil {
		if !apierrors.IsNotFound(err) && ctx.Err() == nil {
			s.k.options.Log.Warn("attach a volume", "attachment", wanted.Name, "error", err)
		}
		return
	}
	s.k.record(string(s.id), "volume", "attached", "node", wanted.Spec.NodeName, "driver", wanted.Spec.Attacher)
}

// isAttached reports whether a volume is attached to the node.
func (s *space) isAttached(volume, node string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.attachments == nil {
		return false
	}
	for _, object := range s.attachments.List() {
		at := object.(*storagev1.VolumeAttachment)
		if at.Spec.NodeName == node && at.Spec.Source.PersistentVolumeName != nil && *at.Spec.Source.PersistentVolumeName == volume {
			return at.Status.Attached
		}
	}
	return false
}
