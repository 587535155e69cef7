package volume

import (
	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/project"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/server"
)

// Routes returns the routes of volumes.
func (v *Volumes) Routes() api.Routes {
	return api.Routes{
		"GET /volumes":                                 v.list,
		"POST /volumes":                                v.create,
		"GET /volumes/{id}":                            project.Getter(v.registry, func(one *Volume) any { return schema.VolumeGetResponse{Volume: one.view()} }),
		"PUT /volumes/{id}":                            project.Updater(v.registry, func(one *Volume) any { return schema.VolumeUpdateResponse{Volume: one.view()} }),
		"DELETE /volumes/{id}":                         v.remove,
		"POST /volumes/{id}/actions/attach":            v.attach,
		"POST /volumes/{id}/actions/detach":            v.detach,
		"POST /volumes/{id}/actions/resize":            v.resize,
		"POST /volumes/{id}/actions/change_protection": v.protect,
	}
}

func (v *Volumes) list(r *api.Call) (api.Reply, error) {
	volumes := api.Filter(v.registry.All(), r.URL.Query()["status"], func(one *Volume) string { return one.status })
	return project.List(r, "volumes", volumes, (*Volume).view)
}

func (v *Volumes) create(r *api.Call) (api.Reply, error) {
	var asked schema.VolumeCreateRequest
	if err := r.Decode(&asked); err != nil {
		return api.Reply{}, err
	}
	if asked.Size < smallestGB || asked.Size > largestGB {
		return api.Reply{}, api.Invalid("size", "must be from %d to %d GB", smallestGB, largestGB)
	}
	if asked.Format != nil && *asked.Format != "ext4" && *asked.Format != "xfs" {
		return api.Reply{}, api.Invalid("format", "must be ext4 or xfs")
	}
	made := &Volume{status: "creating", sizeGB: asked.Size, format: asked.Format}
	var err error
	var to *server.Server
	if asked.Server != nil {
		if to, err = v.servers.Get(*asked.Server); err != nil {
			return api.Reply{}, err
		}
		if err := v.fits(to, to.Location); err != nil {
			return api.Reply{}, err
		}
		made.location = to.Location
	} else if made.location, err = v.catalog.Locations.Choose("location", api.ValueOr(asked.Location, schema.IDOrName{})); err != nil {
		return api.Reply{}, err
	}
	if made.Record, err = v.registry.NewRecord(asked.Name, asked.Labels); err != nil {
		return api.Reply{}, err
	}
	v.registry.Add(made)
	steps := []project.Step{{Command: "create_volume", About: []project.Reference{v.registry.Reference(made)}, Done: func() error {
		made.status = "available"
		return nil
	}}}
	if to != nil {
		steps = append(steps, v.attaching(made, to))
	}
	actions := v.project.Actions.Start(project.Subject, steps...)
	return api.Created(schema.VolumeCreateResponse{Volume: made.view(), Action: &actions[0], NextActions: actions[1:]})
}

func (v *Volumes) remove(r *api.Call) (api.Reply, error) {
	found, err := project.Find(r, v.registry)
	if err != nil {
		return api.Reply{}, err
	}
	if found.protected {
		return api.Reply{}, api.Protected(v.registry.Kind)
	}
	if err := v.registry.Unlocked(found); err != nil {
		return api.Reply{}, err
	}
	if found.server != nil {
		return api.Reply{}, api.Failure(hcloud.ErrorCodeServiceError, "volume with ID %d is still attached to server with ID %d", found.ID, found.server.ID)
	}
	v.registry.Remove(found)
	return api.NoContent()
}

// fits returns an error if a volume at a location cannot be attached to a server.
func (v *Volumes) fits(s *server.Server, location schema.Location) error {
	if s.Location.ID != location.ID {
		return api.Invalid("server", "server and volume must be in the same location")
	}
	if len(v.Of(s)) >= perServer {
		return api.Failure(hcloud.ErrorCodeResourceLimitExceeded, "server can have at most %d volumes", perServer)
	}
	return v.servers.Unlocked(s)
}

// attaching returns the step that attaches a volume to a server, which owns it from now on.
func (v *Volumes) attaching(one *Volume, to *server.Server) project.Step {
	v.Give(one, to)
	return project.Step{
		Command: "attach_volume",
		About:   []project.Reference{v.registry.Reference(one), v.servers.Reference(to)},
		Done: func() error {
			if bay, can := to.Box.(diskBay); can {
				bay.AttachDisk(one.Disk())
			}
			return nil
		},
		Undone: func() { one.server, one.device = nil, "" },
	}
}

func (v *Volumes) attach(r *api.Call) (api.Reply, error) {
	found, asked, err := project.Ask[schema.VolumeActionAttachVolumeRequest](r, v.registry)
	if err != nil {
		return api.Reply{}, err
	}
	to, err := v.servers.Get(asked.Server)
	if err != nil {
		return api.Reply{}, err
	}
	if found.server != nil {
		return api.Reply{}, alreadyAttached()
	}
	if err := v.fits(to, found.location); err != nil {
		return api.Reply{}, err
	}
	if err := v.registry.Unlocked(found); err != nil {
		return api.Reply{}, err
	}
	return v.servers.Start(to, v.attaching(found, to))
}

func (v *Volumes) detach(r *api.Call) (api.Reply, error) {
	found, err := project.Find(r, v.registry)
	if err != nil {
		return api.Reply{}, err
	}
	from := found.server
	if from == nil {
		return api.Reply{}, api.Failure(hcloud.ErrorCodeServiceError, "volume is not attached")
	}
	if err := v.servers.Unlocked(from); err != nil {
		return api.Reply{}, err
	}
	return v.servers.Start(from, project.Step{
		Command: "detach_volume",
		About:   []project.Reference{v.registry.Reference(found), v.servers.Reference(from)},
		Done: func() error {
			if found.server == from {
				found.detach()
			}
			return nil
		},
	})
}

func (v *Volumes) resize(r *api.Call) (api.Reply, error) {
	found, asked, err := project.Ask[schema.VolumeActionResizeVolumeRequest](r, v.registry)
	if err != nil {
		return api.Reply{}, err
	}
	if asked.Size <= found.sizeGB || asked.Size > largestGB {
		return api.Reply{}, api.Invalid("size", "must be more than %d and at most %d GB", found.sizeGB, largestGB)
	}
	return v.registry.Act(found, project.Subject, "resize_volume", func() { found.sizeGB = asked.Size })
}

func (v *Volumes) protect(r *api.Call) (api.Reply, error) {
	found, asked, err := project.Ask[schema.VolumeActionChangeProtectionRequest](r, v.registry)
	if err != nil {
		return api.Reply{}, err
	}
	return v.registry.Act(found, project.Subject, "change_protection", func() { found.protected = api.ValueOr(asked.Delete, found.protected) })
}
