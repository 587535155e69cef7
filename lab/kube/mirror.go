package kube

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// mirror is the object in the API that shows a static pod.
type mirror struct {
	mu   sync.Mutex
	uid  types.UID // "" while it does not exist
	seen string    // when the kubelet first saw the pod
}

func (w *worker) static() bool { return w.mirror != nil }

func mirrorName(pod, node string) string { return pod + "-" + node }

// newMirror returns the object for a static pod.
func newMirror(pod *corev1.Pod, node, seen string, owners []metav1.OwnerReference) *corev1.Pod {
	hash := mirrorHash(pod)
	object := pod.DeepCopy()
	object.ObjectMeta = metav1.ObjectMeta{
		Name: mirrorName(pod.Name, node), Namespace: pod.Namespace,
		Labels: pod.Labels, Annotations: map[string]string{}, OwnerReferences: owners,
	}
	for key, value := range pod.Annotations {
		object.Annotations[key] = value
	}
	object.Annotations[corev1.MirrorPodAnnotationKey] = hash
	object.Annotations["kubernetes.io/config.hash"] = hash
	object.Annotations["kubernetes.io/config.seen"] = seen
	// Talos serves its static pods to the kubelet over HTTP.
	object.Annotations["kubernetes.io/config.source"] = "http"
	object.Spec.NodeName = node
	object.Spec.Tolerations = append(object.Spec.Tolerations, corev1.Toleration{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute})
	object.Status = corev1.PodStatus{}
	return object
}

// mirrorHash changes whenever the static pod does.
func mirrorHash(pod *corev1.Pod) string {
	// A pod can always be written as JSON.
	spec, _ := json.Marshal([]any{pod.Name, pod.Annotations, pod.Labels, pod.Spec})
	return digest(string(spec))[:32]
}

// reflect writes the status to the mirror, and creates the mirror if it does not exist. It waits for the Node, which owns the mirror.
func (w *worker) reflect(ctx context.Context, status corev1.PodStatus) error {
	if err := w.kubelet.registered.wait(ctx); err != nil {
		return err
	}
	uid, err := w.ensureMirror(ctx)
	if err != nil {
		return err
	}
	patch, err := statusPatch(uid, status)
	if err != nil {
		return err
	}
	err = w.kubelet.tryFor(ctx, func(ctx context.Context, a *api) error {
		_, err := a.client.CoreV1().Pods(w.born.Namespace).Patch(ctx, w.apiName(), types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
		return err
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		// It was deleted meanwhile: create it again.
		w.forgetMirror(uid)
		signal(w.dirty)
		return nil
	}
	return err
}

func (w *worker) forgetMirror(gone types.UID) {
	w.mirror.mu.Lock()
	defer w.mirror.mu.Unlock()
	if w.mirror.uid == gone {
		w.mirror.uid = ""
	}
}

// ensureMirror creates the mirror; the mirror of another static pod is deleted first. Only the worker's own publisher calls it.
func (w *worker) ensureMirror(ctx context.Context) (uid types.UID, err error) {
	w.mirror.mu.Lock()
	if w.mirror.seen == "" {
		w.mirror.seen = time.Now().UTC().Format(time.RFC3339Nano)
	}
	uid, seen := w.mirror.uid, w.mirror.seen
	w.mirror.mu.Unlock()
	if uid != "" {
		return uid, nil
	}
	object := newMirror(w.born, w.kubelet.name(), seen, w.kubelet.owners(true))
	err = w.kubelet.tryFor(ctx, func(ctx context.Context, a *api) error {
		uid, err = a.writeMirror(ctx, object)
		return err
	})
	w.mirror.mu.Lock()
	defer w.mirror.mu.Unlock()
	w.mirror.uid = uid
	return uid, err
}

// writeMirror keeps an identical existing mirror, and replaces any other.
func (a *api) writeMirror(ctx context.Context, object *corev1.Pod) (types.UID, error) {
	pods := a.client.CoreV1().Pods(object.Namespace)
	there, err := pods.Get(ctx, object.Name, metav1.GetOptions{})
	const hash = corev1.MirrorPodAnnotationKey
	if err == nil && there.Annotations[hash] == object.Annotations[hash] && there.DeletionTimestamp == nil {
		return there.UID, nil
	}
	if err == nil {
		err = pods.Delete(ctx, object.Name, atOnce(there.UID))
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return "", err
	}
	made, err := pods.Create(ctx, object, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return made.UID, nil
}

func isMirror(pod *corev1.Pod) bool {
	_, is := pod.Annotations[corev1.MirrorPodAnnotationKey]
	return is
}

// mirror is called when a mirror has changed or was deleted: the kubelet recreates it, and reverts changes of others.
func (h *host) mirror(object *corev1.Pod, there bool) {
	h.mu.Lock()
	static := h.static
	h.mu.Unlock()
	if static == nil {
		return
	}
	static.mu.Lock()
	defer static.mu.Unlock()
	for _, w := range static.workers {
		switch {
		case w.apiName() != object.Name:
		case !there:
			w.forgetMirror(object.UID)
			signal(w.dirty)
		case isReady(object) != w.isReady():
			signal(w.dirty)
		}
	}
}

// dropMirror deletes the mirror of a static pod that was removed.
func (p *staticPods) dropMirror(w *worker) {
	w.mirror.mu.Lock()
	uid := w.mirror.uid
	w.mirror.mu.Unlock()
	if uid == "" {
		return
	}
	w.kubelet.group.Go(func() {
		err := w.kubelet.try(func(ctx context.Context, a *api) error {
			return a.client.CoreV1().Pods(w.born.Namespace).Delete(ctx, w.apiName(), atOnce(uid))
		})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) && !errors.Is(err, context.Canceled) {
			p.k.options.Log.Warn("delete a mirror pod", "pod", w.apiName(), "error", err)
		}
	})
}
