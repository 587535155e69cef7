// Package catalog is what Hetzner offers to every project: locations, types of servers and load balancers, ISO images. Prices are left out, because nothing
// here reads them.
package catalog

import (
	"maps"
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/project"
)

// Catalog is everything that can be ordered.
type Catalog struct {
	Locations         *Shelf[schema.Location]
	ServerTypes       *Shelf[schema.ServerType]
	LoadBalancerTypes *Shelf[schema.LoadBalancerType]
	ISOs              *Shelf[schema.ISO]
}

// New returns the catalog.
func New() *Catalog {
	c := &Catalog{
		Locations:         &Shelf[schema.Location]{kind: "location"},
		ServerTypes:       &Shelf[schema.ServerType]{kind: "server_type"},
		LoadBalancerTypes: &Shelf[schema.LoadBalancerType]{kind: "load_balancer_type"},
		ISOs:              &Shelf[schema.ISO]{kind: "iso"},
	}
	for _, location := range locations {
		c.Locations.put(location.ID, location.Name, location)
	}
	for _, family := range families {
		for _, plan := range family.plans {
			c.ServerTypes.put(plan.id, plan.name, family.serverType(plan))
		}
	}
	for _, plan := range balancerPlans {
		c.LoadBalancerTypes.put(plan.id, plan.name, plan.loadBalancerType())
	}
	for _, iso := range isos {
		c.ISOs.put(iso.ID, iso.Name, iso)
	}
	return c
}

// Routes returns the routes of the catalog.
func (c *Catalog) Routes() api.Routes {
	routes := api.Routes{"GET /datacenters": datacentersAreGone, "GET /datacenters/{id}": datacentersAreGone}
	maps.Copy(routes, c.Locations.routes("locations", "location"))
	maps.Copy(routes, c.ServerTypes.routes("server_types", "server_type"))
	maps.Copy(routes, c.LoadBalancerTypes.routes("load_balancer_types", "load_balancer_type"))
	maps.Copy(routes, c.ISOs.routes("isos", "iso"))
	return routes
}

// datacentersAreGone answers as the API does since they were removed from it in
// October 2026.
func datacentersAreGone(*api.Call) (api.Reply, error) {
	return api.Reply{}, api.Failure(hcloud.ErrorDeprecatedAPIEndpoint, "API functionality was removed")
}

// ServerLocation returns where a server of a type is to be: at the location of that
// name, or where the type is sold if there is none.
func (c *Catalog) ServerLocation(of schema.ServerType, name string) (schema.Location, error) {
	sold := slices.DeleteFunc(slices.Clone(of.Locations), func(at schema.ServerTypeLocation) bool { return !at.Available })
	if name == "" {
		name = sold[0].Name
	}
	location, err := c.Locations.Choose("location", schema.IDOrName{Name: name})
	if err != nil {
		return location, err
	}
	if !slices.ContainsFunc(sold, func(at schema.ServerTypeLocation) bool { return at.Name == name }) {
		return location, api.Invalid("location", "unsupported location for server type")
	}
	return location, nil
}

// BalancerLocation returns where a load balancer is to be: at a location, or anywhere
// in a network zone.
func (c *Catalog) BalancerLocation(location, zone *string) (schema.Location, error) {
	if (location == nil) == (zone == nil) {
		return schema.Location{}, api.Invalid("location", "either location or network_zone must be given")
	}
	if location != nil {
		return c.Locations.Choose("location", schema.IDOrName{Name: *location})
	}
	at := slices.IndexFunc(locations, func(one schema.Location) bool { return one.NetworkZone == *zone })
	if at < 0 {
		return schema.Location{}, api.Invalid("network_zone", "unknown network zone '%s'", *zone)
	}
	return locations[at], nil
}

// AvailabilityZone returns the name of a location's datacenter, which metadata calls the
// availability zone.
func AvailabilityZone(location schema.Location) string {
	return datacenters[slices.IndexFunc(locations, func(one schema.Location) bool { return one.ID == location.ID })]
}

// HasNetworkZone reports whether there is a network zone of this name.
func HasNetworkZone(name string) bool {
	return slices.ContainsFunc(locations, func(one schema.Location) bool { return one.NetworkZone == name })
}

// offer is one item of a shelf.
type offer[V any] struct {
	project.Record
	value V
}

// Shelf contains the offers of one kind, in the order of their ids.
type Shelf[V any] struct {
	kind   string
	offers []*offer[V]
}

func (s *Shelf[V]) put(id int64, name string, value V) {
	s.offers = append(s.offers, &offer[V]{Record: project.Record{ID: id, Name: name}, value: value})
}

// Choose returns the offer that a request names by its id or name.
func (s *Shelf[V]) Choose(field string, asked schema.IDOrName) (V, error) {
	for _, one := range s.offers {
		if asked.ID != 0 && one.ID == asked.ID || asked.Name != "" && one.Name == asked.Name {
			return one.value, nil
		}
	}
	var none V
	return none, api.Invalid(field, "%s '%s' not found", api.Spoken(s.kind), asked.Name+api.IDText(asked.ID))
}

func (s *Shelf[V]) get(id int64) (V, error) {
	for _, one := range s.offers {
		if one.ID == id {
			return one.value, nil
		}
	}
	var none V
	return none, api.NotFound(s.kind, id)
}

// routes returns those of the shelf, by the names of many offers and of one.
func (s *Shelf[V]) routes(many, one string) api.Routes {
	return api.Routes{
		"GET /" + many: func(r *api.Call) (api.Reply, error) {
			return project.List(r, many, s.offers, func(offer *offer[V]) V { return offer.value })
		},
		"GET /" + many + "/{id}": func(r *api.Call) (api.Reply, error) {
			id, err := r.ID()
			if err != nil {
				return api.Reply{}, err
			}
			value, err := s.get(id)
			if err != nil {
				return api.Reply{}, err
			}
			return api.Answer(map[string]V{one: value})
		},
	}
}
