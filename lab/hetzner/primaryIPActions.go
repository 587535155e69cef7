package hetzner

import (
	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"
)

// assignable says whether a server can be given a primary IP of that kind.
func (c *Cloud) assignable(s *server, kind string) error {
	if kind == "ipv4" && s.ipv4 != nil {
		return failure(hcloud.ErrorCodeServerHasIPv4, "server already has an ipv4 address")
	}
	if kind == "ipv6" && s.ipv6 != nil {
		return failure(hcloud.ErrorCodeServerHasIPv6, "server already has an ipv6 address")
	}
	return c.stopped(s)
}

// assign gives a primary IP to a server that is off.
func (c *Cloud) assign(ip *primaryIP, s *server) schema.Action {
	c.give(ip, s)
	return c.startOne(s.lab, step{
		command: "assign_primary_ip",
		about:   []reference{{Type: "primary_ip", ID: ip.id}, {Type: "server", ID: s.id}},
		done: func() error {
			c.enforce(s)
			c.renewPublicNIC(s)
			return nil
		},
	})
}

// give makes the primary IP the server's.
func (c *Cloud) give(ip *primaryIP, s *server) {
	ip.server = s
	if ip.kind == "ipv6" {
		s.ipv6 = ip
	} else {
		s.ipv4 = ip
	}
}

// take makes the primary IP nobody's.
func (c *Cloud) take(ip *primaryIP) {
	s := ip.server
	ip.server = nil
	if ip.kind == "ipv6" {
		s.ipv6 = nil
	} else {
		s.ipv4 = nil
		c.Network.SetFirewall(ip.addr, nil)
	}
	c.renewPublicNIC(s)
}

func (c *Cloud) assignPrimaryIP(r *call) (reply, error) {
	ip, asked, err := ask[schema.PrimaryIPActionAssignRequest](r, c.primaryIPs)
	if err != nil {
		return reply{}, err
	}
	s, err := c.servers.get(asked.AssigneeID)
	if err != nil {
		return reply{}, err
	}
	switch {
	case ip.server != nil:
		return reply{}, failure(hcloud.ErrorCodePrimaryIPAlreadyAssigned, "primary IP is already assigned to server with ID %d", ip.server.id)
	case ip.location.ID != s.location.ID:
		return reply{}, failure(hcloud.ErrorCodePrimaryIPDatacenterMismatch, "primary IP and server are in different locations")
	}
	if err := c.assignable(s, ip.kind); err != nil {
		return reply{}, err
	}
	return acting(c.assign(ip, s))
}

func (c *Cloud) unassignPrimaryIP(r *call) (reply, error) {
	ip, err := find(r, c.primaryIPs)
	if err != nil {
		return reply{}, err
	}
	if ip.server == nil {
		return reply{}, failure(hcloud.ErrorCodeServiceError, "primary IP is not assigned")
	}
	s := ip.server
	if err := c.stopped(s); err != nil {
		return reply{}, err
	}
	return acting(c.startOne(s.lab, step{
		command: "unassign_primary_ip",
		about:   []reference{{Type: "primary_ip", ID: ip.id}, {Type: "server", ID: s.id}},
		done: func() error {
			if ip.server == s {
				c.take(ip)
			}
			return nil
		},
	}))
}

func (c *Cloud) pointPrimaryIP(r *call) (reply, error) {
	ip, asked, err := ask[schema.PrimaryIPActionChangeDNSPtrRequest](r, c.primaryIPs)
	if err != nil {
		return reply{}, err
	}
	return c.act(subject, "change_dns_ptr", "primary_ip", ip.id, func() { point(ip.pointers, asked.IP, asked.DNSPtr) })
}

// point sets or, without a name, removes a reverse DNS entry.
func point(pointers map[string]string, ip string, name *string) {
	if name == nil {
		delete(pointers, ip)
		return
	}
	pointers[ip] = *name
}

func (c *Cloud) protectPrimaryIP(r *call) (reply, error) {
	ip, asked, err := ask[schema.PrimaryIPActionChangeProtectionRequest](r, c.primaryIPs)
	if err != nil {
		return reply{}, err
	}
	return c.act(subject, "change_protection", "primary_ip", ip.id, func() { ip.protected = asked.Delete })
}
