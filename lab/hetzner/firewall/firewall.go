// Package firewall is the firewalls of a project: their rules, the servers that they apply to, and their enforcement on the network.
package firewall

import (
	"net/netip"
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/project"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/server"
)

// Firewall is a set of rules and the resources that they apply to.
type Firewall struct {
	project.Record
	rules []schema.FirewallRule
	// servers are those that it was applied to individually.
	servers []*server.Server
	// selectors are those whose servers it applies to, in the order in which they were added.
	selectors []api.Selector
}

// covers reports whether the firewall applies to a server.
func (f *Firewall) covers(s *server.Server) bool {
	return slices.Contains(f.servers, s) ||
		slices.ContainsFunc(f.selectors, func(by api.Selector) bool { return by.Matches(s.Labels) })
}

// PublicIPs are the public addresses of servers.
type PublicIPs interface {
	Address(of *server.Server) (netip.Addr, bool)
	HasAny(of *server.Server) bool
}

// Firewalls are the firewalls of a project.
type Firewalls struct {
	project   *project.Project
	servers   *server.Servers
	publicIPs PublicIPs
	registry  *project.Registry[*Firewall]
	inForce   map[*server.Server][]*Firewall
}

// New returns a project without firewalls.
func New(in *project.Project, servers *server.Servers, publicIPs PublicIPs) *Firewalls {
	return &Firewalls{
		project: in, servers: servers, publicIPs: publicIPs,
		registry: project.NewRegistry[*Firewall](in, "firewall"), inForce: map[*server.Server][]*Firewall{},
	}
}

// GetAll returns the firewalls with these ids.
func (f *Firewalls) GetAll(ids []int64) ([]*Firewall, error) { return f.registry.GetAll(ids) }

// Cover applies a firewall to a server that is being created. Enforce makes it take effect.
func (f *Firewalls) Cover(one *Firewall, s *server.Server) { one.servers = append(one.servers, s) }

// Enforce makes the firewalls of a server take effect on its public address.
func (f *Firewalls) Enforce(s *server.Server) {
	f.inForce[s] = f.of(s)
	if addr, has := f.publicIPs.Address(s); has {
		f.project.Network.SetFirewall(addr, compile(f.inForce[s]))
	}
}

// Relabeled updates the firewalls of a server whose labels were changed.
func (f *Firewalls) Relabeled(s *server.Server) {
	if !slices.Equal(f.inForce[s], f.of(s)) {
		f.project.Actions.StartOne(s.Machine, s.Step("apply_firewall", func() { f.Enforce(s) }))
	}
}

// Forget removes a server from all firewalls.
func (f *Firewalls) Forget(s *server.Server) {
	for _, one := range f.registry.All() {
		one.servers = slices.DeleteFunc(one.servers, func(other *server.Server) bool { return other == s })
	}
	delete(f.inForce, s)
}

// ViewOf returns the firewalls of a server.
func (f *Firewalls) ViewOf(s *server.Server) []schema.ServerFirewall {
	views := []schema.ServerFirewall{}
	for _, one := range f.of(s) {
		status := "pending"
		if slices.Contains(f.inForce[s], one) {
			status = "applied"
		}
		views = append(views, schema.ServerFirewall{ID: one.ID, Status: status})
	}
	return views
}

// of returns the firewalls that apply to a server.
func (f *Firewalls) of(s *server.Server) []*Firewall {
	return f.registry.Where(func(one *Firewall) bool { return one.covers(s) })
}

func (f *Firewalls) view(one *Firewall) schema.Firewall {
	view := schema.Firewall{
		ID: one.ID, Name: one.Name, Labels: one.LabelsOf(), Created: one.Created,
		Rules: append([]schema.FirewallRule{}, one.rules...), AppliedTo: []schema.FirewallResource{},
	}
	for _, s := range one.servers {
		view.AppliedTo = append(view.AppliedTo, viewServer(s))
	}
	for _, by := range one.selectors {
		resource := schema.FirewallResource{
			Type:          string(hcloud.FirewallResourceTypeLabelSelector),
			LabelSelector: &schema.FirewallResourceLabelSelector{Selector: by.Text},
		}
		for _, s := range f.servers.Selected(by) {
			resource.AppliedToResources = append(resource.AppliedToResources, viewServer(s))
		}
		view.AppliedTo = append(view.AppliedTo, resource)
	}
	return view
}

func viewServer(s *server.Server) schema.FirewallResource {
	return schema.FirewallResource{Type: string(hcloud.FirewallResourceTypeServer), Server: &schema.FirewallResourceServer{ID: s.ID}}
}

// Routes returns the routes of firewalls.
func (f *Firewalls) Routes() api.Routes {
	return api.Routes{
		"GET /firewalls":                                     f.list,
		"POST /firewalls":                                    f.create,
		"GET /firewalls/{id}":                                project.Getter(f.registry, func(one *Firewall) any { return schema.FirewallGetResponse{Firewall: f.view(one)} }),
		"PUT /firewalls/{id}":                                project.Updater(f.registry, func(one *Firewall) any { return schema.FirewallUpdateResponse{Firewall: f.view(one)} }),
		"DELETE /firewalls/{id}":                             f.delete,
		"POST /firewalls/{id}/actions/set_rules":             f.setRules,
		"POST /firewalls/{id}/actions/apply_to_resources":    f.apply,
		"POST /firewalls/{id}/actions/remove_from_resources": f.remove,
	}
}

func (f *Firewalls) list(r *api.Call) (api.Reply, error) {
	return project.List(r, "firewalls", f.registry.All(), f.view)
}

func (f *Firewalls) create(r *api.Call) (api.Reply, error) {
	var asked schema.FirewallCreateRequest
	if err := r.Decode(&asked); err != nil {
		return api.Reply{}, err
	}
	rules, err := checkRules(asked.Rules)
	if err != nil {
		return api.Reply{}, err
	}
	targets, err := f.targets(asked.ApplyTo)
	if err != nil {
		return api.Reply{}, err
	}
	record, err := f.registry.NewRecord(asked.Name, asked.Labels)
	if err != nil {
		return api.Reply{}, err
	}
	made := &Firewall{Record: record, rules: rules}
	f.registry.Add(made)
	actions := f.spread(made, "set_firewall_rules", nil)
	for _, to := range targets {
		actions = append(actions, f.cover(made, to)...)
	}
	return api.Created(schema.FirewallCreateResponse{Firewall: f.view(made), Actions: actions})
}

func (f *Firewalls) delete(r *api.Call) (api.Reply, error) {
	found, err := project.Find(r, f.registry)
	if err != nil {
		return api.Reply{}, err
	}
	enforced := slices.ContainsFunc(f.servers.All(), func(s *server.Server) bool { return slices.Contains(f.inForce[s], found) })
	if len(found.servers) > 0 || len(found.selectors) > 0 || enforced {
		return api.Reply{}, api.Failure(hcloud.ErrorCodeResourceInUse, "firewall with ID %d is still in use", found.ID)
	}
	f.registry.Remove(found)
	return api.NoContent()
}

func (f *Firewalls) setRules(r *api.Call) (api.Reply, error) {
	found, asked, err := project.Ask[schema.FirewallActionSetRulesRequest](r, f.registry)
	if err != nil {
		return api.Reply{}, err
	}
	rules, err := checkRules(asked.Rules)
	if err != nil {
		return api.Reply{}, err
	}
	found.rules = rules
	return api.Created(schema.FirewallActionSetRulesResponse{Actions: f.spread(found, "set_firewall_rules", f.servers.Where(found.covers))})
}
