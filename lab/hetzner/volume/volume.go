// Package volume is the volumes of a project, and which servers have them.
package volume

import (
	"fmt"
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/catalog"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/project"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/server"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
)

const (
	smallestGB = 10
	largestGB  = 10240
	// perServer is the number of volumes that a server can have.
	perServer = 16
)

// diskBay is a box that accepts disks while it is on. Other boxes get their disks when they are recreated.
type diskBay interface {
	AttachDisk(disk machine.Disk)
	DetachDisk(serial string)
}

// Volume is a block device that can be attached to a server at its location.
type Volume struct {
	project.Record
	status    string
	location  schema.Location
	sizeGB    int
	format    *string
	protected bool
	// server is the one that it is attached to, or nil; device is its name there.
	server *server.Server
	device string
}

func (v *Volume) view() schema.Volume {
	view := schema.Volume{
		ID: v.ID, Name: v.Name, Status: v.status, Location: v.location, Size: v.sizeGB, Format: v.format,
		Protection: schema.VolumeProtection{Delete: v.protected}, Labels: v.LabelsOf(),
		LinuxDevice: fmt.Sprintf("/dev/disk/by-id/scsi-0HC_Volume_%d", v.ID), Created: v.Created,
	}
	if v.server != nil {
		view.Server = new(v.server.ID)
	}
	return view
}

// Disk returns the volume as its server finds it.
func (v *Volume) Disk() machine.Disk {
	return machine.Disk{
		Device: v.device, Bytes: uint64(v.sizeGB) << 30, Model: "Volume", Serial: api.IDText(v.ID),
		WWID: "0HC_Volume_" + api.IDText(v.ID), Transport: "virtio", Rotational: true,
	}
}

// Volumes are the volumes of a project.
type Volumes struct {
	project  *project.Project
	catalog  *catalog.Catalog
	servers  *server.Servers
	registry *project.Registry[*Volume]
}

// New returns a project without volumes.
func New(in *project.Project, catalog *catalog.Catalog, servers *server.Servers) *Volumes {
	return &Volumes{project: in, catalog: catalog, servers: servers, registry: project.NewRegistry[*Volume](in, "volume")}
}

// Of returns the volumes of a server.
func (v *Volumes) Of(s *server.Server) []*Volume {
	return v.registry.Where(func(one *Volume) bool { return one.server == s })
}

// IDsOf returns the ids of the volumes of a server.
func (v *Volumes) IDsOf(s *server.Server) []int64 {
	ids := []int64{}
	for _, one := range v.Of(s) {
		ids = append(ids, one.ID)
	}
	return ids
}

// Free returns the volumes with these ids, which must be available for a new server at a location.
func (v *Volumes) Free(ids []int64, location schema.Location) ([]*Volume, error) {
	found, err := v.registry.GetAll(ids)
	if err != nil {
		return nil, err
	}
	for _, one := range found {
		if one.server != nil {
			return nil, alreadyAttached()
		}
		if one.location.ID != location.ID {
			return nil, api.Invalid("volumes", "server and volume must be in the same location")
		}
	}
	return found, nil
}

// Give assigns a volume to a server whose machine does not exist yet.
func (v *Volumes) Give(one *Volume, to *server.Server) {
	one.device, one.server = v.nextDevice(to), to
}

// Release detaches all volumes of a server.
func (v *Volumes) Release(s *server.Server) {
	for _, one := range v.Of(s) {
		one.detach()
	}
}

// nextDevice returns the device name for the next volume of a server; /dev/sda is the server's own disk.
func (v *Volumes) nextDevice(s *server.Server) string {
	attached := v.Of(s)
	for letter := 'b'; ; letter++ {
		device := fmt.Sprintf("/dev/sd%c", letter)
		if !slices.ContainsFunc(attached, func(one *Volume) bool { return one.device == device }) {
			return device
		}
	}
}

// detach detaches an attached volume from its server.
func (v *Volume) detach() {
	if bay, can := v.server.Box.(diskBay); can {
		bay.DetachDisk(v.Disk().Serial)
	}
	v.server, v.device = nil, ""
}

func alreadyAttached() error {
	return api.Failure(hcloud.ErrorCodeVolumeAlreadyAttached, "volume is already attached to a server")
}
