package kubevip

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
)

const (
	// class is the load balancer class of Services that only kube-vip handles.
	class = "kube-vip.io/kube-vip-class"
	// wantedAddresses and holder are annotations of a Service.
	wantedAddresses = "kube-vip.io/loadbalancerIPs"
	holder          = "kube-vip.io/vipHost"
)

// announce brings up the addresses of Services while it leads. It assigns none itself: the Service's owner or another controller does.
func (p Program) announce(ctx context.Context, client kubernetes.Interface, run cluster.Run, s settings) error {
	link, err := p.Machines.Link(run.Host, s.servicesLink)
	if err != nil {
		return fmt.Errorf("could not get link for interface: %w", err)
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(s.watched))
	services := factory.Core().V1().Services()
	changed := make(chan struct{}, 1)
	ring := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	if _, err := services.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { ring() }, UpdateFunc: func(any, any) { ring() }, DeleteFunc: func(any) { ring() },
	}); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	factory.StartWithContext(ctx)
	defer factory.Shutdown()
	defer cancel() // else Shutdown would block forever after an error
	held := map[netip.Addr]func(){}
	defer func() {
		for _, release := range held {
			release()
		}
	}()
	for {
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
		all, err := services.Lister().List(labels.Everything())
		if err != nil {
			return err
		}
		wanted := map[netip.Addr]bool{}
		for _, service := range all {
			if !s.isAnnounced(service) {
				continue
			}
			addresses := addressesOf(service)
			for _, address := range addresses {
				wanted[address] = true
				if held[address] != nil {
					continue
				}
				release, err := p.Machines.Hold(run.Host, link, netip.PrefixFrom(address, address.BitLen()))
				if err != nil {
					return err
				}
				held[address] = release
				p.Timeline.Record(s.node, "kube-vip", "holds", "address", address.String(), "service", service.Namespace+"/"+service.Name)
			}
			if err := s.writeHolder(ctx, client, service, addresses); err != nil {
				return err
			}
		}
		for address, release := range held {
			if !wanted[address] {
				release()
				delete(held, address)
			}
		}
	}
}

// isAnnounced reports whether kube-vip announces the Service.
func (s settings) isAnnounced(service *corev1.Service) bool {
	if service.Spec.Type != corev1.ServiceTypeLoadBalancer || service.DeletionTimestamp != nil {
		return false
	}
	if service.Spec.LoadBalancerClass == nil {
		return !s.classOnly
	}
	return *service.Spec.LoadBalancerClass == class
}

// addressesOf returns the addresses of the Service: from its annotation, its status, or the field loadBalancerIP, which Kubernetes deprecates.
func addressesOf(service *corev1.Service) []netip.Addr {
	texts := strings.Split(service.Annotations[wantedAddresses], ",")
	if service.Annotations[wantedAddresses] == "" {
		texts = nil
		for _, ingress := range service.Status.LoadBalancer.Ingress {
			texts = append(texts, ingress.IP)
		}
		if len(texts) == 0 {
			texts = []string{service.Spec.LoadBalancerIP}
		}
	}
	var found []netip.Addr
	for _, text := range texts {
		if address, err := netip.ParseAddr(strings.TrimSpace(text)); err == nil {
			found = append(found, address)
		}
	}
	return found
}

// writeHolder writes into the Service which node holds its addresses, and the addresses themselves, unless the settings disable that.
func (s settings) writeHolder(ctx context.Context, client kubernetes.Interface, service *corev1.Service, addresses []netip.Addr) error {
	if len(addresses) == 0 || s.keepsStatus {
		return nil
	}
	services := client.CoreV1().Services(service.Namespace)
	if service.Annotations[holder] != s.node {
		service = service.DeepCopy()
		if service.Annotations == nil {
			service.Annotations = map[string]string{}
		}
		service.Annotations[holder] = s.node
		updated, err := services.Update(ctx, service, metav1.UpdateOptions{})
		if err != nil {
			return overtaken(err)
		}
		service = updated
	}
	var written, texts []string
	for _, ingress := range service.Status.LoadBalancer.Ingress {
		written = append(written, ingress.IP)
	}
	mode := corev1.LoadBalancerIPModeVIP
	var ingress []corev1.LoadBalancerIngress
	for _, address := range addresses {
		texts = append(texts, address.String())
		ingress = append(ingress, corev1.LoadBalancerIngress{IP: address.String(), IPMode: &mode})
	}
	if slices.Equal(written, texts) {
		return nil
	}
	service = service.DeepCopy()
	service.Status.LoadBalancer.Ingress = ingress
	_, err := services.UpdateStatus(ctx, service, metav1.UpdateOptions{})
	return overtaken(err)
}

// overtaken returns nil for the error of a write that conflicted with another one: that change triggers the next round.
func overtaken(err error) error {
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
