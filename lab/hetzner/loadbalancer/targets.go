package loadbalancer

import (
	"net/netip"
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/project"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/server"
)

// target is what a load balancer forwards to: a server, the servers that a label
// selector matches, or an address outside of the cloud.
type target struct {
	kind       string
	server     *server.Server
	selector   api.Selector
	ip         netip.Addr
	usePrivate bool
}

// same reports whether another target is this one.
func (t *target) same(other *target) bool {
	return t.kind == other.kind && t.server == other.server && t.selector.Text == other.selector.Text && t.ip == other.ip
}

// isNamed reports whether the target is the one that a request names.
func (t *target) isNamed(asked schema.LoadBalancerActionRemoveTargetRequest) bool {
	if t.kind != asked.Type {
		return false
	}
	switch {
	case asked.Server != nil:
		return t.server != nil && t.server.ID == asked.Server.ID
	case asked.LabelSelector != nil:
		return t.selector.Text == asked.LabelSelector.Selector
	case asked.IP != nil:
		return t.ip.String() == asked.IP.IP
	}
	return false
}

// endpoint is a target that can be connected to.
type endpoint struct {
	// key identifies it among those of the load balancer; name is for facts.
	key, name string
	// to is invalid if the target has no such address; from is the load balancer's own address on that side.
	to, from netip.Addr
}

// endpoints returns where a load balancer forwards to now, without duplicates.
func (s *Balancers) endpoints(b *Balancer) []endpoint {
	var found []endpoint
	for _, one := range b.targets {
		for _, at := range s.endpointsOf(b, one) {
			if !slices.ContainsFunc(found, func(other endpoint) bool { return other.key == at.key }) {
				found = append(found, at)
			}
		}
	}
	return found
}

func (s *Balancers) endpointsOf(b *Balancer, one *target) []endpoint {
	switch hcloud.LoadBalancerTargetType(one.kind) {
	case hcloud.LoadBalancerTargetTypeServer:
		return []endpoint{s.endpoint(b, one.server, one.usePrivate)}
	case hcloud.LoadBalancerTargetTypeLabelSelector:
		var found []endpoint
		for _, selected := range s.servers.Selected(one.selector) {
			found = append(found, s.endpoint(b, selected, one.usePrivate))
		}
		return found
	default:
		return []endpoint{{key: one.ip.String(), name: one.ip.String(), to: one.ip, from: b.ipv4}}
	}
}

// endpoint returns a server as a load balancer reaches it.
func (s *Balancers) endpoint(b *Balancer, of *server.Server, usePrivate bool) endpoint {
	at := endpoint{key: api.IDText(of.ID), name: of.Machine}
	if !usePrivate {
		at.from = b.ipv4
		at.to, _ = s.publicIPs.Address(of)
		return at
	}
	for network, addr := range b.private {
		at.from = addr
		at.to, _ = s.networks.Address(of, network)
	}
	return at
}

func (s *Balancers) viewTarget(b *Balancer, one *target) schema.LoadBalancerTarget {
	view := schema.LoadBalancerTarget{Type: one.kind, UsePrivateIP: one.usePrivate, HealthStatus: []schema.LoadBalancerTargetHealthStatus{}}
	switch hcloud.LoadBalancerTargetType(one.kind) {
	case hcloud.LoadBalancerTargetTypeServer:
		view.Server = &schema.LoadBalancerTargetServer{ID: one.server.ID}
		view.HealthStatus = b.healthOf(s.endpoint(b, one.server, one.usePrivate))
	case hcloud.LoadBalancerTargetTypeLabelSelector:
		view.LabelSelector = &schema.LoadBalancerTargetLabelSelector{Selector: one.selector.Text}
		for _, selected := range s.servers.Selected(one.selector) {
			view.Targets = append(view.Targets, s.viewTarget(b, &target{
				kind: string(hcloud.LoadBalancerTargetTypeServer), server: selected, usePrivate: one.usePrivate,
			}))
		}
	default:
		view.IP = &schema.LoadBalancerTargetIP{IP: one.ip.String()}
		view.HealthStatus = b.healthOf(s.endpointsOf(b, one)[0])
	}
	return view
}

