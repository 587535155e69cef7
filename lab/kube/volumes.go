package kube

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

// volumes waits until every volume of the pod can be mounted, and reports obstacles as Events, like a kubelet.
func (w *worker) volumes(ctx context.Context) error {
	for _, volume := range w.born.Spec.Volumes {
		said := ""
		for retries := (backoff{}); ; {
			missing, err := w.missing(ctx, volume)
			if err != nil {
				return err
			}
			if missing == "" {
				break
			}
			if missing != said {
				said = missing
				w.event(corev1.EventTypeWarning, "FailedMount", fmt.Sprintf("MountVolume.SetUp failed for volume %q : %s", volume.Name, missing))
			}
			base := w.kubelet.k.options.Pace.Of(pace.Mount, w.kubelet.host.name+" "+w.subject)
			if err := wait(ctx, min(retries.next(base), 20*base)); err != nil {
				return err
			}
		}
	}
	return context.Cause(ctx)
}

// missing returns what prevents a volume from being mounted; "" means nothing.
func (w *worker) missing(ctx context.Context, volume corev1.Volume) (string, error) {
	for _, needed := range sources(w.born.Namespace, volume.VolumeSource) {
		found, err := w.exists(ctx, needed)
		if err != nil {
			return "", err
		}
		if !found {
			return fmt.Sprintf("%s %q not found", needed.kind, needed.name), nil
		}
	}
	claim := ""
	switch {
	case volume.PersistentVolumeClaim != nil:
		claim = volume.PersistentVolumeClaim.ClaimName
	case volume.Ephemeral != nil:
		claim = w.born.Name + "-" + volume.Name
	default:
		return "", nil
	}
	return w.unattached(ctx, claim)
}

// sources returns the Secrets and ConfigMaps of a volume.
func sources(namespace string, source corev1.VolumeSource) []object {
	var needed []object
	need := func(kind, name string, optional *bool) {
		if optional == nil || !*optional {
			needed = append(needed, object{kind, namespace, name})
		}
	}
	if source.Secret != nil {
		need("secret", source.Secret.SecretName, source.Secret.Optional)
	}
	if source.ConfigMap != nil {
		need("configmap", source.ConfigMap.Name, source.ConfigMap.Optional)
	}
	if source.Projected != nil {
		for _, part := range source.Projected.Sources {
			if part.Secret != nil {
				need("secret", part.Secret.Name, part.Secret.Optional)
			}
			if part.ConfigMap != nil {
				need("configmap", part.ConfigMap.Name, part.ConfigMap.Optional)
			}
		}
	}
	return needed
}

// unattached returns what a claim waits for until its volume is attached to the node.
func (w *worker) unattached(ctx context.Context, claim string) (missing string, err error) {
	err = w.kubelet.tryFor(ctx, func(ctx context.Context, a *api) error {
		missing = ""
		bound, err := a.client.CoreV1().PersistentVolumeClaims(w.born.Namespace).Get(ctx, claim, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			missing = fmt.Sprintf("persistentvolumeclaim %q not found", claim)
			return nil
		}
		if err != nil {
			return err
		}
		if bound.Status.Phase != corev1.ClaimBound {
			missing = fmt.Sprintf("PVC %s/%s is not bound", w.born.Namespace, claim)
			return nil
		}
		volume, err := a.client.CoreV1().PersistentVolumes().Get(ctx, bound.Spec.VolumeName, metav1.GetOptions{})
		if err != nil || volume.Spec.CSI == nil {
			return err
		}
		driver := volume.Spec.CSI.Driver
		if !w.kubelet.hasDriver(driver) {
			missing = fmt.Sprintf("kubernetes.io/csi: driver name %s not found in the list of registered CSI drivers", driver)
			return nil
		}
		info, err := a.client.StorageV1().CSIDrivers().Get(ctx, driver, metav1.GetOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
		if err == nil && !needsAttach(info) {
			return nil
		}
		if !w.kubelet.space.isAttached(volume.Name, w.kubelet.name()) {
			missing = fmt.Sprintf("volume %s is not attached to node %s", volume.Name, w.kubelet.name())
		}
		return nil
	})
	return missing, err
}

func needsAttach(driver *storagev1.CSIDriver) bool {
	return driver.Spec.AttachRequired == nil || *driver.Spec.AttachRequired
}
