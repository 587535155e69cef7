package cilium

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// pool is a CiliumLoadBalancerIPPool.
type pool struct {
	name     string
	disabled bool
	selects  labels.Selector
	blocks   []block
}

type block struct{ first, last netip.Addr }

func (b block) has(address netip.Addr) bool {
	return b.first.Compare(address) <= 0 && address.Compare(b.last) <= 0
}

// poolOf parses a pool. An error makes the pool unusable.
func poolOf(object *unstructured.Unstructured) (pool, error) {
	spec := struct {
		Disabled        bool                  `json:"disabled"`
		ServiceSelector *metav1.LabelSelector `json:"serviceSelector"`
		Blocks          []struct {
			CIDR  string `json:"cidr"`
			Start string `json:"start"`
			Stop  string `json:"stop"`
		} `json:"blocks"`
	}{}
	content, _, err := unstructured.NestedMap(object.Object, "spec")
	if err != nil {
		return pool{}, err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, &spec); err != nil {
		return pool{}, err
	}
	found := pool{name: object.GetName(), disabled: spec.Disabled, selects: labels.Everything()}
	if spec.ServiceSelector != nil {
		if found.selects, err = metav1.LabelSelectorAsSelector(spec.ServiceSelector); err != nil {
			return pool{}, err
		}
	}
	for _, asked := range spec.Blocks {
		one, err := blockOf(asked.CIDR, asked.Start, asked.Stop)
		if err != nil {
			return pool{}, fmt.Errorf("pool %s: %w", found.name, err)
		}
		found.blocks = append(found.blocks, one)
	}
	return found, nil
}

func blockOf(cidr, start, stop string) (block, error) {
	if cidr != "" {
		prefix, err := netip.ParsePrefix(cidr)
		if err != nil {
			return block{}, err
		}
		return block{prefix.Masked().Addr(), lastOf(prefix)}, nil
	}
	first, err := netip.ParseAddr(start)
	if err != nil || stop == "" {
		return block{first, first}, err
	}
	last, err := netip.ParseAddr(stop)
	return block{first, last}, err
}

// lastOf returns the last address of a prefix, whose size may exceed an integer.
func lastOf(prefix netip.Prefix) netip.Addr {
	bytes := prefix.Addr().AsSlice()
	for bit := prefix.Bits(); bit < prefix.Addr().BitLen(); bit++ {
		bytes[bit/8] |= 0x80 >> (bit % 8)
	}
	last, _ := netip.AddrFromSlice(bytes) // as long as it was
	return last
}

// offers reports whether the pool may give the address to the Service.
func (p pool) offers(service *corev1.Service, address netip.Addr) bool {
	return p.selects.Matches(labels.Set(service.Labels)) &&
		slices.ContainsFunc(p.blocks, func(b block) bool { return b.has(address) })
}

// Annotations with which a Service requests addresses.
var asking = []string{"lbipam.cilium.io/ips", "io.cilium/lb-ipam-ips"}

// given is the decision about a Service.
type given struct {
	addresses       []netip.Addr
	reason, message string // why there are none
}

// give decides on the addresses of all Services: each keeps what it has; then those that request certain addresses are served, then all others, oldest first.
func give(pools []pool, services []*corev1.Service) map[string]given {
	taken := map[netip.Addr]bool{}
	decided := map[string]given{}
	take := func(service *corev1.Service, addresses []netip.Addr) bool {
		for _, address := range addresses {
			if taken[address] || !slices.ContainsFunc(pools, func(p pool) bool { return p.offers(service, address) }) {
				return false
			}
		}
		for _, address := range addresses {
			taken[address] = true
		}
		decided[nameOf(service)] = given{addresses: addresses}
		return true
	}
	open := slices.DeleteFunc(slices.Clone(services), func(service *corev1.Service) bool { return !isOurs(service) })
	slices.SortStableFunc(open, func(a, b *corev1.Service) int {
		if order := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); order != 0 {
			return order
		}
		return strings.Compare(nameOf(a), nameOf(b))
	})
	open = slices.DeleteFunc(open, func(service *corev1.Service) bool {
		has, wants := addressesOf(service), wanted(service)
		return len(has) > 0 && (len(wants) == 0 || slices.Equal(has, wants)) && take(service, has)
	})
	open = slices.DeleteFunc(open, func(service *corev1.Service) bool {
		wants := wanted(service)
		if len(wants) == 0 {
			return false
		}
		if !take(service, wants) {
			decided[nameOf(service)] = given{reason: "already_allocated", message: "an address that it asks for is in no pool for it, or is another Service's"}
		}
		return true
	})
	for _, service := range open {
		if address, found := free(pools, service, taken); found {
			take(service, []netip.Addr{address})
		} else if slices.ContainsFunc(pools, func(p pool) bool { return !p.disabled && p.selects.Matches(labels.Set(service.Labels)) }) {
			decided[nameOf(service)] = given{reason: "out_of_ips", message: "No more IPs available"}
		} else {
			decided[nameOf(service)] = given{reason: "no_pool", message: "There are no enabled CiliumLoadBalancerIPPools that match this service"}
		}
	}
	return decided
}

func free(pools []pool, service *corev1.Service, taken map[netip.Addr]bool) (netip.Addr, bool) {
	for _, p := range pools {
		if p.disabled || !p.selects.Matches(labels.Set(service.Labels)) {
			continue
		}
		for _, b := range p.blocks {
			for address := b.first; address.IsValid() && b.has(address); address = address.Next() {
				if !taken[address] {
					return address, true
				}
			}
		}
	}
	return netip.Addr{}, false
}

// isOurs reports whether Cilium gives the Service its addresses.
func isOurs(service *corev1.Service) bool {
	if service.Spec.Type != corev1.ServiceTypeLoadBalancer || service.DeletionTimestamp != nil {
		return false
	}
	class := service.Spec.LoadBalancerClass
	return class == nil || *class == "io.cilium/l2-announcer" || *class == "io.cilium/bgp-control-plane"
}

func wanted(service *corev1.Service) []netip.Addr {
	for _, annotation := range asking {
		if text := service.Annotations[annotation]; text != "" {
			return parse(strings.Split(text, ","))
		}
	}
	return parse([]string{service.Spec.LoadBalancerIP})
}

func addressesOf(service *corev1.Service) []netip.Addr {
	var texts []string
	for _, ingress := range service.Status.LoadBalancer.Ingress {
		texts = append(texts, ingress.IP)
	}
	return parse(texts)
}

func parse(texts []string) []netip.Addr {
	var found []netip.Addr
	for _, text := range texts {
		if address, err := netip.ParseAddr(strings.TrimSpace(text)); err == nil {
			found = append(found, address)
		}
	}
	return found
}

func nameOf(service *corev1.Service) string { return service.Namespace + "/" + service.Name }
