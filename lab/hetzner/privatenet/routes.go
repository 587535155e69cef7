package privatenet

import (
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/project"
)

// Routes returns the routes of networks, and of the places of servers in them.
func (n *Networks) Routes() api.Routes {
	return api.Routes{
		"GET /networks":                                  n.list,
		"POST /networks":                                 n.create,
		"GET /networks/{id}":                             project.Getter(n.registry, func(network *Network) any { return schema.NetworkGetResponse{Network: n.view(network)} }),
		"PUT /networks/{id}":                             n.update,
		"DELETE /networks/{id}":                          n.delete,
		"POST /networks/{id}/actions/add_subnet":         n.addSubnet,
		"POST /networks/{id}/actions/delete_subnet":      n.deleteSubnet,
		"POST /networks/{id}/actions/add_route":          n.addRoute,
		"POST /networks/{id}/actions/delete_route":       n.deleteRoute,
		"POST /networks/{id}/actions/change_ip_range":    n.changeIPRange,
		"POST /networks/{id}/actions/change_protection":  n.protect,
		"POST /servers/{id}/actions/attach_to_network":   n.attachServer,
		"POST /servers/{id}/actions/detach_from_network": n.detachServer,
		"POST /servers/{id}/actions/change_alias_ips":    n.changeAliases,
	}
}

func (n *Networks) list(r *api.Call) (api.Reply, error) {
	return project.List(r, "networks", n.registry.All(), n.view)
}

func (n *Networks) create(r *api.Call) (api.Reply, error) {
	var asked schema.NetworkCreateRequest
	if err := r.Decode(&asked); err != nil {
		return api.Reply{}, err
	}
	ipRange, err := parseRange("ip_range", asked.IPRange, smallestNetwork)
	if err != nil {
		return api.Reply{}, err
	}
	network := &Network{ipRange: ipRange, exposed: asked.ExposeRoutesToVSwitch}
	for _, wanted := range asked.Subnets {
		part, err := network.newSubnet(wanted.Type, wanted.IPRange, wanted.NetworkZone, wanted.VSwitchID)
		if err != nil {
			return api.Reply{}, err
		}
		network.subnets = append(network.subnets, part)
	}
	for _, wanted := range asked.Routes {
		if err := network.checkRoute(wanted); err != nil {
			return api.Reply{}, err
		}
		network.routes = append(network.routes, wanted)
	}
	if network.Record, err = n.registry.NewRecord(asked.Name, asked.Labels); err != nil {
		return api.Reply{}, err
	}
	n.registry.Add(network)
	return api.Created(schema.NetworkCreateResponse{Network: n.view(network)})
}

func (n *Networks) update(r *api.Call) (api.Reply, error) {
	network, asked, err := project.Ask[schema.NetworkUpdateRequest](r, n.registry)
	if err != nil {
		return api.Reply{}, err
	}
	if err := n.registry.Change(network, asked.Name, asked.Labels); err != nil {
		return api.Reply{}, err
	}
	network.exposed = api.ValueOr(asked.ExposeRoutesToVSwitch, network.exposed)
	return api.Answer(schema.NetworkUpdateResponse{Network: n.view(network)})
}

// delete first removes servers and load balancers from the network.
func (n *Networks) delete(r *api.Call) (api.Reply, error) {
	network, err := project.Find(r, n.registry)
	if err != nil {
		return api.Reply{}, err
	}
	if network.protected {
		return api.Reply{}, api.Protected(n.registry.Kind)
	}
	if err := n.registry.Unlocked(network); err != nil {
		return api.Reply{}, err
	}
	for _, s := range n.servers.All() {
		n.detach(s, network)
	}
	n.Balancers.Evict(network)
	n.registry.Remove(network)
	return api.NoContent()
}

func (n *Networks) changeIPRange(r *api.Call) (api.Reply, error) {
	network, asked, err := project.Ask[schema.NetworkActionChangeIPRangeRequest](r, n.registry)
	if err != nil {
		return api.Reply{}, err
	}
	ipRange, err := parseRange("ip_range", asked.IPRange, smallestNetwork)
	if err != nil {
		return api.Reply{}, err
	}
	if !within(network.ipRange, ipRange) {
		return api.Reply{}, api.Invalid("ip_range", "must contain the present range %s", network.ipRange)
	}
	return n.registry.Act(network, project.Subject, "change_ip_range", func() { network.ipRange = ipRange })
}

func (n *Networks) protect(r *api.Call) (api.Reply, error) {
	network, asked, err := project.Ask[schema.NetworkActionChangeProtectionRequest](r, n.registry)
	if err != nil {
		return api.Reply{}, err
	}
	return n.registry.Act(network, project.Subject, "change_protection", func() {
		network.protected = api.ValueOr(asked.Delete, network.protected)
	})
}
