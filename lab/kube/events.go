package kube

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
)

// newBroadcaster writes Events as every component of Kubernetes does.
func newBroadcaster(s *space) record.EventBroadcaster {
	broadcaster := record.NewBroadcaster()
	broadcaster.StartRecordingToSink(eventSink{s})
	return broadcaster
}

// eventSink waits for the API, while others would give up or be late.
type eventSink struct{ space *space }

func (e eventSink) write(event *corev1.Event, call func(context.Context, typedcorev1.EventInterface) (*corev1.Event, error)) (*corev1.Event, error) {
	written := event
	err := e.space.try(e.space.k.ctx, func(ctx context.Context, a *api) (err error) {
		written, err = call(ctx, a.client.CoreV1().Events(event.Namespace))
		return err
	})
	if e.space.k.ctx.Err() != nil {
		// The lab ends: nobody reads the event any more.
		return event, nil
	}
	return written, err
}

func (e eventSink) Create(event *corev1.Event) (*corev1.Event, error) {
	return e.write(event, func(ctx context.Context, events typedcorev1.EventInterface) (*corev1.Event, error) {
		return events.CreateWithEventNamespaceWithContext(ctx, event)
	})
}

func (e eventSink) Update(event *corev1.Event) (*corev1.Event, error) {
	return e.write(event, func(ctx context.Context, events typedcorev1.EventInterface) (*corev1.Event, error) {
		return events.UpdateWithEventNamespaceWithContext(ctx, event)
	})
}

func (e eventSink) Patch(event *corev1.Event, data []byte) (*corev1.Event, error) {
	return e.write(event, func(ctx context.Context, events typedcorev1.EventInterface) (*corev1.Event, error) {
		return events.PatchWithEventNamespaceWithContext(ctx, event, data)
	})
}

// event reports what happens to the pod.
func (w *worker) event(kind, reason, message string) {
	w.say("", kind, reason, message)
}

// containerEvent reports what happens to one of its containers.
func (w *worker) containerEvent(container, kind, reason, message string) {
	w.say(fmt.Sprintf("spec.containers{%s}", container), kind, reason, message)
}

func (c *slot) event(kind, reason, message string) {
	field := "containers"
	if c.init {
		field = "initContainers"
	}
	c.worker.say(fmt.Sprintf("spec.%s{%s}", field, c.spec.Name), kind, reason, message)
}

func (w *worker) say(field, kind, reason, message string) {
	w.kubelet.space.mu.Lock()
	a := w.kubelet.space.api
	w.kubelet.space.mu.Unlock()
	if a == nil {
		return
	}
	pod := w.current()
	recorder := a.events.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "kubelet", Host: w.kubelet.name()})
	recorder.Event(&corev1.ObjectReference{
		Kind: "Pod", APIVersion: "v1", Namespace: pod.Namespace, Name: w.apiName(),
		UID: pod.UID, FieldPath: field,
	}, kind, reason, message)
}
