package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
)

// fieldManager is Talos' name in server-side apply.
const fieldManager = "talos"

// Apply writes Talos' own manifests. Like Talos, it creates missing objects and leaves existing ones alone.
func (k *Kubernetes) Apply(ctx context.Context, id cluster.ID, manifests []*unstructured.Unstructured) error {
	s := k.cluster(id)
	ordered := inOrder(manifests)
	for {
		err := s.try(ctx, func(ctx context.Context, a *api) error { return a.create(ctx, ordered) })
		if err == nil {
			k.record(string(id), "manifests", "applied")
			return nil
		}
		if ctx.Err() != nil {
			return errors.Join(context.Cause(ctx), err)
		}
		k.options.Log.Warn("apply manifests", "cluster", id, "error", err)
		if err := wait(ctx, retryAfter); err != nil {
			return err
		}
	}
}

// inOrder puts namespaces first, then definitions of resources, then the rest.
func inOrder(manifests []*unstructured.Unstructured) []*unstructured.Unstructured {
	rank := func(object *unstructured.Unstructured) int {
		switch object.GetKind() {
		case "Namespace":
			return 0
		case "CustomResourceDefinition":
			return 1
		}
		return 2
	}
	return slices.SortedStableFunc(slices.Values(manifests), func(a, b *unstructured.Unstructured) int { return rank(a) - rank(b) })
}

// create creates every missing object, and returns which failed.
func (a *api) create(ctx context.Context, objects []*unstructured.Unstructured) error {
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(a.client.Discovery()))
	var errs []error
	for _, object := range objects {
		if err := a.createOne(ctx, mapper, object.DeepCopy()); err != nil {
			errs = append(errs, fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err))
		}
	}
	return errors.Join(errs...)
}

func (a *api) createOne(ctx context.Context, mapper meta.RESTMapper, object *unstructured.Unstructured) error {
	kind := object.GroupVersionKind()
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return err
	}
	var resource dynamic.ResourceInterface = a.dynamic.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		if object.GetNamespace() == "" {
			object.SetNamespace(corev1.NamespaceDefault)
		}
		resource = a.dynamic.Resource(mapping.Resource).Namespace(object.GetNamespace())
	} else {
		object.SetNamespace("")
	}
	if _, err := resource.Get(ctx, object.GetName(), metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return err
	}
	_, err = resource.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: fieldManager})
	return err
}
