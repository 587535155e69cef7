package hetzner

import (
	"context"
	"errors"
	"fmt"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

func (c *Cloud) serverActionRoutes() map[string]handler {
	const at = "POST /servers/{id}/actions/"
	return map[string]handler{
		at + "poweron":                     c.powerAction(c.starting),
		at + "poweroff":                    c.powerAction(c.stopping),
		at + "shutdown":                    c.powerAction(c.shuttingDown),
		at + "reboot":                      c.powerAction(c.rebooting),
		at + "reset":                       c.powerAction(c.resetting),
		at + "attach_to_network":           c.attachServer,
		at + "detach_from_network":         c.detachServer,
		at + "change_alias_ips":            c.changeAliases,
		at + "change_type":                 c.changeType,
		at + "rebuild":                     c.rebuildServer,
		at + "create_image":                c.createImage,
		at + "enable_rescue":               c.enableRescue,
		at + "disable_rescue":              c.disableRescue,
		at + "enable_backup":               c.enableBackup,
		at + "disable_backup":              c.disableBackup,
		at + "attach_iso":                  c.attachISO,
		at + "detach_iso":                  c.detachISO,
		at + "add_to_placement_group":      c.joinPlacementGroup,
		at + "remove_from_placement_group": c.leavePlacementGroup,
		at + "change_dns_ptr":              c.pointServer,
		at + "change_protection":           c.protectServer,
	}
}

// free is the server of a call that no action has locked, and what is asked.
func free[Q any](c *Cloud, r *call) (*server, Q, error) {
	s, asked, err := ask[Q](r, c.servers)
	if err == nil {
		err = c.unlocked("server", s.id)
	}
	return s, asked, err
}

func (c *Cloud) changeType(r *call) (reply, error) {
	s, asked, err := ask[schema.ServerActionChangeTypeRequest](r, c.servers)
	if err != nil {
		return reply{}, err
	}
	if err := c.stopped(s); err != nil {
		return reply{}, err
	}
	kind, err := c.catalog.serverTypes.choose("server_type", asked.ServerType)
	switch {
	case err != nil:
		return reply{}, err
	case kind.Name == s.kind.Name:
		return reply{}, failure(hcloud.ErrorCodeInvalidServerType, "server has this type already")
	case kind.Architecture != s.kind.Architecture:
		return reply{}, failure(hcloud.ErrorCodeInvalidServerType, "server type has another architecture")
	case kind.Disk < s.diskGB:
		return reply{}, failure(hcloud.ErrorCodeInvalidServerType, "disk of server type is smaller than that of the server")
	}
	if _, err := c.placeFor(kind, s.location.Name); err != nil {
		return reply{}, err
	}
	next := serverStep(s, "change_server_type", func() {
		s.kind = kind
		if asked.UpgradeDisk {
			s.diskGB = kind.Disk
		}
		if box, able := s.box.(resizable); able {
			box.Resize(kind.Cores, int(kind.Memory*1024), uint64(s.diskGB)*1_000_000_000)
		}
		c.boot(s) // "copies the content of its disk, and starts it again", as Hetzner has it
		c.turn(s, "")
	})
	next.takes = pace.ServerCreate
	next.begin = func() { c.turn(s, hcloud.ServerStatusMigrating) }
	next.undone = func() { c.turn(s, "") }
	return acting(c.startOne(s.lab, next))
}

// rebuildServer makes the disk anew from an image, and boots from it.
func (c *Cloud) rebuildServer(r *call) (reply, error) {
	s, asked, err := free[schema.ServerActionRebuildRequest](c, r)
	if err != nil {
		return reply{}, err
	}
	if s.protected.Rebuild {
		return reply{}, failure(hcloud.ErrorCodeProtected, "server rebuild is protected")
	}
	from, err := c.chooseImage(asked.Image, s.kind)
	if err != nil {
		return reply{}, err
	}
	next := step{
		command: "rebuild_server", takes: pace.ServerCreate,
		about:  []reference{{Type: "server", ID: s.id}, {Type: "image", ID: from.id}},
		begin:  func() { c.turn(s, hcloud.ServerStatusRebuilding) },
		undone: func() { c.turn(s, "") },
		work:   s.demolish,
		done: func() error {
			s.image, s.disk, s.rescue = from, from.holds, nil
			s.userData = valueOr(asked.UserData, s.userData)
			if err := c.assemble(s); err != nil {
				return err
			}
			c.boot(s)
			c.turn(s, "")
			return nil
		},
	}
	began := c.startOne(s.lab, next)
	return created(schema.ServerActionRebuildResponse{Action: began})
}

// createImage makes a snapshot of what is on the disk by now.
func (c *Cloud) createImage(r *call) (reply, error) {
	s, asked, err := free[schema.ServerActionCreateImageRequest](c, r)
	if err != nil {
		return reply{}, err
	}
	if kind := valueOr(asked.Type, "snapshot"); kind != "snapshot" {
		return reply{}, invalid("type", "must be snapshot")
	}
	labels := valueOr(asked.Labels, nil)
	if err := checkLabels(labels); err != nil {
		return reply{}, err
	}
	made := c.snapshot(valueOr(asked.Description, ""), s.kind.Architecture, s.onDisk())
	made.labels = labelled(labels)
	made.createdFrom = &schema.ImageCreatedFrom{ID: s.id, Name: s.name}
	made.diskGB = float32(s.diskGB)
	began := c.startOne(s.lab, step{
		command: "create_image", takes: pace.ServerCreate,
		about: []reference{{Type: "image", ID: made.id}, {Type: "server", ID: s.id}},
		done: func() error {
			made.status = "available"
			return nil
		},
		undone: func() { c.images.remove(made) },
	})
	return created(schema.ServerActionCreateImageResponse{Action: began, Image: made.view()})
}

// onDisk is the Talos on the server's disk: a running one may have upgraded
// itself.
func (s *server) onDisk() machine.Image {
	if box, able := s.box.(imaged); able {
		return box.Image()
	}
	return s.disk
}

// WriteDisk writes an image of Talos over the disk of a server in the rescue
// system, as who uploads images does there.
func (c *Cloud) WriteDisk(ctx context.Context, name string, holds machine.Image) error {
	c.mu.Lock()
	s, found := c.servers.named(name)
	if !found || s.rescue == nil || !s.rescue.Powered() {
		c.mu.Unlock()
		return fmt.Errorf("server %q is not in the rescue system", name)
	}
	before := s.box
	c.mu.Unlock()
	before.Delete(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.box != before {
		return errors.New("the server was changed meanwhile")
	}
	s.disk = holds
	return c.assemble(s)
}

func (c *Cloud) enableRescue(r *call) (reply, error) {
	s, asked, err := free[schema.ServerActionEnableRescueRequest](c, r)
	if err != nil {
		return reply{}, err
	}
	if kind := valueOr(asked.Type, "linux64"); kind != "linux64" {
		return reply{}, invalid("type", "must be linux64")
	}
	if _, err := each(asked.SSHKeys, c.sshKeys.get); err != nil {
		return reply{}, err
	}
	began := c.startOne(s.lab, serverStep(s, "enable_rescue", func() { s.rescueNext = true }))
	return created(schema.ServerActionEnableRescueResponse{
		Action: began, RootPassword: fmt.Sprintf("%016x", c.identities.Number("password", s.name)),
	})
}

func (c *Cloud) disableRescue(r *call) (reply, error) {
	s, _, err := free[schema.ServerActionDisableRescueRequest](c, r)
	if err != nil {
		return reply{}, err
	}
	return acting(c.startOne(s.lab, serverStep(s, "disable_rescue", func() { s.rescueNext = false })))
}
