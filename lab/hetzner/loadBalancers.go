package hetzner

import (
	"maps"
	"net/netip"
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"
)

// loadBalancer leads connections to servers that are healthy.
type loadBalancer struct {
	record
	kind      schema.LoadBalancerType
	location  schema.Location
	algorithm string // "round_robin" or "least_connections"
	ipv4      netip.Addr
	net6      netip.Prefix
	pointers  map[string]string
	// public says that it listens on its public address, private where else.
	public    bool
	private   map[*privateNetwork]netip.Addr
	services  []*schema.LoadBalancerService
	targets   []*target
	protected bool
	traffic   *traffic
}

func (c *Cloud) viewLoadBalancer(b *loadBalancer) schema.LoadBalancer {
	view := schema.LoadBalancer{
		ID: b.id, Name: b.name, Location: b.location, LoadBalancerType: b.kind, Labels: labelled(b.labels), Created: b.created,
		Protection: schema.LoadBalancerProtection{Delete: b.protected}, Algorithm: schema.LoadBalancerAlgorithm{Type: b.algorithm},
		PrivateNet: []schema.LoadBalancerPrivateNet{}, Services: []schema.LoadBalancerService{}, Targets: []schema.LoadBalancerTarget{},
		IncludedTraffic: 20 << 40,
	}
	view.PublicNet.Enabled = b.public
	view.PublicNet.IPv4 = schema.LoadBalancerPublicNetIPv4{IP: b.ipv4.String(), DNSPtr: b.pointers[b.ipv4.String()]}
	address6 := b.net6.Addr().Next().String()
	view.PublicNet.IPv6 = schema.LoadBalancerPublicNetIPv6{IP: address6, DNSPtr: b.pointers[address6]}
	for network, addr := range b.private {
		view.PrivateNet = append(view.PrivateNet, schema.LoadBalancerPrivateNet{Network: network.id, IP: addr.String()})
	}
	for _, service := range b.services {
		view.Services = append(view.Services, *service)
	}
	for _, one := range b.targets {
		view.Targets = append(view.Targets, c.viewTarget(b, one))
	}
	return view
}

func (c *Cloud) loadBalancerRoutes() map[string]handler {
	return map[string]handler{
		"GET /load_balancers":              c.listLoadBalancers,
		"POST /load_balancers":             c.createLoadBalancer,
		"GET /load_balancers/{id}":         c.getLoadBalancer,
		"PUT /load_balancers/{id}":         c.updateLoadBalancer,
		"DELETE /load_balancers/{id}":      c.deleteLoadBalancer,
		"GET /load_balancers/{id}/metrics": c.getBalancerMetrics,
	}
}

func (c *Cloud) listLoadBalancers(r *call) (reply, error) {
	return list(r, "load_balancers", c.loadBalancers.all(), c.viewLoadBalancer)
}

// balancerOrder is schema.LoadBalancerCreateRequest with its services and
// targets in the types of the actions that add them, which are written alike.
type balancerOrder struct {
	schema.LoadBalancerCreateRequest
	Services []schema.LoadBalancerActionAddServiceRequest `json:"services"`
	Targets  []schema.LoadBalancerActionAddTargetRequest  `json:"targets"`
}

