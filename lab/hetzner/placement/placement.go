// Package placement is the placement groups of a project, and which servers are in
// them.
package placement

import (
	"maps"
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/project"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/server"
)

// spread is the only type of groups: their servers are on different hosts.
const spread = "spread"

// spreadLimit is the number of servers that a group can have.
const spreadLimit = 10

// Group is a placement group.
type Group struct{ project.Record }

// Groups are the placement groups of a project.
type Groups struct {
	servers  *server.Servers
	registry *project.Registry[*Group]
	of       map[*server.Server]*Group
}

// New returns a project without placement groups.
func New(in *project.Project, servers *server.Servers) *Groups {
	return &Groups{servers: servers, registry: project.NewRegistry[*Group](in, "placement_group"), of: map[*server.Server]*Group{}}
}

// WithRoom returns the group with an id, which must have room for another server.
func (g *Groups) WithRoom(id int64) (*Group, error) {
	group, err := g.registry.Get(id)
	if err == nil && len(g.members(group)) >= spreadLimit {
		err = api.Failure(api.CodeMemberLimit, "placement group with ID %d contains already %d servers", group.ID, spreadLimit)
	}
	return group, err
}

// Join adds a server to a group.
func (g *Groups) Join(s *server.Server, group *Group) { g.of[s] = group }

// Leave removes a server from its group, if it is in one.
func (g *Groups) Leave(s *server.Server) { delete(g.of, s) }

// ViewOf returns the group of a server, or nil.
func (g *Groups) ViewOf(s *server.Server) *schema.PlacementGroup {
	group := g.of[s]
	if group == nil {
		return nil
	}
	return new(g.view(group))
}

// members returns the ids of the servers in a group.
func (g *Groups) members(group *Group) []int64 {
	ids := []int64{}
	for _, one := range g.servers.All() {
		if g.of[one] == group {
			ids = append(ids, one.ID)
		}
	}
	return ids
}

func (g *Groups) view(group *Group) schema.PlacementGroup {
	return schema.PlacementGroup{
		ID: group.ID, Name: group.Name, Labels: group.LabelsOf(), Created: group.Created,
		Servers: g.members(group), Type: spread,
	}
}

// Routes returns the routes of placement groups, and of servers that join and leave them.
func (g *Groups) Routes() api.Routes {
	return api.Routes{
		"GET /placement_groups":                                  g.list,
		"POST /placement_groups":                                 g.create,
		"GET /placement_groups/{id}":                             project.Getter(g.registry, func(group *Group) any { return schema.PlacementGroupGetResponse{PlacementGroup: g.view(group)} }),
		"PUT /placement_groups/{id}":                             project.Updater(g.registry, func(group *Group) any { return schema.PlacementGroupUpdateResponse{PlacementGroup: g.view(group)} }),
		"DELETE /placement_groups/{id}":                          g.remove,
		"POST /servers/{id}/actions/add_to_placement_group":      g.join,
		"POST /servers/{id}/actions/remove_from_placement_group": g.leave,
	}
}

func (g *Groups) list(r *api.Call) (api.Reply, error) {
	groups := g.registry.All()
	if asked := r.URL.Query()["type"]; len(asked) > 0 && !slices.Contains(asked, spread) {
		groups = nil
	}
	return project.List(r, "placement_groups", groups, g.view)
}

func (g *Groups) create(r *api.Call) (api.Reply, error) {
	var asked schema.PlacementGroupCreateRequest
	if err := r.Decode(&asked); err != nil {
		return api.Reply{}, err
	}
	if asked.Type != spread {
		return api.Reply{}, api.Invalid("type", "must be spread")
	}
	record, err := g.registry.NewRecord(asked.Name, asked.Labels)
	if err != nil {
		return api.Reply{}, err
	}
	group := &Group{record}
	g.registry.Add(group)
	return api.Created(schema.PlacementGroupCreateResponse{PlacementGroup: g.view(group)})
}

// remove first removes the servers from the group.
func (g *Groups) remove(r *api.Call) (api.Reply, error) {
	group, err := project.Find(r, g.registry)
	if err != nil {
		return api.Reply{}, err
	}
	maps.DeleteFunc(g.of, func(_ *server.Server, other *Group) bool { return other == group })
	g.registry.Remove(group)
	return api.NoContent()
}

func (g *Groups) join(r *api.Call) (api.Reply, error) {
	s, asked, err := project.Ask[schema.ServerActionAddToPlacementGroupRequest](r, g.servers.Registry)
	if err != nil {
		return api.Reply{}, err
	}
	if err := g.servers.Stopped(s); err != nil {
		return api.Reply{}, err
	}
	group, err := g.registry.Get(asked.PlacementGroup)
	if err != nil {
		return api.Reply{}, err
	}
	if g.of[s] != nil {
		return api.Reply{}, api.Failure(hcloud.ErrorCodeServiceError, "server is already in a placement group")
	}
	if group, err = g.WithRoom(group.ID); err != nil {
		return api.Reply{}, err
	}
	g.Join(s, group)
	return g.servers.Start(s, s.Step("add_to_placement_group", func() {}))
}

func (g *Groups) leave(r *api.Call) (api.Reply, error) {
	s, _, err := project.AskUnlocked[struct{}](r, g.servers.Registry)
	if err != nil {
		return api.Reply{}, err
	}
	if g.of[s] == nil {
		return api.Reply{}, api.Failure(hcloud.ErrorCodeServiceError, "server is not in a placement group")
	}
	return g.servers.Start(s, s.Step("remove_from_placement_group", func() { g.Leave(s) }))
}
