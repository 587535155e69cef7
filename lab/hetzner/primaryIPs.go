package hetzner

import (
	"maps"
	"net/netip"
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"
)

// primaryIP is a public address that a server can have as its own.
type primaryIP struct {
	record
	kind string // "ipv4" or "ipv6"
	// addr is that of an IPv4 one, net6 the network of the other.
	addr       netip.Addr
	net6       netip.Prefix
	location   schema.Location
	server     *server
	autoDelete bool
	protected  bool
	pointers   map[string]string
}

// inUsePublic says whether anything of the project has a public address.
func (c *Cloud) inUsePublic(addr netip.Addr) bool {
	return slices.ContainsFunc(c.primaryIPs.all(), func(ip *primaryIP) bool { return ip.addr == addr }) ||
		slices.ContainsFunc(c.floatingIPs.all(), func(ip *floatingIP) bool { return ip.addr == addr }) ||
		slices.ContainsFunc(c.loadBalancers.all(), func(b *loadBalancer) bool { return b.ipv4 == addr })
}

// public is a free public address for something of that name.
func (c *Cloud) public(name string) (netip.Addr, error) {
	addr, found := c.identities.pick(c.Public, name, c.inUsePublic)
	if !found {
		return addr, failure(hcloud.ErrorCodeResourceUnavailable, "no public IPv4 address is available")
	}
	return addr, nil
}

// newPrimaryIP adds one whose record is made.
func (c *Cloud) newPrimaryIP(made record, kind string, location schema.Location) (*primaryIP, error) {
	ip := &primaryIP{record: made, kind: kind, location: location, pointers: map[string]string{}}
	if kind == "ipv6" {
		ip.net6 = c.identities.network6(made.name)
	} else {
		addr, err := c.public(made.name)
		if err != nil {
			return nil, err
		}
		ip.addr = addr
	}
	c.primaryIPs.add(ip)
	return ip, nil
}

// text is the address as the API writes it.
func (ip *primaryIP) text() string {
	if ip.kind == "ipv6" {
		return ip.net6.String()
	}
	return ip.addr.String()
}

func (ip *primaryIP) view() schema.PrimaryIP {
	view := schema.PrimaryIP{
		ID: ip.id, IP: ip.text(), Labels: labelled(ip.labels), Name: ip.name, Type: ip.kind,
		Protection: schema.PrimaryIPProtection{Delete: ip.protected}, DNSPtr: []schema.PrimaryIPDNSPTR{},
		AssigneeType: "server", AutoDelete: ip.autoDelete, Created: ip.created, Location: ip.location,
	}
	if ip.server != nil {
		view.AssigneeID = pointer(ip.server.id)
	}
	for _, at := range slices.Sorted(maps.Keys(ip.pointers)) {
		view.DNSPtr = append(view.DNSPtr, schema.PrimaryIPDNSPTR{IP: at, DNSPtr: ip.pointers[at]})
	}
	return view
}

func (c *Cloud) primaryIPRoutes() map[string]handler {
	return map[string]handler{
		"GET /primary_ips":                                 c.listPrimaryIPs,
		"POST /primary_ips":                                c.createPrimaryIP,
		"GET /primary_ips/{id}":                            c.getPrimaryIP,
		"PUT /primary_ips/{id}":                            c.updatePrimaryIP,
		"DELETE /primary_ips/{id}":                         c.deletePrimaryIP,
		"POST /primary_ips/{id}/actions/assign":            c.assignPrimaryIP,
		"POST /primary_ips/{id}/actions/unassign":          c.unassignPrimaryIP,
		"POST /primary_ips/{id}/actions/change_dns_ptr":    c.pointPrimaryIP,
		"POST /primary_ips/{id}/actions/change_protection": c.protectPrimaryIP,
	}
}

func (c *Cloud) listPrimaryIPs(r *call) (reply, error) {
	ips := allowed(c.primaryIPs.all(), r.URL.Query()["ip"], (*primaryIP).text)
	return list(r, "primary_ips", ips, (*primaryIP).view)
}

func (c *Cloud) createPrimaryIP(r *call) (reply, error) {
	var asked schema.PrimaryIPCreateRequest
	if err := r.decode(&asked); err != nil {
		return reply{}, err
	}
	if asked.Type != "ipv4" && asked.Type != "ipv6" {
		return reply{}, invalid("type", "must be ipv4 or ipv6")
	}
	var assignee *server
	var location schema.Location
	var err error
	if asked.AssigneeID != nil {
		if assignee, err = c.servers.get(*asked.AssigneeID); err != nil {
			return reply{}, err
		}
		if err := c.assignable(assignee, asked.Type); err != nil {
			return reply{}, err
		}
		location = assignee.location
	} else if location, err = c.catalog.locations.choose("location", schema.IDOrName{Name: asked.Location}); err != nil {
		return reply{}, err
	}
	made, err := enroll(c, c.primaryIPs, asked.Name, asked.Labels)
	if err != nil {
		return reply{}, err
	}
	ip, err := c.newPrimaryIP(made, asked.Type, location)
	if err != nil {
		return reply{}, err
	}
	ip.autoDelete = valueOr(asked.AutoDelete, false)
	response := schema.PrimaryIPCreateResponse{}
	if assignee != nil {
		response.Action = pointer(c.assign(ip, assignee))
	}
	response.PrimaryIP = ip.view()
	return created(response)
}

func (c *Cloud) getPrimaryIP(r *call) (reply, error) {
	ip, err := find(r, c.primaryIPs)
	if err != nil {
		return reply{}, err
	}
	return answer(schema.PrimaryIPGetResponse{PrimaryIP: ip.view()})
}

func (c *Cloud) updatePrimaryIP(r *call) (reply, error) {
	ip, asked, err := ask[schema.PrimaryIPUpdateRequest](r, c.primaryIPs)
	if err != nil {
		return reply{}, err
	}
	if err := c.primaryIPs.change(ip, asked.Name, asked.Labels); err != nil {
		return reply{}, err
	}
	ip.autoDelete = valueOr(asked.AutoDelete, ip.autoDelete)
	return answer(schema.PrimaryIPUpdateResponse{PrimaryIP: ip.view()})
}

func (c *Cloud) deletePrimaryIP(r *call) (reply, error) {
	ip, err := find(r, c.primaryIPs)
	if err != nil {
		return reply{}, err
	}
	if ip.protected {
		return reply{}, protected("primary_ip")
	}
	if ip.server != nil {
		if err := c.stopped(ip.server); err != nil {
			return reply{}, err
		}
		c.take(ip)
	}
	c.primaryIPs.remove(ip)
	return nothing()
}
