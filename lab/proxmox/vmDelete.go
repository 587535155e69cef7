package proxmox

import (
	"context"
	"slices"
	"strconv"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
)

// deleteVM removes a machine that is off, with all of its disks.
func (c *Cluster) deleteVM(r *call) (any, error) {
	m, err := c.vmWith(r, "VM.Allocate")
	if err != nil {
		return nil, err
	}
	if err := c.removable(m); err != nil {
		return nil, err
	}
	m.lock = "destroyed"
	var box machine.Box
	return c.start(r, job{
		kind: "qmdestroy", id: strconv.Itoa(m.id), whose: m.lab,
		work: func(ctx context.Context, _ *task) error {
			c.mu.Lock()
			box = m.box
			c.mu.Unlock()
			if box != nil {
				box.Delete(ctx) // nothing of it runs afterwards
			}
			return nil
		},
		done: func(*task) error {
			c.dropVolumes(m)
			c.access.acl = slices.DeleteFunc(c.access.acl, func(one grant) bool { return one.path == vmPath(m.id) })
			delete(c.vms, m.id)
			c.Timeline.Record(m.lab, "vm", "deleted")
			return nil
		},
		after: func(error) { m.lock = "" },
	})
}

// dropVolumes removes all that is a machine's.
func (c *Cluster) dropVolumes(m *vm) {
	for at, held := range c.volumes {
		if held.vm == m.id && held.isOn(m.host) {
			delete(c.volumes, at)
		}
	}
}

// removable says why a machine cannot be removed now.
func (c *Cluster) removable(m *vm) error {
	switch {
	case m.config["protection"] == "1":
		return failure("can't remove VM %d - protection mode enabled", m.id)
	case m.lock != "":
		return m.unlocked()
	case m.powered():
		return failure("VM %d is running - destroy failed", m.id)
	}
	return nil
}
