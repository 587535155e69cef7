package gitops

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/yaml"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

const kustomization = `
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system, generation: 2}
`

func TestTheStateOfAResource(t *testing.T) {
	about := reconciles["kustomize-controller"]
	for name, test := range map[string]struct {
		status string
		want   state
	}{
		"it was not reconciled yet": {"", state{}},
		"ready": {
			`status: {observedGeneration: 2, lastAppliedRevision: main@1, conditions: [{type: Healthy, status: "True"}, {type: Ready, status: "True", reason: Done}]}`,
			state{value: "ready", revision: "main@1"},
		},
		"ready as it was before a change": {
			`status: {observedGeneration: 1, lastAppliedRevision: main@1, conditions: [{type: Ready, status: "True", reason: Done}]}`, state{},
		},
		"at work": {`status: {observedGeneration: 2, conditions: [{type: Ready, status: Unknown, reason: Progressing}]}`, state{}},
		"waiting": {`status: {observedGeneration: 2, conditions: [{type: Ready, status: "False", reason: ArtifactFailed}]}`, state{}},
		"failed": {
			`status: {observedGeneration: 2, lastAppliedRevision: main@1, conditions: [{type: Ready, status: "False", reason: BuildFailed}]}`,
			state{value: "failed", revision: "main@1", reason: "BuildFailed"},
		},
		"nonsense": {`status: {conditions: [7]}`, state{}},
	} {
		require.Equal(t, test.want, about.stateOf(parse(t, kustomization+test.status)), name)
	}
}

func TestWhatFluxComesToIsOnTheTimeline(t *testing.T) {
	about := reconciles["kustomize-controller"]
	old := parse(t, kustomization+`status: {observedGeneration: 2, conditions: [{type: Ready, status: "True", reason: Done}]}`)
	old.SetName("known-before")
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{about.resource: "KustomizationList"}, old)
	watching := make(chan struct{})
	client.PrependWatchReactor("*", func(action clienttesting.Action) (bool, apiwatch.Interface, error) {
		events, err := client.Tracker().Watch(action.GetResource(), action.GetNamespace())
		close(watching)
		return true, events, err
	})
	facts := timeline.New(time.Now, nil)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := observe(ctx, client, about, facts); err != nil {
			t.Error(err)
		}
	})
	defer running.Wait()
	defer cancel()

	<-watching
	apps := client.Resource(about.resource).Namespace("flux-system")
	_, more := facts.After(0)
	_, err := apps.Create(t.Context(), parse(t, kustomization+`status: {conditions: [{type: Ready, status: "False", reason: BuildFailed}]}`), metav1.CreateOptions{})
	require.NoError(t, err)
	<-more
	_, more = facts.After(1)
	done := parse(t, kustomization+`status: {observedGeneration: 2, lastAppliedRevision: main@1, conditions: [{type: Ready, status: "True", reason: Done}]}`)
	for range 2 {
		// The second time nothing has changed.
		_, err = apps.Update(t.Context(), done, metav1.UpdateOptions{})
		require.NoError(t, err)
	}
	<-more
	_, more = facts.After(2)
	fresh := parse(t, kustomization+`status: {conditions: [{type: Ready, status: Unknown, reason: Progressing}]}`)
	fresh.SetName("fresh")
	_, err = apps.Create(t.Context(), fresh, metav1.CreateOptions{})
	require.NoError(t, err)
	<-more
	all, _ := facts.After(0)
	require.Len(t, all, 3)
	require.Equal(t, "seen", all[2].Value)
	require.Equal(t, map[string]string{"name": "flux-system/fresh"}, all[2].Detail)
	require.Equal(t, "failed", all[0].Value)
	require.Equal(t, map[string]string{"name": "flux-system/apps", "reason": "BuildFailed"}, all[0].Detail)
	require.Equal(t, "ready", all[1].Value)
	require.Equal(t, map[string]string{"name": "flux-system/apps", "revision": "main@1"}, all[1].Detail)
}

func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	require.NoError(t, err)
	resource := &unstructured.Unstructured{}
	require.NoError(t, resource.UnmarshalJSON(data))
	return resource
}
