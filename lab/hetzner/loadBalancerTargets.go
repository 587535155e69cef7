package hetzner

import (
	"net/netip"
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"
)

// target is where a load balancer leads to: a server, the servers that a label
// selector finds, or an address outside of the cloud.
type target struct {
	kind       string
	server     *server
	labels     labelTarget
	ip         netip.Addr
	usePrivate bool
}

// endpoint is a target that can be connected to.
type endpoint struct {
	// key names it among those of the load balancer, name in facts.
	key, name string
	// to is not valid when the target has no such address, from is the load
	// balancer's own on that side.
	to, from netip.Addr
}

// endpoints are where the load balancer leads to now, each once.
func (c *Cloud) endpoints(b *loadBalancer) []endpoint {
	var found []endpoint
	for _, one := range b.targets {
		for _, at := range c.endpointsOf(b, one) {
			if !slices.ContainsFunc(found, func(other endpoint) bool { return other.key == at.key }) {
				found = append(found, at)
			}
		}
	}
	return found
}

func (c *Cloud) endpointsOf(b *loadBalancer, one *target) []endpoint {
	switch hcloud.LoadBalancerTargetType(one.kind) {
	case hcloud.LoadBalancerTargetTypeServer:
		return []endpoint{b.endpoint(one.server, one.usePrivate)}
	case hcloud.LoadBalancerTargetTypeLabelSelector:
		var found []endpoint
		for _, s := range c.selected(one.labels) {
			found = append(found, b.endpoint(s, one.usePrivate))
		}
		return found
	default:
		return []endpoint{{key: one.ip.String(), name: one.ip.String(), to: one.ip, from: b.ipv4}}
	}
}

// endpoint is a server as the load balancer reaches it.
func (b *loadBalancer) endpoint(s *server, usePrivate bool) endpoint {
	at := endpoint{key: idText(s.id), name: s.lab}
	if !usePrivate {
		at.from = b.ipv4
		if s.ipv4 != nil {
			at.to = s.ipv4.addr
		}
		return at
	}
	for network, addr := range b.private {
		at.from = addr
		if place := s.attachment(network); place != nil && place.attached {
			at.to = place.addr
		}
	}
	return at
}

func (c *Cloud) viewTarget(b *loadBalancer, one *target) schema.LoadBalancerTarget {
	view := schema.LoadBalancerTarget{Type: one.kind, UsePrivateIP: one.usePrivate, HealthStatus: []schema.LoadBalancerTargetHealthStatus{}}
	switch hcloud.LoadBalancerTargetType(one.kind) {
	case hcloud.LoadBalancerTargetTypeServer:
		view.Server = &schema.LoadBalancerTargetServer{ID: one.server.id}
		view.HealthStatus = b.healthOf(b.endpoint(one.server, one.usePrivate))
	case hcloud.LoadBalancerTargetTypeLabelSelector:
		view.LabelSelector = &schema.LoadBalancerTargetLabelSelector{Selector: one.labels.text}
		for _, s := range c.selected(one.labels) {
			view.Targets = append(view.Targets, c.viewTarget(b, &target{kind: string(hcloud.LoadBalancerTargetTypeServer), server: s, usePrivate: one.usePrivate}))
		}
	default:
		view.IP = &schema.LoadBalancerTargetIP{IP: one.ip.String()}
		view.HealthStatus = b.healthOf(c.endpointsOf(b, one)[0])
	}
	return view
}

// healthOf is the health of an endpoint for each service.
func (b *loadBalancer) healthOf(at endpoint) []schema.LoadBalancerTargetHealthStatus {
	statuses := []schema.LoadBalancerTargetHealthStatus{}
	for _, service := range b.services {
		statuses = append(statuses, schema.LoadBalancerTargetHealthStatus{
			ListenPort: service.ListenPort, Status: string(b.traffic.status(service.ListenPort, at)),
		})
	}
	return statuses
}

