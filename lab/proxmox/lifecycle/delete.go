package lifecycle

import (
	"context"
	"strconv"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/task"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/vm"
)

// delete deletes a virtual machine that is off, with all its disks.
func (c *creation) delete(r *api.Call) (any, error) {
	m, err := c.VMs.FindWith(r, "VM.Allocate")
	if err != nil {
		return nil, err
	}
	if err := checkDeletable(m); err != nil {
		return nil, err
	}
	m.Lock = "destroyed"
	return c.Tasks.Start(r, task.Job{
		Kind: "qmdestroy", ID: strconv.Itoa(m.ID), Machine: m.Machine,
		Work: func(ctx context.Context, _ *task.Task) error {
			c.VMs.Delete(ctx, m)
			return nil
		},
		Done: func(*task.Task) error {
			c.ACL.Forget(api.VMPath(m.ID))
			c.VMs.Remove(m)
			c.Datacenter.Timeline.Record(m.Machine, "vm", "deleted")
			return nil
		},
		After: func(error) { m.Lock = "" },
	})
}

// checkDeletable returns an error if a virtual machine cannot be deleted now.
func checkDeletable(m *vm.VM) error {
	switch {
	case m.Config["protection"] == "1":
		return api.Failure("can't remove VM %d - protection mode enabled", m.ID)
	case m.Lock != "":
		return m.Unlocked()
	case m.Powered():
		return api.Failure("VM %d is running - destroy failed", m.ID)
	}
	return nil
}
