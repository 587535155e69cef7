package gitops

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// FluxSubject is Flux' name in facts.
const FluxSubject = "flux"

// reconciled is a kind that a controller reconciles, with the field of the resulting revision.
type reconciled struct {
	what     string
	resource schema.GroupVersionResource
	revision []string
}

var reconciles = map[string]reconciled{
	"source-controller": {
		what:     "gitrepository",
		resource: schema.GroupVersionResource{Group: "source.toolkit.fluxcd.io", Version: "v1", Resource: "gitrepositories"},
		revision: []string{"status", "artifact", "revision"},
	},
	"kustomize-controller": {
		what:     "kustomization",
		resource: schema.GroupVersionResource{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Resource: "kustomizations"},
		revision: []string{"status", "lastAppliedRevision"},
	},
	"helm-controller": {
		what:     "helmrelease",
		resource: schema.GroupVersionResource{Group: "helm.toolkit.fluxcd.io", Version: "v2", Resource: "helmreleases"},
		revision: []string{"status", "lastAttemptedRevision"},
	},
}

// watch records the results of the controller until the context ends. Earlier results are already on the timeline, or are not of interest.
func watch(ctx context.Context, controller string, kubeconfig []byte, facts *timeline.Timeline) error {
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return fmt.Errorf("watching what %s does: %w", controller, err)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("watching what %s does: %w", controller, err)
	}
	return observe(ctx, client, reconciles[controller], facts)
}

func observe(ctx context.Context, client dynamic.Interface, about reconciled, facts *timeline.Timeline) error {
	factory := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	informer := factory.ForResource(about.resource).Informer()
	// Events arrive one after the other.
	last := map[string]state{}
	notice := func(object any, known bool) {
		resource, is := object.(*unstructured.Unstructured)
		if !is {
			return
		}
		name := resource.GetNamespace() + "/" + resource.GetName()
		now := about.stateOf(resource)
		before, seen := last[name]
		if seen && (now == before || now == (state{})) {
			return
		}
		if !seen && now == (state{}) {
			now.value = "seen"
		}
		last[name] = now
		if !known {
			facts.Record(FluxSubject, about.what, now.value, now.detail(name)...)
		}
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc:    notice,
		UpdateFunc: func(_, object any) { notice(object, false) },
	})
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	<-ctx.Done()
	factory.Shutdown()
	return nil
}

// state is the result of the reconciliation of a resource.
type state struct {
	// value is ready or failed, or seen before it is either.
	value, revision, reason string
}

func (s state) detail(name string) []string {
	detail := []string{"name", name}
	if s.revision != "" {
		detail = append(detail, "revision", s.revision)
	}
	if s.reason != "" {
		detail = append(detail, "reason", s.reason)
	}
	return detail
}

// waiting are reasons of a failure that does not count: the source does not exist yet. Whether this is observed is random.
var waiting = []string{"ArtifactFailed", "SourceNotReady", "DependencyNotReady"}

// stateOf reads the condition Ready; a reconciliation in progress has no state.
func (r reconciled) stateOf(resource *unstructured.Unstructured) state {
	observed, _, _ := unstructured.NestedInt64(resource.Object, "status", "observedGeneration")
	conditions, _, _ := unstructured.NestedSlice(resource.Object, "status", "conditions")
	for _, entry := range conditions {
		condition, _ := entry.(map[string]any)
		if condition["type"] != "Ready" {
			continue
		}
		revision, _, _ := unstructured.NestedString(resource.Object, r.revision...)
		reason, _ := condition["reason"].(string)
		switch {
		case condition["status"] == "True" && observed == resource.GetGeneration():
			return state{value: "ready", revision: revision}
		case condition["status"] == "False" && !slices.Contains(waiting, reason):
			return state{value: "failed", revision: revision, reason: reason}
		}
	}
	return state{}
}
