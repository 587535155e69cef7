package kube

import (
	"context"
	"maps"
	"net/netip"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// endpoints are the nodes whose API servers answer. Real API servers each add themselves to the endpoints of the Service kubernetes; because one process
// serves for several nodes here, the lab maintains that list.
type endpoints struct {
	nodes   map[string]netip.AddrPort
	changed chan struct{}
}

// setServing records whether a node's API server answers.
func (s *space) setServing(host string, at netip.AddrPort, serving bool) {
	s.mu.Lock()
	if serving {
		s.endpoints.nodes[host] = at
	} else {
		delete(s.endpoints.nodes, host)
	}
	s.mu.Unlock()
	signal(s.endpoints.changed)
}

// keepEndpoints writes the list whenever it changes. The last list remains if no API server is left to write to.
func (s *space) keepEndpoints(ctx context.Context) {
	for {
		select {
		case <-s.endpoints.changed:
		case <-ctx.Done():
			return
		}
		err := s.try(ctx, func(ctx context.Context, a *api) error {
			s.mu.Lock()
			nodes := slices.SortedFunc(maps.Values(s.endpoints.nodes), netip.AddrPort.Compare)
			s.mu.Unlock()
			if len(nodes) == 0 {
				return nil
			}
			return a.writeEndpoints(ctx, nodes)
		})
		if err != nil && ctx.Err() == nil {
			s.k.options.Log.Warn("write the endpoints of the API", "cluster", s.id, "error", err)
		}
	}
}

func (a *api) writeEndpoints(ctx context.Context, nodes []netip.AddrPort) error {
	for resource, object := range endpointObjects(nodes) {
		object.SetName("kubernetes")
		object.SetNamespace(metav1.NamespaceDefault)
		_, err := a.dynamic.Resource(resource).Namespace(metav1.NamespaceDefault).
			Apply(ctx, "kubernetes", object, metav1.ApplyOptions{FieldManager: "kube-apiserver", Force: true})
		if err != nil {
			return err
		}
	}
	return nil
}

// endpointObjects returns the list in both forms that Kubernetes has for it.
func endpointObjects(nodes []netip.AddrPort) map[schema.GroupVersionResource]*unstructured.Unstructured {
	var addresses, ready []any
	for _, node := range nodes {
		addresses = append(addresses, map[string]any{"ip": node.Addr().String()})
		ready = append(ready, map[string]any{
			"addresses": []any{node.Addr().String()}, "conditions": map[string]any{"ready": true},
		})
	}
	family := "IPv4"
	if nodes[0].Addr().Is6() {
		family = "IPv6"
	}
	ports := []any{map[string]any{"name": "https", "port": int64(nodes[0].Port()), "protocol": "TCP"}}
	return map[schema.GroupVersionResource]*unstructured.Unstructured{
		{Version: "v1", Resource: "endpoints"}: {Object: map[string]any{
			"apiVersion": "v1", "kind": "Endpoints",
			"metadata": map[string]any{"labels": map[string]any{"endpointslice.kubernetes.io/skip-mirror": "true"}},
			"subsets":  []any{map[string]any{"addresses": addresses, "ports": ports}},
		}},
		{Group: "discovery.k8s.io", Version: "v1", Resource: "endpointslices"}: {Object: map[string]any{
			"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
			"metadata":    map[string]any{"labels": map[string]any{"kubernetes.io/service-name": "kubernetes"}},
			"addressType": family, "endpoints": ready, "ports": ports,
		}},
	}
}
