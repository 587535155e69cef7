package loadbalancer

import (
	"net/netip"

	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/privatenet"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/project"
)

// Routes returns the routes of load balancers.
func (s *Balancers) Routes() api.Routes {
	const at = "POST /load_balancers/{id}/actions/"
	return api.Routes{
		"GET /load_balancers":  s.list,
		"POST /load_balancers": s.create,
		"GET /load_balancers/{id}": project.Getter(s.registry, func(b *Balancer) any {
			return schema.LoadBalancerGetResponse{LoadBalancer: s.view(b)}
		}),
		"PUT /load_balancers/{id}":      project.Updater(s.registry, func(b *Balancer) any { return schema.LoadBalancerUpdateResponse{LoadBalancer: s.view(b)} }),
		"DELETE /load_balancers/{id}":   s.delete,
		at + "add_service":              s.addService,
		at + "update_service":           s.updateService,
		at + "delete_service":           s.deleteService,
		at + "add_target":               s.addTarget,
		at + "remove_target":            s.removeTarget,
		at + "attach_to_network":        s.attach,
		at + "detach_from_network":      s.detach,
		at + "enable_public_interface":  s.enablePublic,
		at + "disable_public_interface": s.disablePublic,
		at + "change_algorithm":         s.changeAlgorithm,
		at + "change_type":              s.changeType,
		at + "change_dns_ptr":           s.changeName,
		at + "change_protection":        s.protect,
	}
}

func (s *Balancers) list(r *api.Call) (api.Reply, error) {
	return project.List(r, "load_balancers", s.registry.All(), s.view)
}

// order is schema.LoadBalancerCreateRequest with its services and targets in the
// types of the actions that add them, which are written in the same way.
type order struct {
	schema.LoadBalancerCreateRequest
	Services []schema.LoadBalancerActionAddServiceRequest `json:"services"`
	Targets  []schema.LoadBalancerActionAddTargetRequest  `json:"targets"`
}

func (s *Balancers) create(r *api.Call) (api.Reply, error) {
	var asked order
	if err := r.Decode(&asked); err != nil {
		return api.Reply{}, err
	}
	b, err := s.configure(asked)
	if err != nil {
		return api.Reply{}, err
	}
	if b.Record, err = s.registry.NewRecord(asked.Name, asked.Labels); err != nil {
		return api.Reply{}, err
	}
	if b.ipv4, err = s.project.Addresses.Take(b.Name); err != nil {
		return api.Reply{}, err
	}
	b.net6 = s.project.Identities.Network6(b.Name)
	b.traffic = newTraffic(s.project, b, func() []endpoint { return s.endpoints(b) })
	s.registry.Add(b)
	started := s.project.Actions.StartOne(b.Name, project.Step{
		Command: "create_load_balancer",
		About:   []project.Reference{s.registry.Reference(b)},
		Done:    b.traffic.begin,
	})
	return api.Created(schema.LoadBalancerCreateResponse{LoadBalancer: s.view(b), Action: started})
}

// configure returns a load balancer as requested, without name and public address.
func (s *Balancers) configure(asked order) (*Balancer, error) {
	b := &Balancer{
		algorithm: "round_robin", public: api.ValueOr(asked.PublicInterface, true),
		names: project.ReverseNames{}, private: map[*privatenet.Network]netip.Addr{},
	}
	var err error
	if b.kind, err = s.catalog.LoadBalancerTypes.Choose("load_balancer_type", asked.LoadBalancerType); err != nil {
		return nil, err
	}
	if asked.Algorithm != nil {
		if b.algorithm, err = readAlgorithm(asked.Algorithm.Type); err != nil {
			return nil, err
		}
	}
	if b.location, err = s.catalog.BalancerLocation(asked.Location, asked.NetworkZone); err != nil {
		return nil, err
	}
	if asked.Network != nil {
		network, err := s.networks.Get(*asked.Network)
		if err != nil {
			return nil, err
		}
		if b.private[network], err = s.networks.Reserve(network, b.location.NetworkZone, nil, nil); err != nil {
			return nil, err
		}
	}
	for _, wanted := range asked.Services {
		if err := b.addService(wanted); err != nil {
			return nil, err
		}
	}
	for _, wanted := range asked.Targets {
		if err := s.addTargetTo(b, wanted); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func readAlgorithm(name string) (string, error) {
	if name != "round_robin" && name != "least_connections" {
		return "", api.Invalid("type", "must be round_robin or least_connections")
	}
	return name, nil
}

func (s *Balancers) delete(r *api.Call) (api.Reply, error) {
	b, err := project.Find(r, s.registry)
	if err != nil {
		return api.Reply{}, err
	}
	if b.protected {
		return api.Reply{}, api.Protected(s.registry.Kind)
	}
	if err := s.registry.Unlocked(b); err != nil {
		return api.Reply{}, err
	}
	s.registry.Remove(b)
	s.project.Addresses.Release(b.ipv4)
	if err := b.traffic.silence(); err != nil {
		return api.Reply{}, err
	}
	return api.NoContent()
}
