package kubernetes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	k8sadapter "github.com/siderolabs/talos/internal/app/machined/pkg/adapters/k8s"
	"github.com/siderolabs/talos/pkg/machinery/resources/k8s"
	"github.com/siderolabs/talos/pkg/machinery/resources/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/resources"
)

// manifestController writes Talos' own manifests to Kubernetes.
func (p *ControlPlane) manifestController() controller.Controller {
	return &resources.Simulated{
		Real: "k8s.ManifestApplyController",
		Reads: []controller.Input{
			resources.Reads(k8s.ControlPlaneNamespaceName, k8s.ManifestType), resources.Reads(v1alpha1.NamespaceName, v1alpha1.ServiceType),
		},
		Writes: []controller.Output{resources.Writes(k8s.ManifestStatusType)},
		Reconcile: func(ctx context.Context, r controller.Runtime) error {
			etcd, err := safe.ReaderGetByID[*v1alpha1.Service](ctx, r, "etcd")
			if err != nil && !state.IsNotFoundError(err) {
				return err
			}
			if etcd == nil || !etcd.TypedSpec().Healthy {
				return nil
			}
			list, err := safe.ReaderListAll[*k8s.Manifest](ctx, r)
			if err != nil || list.Len() == 0 {
				return err
			}
			list.SortFunc(func(a, b *k8s.Manifest) int { return strings.Compare(a.Metadata().ID(), b.Metadata().ID()) })
			var objects []*unstructured.Unstructured
			var names, versions []string
			for manifest := range list.All() {
				objects = append(objects, k8sadapter.Manifest(manifest).Objects()...)
				names = append(names, manifest.Metadata().ID())
				versions = append(versions, manifest.Metadata().ID()+"@"+manifest.Metadata().Version().String())
			}
			if slices.Equal(p.applied, versions) {
				return nil
			}
			if err := p.applyManifests(ctx, objects); err != nil {
				return err
			}
			p.applied = versions
			return safe.WriterModify(ctx, r, k8s.NewManifestStatus(k8s.ControlPlaneNamespaceName), func(status *k8s.ManifestStatus) error {
				status.TypedSpec().ManifestsApplied = names
				return nil
			})
		},
	}
}

func (p *ControlPlane) applyManifests(ctx context.Context, objects []*unstructured.Unstructured) error {
	id, err := p.configs.ClusterID()
	if err != nil {
		return err
	}
	release, err := p.clusters.lockManifests(ctx, id)
	if err != nil {
		return err
	}
	defer release()
	if err := p.boot.Kubernetes.Apply(ctx, id, objects); err != nil {
		return fmt.Errorf("apply the manifests of Talos: %w", err)
	}
	p.boot.Record("manifests", "applied")
	return nil
}
