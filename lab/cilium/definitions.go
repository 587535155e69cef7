package cilium

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"
)

// kinds are those that the lab implements. The real operator registers about twenty.
var kinds = []string{"v2/ciliumloadbalancerippools.yaml", "v2alpha1/ciliuml2announcementpolicies.yaml"}

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// register registers the kinds, and returns when the API serves them.
func register(ctx context.Context, objects dynamic.Interface, folder string) error {
	for _, file := range kinds {
		content, err := os.ReadFile(filepath.Join(folder, file))
		if err != nil {
			return err
		}
		definition := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(content, &definition.Object); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		_, err = objects.Resource(definitions).Create(ctx, definition, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create CustomResourceDefinition %s: %w", definition.GetName(), err)
		}
		if err := served(ctx, objects, definition.GetName()); err != nil {
			return fmt.Errorf("CustomResourceDefinition %s: %w", definition.GetName(), err)
		}
	}
	return nil
}

// served waits until the API serves the kind.
func served(ctx context.Context, objects dynamic.Interface, name string) error {
	changes, err := objects.Resource(definitions).Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil {
		return err
	}
	defer changes.Stop()
	for {
		select {
		case event, more := <-changes.ResultChan():
			if !more {
				return errors.New("the API ended the watch")
			}
			if definition, is := event.Object.(*unstructured.Unstructured); is && isEstablished(definition) {
				return nil
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func isEstablished(definition *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(definition.Object, "status", "conditions")
	for _, one := range conditions {
		if condition, is := one.(map[string]any); is && condition["type"] == "Established" && condition["status"] == "True" {
			return true
		}
	}
	return false
}
