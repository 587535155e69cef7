package hetzner

import (
	"slices"
	"strconv"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"
)

// offer is something that Hetzner has for everybody.
type offer[V any] struct {
	record
	value V
}

// shelf is the offers of one kind, in the order of their ids.
type shelf[V any] struct {
	kind  string
	items []*offer[V]
}

func (s *shelf[V]) put(id int64, name string, value V) {
	s.items = append(s.items, &offer[V]{record: record{id: id, name: name}, value: value})
}

func (s *shelf[V]) get(id int64) (V, error) {
	for _, item := range s.items {
		if item.id == id {
			return item.value, nil
		}
	}
	var none V
	return none, notFound(s.kind, id)
}

// choose finds what a request names by its id or name.
func (s *shelf[V]) choose(field string, asked schema.IDOrName) (V, error) {
	for _, item := range s.items {
		if asked.ID != 0 && item.id == asked.ID || asked.Name != "" && item.name == asked.Name {
			return item.value, nil
		}
	}
	var none V
	return none, invalid(field, "%s '%s' not found", spoken(s.kind), asked.Name+idText(asked.ID))
}

func idText(id int64) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatInt(id, 10)
}

// catalog is all that can be ordered.
type catalog struct {
	locations         shelf[schema.Location]
	serverTypes       shelf[schema.ServerType]
	loadBalancerTypes shelf[schema.LoadBalancerType]
	isos              shelf[schema.ISO]
}

func newCatalog() *catalog {
	c := &catalog{}
	c.locations.kind, c.isos.kind = "location", "iso"
	c.serverTypes.kind, c.loadBalancerTypes.kind = "server_type", "load_balancer_type"
	for _, location := range locations {
		c.locations.put(location.ID, location.Name, location)
	}
	for _, family := range families {
		for _, plan := range family.plans {
			c.serverTypes.put(plan.id, plan.name, family.serverType(plan))
		}
	}
	for _, plan := range balancerPlans {
		c.loadBalancerTypes.put(plan.id, plan.name, plan.loadBalancerType())
	}
	for _, iso := range isos {
		c.isos.put(iso.ID, iso.Name, iso)
	}
	return c
}

// zoneOf is the name of a location's datacenter, which metadata calls the
// availability zone.
func zoneOf(location schema.Location) string {
	return datacenters[slices.IndexFunc(locations, func(one schema.Location) bool { return one.ID == location.ID })]
}

// networkZone says whether there is one of this name.
func networkZone(name string) bool {
	return slices.ContainsFunc(locations, func(one schema.Location) bool { return one.NetworkZone == name })
}

func (c *Cloud) catalogRoutes() map[string]handler {
	routes := map[string]handler{
		"GET /pricing":          c.getPricing,
		"GET /datacenters":      datacentersAreGone,
		"GET /datacenters/{id}": datacentersAreGone,
	}
	serve(routes, "locations", "location", &c.catalog.locations)
	serve(routes, "server_types", "server_type", &c.catalog.serverTypes)
	serve(routes, "load_balancer_types", "load_balancer_type", &c.catalog.loadBalancerTypes)
	serve(routes, "isos", "iso", &c.catalog.isos)
	return routes
}

// datacentersAreGone says so: they were removed from the API in October 2026.
func datacentersAreGone(*call) (reply, error) {
	return reply{}, failure(hcloud.ErrorDeprecatedAPIEndpoint, "API functionality was removed")
}

// serve adds the routes of a shelf.
func serve[V any](routes map[string]handler, many, one string, from *shelf[V]) {
	routes["GET /"+many] = func(r *call) (reply, error) {
		return list(r, many, from.items, func(item *offer[V]) V { return item.value })
	}
	routes["GET /"+many+"/{id}"] = func(r *call) (reply, error) {
		id, err := r.id()
		if err != nil {
			return reply{}, err
		}
		value, err := from.get(id)
		if err != nil {
			return reply{}, err
		}
		return answer(map[string]V{one: value})
	}
}