// healthOf returns the health of an endpoint for each service.
func (b *Balancer) healthOf(at endpoint) []schema.LoadBalancerTargetHealthStatus {
	statuses := []schema.LoadBalancerTargetHealthStatus{}
	for _, service := range b.services {
		statuses = append(statuses, schema.LoadBalancerTargetHealthStatus{
			ListenPort: service.ListenPort, Status: string(b.traffic.status(service.ListenPort, at)),
		})
	}
	return statuses
}

// addTargetTo checks a requested target, and adds it.
func (s *Balancers) addTargetTo(b *Balancer, asked schema.LoadBalancerActionAddTargetRequest) error {
	one := &target{kind: asked.Type, usePrivate: api.ValueOr(asked.UsePrivateIP, false)}
	if one.usePrivate && len(b.private) == 0 {
		return notAttached()
	}
	if err := s.readTarget(one, asked); err != nil {
		return err
	}
	if one.server != nil {
		if err := s.checkReachable(b, one); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(b.targets, one.same) {
		return api.Failure(hcloud.ErrorCodeTargetAlreadyDefined, "target is already defined")
	}
	if len(b.targets) >= b.kind.MaxTargets {
		return api.Failure(hcloud.ErrorCodeResourceLimitExceeded, "load balancer type allows %d targets", b.kind.MaxTargets)
	}
	b.targets = append(b.targets, one)
	return nil
}

// checkReachable returns an error if a server has no address on the requested side.
func (s *Balancers) checkReachable(b *Balancer, one *target) error {
	if !one.usePrivate {
		if _, has := s.publicIPs.Address(one.server); !has {
			return api.Failure(hcloud.ErrorCodeMissingIPv4, "server has no public IPv4 address")
		}
		return nil
	}
	for network := range b.private {
		if s.networks.Has(one.server, network) {
			return nil
		}
	}
	return api.Failure(hcloud.ErrorCodeServerNotAttachedToNetwork, "server is not attached to the network of the load balancer")
}

// readTarget reads what a target is.
func (s *Balancers) readTarget(one *target, asked schema.LoadBalancerActionAddTargetRequest) error {
	var err error
	switch hcloud.LoadBalancerTargetType(asked.Type) {
	case hcloud.LoadBalancerTargetTypeServer:
		if asked.Server == nil {
			return api.Invalid("server", "is required for type server")
		}
		one.server, err = s.servers.Get(asked.Server.ID)
		return err
	case hcloud.LoadBalancerTargetTypeLabelSelector:
		if asked.LabelSelector == nil {
			return api.Invalid("label_selector", "is required for type label_selector")
		}
		one.selector, err = api.RequireSelector(asked.LabelSelector.Selector)
		return err
	case hcloud.LoadBalancerTargetTypeIP:
		one.ip, err = netip.ParseAddr(api.ValueOr(asked.IP, schema.LoadBalancerActionAddTargetRequestIP{}).IP)
		if err != nil {
			return api.Invalid("ip", "must be an IP address")
		}
		if s.project.Addresses.Taken(one.ip) {
			return api.Failure(hcloud.ErrorCodeCloudResourceIPNotAllowed, "IP belongs to a cloud resource")
		}
		return nil
	}
	return api.Invalid("type", "must be server, label_selector or ip")
}

func (s *Balancers) addTarget(r *api.Call) (api.Reply, error) {
	b, asked, err := project.Ask[schema.LoadBalancerActionAddTargetRequest](r, s.registry)
	if err != nil {
		return api.Reply{}, err
	}
	if err := s.addTargetTo(b, asked); err != nil {
		return api.Reply{}, err
	}
	return s.start(b, "add_target", func() {})
}

func (s *Balancers) removeTarget(r *api.Call) (api.Reply, error) {
	b, asked, err := project.Ask[schema.LoadBalancerActionRemoveTargetRequest](r, s.registry)
	if err != nil {
		return api.Reply{}, err
	}
	at := slices.IndexFunc(b.targets, func(t *target) bool { return t.isNamed(asked) })
	if at < 0 {
		return api.Reply{}, api.Failure(api.CodeTargetNotFound, "load balancer target not found")
	}
	b.targets = slices.Delete(b.targets, at, at+1)
	return s.start(b, "remove_target", func() {})
}
