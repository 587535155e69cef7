package kube

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

const (
	// callFor is the timeout of one call to the API; retryAfter is the delay before a retry. Both are the lab's own and simulate nothing.
	callFor    = 10 * time.Second
	retryAfter = 250 * time.Millisecond
)

// watch follows the cluster while an API server is up. It restarts whenever one comes up, so that nothing waits for an old watch to fail.
func (s *space) watch(ctx context.Context) {
	for {
		a, err := s.awaitAPI(ctx)
		if err != nil {
			return
		}
		session, cancel := context.WithCancel(ctx)
		s.follow(session, a)
		for alive, changed := s.alive(); alive && ctx.Err() == nil; alive, changed = s.alive() {
			select {
			case <-changed:
			case <-ctx.Done():
			}
		}
		cancel()
	}
}

// follow starts the watches; they end with the context.
func (s *space) follow(ctx context.Context, a *api) {
	factory := informers.NewSharedInformerFactory(a.client, 0)
	pods := factory.Core().V1().Pods().Informer()
	nodes := factory.Core().V1().Nodes().Informer()
	attachments := factory.Storage().V1().VolumeAttachments().Informer()
	handle(pods, s.podChanged, s.podGone)
	handle(nodes, s.nodeChanged, s.nodeGone)
	handle(factory.Apps().V1().Deployments().Informer(), s.deployments.changed, s.deployments.gone)
	handle(attachments, func(*storagev1.VolumeAttachment) { s.attach() }, func(*storagev1.VolumeAttachment) {})
	s.mu.Lock()
	s.pods, s.attachments = pods.GetStore(), attachments.GetStore()
	s.mu.Unlock()
	factory.Start(ctx.Done())
	s.watching.Go(func() {
		if cache.WaitForCacheSync(ctx.Done(), pods.HasSynced, nodes.HasSynced) {
			for _, k := range s.allKubelets() {
				k.reconcile()
			}
		}
		<-ctx.Done()
		factory.Shutdown()
	})
}

// handle calls with objects of the informer's type.
func handle[T any](informer cache.SharedIndexInformer, changed, gone func(T)) {
	// It fails only for an informer that was stopped already.
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { changed(object.(T)) },
		UpdateFunc: func(_, object any) { changed(object.(T)) },
		DeleteFunc: func(object any) {
			if last, missed := object.(cache.DeletedFinalStateUnknown); missed {
				object = last.Obj
			}
			gone(object.(T))
		},
	})
}

func (s *space) allKubelets() []*kubelet {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*kubelet, 0, len(s.kubelets))
	for _, k := range s.kubelets {
		all = append(all, k)
	}
	return all
}

func (s *space) kubelet(node string) *kubelet {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kubelets[node]
}

// boundTo returns the pods of a node, as last observed.
func (s *space) boundTo(node string) []*corev1.Pod {
	s.mu.Lock()
	store := s.pods
	s.mu.Unlock()
	if store == nil {
		return nil
	}
	var bound []*corev1.Pod
	for _, object := range store.List() {
		if pod := object.(*corev1.Pod); pod.Spec.NodeName == node {
			bound = append(bound, pod)
		}
	}
	return bound
}

func (s *space) podChanged(pod *corev1.Pod) {
	if k := s.kubelet(pod.Spec.NodeName); k != nil {
		k.podChanged(pod)
	}
	if attacher(pod) {
		s.attach()
	}
}

func (s *space) podGone(pod *corev1.Pod) {
	if k := s.kubelet(pod.Spec.NodeName); k != nil {
		k.podGone(pod)
	}
}

func (s *space) nodeChanged(node *corev1.Node) {
	if k := s.kubelet(node.Name); k != nil {
		k.nodeChanged(node)
	}
}

func (s *space) nodeGone(node *corev1.Node) {
	if k := s.kubelet(node.Name); k != nil {
		k.nodeChanged(nil)
	}
}

// try repeats a call until the API has answered it: errors of the call itself, such as an API server that is down, are transient.
func (s *space) try(ctx context.Context, call func(context.Context, *api) error) error {
	for {
		a, err := s.awaitAPI(ctx)
		if err != nil {
			return err
		}
		limited, cancel := context.WithTimeout(ctx, callFor)
		err = call(limited, a)
		cancel()
		if err == nil || decided(err) {
			return err
		}
		if err := wait(ctx, retryAfter); err != nil {
			return err
		}
	}
}

// decided reports whether an error is the API's answer, which a retry would not change.
func decided(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) ||
		apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) || apierrors.IsGone(err)
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
