package hetzner

import (
	"fmt"
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
)

const (
	smallestVolume = 10
	biggestVolume  = 10240
	// volumesOfServer is how many a server takes.
	volumesOfServer = 16
)

// volume is a block device that can be attached to a server of its location.
type volume struct {
	record
	status    string
	location  schema.Location
	size      int
	format    *string
	server    *server
	protected bool
	// device is its name in the server.
	device string
}

func (v *volume) view() schema.Volume {
	view := schema.Volume{
		ID: v.id, Name: v.name, Status: v.status, Location: v.location, Size: v.size, Format: v.format,
		Protection: schema.VolumeProtection{Delete: v.protected}, Labels: labelled(v.labels),
		LinuxDevice: fmt.Sprintf("/dev/disk/by-id/scsi-0HC_Volume_%d", v.id), Created: v.created,
	}
	if v.server != nil {
		view.Server = pointer(v.server.id)
	}
	return view
}

// disk is the volume as the server sees it.
func (v *volume) disk() machine.Disk {
	return machine.Disk{
		Device: v.device, Bytes: uint64(v.size) << 30, Model: "Volume", Serial: idText(v.id),
		WWID: "0HC_Volume_" + idText(v.id), Transport: "virtio", Rotational: true,
	}
}

// volumesOf are those attached to a server.
func (c *Cloud) volumesOf(s *server) []*volume {
	return slices.DeleteFunc(c.volumes.all(), func(v *volume) bool { return v.server != s })
}

// letterFor is the device that the next volume of a server becomes: sda is the
// server's own disk.
func (c *Cloud) letterFor(s *server) string {
	attached := c.volumesOf(s)
	for letter := 'b'; ; letter++ {
		device := fmt.Sprintf("/dev/sd%c", letter)
		if !slices.ContainsFunc(attached, func(v *volume) bool { return v.device == device }) {
			return device
		}
	}
}

func (c *Cloud) volumeRoutes() map[string]handler {
	return map[string]handler{
		"GET /volumes":                                 c.listVolumes,
		"POST /volumes":                                c.createVolume,
		"GET /volumes/{id}":                            c.getVolume,
		"PUT /volumes/{id}":                            c.updateVolume,
		"DELETE /volumes/{id}":                         c.deleteVolume,
		"POST /volumes/{id}/actions/attach":            c.attachVolume,
		"POST /volumes/{id}/actions/detach":            c.detachVolume,
		"POST /volumes/{id}/actions/resize":            c.resizeVolume,
		"POST /volumes/{id}/actions/change_protection": c.protectVolume,
	}
}

func (c *Cloud) listVolumes(r *call) (reply, error) {
	volumes := allowed(c.volumes.all(), r.URL.Query()["status"], func(v *volume) string { return v.status })
	return list(r, "volumes", volumes, (*volume).view)
}

func (c *Cloud) createVolume(r *call) (reply, error) {
	var asked schema.VolumeCreateRequest
	if err := r.decode(&asked); err != nil {
		return reply{}, err
	}
	if asked.Size < smallestVolume || asked.Size > biggestVolume {
		return reply{}, invalid("size", "must be from %d to %d GB", smallestVolume, biggestVolume)
	}
	if asked.Format != nil && *asked.Format != "ext4" && *asked.Format != "xfs" {
		return reply{}, invalid("format", "must be ext4 or xfs")
	}
	made := &volume{status: "creating", size: asked.Size, format: asked.Format}
	var err error
	var to *server
	if asked.Server != nil {
		if to, err = c.servers.get(*asked.Server); err != nil {
			return reply{}, err
		}
		if err := c.takesVolume(to, to.location); err != nil {
			return reply{}, err
		}
		made.location = to.location
	} else if made.location, err = c.catalog.locations.choose("location", valueOr(asked.Location, schema.IDOrName{})); err != nil {
		return reply{}, err
	}
	if made.record, err = enroll(c, c.volumes, asked.Name, asked.Labels); err != nil {
		return reply{}, err
	}
	c.volumes.add(made)
	about := []reference{{Type: "volume", ID: made.id}}
	steps := []step{{command: "create_volume", about: about, done: func() error {
		made.status = "available"
		return nil
	}}}
	if to != nil {
		steps = append(steps, c.attaching(made, to))
	}
	actions := c.start(subject, steps...)
	return created(schema.VolumeCreateResponse{Volume: made.view(), Action: &actions[0], NextActions: actions[1:]})
}

func (c *Cloud) getVolume(r *call) (reply, error) {
	found, err := find(r, c.volumes)
	if err != nil {
		return reply{}, err
	}
	return answer(schema.VolumeGetResponse{Volume: found.view()})
}

