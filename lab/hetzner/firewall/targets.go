package firewall

import (
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/project"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/server"
)

// target is what a firewall is applied to or removed from: a server, or those that
// a label selector matches.
type target struct {
	server   *server.Server
	selector api.Selector
}

// targets reads the targets of a request.
func (f *Firewalls) targets(asked []schema.FirewallResource) ([]target, error) {
	var targets []target
	for _, resource := range asked {
		switch hcloud.FirewallResourceType(resource.Type) {
		case hcloud.FirewallResourceTypeServer:
			if resource.Server == nil {
				return nil, api.Invalid("server", "is required for type server")
			}
			found, err := f.servers.Get(resource.Server.ID)
			if err != nil {
				return nil, api.Failure(hcloud.ErrorCodeFirewallResourceNotFound, "server with ID '%d' not found", resource.Server.ID)
			}
			targets = append(targets, target{server: found})
		case hcloud.FirewallResourceTypeLabelSelector:
			if resource.LabelSelector == nil {
				return nil, api.Invalid("label_selector", "is required for type label_selector")
			}
			selector, err := api.RequireSelector(resource.LabelSelector.Selector)
			if err != nil {
				return nil, err
			}
			targets = append(targets, target{selector: selector})
		default:
			return nil, api.Invalid("type", "must be server or label_selector")
		}
	}
	return targets, nil
}

// cover applies a firewall to a target that it does not apply to yet.
func (f *Firewalls) cover(one *Firewall, to target) []schema.Action {
	if to.server != nil {
		f.Cover(one, to.server)
		return f.spread(one, "apply_firewall", []*server.Server{to.server})
	}
	one.selectors = append(one.selectors, to.selector)
	return f.spread(one, "apply_firewall", f.servers.Selected(to.selector))
}

// spread enforces a change of a firewall on servers, with one action for each. A change that affects no server is an action of the firewall alone.
func (f *Firewalls) spread(one *Firewall, command string, to []*server.Server) []schema.Action {
	about := f.registry.Reference(one)
	if len(to) == 0 {
		return []schema.Action{f.project.Actions.StartOne(project.Subject, project.Step{Command: command, About: []project.Reference{about}})}
	}
	var actions []schema.Action
	for _, s := range to {
		actions = append(actions, f.project.Actions.StartOne(s.Machine, project.Step{
			Command: command,
			About:   []project.Reference{about, f.servers.Reference(s)},
			Done: func() error {
				f.Enforce(s)
				return nil
			},
		}))
	}
	return actions
}

func (f *Firewalls) apply(r *api.Call) (api.Reply, error) {
	found, asked, err := project.Ask[schema.FirewallActionApplyToResourcesRequest](r, f.registry)
	if err != nil {
		return api.Reply{}, err
	}
	targets, err := f.targets(asked.ApplyTo)
	if err != nil {
		return api.Reply{}, err
	}
	for i, to := range targets {
		switch {
		case to.server == nil && slices.ContainsFunc(found.selectors, to.sameSelector):
			return api.Reply{}, api.Failure(hcloud.ErrorCodeFirewallAlreadyApplied, "firewall is already applied to label selector '%s'", to.selector.Text)
		case to.server == nil:
		case slices.Contains(found.servers, to.server):
			return api.Reply{}, api.Failure(hcloud.ErrorCodeFirewallAlreadyApplied, "firewall is already applied to server with ID %d", to.server.ID)
		case slices.ContainsFunc(targets[:i], func(other target) bool { return other.server == to.server }):
			return api.Reply{}, api.Failure(hcloud.ErrorCodeServerAlreadyAdded, "server with ID %d is given twice", to.server.ID)
		case !f.publicIPs.HasAny(to.server):
			return api.Reply{}, api.Failure(hcloud.ErrorCodePrivateNetOnlyServer, "server with ID %d has no public interface", to.server.ID)
		}
	}
	actions := []schema.Action{}
	for _, to := range targets {
		actions = append(actions, f.cover(found, to)...)
	}
	return api.Created(schema.FirewallActionApplyToResourcesResponse{Actions: actions})
}

// sameSelector reports whether the target is written with this label selector.
func (t target) sameSelector(other api.Selector) bool { return t.selector.Text == other.Text }

func (f *Firewalls) remove(r *api.Call) (api.Reply, error) {
	found, asked, err := project.Ask[schema.FirewallActionRemoveFromResourcesRequest](r, f.registry)
	if err != nil {
		return api.Reply{}, err
	}
	targets, err := f.targets(asked.RemoveFrom)
	if err != nil {
		return api.Reply{}, err
	}
	for _, from := range targets {
		if from.server != nil && !slices.Contains(found.servers, from.server) && found.covers(from.server) {
			return api.Reply{}, api.Failure(hcloud.ErrorCodeFirewallManagedByLabelSelector,
				"firewall is applied to server with ID %d by a label selector", from.server.ID)
		}
	}
	actions := []schema.Action{}
	for _, from := range targets {
		if from.server != nil {
			found.servers = slices.DeleteFunc(found.servers, func(s *server.Server) bool { return s == from.server })
			actions = append(actions, f.spread(found, "remove_firewall", []*server.Server{from.server})...)
			continue
		}
		found.selectors = slices.DeleteFunc(found.selectors, from.sameSelector)
		actions = append(actions, f.spread(found, "remove_firewall", f.servers.Selected(from.selector))...)
	}
	return api.Created(schema.FirewallActionRemoveFromResourcesResponse{Actions: actions})
}
