package kube

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
)

// configure reads the sources of the container's environment. Faults that prevent the start and are not about the image apply here.
func (c *slot) configure(ctx context.Context, outcome *fault.Outcome) error {
	if outcome != nil && beforeStart(outcome.Code) {
		message := orElse(outcome.Message, "the container could not be created")
		c.event(corev1.EventTypeWarning, "Failed", "Error: "+message)
		return &notStarted{waiting: outcome.Code, message: message}
	}
	for _, needed := range environment(c.worker.born.Namespace, c.spec) {
		found, err := c.worker.exists(ctx, needed)
		if err != nil {
			return err
		}
		if !found {
			message := fmt.Sprintf("%s %q not found", needed.kind, needed.name)
			c.event(corev1.EventTypeWarning, "Failed", "Error: "+message)
			return &notStarted{waiting: "CreateContainerConfigError", message: message}
		}
	}
	return nil
}

// beforeStart reports whether a fault prevents a container's start; all other faults are crashes.
func beforeStart(reason string) bool {
	switch reason {
	case "CreateContainerConfigError", "CreateContainerError", "RunContainerError", "ContainerCreating":
		return true
	}
	return false
}

// object is an object that a pod needs.
type object struct{ kind, namespace, name string }

// environment lists the objects without which a container cannot start.
func environment(namespace string, c corev1.Container) []object {
	var needed []object
	need := func(kind, name string, optional *bool) {
		if optional == nil || !*optional {
			needed = append(needed, object{kind, namespace, name})
		}
	}
	for _, from := range c.EnvFrom {
		if from.SecretRef != nil {
			need("secret", from.SecretRef.Name, from.SecretRef.Optional)
		}
		if from.ConfigMapRef != nil {
			need("configmap", from.ConfigMapRef.Name, from.ConfigMapRef.Optional)
		}
	}
	for _, variable := range c.Env {
		if variable.ValueFrom == nil {
			continue
		}
		if ref := variable.ValueFrom.SecretKeyRef; ref != nil {
			need("secret", ref.Name, ref.Optional)
		}
		if ref := variable.ValueFrom.ConfigMapKeyRef; ref != nil {
			need("configmap", ref.Name, ref.Optional)
		}
	}
	return needed
}

// exists asks the API for it.
func (w *worker) exists(ctx context.Context, needed object) (bool, error) {
	err := w.kubelet.tryFor(ctx, func(ctx context.Context, a *api) error {
		var err error
		if needed.kind == "secret" {
			_, err = a.client.CoreV1().Secrets(needed.namespace).Get(ctx, needed.name, metav1.GetOptions{})
		} else {
			_, err = a.client.CoreV1().ConfigMaps(needed.namespace).Get(ctx, needed.name, metav1.GetOptions{})
		}
		return err
	})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}