func (c *Cloud) updateVolume(r *call) (reply, error) {
	found, asked, err := ask[schema.VolumeUpdateRequest](r, c.volumes)
	if err != nil {
		return reply{}, err
	}
	if err := c.volumes.change(found, asked.Name, asked.Labels); err != nil {
		return reply{}, err
	}
	return answer(schema.VolumeUpdateResponse{Volume: found.view()})
}

func (c *Cloud) deleteVolume(r *call) (reply, error) {
	found, err := find(r, c.volumes)
	if err != nil {
		return reply{}, err
	}
	if found.protected {
		return reply{}, protected("volume")
	}
	if err := c.unlocked("volume", found.id); err != nil {
		return reply{}, err
	}
	if found.server != nil {
		return reply{}, failure(hcloud.ErrorCodeServiceError, "volume with ID %d is still attached to server with ID %d", found.id, found.server.id)
	}
	c.volumes.remove(found)
	return nothing()
}

// takesVolume says whether a volume of a location can be attached to a server.
func (c *Cloud) takesVolume(s *server, location schema.Location) error {
	if s.location.ID != location.ID {
		return invalid("server", "server and volume must be in the same location")
	}
	if len(c.volumesOf(s)) >= volumesOfServer {
		return failure(hcloud.ErrorCodeResourceLimitExceeded, "server can have at most %d volumes", volumesOfServer)
	}
	return c.unlocked("server", s.id)
}

// attaching is the step that attaches a volume to a server, which has it from
// now on.
func (c *Cloud) attaching(v *volume, to *server) step {
	v.device, v.server = c.letterFor(to), to
	return step{
		command: "attach_volume",
		about:   []reference{{Type: "volume", ID: v.id}, {Type: "server", ID: to.id}},
		done: func() error {
			if bay, able := to.box.(diskBay); able {
				bay.AttachDisk(v.disk())
			}
			return nil
		},
		undone: func() { v.server, v.device = nil, "" },
	}
}

// unplug takes a volume from its server.
func (c *Cloud) unplug(v *volume) {
	if bay, able := v.server.box.(diskBay); able {
		bay.DetachDisk(v.disk().Serial)
	}
	v.server, v.device = nil, ""
}

func (c *Cloud) attachVolume(r *call) (reply, error) {
	found, asked, err := ask[schema.VolumeActionAttachVolumeRequest](r, c.volumes)
	if err != nil {
		return reply{}, err
	}
	to, err := c.servers.get(asked.Server)
	if err != nil {
		return reply{}, err
	}
	if found.server != nil {
		return reply{}, failure(hcloud.ErrorCodeVolumeAlreadyAttached, "volume is already attached to a server")
	}
	if err := c.takesVolume(to, found.location); err != nil {
		return reply{}, err
	}
	if err := c.unlocked("volume", found.id); err != nil {
		return reply{}, err
	}
	return acting(c.startOne(to.lab, c.attaching(found, to)))
}

func (c *Cloud) detachVolume(r *call) (reply, error) {
	found, err := find(r, c.volumes)
	if err != nil {
		return reply{}, err
	}
	from := found.server
	if from == nil {
		return reply{}, failure(hcloud.ErrorCodeServiceError, "volume is not attached")
	}
	if err := c.unlocked("server", from.id); err != nil {
		return reply{}, err
	}
	return acting(c.startOne(from.lab, step{
		command: "detach_volume",
		about:   []reference{{Type: "volume", ID: found.id}, {Type: "server", ID: from.id}},
		done: func() error {
			if found.server == from {
				c.unplug(found)
			}
			return nil
		},
	}))
}

func (c *Cloud) resizeVolume(r *call) (reply, error) {
	found, asked, err := ask[schema.VolumeActionResizeVolumeRequest](r, c.volumes)
	if err != nil {
		return reply{}, err
	}
	if asked.Size <= found.size || asked.Size > biggestVolume {
		return reply{}, invalid("size", "must be more than %d and at most %d GB", found.size, biggestVolume)
	}
	return c.act(subject, "resize_volume", "volume", found.id, func() { found.size = asked.Size })
}

func (c *Cloud) protectVolume(r *call) (reply, error) {
	found, asked, err := ask[schema.VolumeActionChangeProtectionRequest](r, c.volumes)
	if err != nil {
		return reply{}, err
	}
	return c.act(subject, "change_protection", "volume", found.id, func() { found.protected = valueOr(asked.Delete, found.protected) })
}
