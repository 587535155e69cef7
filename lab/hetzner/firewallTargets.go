package hetzner

import (
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"
)

// firewallTarget is what a firewall is applied to or removed from: a server, or
// those that a label selector finds.
type firewallTarget struct {
	server *server
	labels labelTarget
}

// firewallTargets reads them.
func (c *Cloud) firewallTargets(asked []schema.FirewallResource) ([]firewallTarget, error) {
	var targets []firewallTarget
	for _, resource := range asked {
		switch hcloud.FirewallResourceType(resource.Type) {
		case hcloud.FirewallResourceTypeServer:
			if resource.Server == nil {
				return nil, invalid("server", "is required for type server")
			}
			server, err := c.servers.get(resource.Server.ID)
			if err != nil {
				return nil, failure(hcloud.ErrorCodeFirewallResourceNotFound, "server with ID '%d' not found", resource.Server.ID)
			}
			targets = append(targets, firewallTarget{server: server})
		case hcloud.FirewallResourceTypeLabelSelector:
			if resource.LabelSelector == nil {
				return nil, invalid("label_selector", "is required for type label_selector")
			}
			parsed, err := parseSelector(resource.LabelSelector.Selector)
			if err != nil || len(parsed) == 0 {
				return nil, invalid("label_selector", "'%s' is no label selector", resource.LabelSelector.Selector)
			}
			targets = append(targets, firewallTarget{labels: labelTarget{text: resource.LabelSelector.Selector, parsed: parsed}})
		default:
			return nil, invalid("type", "must be server or label_selector")
		}
	}
	return targets, nil
}

// cover applies a firewall to a target that it does not apply to yet.
func (c *Cloud) cover(wall *firewall, target firewallTarget) []schema.Action {
	if target.server != nil {
		wall.servers = append(wall.servers, target.server)
		return c.spread(wall, "apply_firewall", []*server{target.server})
	}
	wall.selectors = append(wall.selectors, target.labels)
	return c.spread(wall, "apply_firewall", c.selected(target.labels))
}

// selected are the servers that a selector finds.
func (c *Cloud) selected(target labelTarget) []*server {
	return slices.DeleteFunc(c.servers.all(), func(s *server) bool { return !target.parsed.matches(s.labels) })
}

// spread brings a change of a firewall to servers, with an action for each; a
// change that concerns none is an action of the firewall alone.
func (c *Cloud) spread(wall *firewall, command string, to []*server) []schema.Action {
	about := reference{Type: "firewall", ID: wall.id}
	if len(to) == 0 {
		return []schema.Action{c.startOne(subject, step{command: command, about: []reference{about}})}
	}
	var actions []schema.Action
	for _, server := range to {
		actions = append(actions, c.startOne(server.lab, step{
			command: command,
			about:   []reference{about, {Type: "server", ID: server.id}},
			done: func() error {
				c.enforce(server)
				return nil
			},
		}))
	}
	return actions
}

// relabel brings firewalls to a server whose labels changed.
func (c *Cloud) relabel(s *server) {
	if slices.Equal(s.firewalls, c.firewallsOf(s)) {
		return
	}
	c.startOne(s.lab, step{command: "apply_firewall", about: []reference{{Type: "server", ID: s.id}}, done: func() error {
		c.enforce(s)
		return nil
	}})
}

func (c *Cloud) applyFirewall(r *call) (reply, error) {
	wall, asked, err := ask[schema.FirewallActionApplyToResourcesRequest](r, c.firewalls)
	if err != nil {
		return reply{}, err
	}
	targets, err := c.firewallTargets(asked.ApplyTo)
	if err != nil {
		return reply{}, err
	}
	for i, target := range targets {
		switch {
		case target.server == nil && slices.ContainsFunc(wall.selectors, target.same):
			return reply{}, failure(hcloud.ErrorCodeFirewallAlreadyApplied, "firewall is already applied to label selector '%s'", target.labels.text)
		case target.server == nil:
		case slices.Contains(wall.servers, target.server):
			return reply{}, failure(hcloud.ErrorCodeFirewallAlreadyApplied, "firewall is already applied to server with ID %d", target.server.id)
		case slices.ContainsFunc(targets[:i], func(other firewallTarget) bool { return other.server == target.server }):
			return reply{}, failure(hcloud.ErrorCodeServerAlreadyAdded, "server with ID %d is given twice", target.server.id)
		case target.server.ipv4 == nil && target.server.ipv6 == nil:
			return reply{}, failure(hcloud.ErrorCodePrivateNetOnlyServer, "server with ID %d has no public interface", target.server.id)
		}
	}
	actions := []schema.Action{}
	for _, target := range targets {
		actions = append(actions, c.cover(wall, target)...)
	}
	return created(schema.FirewallActionApplyToResourcesResponse{Actions: actions})
}

// same says whether it is for the same label selector.
func (t firewallTarget) same(other labelTarget) bool { return t.labels.text == other.text }

func (c *Cloud) removeFirewall(r *call) (reply, error) {
	wall, asked, err := ask[schema.FirewallActionRemoveFromResourcesRequest](r, c.firewalls)
	if err != nil {
		return reply{}, err
	}
	targets, err := c.firewallTargets(asked.RemoveFrom)
	if err != nil {
		return reply{}, err
	}
	for _, target := range targets {
		if target.server != nil && !slices.Contains(wall.servers, target.server) && wall.covers(target.server) {
			return reply{}, failure(hcloud.ErrorCodeFirewallManagedByLabelSelector,
				"firewall is applied to server with ID %d by a label selector", target.server.id)
		}
	}
	actions := []schema.Action{}
	for _, target := range targets {
		if target.server != nil {
			wall.servers = slices.DeleteFunc(wall.servers, func(s *server) bool { return s == target.server })
			actions = append(actions, c.spread(wall, "remove_firewall", []*server{target.server})...)
			continue
		}
		wall.selectors = slices.DeleteFunc(wall.selectors, target.same)
		actions = append(actions, c.spread(wall, "remove_firewall", c.selected(target.labels))...)
	}
	return created(schema.FirewallActionRemoveFromResourcesResponse{Actions: actions})
}
