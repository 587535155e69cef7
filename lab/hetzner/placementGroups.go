package hetzner

import (
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"
)

// spreadLimit is how many servers a placement group takes.
const spreadLimit = 10

// placementGroup keeps its servers on different hosts.
type placementGroup struct{ record }

// members are the ids of the servers in it.
func (c *Cloud) members(group *placementGroup) []int64 {
	ids := []int64{}
	for _, server := range c.servers.all() {
		if server.placement == group {
			ids = append(ids, server.id)
		}
	}
	return ids
}

// room says whether the group takes one more server.
func (c *Cloud) room(group *placementGroup) error {
	if len(c.members(group)) >= spreadLimit {
		return failure(errorCodeMemberLimit, "placement group with ID %d contains already %d servers", group.id, spreadLimit)
	}
	return nil
}

func (c *Cloud) viewPlacementGroup(group *placementGroup) schema.PlacementGroup {
	return schema.PlacementGroup{
		ID: group.id, Name: group.name, Labels: labelled(group.labels), Created: group.created,
		Servers: c.members(group), Type: "spread",
	}
}

func (c *Cloud) placementGroupRoutes() map[string]handler {
	return map[string]handler{
		"GET /placement_groups":         c.listPlacementGroups,
		"POST /placement_groups":        c.createPlacementGroup,
		"GET /placement_groups/{id}":    c.getPlacementGroup,
		"PUT /placement_groups/{id}":    c.updatePlacementGroup,
		"DELETE /placement_groups/{id}": c.deletePlacementGroup,
	}
}

func (c *Cloud) listPlacementGroups(r *call) (reply, error) {
	groups := c.placementGroups.all()
	if asked := r.URL.Query()["type"]; len(asked) > 0 && !slices.Contains(asked, "spread") {
		groups = nil
	}
	return list(r, "placement_groups", groups, c.viewPlacementGroup)
}

func (c *Cloud) createPlacementGroup(r *call) (reply, error) {
	var asked schema.PlacementGroupCreateRequest
	if err := r.decode(&asked); err != nil {
		return reply{}, err
	}
	if asked.Type != "spread" {
		return reply{}, invalid("type", "must be spread")
	}
	made, err := enroll(c, c.placementGroups, asked.Name, asked.Labels)
	if err != nil {
		return reply{}, err
	}
	group := &placementGroup{record: made}
	c.placementGroups.add(group)
	return created(schema.PlacementGroupCreateResponse{PlacementGroup: c.viewPlacementGroup(group)})
}

func (c *Cloud) getPlacementGroup(r *call) (reply, error) {
	group, err := find(r, c.placementGroups)
	if err != nil {
		return reply{}, err
	}
	return answer(schema.PlacementGroupGetResponse{PlacementGroup: c.viewPlacementGroup(group)})
}

func (c *Cloud) updatePlacementGroup(r *call) (reply, error) {
	group, asked, err := ask[schema.PlacementGroupUpdateRequest](r, c.placementGroups)
	if err != nil {
		return reply{}, err
	}
	if err := c.placementGroups.change(group, valueOr(asked.Name, ""), asked.Labels); err != nil {
		return reply{}, err
	}
	return answer(schema.PlacementGroupUpdateResponse{PlacementGroup: c.viewPlacementGroup(group)})
}

// deletePlacementGroup takes its servers out of it.
func (c *Cloud) deletePlacementGroup(r *call) (reply, error) {
	group, err := find(r, c.placementGroups)
	if err != nil {
		return reply{}, err
	}
	for _, server := range c.servers.all() {
		if server.placement == group {
			server.placement = nil
		}
	}
	c.placementGroups.remove(group)
	return nothing()
}
