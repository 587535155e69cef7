package hetzner

import (
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

func (c *Cloud) loadBalancerActionRoutes() map[string]handler {
	const at = "POST /load_balancers/{id}/actions/"
	return map[string]handler{
		at + "add_service":              c.addService,
		at + "update_service":           c.updateService,
		at + "delete_service":           c.deleteService,
		at + "add_target":               c.addTarget,
		at + "remove_target":            c.removeTarget,
		at + "attach_to_network":        c.attachBalancer,
		at + "detach_from_network":      c.detachBalancer,
		at + "enable_public_interface":  c.enablePublic,
		at + "disable_public_interface": c.disablePublic,
		at + "change_algorithm":         c.changeAlgorithm,
		at + "change_type":              c.changeBalancerType,
		at + "change_dns_ptr":           c.pointBalancer,
		at + "change_protection":        c.protectBalancer,
	}
}

// balancerAction starts an action of a load balancer, after which its traffic
// goes as it says.
func (c *Cloud) balancerAction(b *loadBalancer, command string, done func()) (reply, error) {
	return acting(c.startOne(b.name, step{command: command, about: []reference{{Type: "load_balancer", ID: b.id}}, done: func() error {
		done()
		return c.steer(b)
	}}))
}

func (c *Cloud) attachBalancer(r *call) (reply, error) {
	b, asked, err := ask[schema.LoadBalancerActionAttachToNetworkRequest](r, c.loadBalancers)
	if err != nil {
		return reply{}, err
	}
	network, err := c.networks.get(asked.Network)
	if err != nil {
		return reply{}, err
	}
	if len(b.private) > 0 {
		return reply{}, failure(hcloud.ErrorCodeLoadBalancerAlreadyAttached, "load balancer is already attached to a network")
	}
	if err := c.unlocked("load_balancer", b.id); err != nil {
		return reply{}, err
	}
	addr, err := c.reserve(network, b.location.NetworkZone, asked.IP, asked.IPRange)
	if err != nil {
		return reply{}, err
	}
	b.private[network] = addr
	return acting(c.startOne(b.name, step{
		command: "attach_to_network", takes: pace.NetworkAttach,
		about:  []reference{{Type: "load_balancer", ID: b.id}, {Type: "network", ID: network.id}},
		undone: func() { delete(b.private, network) },
		done:   func() error { return c.steer(b) },
	}))
}

func (c *Cloud) detachBalancer(r *call) (reply, error) {
	b, asked, err := ask[schema.LoadBalancerActionDetachFromNetworkRequest](r, c.loadBalancers)
	if err != nil {
		return reply{}, err
	}
	network, err := c.networks.get(asked.Network)
	if err != nil {
		return reply{}, err
	}
	if _, attached := b.private[network]; !attached {
		return reply{}, failure(hcloud.ErrorCodeNotFound, "load balancer is not attached to network")
	}
	return c.balancerAction(b, "detach_from_network", func() { c.leaveNetwork(b, network) })
}

func (c *Cloud) enablePublic(r *call) (reply, error) {
	b, err := find(r, c.loadBalancers)
	if err != nil {
		return reply{}, err
	}
	return c.balancerAction(b, "enable_public_interface", func() { b.public = true })
}

func (c *Cloud) disablePublic(r *call) (reply, error) {
	b, err := find(r, c.loadBalancers)
	if err != nil {
		return reply{}, err
	}
	if len(b.private) == 0 {
		return reply{}, failure(hcloud.ErrorCodeLoadBalancerNotAttachedToNetwork, "load balancer is not attached to a network")
	}
	if slices.ContainsFunc(b.targets, func(t *target) bool { return !t.usePrivate }) {
		return reply{}, failure(hcloud.ErrorCodeTargetsWithoutUsePrivateIP, "load balancer has targets that use the public IP")
	}
	return c.balancerAction(b, "disable_public_interface", func() { b.public = false })
}

func (c *Cloud) changeAlgorithm(r *call) (reply, error) {
	b, asked, err := ask[schema.LoadBalancerActionChangeAlgorithmRequest](r, c.loadBalancers)
	if err != nil {
		return reply{}, err
	}
	algorithm, err := readAlgorithm(asked.Type)
	if err != nil {
		return reply{}, err
	}
	return c.balancerAction(b, "change_algorithm", func() { b.algorithm = algorithm })
}

func (c *Cloud) changeBalancerType(r *call) (reply, error) {
	b, asked, err := ask[schema.LoadBalancerActionChangeTypeRequest](r, c.loadBalancers)
	if err != nil {
		return reply{}, err
	}
	kind, err := c.catalog.loadBalancerTypes.choose("load_balancer_type", asked.LoadBalancerType)
	if err != nil {
		return reply{}, err
	}
	if len(b.services) > kind.MaxServices || len(b.targets) > kind.MaxTargets {
		return reply{}, failure(hcloud.ErrorCodeInvalidLoadBalancerType, "load balancer has more services or targets than the type allows")
	}
	return c.balancerAction(b, "change_load_balancer_type", func() { b.kind = kind })
}

func (c *Cloud) pointBalancer(r *call) (reply, error) {
	b, asked, err := ask[schema.LoadBalancerActionChangeDNSPtrRequest](r, c.loadBalancers)
	if err != nil {
		return reply{}, err
	}
	return c.balancerAction(b, "change_dns_ptr", func() { point(b.pointers, asked.IP, asked.DNSPtr) })
}

func (c *Cloud) protectBalancer(r *call) (reply, error) {
	b, asked, err := ask[schema.LoadBalancerActionChangeProtectionRequest](r, c.loadBalancers)
	if err != nil {
		return reply{}, err
	}
	return c.balancerAction(b, "change_protection", func() { b.protected = valueOr(asked.Delete, b.protected) })
}
