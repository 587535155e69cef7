package project

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
)

// Routes returns the routes of actions: by id, of a kind of resources, of one resource.
func (a *Actions) Routes() api.Routes {
	routes := api.Routes{
		"GET /actions":      a.listByID,
		"GET /actions/{id}": func(r *api.Call) (api.Reply, error) { return a.get("", r.Path["id"]) },
	}
	for folder, kind := range map[string]string{
		"servers": "server", "images": "image", "networks": "network", "firewalls": "firewall", "volumes": "volume",
		"primary_ips": "primary_ip", "load_balancers": "load_balancer",
	} {
		routes[fmt.Sprintf("GET /%s/actions", folder)] = func(r *api.Call) (api.Reply, error) { return a.listOf(r, kind, nil) }
		routes[fmt.Sprintf("GET /%s/actions/{id}", folder)] = func(r *api.Call) (api.Reply, error) {
			return a.get(kind, r.Path["id"])
		}
		routes[fmt.Sprintf("GET /%s/{id}/actions", folder)] = func(r *api.Call) (api.Reply, error) {
			id, err := r.ID()
			if err != nil {
				return api.Reply{}, err
			}
			return a.listOf(r, kind, &id)
		}
		routes[fmt.Sprintf("GET /%s/{id}/actions/{action}", folder)] = func(r *api.Call) (api.Reply, error) {
			return a.get(kind, r.Path["action"])
		}
	}
	return routes
}

// listByID answers with the actions that are requested by id: the API cannot list all.
func (a *Actions) listByID(r *api.Call) (api.Reply, error) {
	asked := r.URL.Query()["id"]
	if len(asked) == 0 {
		return api.Reply{}, api.Failure(hcloud.ErrorDeprecatedAPIEndpoint, "listing arbitrary actions is not supported, give the id of each")
	}
	var found []*action
	for _, text := range asked {
		id, err := api.ParseID(text)
		if err != nil {
			return api.Reply{}, err
		}
		if one, known := a.byID[id]; known && !slices.Contains(found, one) {
			found = append(found, one)
		}
	}
	return api.List(r, "actions", found, (*action).view, actionOrders)
}

// listOf answers with the actions of a kind of resources, or of one resource.
func (a *Actions) listOf(r *api.Call, kind string, id *int64) (api.Reply, error) {
	var found []*action
	for _, one := range a.byID {
		if slices.ContainsFunc(one.Resources, func(about Reference) bool {
			return about.Type == kind && (id == nil || about.ID == *id)
		}) {
			found = append(found, one)
		}
	}
	slices.SortFunc(found, actionOrders["id"])
	asked := r.URL.Query()
	found = api.Filter(found, asked["status"], func(one *action) string { return one.Status })
	found = api.Filter(found, asked["id"], func(one *action) string { return strconv.FormatInt(one.ID, 10) })
	return api.List(r, "actions", found, (*action).view, actionOrders)
}

func (a *Actions) get(kind, text string) (api.Reply, error) {
	id, err := api.ParseID(text)
	if err != nil {
		return api.Reply{}, err
	}
	one, known := a.byID[id]
	if !known || kind != "" && !slices.ContainsFunc(one.Resources, func(about Reference) bool { return about.Type == kind }) {
		return api.Reply{}, api.NotFound("action", id)
	}
	return api.Answer(schema.ActionGetResponse{Action: one.view()})
}