func (c *Cloud) createLoadBalancer(r *call) (reply, error) {
	var asked balancerOrder
	if err := r.decode(&asked); err != nil {
		return reply{}, err
	}
	b := &loadBalancer{
		algorithm: "round_robin", public: valueOr(asked.PublicInterface, true),
		pointers: map[string]string{}, private: map[*privateNetwork]netip.Addr{}, traffic: newTraffic(),
	}
	var err error
	if b.kind, err = c.catalog.loadBalancerTypes.choose("load_balancer_type", asked.LoadBalancerType); err != nil {
		return reply{}, err
	}
	if asked.Algorithm != nil {
		if b.algorithm, err = readAlgorithm(asked.Algorithm.Type); err != nil {
			return reply{}, err
		}
	}
	if b.location, err = c.placeBalancer(asked.Location, asked.NetworkZone); err != nil {
		return reply{}, err
	}
	if asked.Network != nil {
		inside, err := c.networks.get(*asked.Network)
		if err != nil {
			return reply{}, err
		}
		if b.private[inside], err = c.reserve(inside, b.location.NetworkZone, nil, nil); err != nil {
			return reply{}, err
		}
	}
	for _, wanted := range asked.Services {
		if err := b.addService(wanted); err != nil {
			return reply{}, err
		}
	}
	for _, wanted := range asked.Targets {
		if err := c.addTargetTo(b, wanted); err != nil {
			return reply{}, err
		}
	}
	if b.record, err = enroll(c, c.loadBalancers, asked.Name, asked.Labels); err != nil {
		return reply{}, err
	}
	if b.ipv4, err = c.public(b.name); err != nil {
		return reply{}, err
	}
	b.net6 = c.identities.network6(b.name)
	c.loadBalancers.add(b)
	began := c.startOne(b.name, step{
		command: "create_load_balancer",
		about:   []reference{{Type: "load_balancer", ID: b.id}},
		done: func() error {
			b.traffic.ready = true
			return c.steer(b)
		},
	})
	return created(schema.LoadBalancerCreateResponse{LoadBalancer: c.viewLoadBalancer(b), Action: began})
}

// placeBalancer is where a load balancer is to be: in a location, or anywhere
// in a zone.
func (c *Cloud) placeBalancer(location, zone *string) (schema.Location, error) {
	if (location == nil) == (zone == nil) {
		return schema.Location{}, invalid("location", "either location or network_zone must be given")
	}
	if location != nil {
		return c.catalog.locations.choose("location", schema.IDOrName{Name: *location})
	}
	at := slices.IndexFunc(locations, func(one schema.Location) bool { return one.NetworkZone == *zone })
	if at < 0 {
		return schema.Location{}, invalid("network_zone", "unknown network zone '%s'", *zone)
	}
	return locations[at], nil
}

func readAlgorithm(name string) (string, error) {
	if name != "round_robin" && name != "least_connections" {
		return "", invalid("type", "must be round_robin or least_connections")
	}
	return name, nil
}

func (c *Cloud) getLoadBalancer(r *call) (reply, error) {
	b, err := find(r, c.loadBalancers)
	if err != nil {
		return reply{}, err
	}
	return answer(schema.LoadBalancerGetResponse{LoadBalancer: c.viewLoadBalancer(b)})
}

func (c *Cloud) updateLoadBalancer(r *call) (reply, error) {
	b, asked, err := ask[schema.LoadBalancerUpdateRequest](r, c.loadBalancers)
	if err != nil {
		return reply{}, err
	}
	if err := c.loadBalancers.change(b, valueOr(asked.Name, ""), asked.Labels); err != nil {
		return reply{}, err
	}
	return answer(schema.LoadBalancerUpdateResponse{LoadBalancer: c.viewLoadBalancer(b)})
}

func (c *Cloud) deleteLoadBalancer(r *call) (reply, error) {
	b, err := find(r, c.loadBalancers)
	if err != nil {
		return reply{}, err
	}
	if b.protected {
		return reply{}, protected("load_balancer")
	}
	if err := c.unlocked("load_balancer", b.id); err != nil {
		return reply{}, err
	}
	c.loadBalancers.remove(b)
	if err := c.silence(b); err != nil {
		return reply{}, err
	}
	return nothing()
}

func (c *Cloud) getBalancerMetrics(r *call) (reply, error) {
	if _, err := find(r, c.loadBalancers); err != nil {
		return reply{}, err
	}
	return reply{}, failure(errorCodeUnavailable, "metrics are currently not available")
}

// leaveNetwork takes a load balancer out of a network that it may be in, and
// the targets with it that it reached there.
func (c *Cloud) leaveNetwork(b *loadBalancer, from *privateNetwork) {
	if _, attached := b.private[from]; !attached {
		return
	}
	delete(b.private, from)
	b.targets = slices.DeleteFunc(b.targets, func(t *target) bool { return t.usePrivate })
	c.steerOrTell(b)
}

// addresses are those that the load balancer is to listen on.
func (b *loadBalancer) addresses() []netip.Addr {
	var addresses []netip.Addr
	if b.public {
		addresses = append(addresses, b.ipv4)
	}
	return slices.AppendSeq(addresses, maps.Values(b.private))
}
