package publicip

import (
	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/project"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/server"
)

// Routes returns the routes of primary IPs, and of the reverse DNS entries of servers.
func (s *IPs) Routes() api.Routes {
	return api.Routes{
		"GET /primary_ips":                                 s.list,
		"POST /primary_ips":                                s.create,
		"GET /primary_ips/{id}":                            project.Getter(s.registry, func(ip *IP) any { return schema.PrimaryIPGetResponse{PrimaryIP: ip.view()} }),
		"PUT /primary_ips/{id}":                            s.update,
		"DELETE /primary_ips/{id}":                         s.delete,
		"POST /primary_ips/{id}/actions/assign":            s.assignTo,
		"POST /primary_ips/{id}/actions/unassign":          s.unassign,
		"POST /primary_ips/{id}/actions/change_dns_ptr":    s.changeName,
		"POST /primary_ips/{id}/actions/change_protection": s.protect,
		"POST /servers/{id}/actions/change_dns_ptr":        s.changeServerName,
	}
}

func (s *IPs) list(r *api.Call) (api.Reply, error) {
	ips := api.Filter(s.registry.All(), r.URL.Query()["ip"], (*IP).text)
	return project.List(r, "primary_ips", ips, (*IP).view)
}

func (s *IPs) create(r *api.Call) (api.Reply, error) {
	var asked schema.PrimaryIPCreateRequest
	if err := r.Decode(&asked); err != nil {
		return api.Reply{}, err
	}
	if asked.Type != ipv4 && asked.Type != ipv6 {
		return api.Reply{}, api.Invalid("type", "must be ipv4 or ipv6")
	}
	var assignee *server.Server
	var location schema.Location
	var err error
	if asked.AssigneeID != nil {
		if assignee, err = s.servers.Get(*asked.AssigneeID); err != nil {
			return api.Reply{}, err
		}
		if err := s.assignable(assignee, asked.Type); err != nil {
			return api.Reply{}, err
		}
		location = assignee.Location
	} else if location, err = s.catalog.Locations.Choose("location", schema.IDOrName{Name: asked.Location}); err != nil {
		return api.Reply{}, err
	}
	record, err := s.registry.NewRecord(asked.Name, asked.Labels)
	if err != nil {
		return api.Reply{}, err
	}
	ip, err := s.add(record, asked.Type, location)
	if err != nil {
		return api.Reply{}, err
	}
	ip.autoDelete = api.ValueOr(asked.AutoDelete, false)
	response := schema.PrimaryIPCreateResponse{}
	if assignee != nil {
		response.Action = new(s.assign(ip, assignee))
	}
	response.PrimaryIP = ip.view()
	return api.Created(response)
}

func (s *IPs) update(r *api.Call) (api.Reply, error) {
	ip, asked, err := project.Ask[schema.PrimaryIPUpdateRequest](r, s.registry)
	if err != nil {
		return api.Reply{}, err
	}
	if err := s.registry.Change(ip, asked.Name, asked.Labels); err != nil {
		return api.Reply{}, err
	}
	ip.autoDelete = api.ValueOr(asked.AutoDelete, ip.autoDelete)
	return api.Answer(schema.PrimaryIPUpdateResponse{PrimaryIP: ip.view()})
}

func (s *IPs) delete(r *api.Call) (api.Reply, error) {
	ip, err := project.Find(r, s.registry)
	if err != nil {
		return api.Reply{}, err
	}
	if ip.protected {
		return api.Reply{}, api.Protected(s.registry.Kind)
	}
	if owner := ip.server; owner != nil {
		if err := s.servers.Stopped(owner); err != nil {
			return api.Reply{}, err
		}
		s.release(ip)
		s.rewire(owner)
	}
	s.remove(ip)
	return api.NoContent()
}

func (s *IPs) assignTo(r *api.Call) (api.Reply, error) {
	ip, asked, err := project.Ask[schema.PrimaryIPActionAssignRequest](r, s.registry)
	if err != nil {
		return api.Reply{}, err
	}
	to, err := s.servers.Get(asked.AssigneeID)
	if err != nil {
		return api.Reply{}, err
	}
	switch {
	case ip.server != nil:
		return api.Reply{}, api.Failure(hcloud.ErrorCodePrimaryIPAlreadyAssigned, "primary IP is already assigned to server with ID %d", ip.server.ID)
	case ip.location.ID != to.Location.ID:
		return api.Reply{}, otherLocation()
	}
	if err := s.assignable(to, ip.kind); err != nil {
		return api.Reply{}, err
	}
	return project.Acting(s.assign(ip, to))
}

func (s *IPs) unassign(r *api.Call) (api.Reply, error) {
	ip, err := project.Find(r, s.registry)
	if err != nil {
		return api.Reply{}, err
	}
	owner := ip.server
	if owner == nil {
		return api.Reply{}, api.Failure(hcloud.ErrorCodeServiceError, "primary IP is not assigned")
	}
	if err := s.servers.Stopped(owner); err != nil {
		return api.Reply{}, err
	}
	return s.servers.Start(owner, project.Step{
		Command: "unassign_primary_ip",
		About:   []project.Reference{s.registry.Reference(ip), s.servers.Reference(owner)},
		Done: func() error {
			if ip.server == owner {
				s.release(ip)
				s.rewire(owner)
			}
			return nil
		},
	})
}

func (s *IPs) changeName(r *api.Call) (api.Reply, error) {
	ip, asked, err := project.Ask[schema.PrimaryIPActionChangeDNSPtrRequest](r, s.registry)
	if err != nil {
		return api.Reply{}, err
	}
	return s.registry.Act(ip, project.Subject, "change_dns_ptr", func() { ip.names.Set(asked.IP, asked.DNSPtr) })
}

// changeServerName does the same by the address of a server.
func (s *IPs) changeServerName(r *api.Call) (api.Reply, error) {
	owner, asked, err := project.Ask[schema.ServerActionChangeDNSPtrRequest](r, s.servers.Registry)
	if err != nil {
		return api.Reply{}, err
	}
	ip := s.of(owner, ipv6)
	if other := s.of(owner, ipv4); other != nil && other.text() == asked.IP {
		ip = other
	}
	if ip == nil {
		return api.Reply{}, api.Invalid("ip", "is not the server's")
	}
	return s.servers.Start(owner, owner.Step("change_dns_ptr", func() { ip.names.Set(asked.IP, asked.DNSPtr) }))
}

func (s *IPs) protect(r *api.Call) (api.Reply, error) {
	ip, asked, err := project.Ask[schema.PrimaryIPActionChangeProtectionRequest](r, s.registry)
	if err != nil {
		return api.Reply{}, err
	}
	return s.registry.Act(ip, project.Subject, "change_protection", func() { ip.protected = asked.Delete })
}
