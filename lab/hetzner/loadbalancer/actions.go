package loadbalancer

import (
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/project"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

// start starts an action of a load balancer, after which its traffic follows its
// configuration.
func (s *Balancers) start(b *Balancer, command string, done func()) (api.Reply, error) {
	return project.Acting(s.project.Actions.StartOne(b.Name, project.Step{
		Command: command,
		About:   []project.Reference{s.registry.Reference(b)},
		Done: func() error {
			done()
			return b.traffic.steer()
		},
	}))
}

func (s *Balancers) attach(r *api.Call) (api.Reply, error) {
	b, asked, err := project.Ask[schema.LoadBalancerActionAttachToNetworkRequest](r, s.registry)
	if err != nil {
		return api.Reply{}, err
	}
	network, err := s.networks.Get(asked.Network)
	if err != nil {
		return api.Reply{}, err
	}
	if len(b.private) > 0 {
		return api.Reply{}, api.Failure(hcloud.ErrorCodeLoadBalancerAlreadyAttached, "load balancer is already attached to a network")
	}
	if err := s.registry.Unlocked(b); err != nil {
		return api.Reply{}, err
	}
	addr, err := s.networks.Reserve(network, b.location.NetworkZone, asked.IP, asked.IPRange)
	if err != nil {
		return api.Reply{}, err
	}
	b.private[network] = addr
	return project.Acting(s.project.Actions.StartOne(b.Name, project.Step{
		Command: "attach_to_network", Takes: pace.NetworkAttach,
		About:  []project.Reference{s.registry.Reference(b), s.networks.Reference(network)},
		Undone: func() { delete(b.private, network) },
		Done:   b.traffic.steer,
	}))
}

func (s *Balancers) detach(r *api.Call) (api.Reply, error) {
	b, asked, err := project.Ask[schema.LoadBalancerActionDetachFromNetworkRequest](r, s.registry)
	if err != nil {
		return api.Reply{}, err
	}
	network, err := s.networks.Get(asked.Network)
	if err != nil {
		return api.Reply{}, err
	}
	if _, attached := b.private[network]; !attached {
		return api.Reply{}, api.Failure(hcloud.ErrorCodeNotFound, "load balancer is not attached to network")
	}
	return s.start(b, "detach_from_network", func() { s.leaveNetwork(b, network) })
}

func (s *Balancers) enablePublic(r *api.Call) (api.Reply, error) {
	b, err := project.Find(r, s.registry)
	if err != nil {
		return api.Reply{}, err
	}
	return s.start(b, "enable_public_interface", func() { b.public = true })
}

func (s *Balancers) disablePublic(r *api.Call) (api.Reply, error) {
	b, err := project.Find(r, s.registry)
	if err != nil {
		return api.Reply{}, err
	}
	if len(b.private) == 0 {
		return api.Reply{}, notAttached()
	}
	if slices.ContainsFunc(b.targets, func(t *target) bool { return !t.usePrivate }) {
		return api.Reply{}, api.Failure(hcloud.ErrorCodeTargetsWithoutUsePrivateIP, "load balancer has targets that use the public IP")
	}
	return s.start(b, "disable_public_interface", func() { b.public = false })
}

func notAttached() error {
	return api.Failure(hcloud.ErrorCodeLoadBalancerNotAttachedToNetwork, "load balancer is not attached to a network")
}

func (s *Balancers) changeAlgorithm(r *api.Call) (api.Reply, error) {
	b, asked, err := project.Ask[schema.LoadBalancerActionChangeAlgorithmRequest](r, s.registry)
	if err != nil {
		return api.Reply{}, err
	}
	algorithm, err := readAlgorithm(asked.Type)
	if err != nil {
		return api.Reply{}, err
	}
	return s.start(b, "change_algorithm", func() { b.algorithm = algorithm })
}

func (s *Balancers) changeType(r *api.Call) (api.Reply, error) {
	b, asked, err := project.Ask[schema.LoadBalancerActionChangeTypeRequest](r, s.registry)
	if err != nil {
		return api.Reply{}, err
	}
	kind, err := s.catalog.LoadBalancerTypes.Choose("load_balancer_type", asked.LoadBalancerType)
	if err != nil {
		return api.Reply{}, err
	}
	if len(b.services) > kind.MaxServices || len(b.targets) > kind.MaxTargets {
		return api.Reply{}, api.Failure(hcloud.ErrorCodeInvalidLoadBalancerType, "load balancer has more services or targets than the type allows")
	}
	return s.start(b, "change_load_balancer_type", func() { b.kind = kind })
}

func (s *Balancers) changeName(r *api.Call) (api.Reply, error) {
	b, asked, err := project.Ask[schema.LoadBalancerActionChangeDNSPtrRequest](r, s.registry)
	if err != nil {
		return api.Reply{}, err
	}
	return s.start(b, "change_dns_ptr", func() { b.names.Set(asked.IP, asked.DNSPtr) })
}

func (s *Balancers) protect(r *api.Call) (api.Reply, error) {
	b, asked, err := project.Ask[schema.LoadBalancerActionChangeProtectionRequest](r, s.registry)
	if err != nil {
		return api.Reply{}, err
	}
	return s.start(b, "change_protection", func() { b.protected = api.ValueOr(asked.Delete, b.protected) })
}
