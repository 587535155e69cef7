package kube

import (
	"context"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// apiName returns the pod's name in the API: for static pods it contains the node's name.
func (w *worker) apiName() string {
	if w.static() {
		return mirrorName(w.born.Name, w.kubelet.name())
	}
	return w.born.Name
}

// patchStatus writes the status of a pod of the API.
func (w *worker) patchStatus(ctx context.Context, status corev1.PodStatus) error {
	patch, err := statusPatch(w.born.UID, status)
	if err != nil {
		return err
	}
	err = w.kubelet.tryFor(ctx, func(ctx context.Context, a *api) error {
		_, err := a.client.CoreV1().Pods(w.born.Namespace).Patch(ctx, w.born.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
		return err
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		// The pod was replaced or deleted meanwhile; the watch reports that too.
		return nil
	}
	return err
}

// statusPatch merges: conditions that others set are kept.
func statusPatch(uid types.UID, status corev1.PodStatus) ([]byte, error) {
	data, err := json.Marshal(status)
	if err != nil {
		return nil, err
	}
	fields := map[string]any{}
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	// The scheduler schedules a pod, and the API server sets its class.
	delete(fields, "qosClass")
	// A restarted pod has new addresses instead of the old ones.
	ips, _ := fields["podIPs"].([]any)
	fields["podIPs"] = append([]any{map[string]any{"$patch": "replace"}}, ips...)
	return json.Marshal(map[string]any{"metadata": map[string]any{"uid": uid}, "status": fields})
}

// remove deletes a pod whose containers have ended from the API.
func (w *worker) remove() error {
	err := w.kubelet.tryFor(w.ctx, func(ctx context.Context, a *api) error {
		return a.client.CoreV1().Pods(w.born.Namespace).Delete(ctx, w.born.Name, atOnce(w.born.UID))
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// atOnce deletes exactly this pod, without a grace period.
func atOnce(uid types.UID) metav1.DeleteOptions {
	options := *metav1.NewDeleteOptions(0)
	options.Preconditions = metav1.NewUIDPreconditions(string(uid))
	return options
}