// addTargetTo checks a target that is asked for, and adds it.
func (c *Cloud) addTargetTo(b *loadBalancer, asked schema.LoadBalancerActionAddTargetRequest) error {
	one := &target{kind: asked.Type, usePrivate: valueOr(asked.UsePrivateIP, false)}
	if one.usePrivate && len(b.private) == 0 {
		return failure(hcloud.ErrorCodeLoadBalancerNotAttachedToNetwork, "load balancer is not attached to a network")
	}
	if err := c.name(one, asked); err != nil {
		return err
	}
	if one.server != nil {
		if err := b.reaches(one); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(b.targets, one.same) {
		return failure(hcloud.ErrorCodeTargetAlreadyDefined, "target is already defined")
	}
	if len(b.targets) >= b.kind.MaxTargets {
		return failure(hcloud.ErrorCodeResourceLimitExceeded, "load balancer type allows %d targets", b.kind.MaxTargets)
	}
	b.targets = append(b.targets, one)
	return nil
}

// reaches says whether a server can be a target in the way that is asked for.
func (b *loadBalancer) reaches(one *target) error {
	if !one.usePrivate && one.server.ipv4 == nil {
		return failure(hcloud.ErrorCodeMissingIPv4, "server has no public IPv4 address")
	}
	if !one.usePrivate {
		return nil
	}
	for network := range b.private {
		if one.server.attachment(network) != nil {
			return nil
		}
	}
	return failure(hcloud.ErrorCodeServerNotAttachedToNetwork, "server is not attached to the network of the load balancer")
}

// name reads what a target is.
func (c *Cloud) name(one *target, asked schema.LoadBalancerActionAddTargetRequest) error {
	switch hcloud.LoadBalancerTargetType(asked.Type) {
	case hcloud.LoadBalancerTargetTypeServer:
		if asked.Server == nil {
			return invalid("server", "is required for type server")
		}
		found, err := c.servers.get(asked.Server.ID)
		one.server = found
		return err
	case hcloud.LoadBalancerTargetTypeLabelSelector:
		if asked.LabelSelector == nil {
			return invalid("label_selector", "is required for type label_selector")
		}
		parsed, err := parseSelector(asked.LabelSelector.Selector)
		if err != nil || len(parsed) == 0 {
			return invalid("label_selector", "'%s' is no label selector", asked.LabelSelector.Selector)
		}
		one.labels = labelTarget{text: asked.LabelSelector.Selector, parsed: parsed}
		return nil
	case hcloud.LoadBalancerTargetTypeIP:
		addr, err := netip.ParseAddr(valueOr(asked.IP, schema.LoadBalancerActionAddTargetRequestIP{}).IP)
		if err != nil {
			return invalid("ip", "must be an IP address")
		}
		if c.inUsePublic(addr) {
			return failure(hcloud.ErrorCodeCloudResourceIPNotAllowed, "IP belongs to a cloud resource")
		}
		one.ip = addr
		return nil
	}
	return invalid("type", "must be server, label_selector or ip")
}

// same says whether another target is this one.
func (t *target) same(other *target) bool {
	return t.kind == other.kind && t.server == other.server && t.labels.text == other.labels.text && t.ip == other.ip
}

func (c *Cloud) addTarget(r *call) (reply, error) {
	b, asked, err := ask[schema.LoadBalancerActionAddTargetRequest](r, c.loadBalancers)
	if err != nil {
		return reply{}, err
	}
	if err := c.addTargetTo(b, asked); err != nil {
		return reply{}, err
	}
	return c.balancerAction(b, "add_target", func() {})
}

func (c *Cloud) removeTarget(r *call) (reply, error) {
	b, asked, err := ask[schema.LoadBalancerActionRemoveTargetRequest](r, c.loadBalancers)
	if err != nil {
		return reply{}, err
	}
	at := slices.IndexFunc(b.targets, func(t *target) bool { return t.named(asked) })
	if at < 0 {
		return reply{}, failure(errorCodeTargetNotFound, "load balancer target not found")
	}
	b.targets = slices.Delete(b.targets, at, at+1)
	return c.balancerAction(b, "remove_target", func() {})
}

// named says whether the target is the one that is to be removed.
func (t *target) named(asked schema.LoadBalancerActionRemoveTargetRequest) bool {
	if t.kind != asked.Type {
		return false
	}
	switch {
	case asked.Server != nil:
		return t.server != nil && t.server.id == asked.Server.ID
	case asked.LabelSelector != nil:
		return t.labels.text == asked.LabelSelector.Selector
	case asked.IP != nil:
		return t.ip.String() == asked.IP.IP
	}
	return false
}
