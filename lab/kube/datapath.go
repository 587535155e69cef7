package kube

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
)

// dial connects from the pod by TCP, as through the datapath of Cilium on its node: an address of a Service leads to one of its ready endpoints, and the
// packets leave with the node's address.
func (w *worker) dial(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	k := w.kubelet
	outcome, err := k.k.options.Faults.Meet(ctx, fault.Point{On: fault.Datapath, Name: to.String(), Subject: k.name()})
	switch {
	case err != nil:
		return nil, err
	case outcome == nil:
	case outcome.Do == fault.Refuse:
		return nil, syscall.ECONNREFUSED
	default:
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	at, err := k.endpointOf(ctx, to)
	if err != nil {
		return nil, err
	}
	return k.k.options.Network.Dial(ctx, k.ips()[0], at)
}

// endpointOf returns a ready endpoint of the Service at the address, or the address itself if no Service has it.
func (k *kubelet) endpointOf(ctx context.Context, at netip.AddrPort) (netip.AddrPort, error) {
	var services *corev1.ServiceList
	var slices *discoveryv1.EndpointSliceList
	err := k.tryFor(ctx, func(ctx context.Context, a *api) (err error) {
		services, err = a.client.CoreV1().Services("").List(ctx, metav1.ListOptions{FieldSelector: "spec.clusterIP=" + at.Addr().String()})
		if err != nil || len(services.Items) == 0 {
			return err
		}
		service := services.Items[0]
		slices, err = a.client.DiscoveryV1().EndpointSlices(service.Namespace).List(ctx, metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=" + service.Name})
		return err
	})
	if err != nil {
		return netip.AddrPort{}, err
	}
	if len(services.Items) == 0 {
		return at, nil
	}
	for _, port := range services.Items[0].Spec.Ports {
		if port.Port != int32(at.Port()) {
			continue
		}
		for _, slice := range slices.Items {
			if endpoint, found := readyIn(slice, port.Name); found {
				return endpoint, nil
			}
		}
	}
	// What Cilium answers for a Service without endpoints.
	return netip.AddrPort{}, syscall.EHOSTUNREACH
}

func readyIn(slice discoveryv1.EndpointSlice, port string) (netip.AddrPort, bool) {
	for _, p := range slice.Ports {
		if p.Name == nil || *p.Name != port || p.Port == nil {
			continue
		}
		for _, endpoint := range slice.Endpoints {
			if endpoint.Conditions.Ready != nil && *endpoint.Conditions.Ready && len(endpoint.Addresses) > 0 {
				address, err := netip.ParseAddr(endpoint.Addresses[0])
				return netip.AddrPortFrom(address, uint16(*p.Port)), err == nil
			}
		}
	}
	return netip.AddrPort{}, false
}

// apiService returns the Service address of the API, which a kubelet gives every container in KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT. It never
// changes.
func (s *space) apiService(ctx context.Context) (netip.AddrPort, error) {
	s.mu.Lock()
	known := s.service
	s.mu.Unlock()
	if known.IsValid() {
		return known, nil
	}
	err := s.try(ctx, func(ctx context.Context, a *api) error {
		service, err := a.client.CoreV1().Services(metav1.NamespaceDefault).Get(ctx, "kubernetes", metav1.GetOptions{})
		if err != nil {
			return err
		}
		address, err := netip.ParseAddr(service.Spec.ClusterIP)
		if err != nil || len(service.Spec.Ports) == 0 {
			return fmt.Errorf("the Service of the API: %v", service.Spec)
		}
		known = netip.AddrPortFrom(address, uint16(service.Spec.Ports[0].Port))
		return nil
	})
	if err != nil {
		return netip.AddrPort{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.service = known
	return known, nil
}
