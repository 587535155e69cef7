package hetzner

import (
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"
)

// firewall is a set of rules and what they apply to.
type firewall struct {
	record
	rules []schema.FirewallRule
	// servers are those that it was applied to one by one.
	servers []*server
	// selectors are those whose servers it applies to, in the order of asking.
	selectors []labelTarget
}

// labelTarget is a label selector as it was written and as it is meant.
type labelTarget struct {
	text   string
	parsed selector
}

// covers says whether the firewall is meant for a server.
func (f *firewall) covers(s *server) bool {
	return slices.Contains(f.servers, s) ||
		slices.ContainsFunc(f.selectors, func(target labelTarget) bool { return target.parsed.matches(s.labels) })
}

// firewallsOf are those that are meant for a server.
func (c *Cloud) firewallsOf(s *server) []*firewall {
	return slices.DeleteFunc(c.firewalls.all(), func(f *firewall) bool { return !f.covers(s) })
}

// enforce makes the firewalls of a server true on its public addresses.
func (c *Cloud) enforce(s *server) {
	s.firewalls = c.firewallsOf(s)
	compiled := compile(s.firewalls)
	for _, addr := range c.publicAddresses(s) {
		c.Network.SetFirewall(addr, compiled)
	}
}

func (c *Cloud) viewFirewall(f *firewall) schema.Firewall {
	view := schema.Firewall{
		ID: f.id, Name: f.name, Labels: labelled(f.labels), Created: f.created,
		Rules: append([]schema.FirewallRule{}, f.rules...), AppliedTo: []schema.FirewallResource{},
	}
	for _, server := range f.servers {
		view.AppliedTo = append(view.AppliedTo, serverResource(server))
	}
	for _, target := range f.selectors {
		resource := schema.FirewallResource{
			Type:          string(hcloud.FirewallResourceTypeLabelSelector),
			LabelSelector: &schema.FirewallResourceLabelSelector{Selector: target.text},
		}
		for _, server := range c.servers.all() {
			if target.parsed.matches(server.labels) {
				resource.AppliedToResources = append(resource.AppliedToResources, serverResource(server))
			}
		}
		view.AppliedTo = append(view.AppliedTo, resource)
	}
	return view
}

func serverResource(s *server) schema.FirewallResource {
	return schema.FirewallResource{Type: string(hcloud.FirewallResourceTypeServer), Server: &schema.FirewallResourceServer{ID: s.id}}
}

func (c *Cloud) firewallRoutes() map[string]handler {
	return map[string]handler{
		"GET /firewalls":                                     c.listFirewalls,
		"POST /firewalls":                                    c.createFirewall,
		"GET /firewalls/{id}":                                c.getFirewall,
		"PUT /firewalls/{id}":                                c.updateFirewall,
		"DELETE /firewalls/{id}":                             c.deleteFirewall,
		"POST /firewalls/{id}/actions/set_rules":             c.setRules,
		"POST /firewalls/{id}/actions/apply_to_resources":    c.applyFirewall,
		"POST /firewalls/{id}/actions/remove_from_resources": c.removeFirewall,
	}
}

func (c *Cloud) listFirewalls(r *call) (reply, error) {
	return list(r, "firewalls", c.firewalls.all(), c.viewFirewall)
}

func (c *Cloud) createFirewall(r *call) (reply, error) {
	var asked schema.FirewallCreateRequest
	if err := r.decode(&asked); err != nil {
		return reply{}, err
	}
	rules, err := checkRules(asked.Rules)
	if err != nil {
		return reply{}, err
	}
	targets, err := c.firewallTargets(asked.ApplyTo)
	if err != nil {
		return reply{}, err
	}
	made, err := enroll(c, c.firewalls, asked.Name, asked.Labels)
	if err != nil {
		return reply{}, err
	}
	wall := &firewall{record: made, rules: rules}
	c.firewalls.add(wall)
	actions := c.spread(wall, "set_firewall_rules", nil)
	for _, target := range targets {
		actions = append(actions, c.cover(wall, target)...)
	}
	return created(schema.FirewallCreateResponse{Firewall: c.viewFirewall(wall), Actions: actions})
}

func (c *Cloud) getFirewall(r *call) (reply, error) {
	wall, err := find(r, c.firewalls)
	if err != nil {
		return reply{}, err
	}
	return answer(schema.FirewallGetResponse{Firewall: c.viewFirewall(wall)})
}

func (c *Cloud) updateFirewall(r *call) (reply, error) {
	wall, asked, err := ask[schema.FirewallUpdateRequest](r, c.firewalls)
	if err != nil {
		return reply{}, err
	}
	if err := c.firewalls.change(wall, valueOr(asked.Name, ""), asked.Labels); err != nil {
		return reply{}, err
	}
	return answer(schema.FirewallUpdateResponse{Firewall: c.viewFirewall(wall)})
}

func (c *Cloud) deleteFirewall(r *call) (reply, error) {
	wall, err := find(r, c.firewalls)
	if err != nil {
		return reply{}, err
	}
	enforced := slices.ContainsFunc(c.servers.all(), func(s *server) bool { return slices.Contains(s.firewalls, wall) })
	if len(wall.servers) > 0 || len(wall.selectors) > 0 || enforced {
		return reply{}, failure(hcloud.ErrorCodeResourceInUse, "firewall with ID %d is still in use", wall.id)
	}
	c.firewalls.remove(wall)
	return nothing()
}

func (c *Cloud) setRules(r *call) (reply, error) {
	wall, asked, err := ask[schema.FirewallActionSetRulesRequest](r, c.firewalls)
	if err != nil {
		return reply{}, err
	}
	rules, err := checkRules(asked.Rules)
	if err != nil {
		return reply{}, err
	}
	wall.rules = rules
	covered := slices.DeleteFunc(c.servers.all(), func(s *server) bool { return !wall.covers(s) })
	return created(schema.FirewallActionSetRulesResponse{Actions: c.spread(wall, "set_firewall_rules", covered)})
}
