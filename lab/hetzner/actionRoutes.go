package hetzner

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"
)

// actionRoutes are the actions by id, of each kind and of each resource.
func (c *Cloud) actionRoutes() map[string]handler {
	routes := map[string]handler{
		"GET /actions":      c.listActions,
		"GET /actions/{id}": func(r *call) (reply, error) { return c.getAction("", r.path["id"]) },
	}
	for folder, kind := range map[string]string{
		"servers": "server", "images": "image", "networks": "network", "firewalls": "firewall", "volumes": "volume",
		"primary_ips": "primary_ip", "floating_ips": "floating_ip", "load_balancers": "load_balancer",
	} {
		routes[fmt.Sprintf("GET /%s/actions", folder)] = func(r *call) (reply, error) { return c.listActionsOf(r, kind, nil) }
		routes[fmt.Sprintf("GET /%s/actions/{id}", folder)] = func(r *call) (reply, error) {
			return c.getAction(kind, r.path["id"])
		}
		routes[fmt.Sprintf("GET /%s/{id}/actions", folder)] = func(r *call) (reply, error) {
			id, err := r.id()
			if err != nil {
				return reply{}, err
			}
			return c.listActionsOf(r, kind, &id)
		}
		routes[fmt.Sprintf("GET /%s/{id}/actions/{action}", folder)] = func(r *call) (reply, error) {
			return c.getAction(kind, r.path["action"])
		}
	}
	return routes
}

// listActions answers those that are asked for by id: there is no list of all.
func (c *Cloud) listActions(r *call) (reply, error) {
	asked := r.URL.Query()["id"]
	if len(asked) == 0 {
		return reply{}, failure(hcloud.ErrorDeprecatedAPIEndpoint, "listing arbitrary actions is not supported, give the id of each")
	}
	var found []*action
	for _, text := range asked {
		id, err := parseID(text)
		if err != nil {
			return reply{}, err
		}
		if one, known := c.actions[id]; known && !slices.Contains(found, one) {
			found = append(found, one)
		}
	}
	return listSorted(r, "actions", found, (*action).view, actionOrders)
}

// listActionsOf answers those of a kind of resources, or of one of them.
func (c *Cloud) listActionsOf(r *call, kind string, id *int64) (reply, error) {
	var found []*action
	for _, one := range c.actions {
		if slices.ContainsFunc(one.Resources, func(about reference) bool {
			return about.Type == kind && (id == nil || about.ID == *id)
		}) {
			found = append(found, one)
		}
	}
	slices.SortFunc(found, actionOrders["id"])
	asked := r.URL.Query()
	found = allowed(found, asked["status"], func(one *action) string { return one.Status })
	found = allowed(found, asked["id"], func(one *action) string { return strconv.FormatInt(one.ID, 10) })
	return listSorted(r, "actions", found, (*action).view, actionOrders)
}

func (c *Cloud) getAction(kind, text string) (reply, error) {
	id, err := parseID(text)
	if err != nil {
		return reply{}, err
	}
	one, known := c.actions[id]
	if !known || kind != "" && !slices.ContainsFunc(one.Resources, func(about reference) bool { return about.Type == kind }) {
		return reply{}, notFound("action", id)
	}
	return answer(schema.ActionGetResponse{Action: one.view()})
}
