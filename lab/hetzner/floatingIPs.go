package hetzner

import (
	"maps"
	"net/netip"
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"
)

// floatingIP is a public address that is routed to one server or another. The
// server has it only when its operating system takes it.
type floatingIP struct {
	record
	kind        string // "ipv4" or "ipv6"
	addr        netip.Addr
	net6        netip.Prefix
	description *string
	home        schema.Location
	server      *server
	protected   bool
	pointers    map[string]string
}

func (ip *floatingIP) view() schema.FloatingIP {
	view := schema.FloatingIP{
		ID: ip.id, Description: ip.description, Created: ip.created, IP: ip.addr.String(), Type: ip.kind, DNSPtr: []schema.FloatingIPDNSPtr{},
		HomeLocation: ip.home, Protection: schema.FloatingIPProtection{Delete: ip.protected}, Labels: labelled(ip.labels), Name: ip.name,
	}
	if ip.kind == "ipv6" {
		view.IP = ip.net6.String()
	}
	if ip.server != nil {
		view.Server = pointer(ip.server.id)
	}
	for _, at := range slices.Sorted(maps.Keys(ip.pointers)) {
		view.DNSPtr = append(view.DNSPtr, schema.FloatingIPDNSPtr{IP: at, DNSPtr: ip.pointers[at]})
	}
	return view
}

// publicAddresses are all IPv4 ones that the world reaches a server by.
func (c *Cloud) publicAddresses(s *server) []netip.Addr {
	var addresses []netip.Addr
	if s.ipv4 != nil {
		addresses = append(addresses, s.ipv4.addr)
	}
	for _, ip := range c.floatingIPs.all() {
		if ip.server == s && ip.kind == "ipv4" {
			addresses = append(addresses, ip.addr)
		}
	}
	return addresses
}

func (c *Cloud) floatingIPRoutes() map[string]handler {
	return map[string]handler{
		"GET /floating_ips":                                 c.listFloatingIPs,
		"POST /floating_ips":                                c.createFloatingIP,
		"GET /floating_ips/{id}":                            c.getFloatingIP,
		"PUT /floating_ips/{id}":                            c.updateFloatingIP,
		"DELETE /floating_ips/{id}":                         c.deleteFloatingIP,
		"POST /floating_ips/{id}/actions/assign":            c.assignFloatingIP,
		"POST /floating_ips/{id}/actions/unassign":          c.unassignFloatingIP,
		"POST /floating_ips/{id}/actions/change_dns_ptr":    c.pointFloatingIP,
		"POST /floating_ips/{id}/actions/change_protection": c.protectFloatingIP,
	}
}

func (c *Cloud) listFloatingIPs(r *call) (reply, error) {
	return list(r, "floating_ips", c.floatingIPs.all(), (*floatingIP).view)
}

func (c *Cloud) createFloatingIP(r *call) (reply, error) {
	var asked schema.FloatingIPCreateRequest
	if err := r.decode(&asked); err != nil {
		return reply{}, err
	}
	if asked.Type != "ipv4" && asked.Type != "ipv6" {
		return reply{}, invalid("type", "must be ipv4 or ipv6")
	}
	ip := &floatingIP{kind: asked.Type, description: asked.Description, pointers: map[string]string{}}
	var err error
	var to *server
	if asked.Server != nil {
		if to, err = c.servers.get(*asked.Server); err != nil {
			return reply{}, err
		}
		ip.home = to.location
	} else if ip.home, err = c.catalog.locations.choose("home_location", schema.IDOrName{Name: valueOr(asked.HomeLocation, "")}); err != nil {
		return reply{}, err
	}
	name := valueOr(asked.Name, "")
	if name == "" {
		name = "floating-ip-" + idText(int64(len(c.floatingIPs.items)+1))
	}
	if ip.record, err = enroll(c, c.floatingIPs, name, asked.Labels); err != nil {
		return reply{}, err
	}
	if ip.kind == "ipv6" {
		ip.net6 = c.identities.network6(name)
	} else if ip.addr, err = c.public(name); err != nil {
		return reply{}, err
	}
	c.floatingIPs.add(ip)
	response := schema.FloatingIPCreateResponse{}
	if to != nil {
		response.Action = pointer(c.route(ip, to))
	}
	response.FloatingIP = ip.view()
	return created(response)
}

func (c *Cloud) getFloatingIP(r *call) (reply, error) {
	ip, err := find(r, c.floatingIPs)
	if err != nil {
		return reply{}, err
	}
	return answer(schema.FloatingIPGetResponse{FloatingIP: ip.view()})
}

func (c *Cloud) updateFloatingIP(r *call) (reply, error) {
	ip, asked, err := ask[schema.FloatingIPUpdateRequest](r, c.floatingIPs)
	if err != nil {
		return reply{}, err
	}
	if err := c.floatingIPs.change(ip, asked.Name, asked.Labels); err != nil {
		return reply{}, err
	}
	if asked.Description != "" {
		ip.description = &asked.Description
	}
	return answer(schema.FloatingIPUpdateResponse{FloatingIP: ip.view()})
}

func (c *Cloud) deleteFloatingIP(r *call) (reply, error) {
	ip, err := find(r, c.floatingIPs)
	if err != nil {
		return reply{}, err
	}
	if ip.protected {
		return reply{}, protected("floating_ip")
	}
	c.unroute(ip)
	c.floatingIPs.remove(ip)
	return nothing()
}

// route leads the address to a server.
func (c *Cloud) route(ip *floatingIP, to *server) schema.Action {
	ip.server = to
	return c.startOne(to.lab, step{
		command: "assign_floating_ip",
		about:   []reference{{Type: "floating_ip", ID: ip.id}, {Type: "server", ID: to.id}},
		done: func() error {
			c.enforce(to)
			return nil
		},
	})
}

// unroute leads the address nowhere.
func (c *Cloud) unroute(ip *floatingIP) {
	ip.server = nil
	if ip.kind == "ipv4" {
		c.Network.SetFirewall(ip.addr, nil)
	}
}

func (c *Cloud) assignFloatingIP(r *call) (reply, error) {
	ip, asked, err := ask[schema.FloatingIPActionAssignRequest](r, c.floatingIPs)
	if err != nil {
		return reply{}, err
	}
	to, err := c.servers.get(asked.Server)
	if err != nil {
		return reply{}, err
	}
	return acting(c.route(ip, to))
}

func (c *Cloud) unassignFloatingIP(r *call) (reply, error) {
	ip, err := find(r, c.floatingIPs)
	if err != nil {
		return reply{}, err
	}
	if ip.server == nil {
		return reply{}, failure(hcloud.ErrorCodeServiceError, "floating IP is not assigned")
	}
	return c.act(ip.server.lab, "unassign_floating_ip", "floating_ip", ip.id, func() { c.unroute(ip) })
}

func (c *Cloud) pointFloatingIP(r *call) (reply, error) {
	ip, asked, err := ask[schema.FloatingIPActionChangeDNSPtrRequest](r, c.floatingIPs)
	if err != nil {
		return reply{}, err
	}
	return c.act(subject, "change_dns_ptr", "floating_ip", ip.id, func() { point(ip.pointers, asked.IP, asked.DNSPtr) })
}

func (c *Cloud) protectFloatingIP(r *call) (reply, error) {
	ip, asked, err := ask[schema.FloatingIPActionChangeProtectionRequest](r, c.floatingIPs)
	if err != nil {
		return reply{}, err
	}
	return c.act(subject, "change_protection", "floating_ip", ip.id, func() { ip.protected = valueOr(asked.Delete, ip.protected) })
}
