package hetzner

import (
	"context"
	"slices"
)

// forget takes a deleted server out of all that it is part of.
func (c *Cloud) forget(s *server) {
	for _, attached := range c.volumesOf(s) {
		c.unplug(attached)
	}
	for _, ip := range c.floatingIPs.all() {
		if ip.server == s {
			c.unroute(ip)
		}
	}
	for _, wall := range c.firewalls.all() {
		wall.servers = slices.DeleteFunc(wall.servers, func(other *server) bool { return other == s })
	}
	for _, balancer := range c.loadBalancers.all() {
		balancer.targets = slices.DeleteFunc(balancer.targets, func(t *target) bool { return t.server == s })
	}
	s.firewalls, s.placement = nil, nil
	c.retarget()
}

// demolish ends the machine; nothing of it runs afterwards.
func (s *server) demolish(ctx context.Context) {
	for _, box := range s.boxes() {
		box.Delete(ctx)
	}
}

// vacate gives back what the server had.
func (c *Cloud) vacate(s *server) {
	c.forget(s)
	for _, ip := range []*primaryIP{s.ipv4, s.ipv6} {
		if ip == nil {
			continue
		}
		ip.server = nil
		if ip.kind == "ipv4" {
			c.Network.SetFirewall(ip.addr, nil)
		}
		if ip.autoDelete {
			c.primaryIPs.remove(ip)
		}
	}
	s.ipv4, s.ipv6, s.private, s.box, s.rescue = nil, nil, nil, nil, nil
	delete(c.leaving, s)
	c.Timeline.Record(s.lab, "server", "deleted")
}
