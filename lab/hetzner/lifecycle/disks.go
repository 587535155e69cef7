package lifecycle

import (
	"context"
	"errors"
	"fmt"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/project"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/server"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

// Optional capabilities of a machine, besides machine.Box.
type (
	// resizable can get other hardware while it is off. Other machines get it when they are recreated.
	resizable interface {
		Resize(cpus, memoryMiB int, diskBytes uint64)
	}
	// imaged knows the current content of its disk: Talos can upgrade itself.
	imaged interface {
		Image() machine.Image
	}
)

// Disks writes and reads the disks of servers, and changes their hardware.
type Disks struct {
	*Parts
	power *power
}

func (d *Disks) routes() api.Routes {
	const at = "POST /servers/{id}/actions/"
	return api.Routes{
		at + "change_type":    d.changeType,
		at + "rebuild":        d.rebuild,
		at + "create_image":   d.createImage,
		at + "enable_rescue":  d.enableRescue,
		at + "disable_rescue": d.disableRescue,
	}
}

func (d *Disks) changeType(r *api.Call) (api.Reply, error) {
	s, asked, err := project.Ask[schema.ServerActionChangeTypeRequest](r, d.Servers.Registry)
	if err != nil {
		return api.Reply{}, err
	}
	if err := d.Servers.Stopped(s); err != nil {
		return api.Reply{}, err
	}
	kind, err := d.Catalog.ServerTypes.Choose("server_type", asked.ServerType)
	switch {
	case err != nil:
		return api.Reply{}, err
	case kind.Name == s.Kind.Name:
		return api.Reply{}, api.Failure(hcloud.ErrorCodeInvalidServerType, "server has this type already")
	case kind.Architecture != s.Kind.Architecture:
		return api.Reply{}, api.Failure(hcloud.ErrorCodeInvalidServerType, "server type has another architecture")
	case kind.Disk < s.DiskGB:
		return api.Reply{}, api.Failure(hcloud.ErrorCodeInvalidServerType, "disk of server type is smaller than that of the server")
	}
	if _, err := d.Catalog.ServerLocation(kind, s.Location.Name); err != nil {
		return api.Reply{}, err
	}
	step := s.Step("change_server_type", func() {
		s.Kind = kind
		if asked.UpgradeDisk {
			s.DiskGB = kind.Disk
		}
		if box, can := s.Box.(resizable); can {
			box.Resize(kind.Cores, memoryMiB(s), diskBytes(s))
		}
		d.power.on(s) // as Hetzner does: it "starts it again"
		d.Servers.Turn(s, "")
	})
	step.Takes = pace.ServerCreate
	step.Begin = func() { d.Servers.Turn(s, hcloud.ServerStatusMigrating) }
	step.Undone = func() { d.Servers.Turn(s, "") }
	return d.Servers.Start(s, step)
}

// rebuild rewrites the disk from an image, and boots from it.
func (d *Disks) rebuild(r *api.Call) (api.Reply, error) {
	s, asked, err := project.AskUnlocked[schema.ServerActionRebuildRequest](r, d.Servers.Registry)
	if err != nil {
		return api.Reply{}, err
	}
	if s.Protection.Rebuild {
		return api.Reply{}, api.Failure(hcloud.ErrorCodeProtected, "server rebuild is protected")
	}
	from, err := d.Images.Choose(asked.Image, s.Kind)
	if err != nil {
		return api.Reply{}, err
	}
	started := d.Project.Actions.StartOne(s.Machine, project.Step{
		Command: "rebuild_server", Takes: pace.ServerCreate,
		About:  []project.Reference{d.Servers.Reference(s), d.Images.Reference(from)},
		Begin:  func() { d.Servers.Turn(s, hcloud.ServerStatusRebuilding) },
		Undone: func() { d.Servers.Turn(s, "") },
		Work:   s.Delete,
		Done: func() error {
			s.Image, s.Disk, s.Rescue = from, from.Content, nil
			s.UserData = api.ValueOr(asked.UserData, s.UserData)
			if err := d.assemble(s); err != nil {
				return err
			}
			d.power.on(s)
			d.Servers.Turn(s, "")
			return nil
		},
	})
	return api.Created(schema.ServerActionRebuildResponse{Action: started})
}

// createImage creates a snapshot of the disk's current content.
func (d *Disks) createImage(r *api.Call) (api.Reply, error) {
	s, asked, err := project.AskUnlocked[schema.ServerActionCreateImageRequest](r, d.Servers.Registry)
	if err != nil {
		return api.Reply{}, err
	}
	if kind := api.ValueOr(asked.Type, "snapshot"); kind != "snapshot" {
		return api.Reply{}, api.Invalid("type", "must be snapshot")
	}
	labels := api.ValueOr(asked.Labels, nil)
	if err := api.CheckLabels(labels); err != nil {
		return api.Reply{}, err
	}
	made := d.Images.Begin(api.ValueOr(asked.Description, ""), s.Kind.Architecture, onDisk(s), labels, s.DiskGB, schema.ImageCreatedFrom{ID: s.ID, Name: s.Name})
	started := d.Project.Actions.StartOne(s.Machine, project.Step{
		Command: "create_image", Takes: pace.ServerCreate,
		About: []project.Reference{d.Images.Reference(made), d.Servers.Reference(s)},
		Done: func() error {
			d.Images.Finish(made)
			return nil
		},
		Undone: func() { d.Images.Abandon(made) },
	})
	return api.Created(schema.ServerActionCreateImageResponse{Action: started, Image: made.View()})
}

// onDisk returns the Talos on the disk of a server: a running one may have been upgraded.
func onDisk(s *server.Server) machine.Image {
	if box, can := s.Box.(imaged); can {
		return box.Image()
	}
	return s.Disk
}

// WriteDisk writes an image of Talos to the disk of a server in the rescue system, as programs that upload images do. It is called without the lock.
func (d *Disks) WriteDisk(ctx context.Context, name string, content machine.Image) error {
	d.Project.Lock()
	s, found := d.Servers.Named(name)
	if !found || s.Rescue == nil || !s.Rescue.Powered() {
		d.Project.Unlock()
		return fmt.Errorf("server %q is not in the rescue system", name)
	}
	before := s.Box
	d.Project.Unlock()
	before.Delete(ctx)
	d.Project.Lock()
	defer d.Project.Unlock()
	if s.Box != before {
		return errors.New("the server was changed in the meantime")
	}
	s.Disk = content
	return d.assemble(s)
}

func (d *Disks) enableRescue(r *api.Call) (api.Reply, error) {
	s, asked, err := project.AskUnlocked[schema.ServerActionEnableRescueRequest](r, d.Servers.Registry)
	if err != nil {
		return api.Reply{}, err
	}
	if kind := api.ValueOr(asked.Type, "linux64"); kind != "linux64" {
		return api.Reply{}, api.Invalid("type", "must be linux64")
	}
	if err := d.Keys.Check(asked.SSHKeys); err != nil {
		return api.Reply{}, err
	}
	started := d.Project.Actions.StartOne(s.Machine, s.Step("enable_rescue", func() { s.RescueNext = true }))
	return api.Created(schema.ServerActionEnableRescueResponse{Action: started, RootPassword: d.Project.Identities.Password(s.Name)})
}

func (d *Disks) disableRescue(r *api.Call) (api.Reply, error) {
	s, _, err := project.AskUnlocked[schema.ServerActionDisableRescueRequest](r, d.Servers.Registry)
	if err != nil {
		return api.Reply{}, err
	}
	return d.Servers.Start(s, s.Step("disable_rescue", func() { s.RescueNext = false }))
}
