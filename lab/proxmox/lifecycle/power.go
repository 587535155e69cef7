package lifecycle

import (
	"context"
	"strconv"
	"time"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/task"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/vm"
)

// power switches virtual machines on and off.
type power struct{ *Parts }

func (p *power) routes() api.Routes {
	return api.Routes{
		"POST /nodes/{node}/qemu/{vmid}/status/start":    p.task("qmstart", p.starting),
		"POST /nodes/{node}/qemu/{vmid}/status/stop":     p.task("qmstop", p.stopping),
		"POST /nodes/{node}/qemu/{vmid}/status/reset":    p.task("qmreset", p.resetting),
		"POST /nodes/{node}/qemu/{vmid}/status/shutdown": p.task("qmshutdown", p.shuttingDown),
		"POST /nodes/{node}/qemu/{vmid}/status/reboot":   p.task("qmreboot", p.rebooting),
	}
}

// task returns the handler of a task that changes the power of a virtual machine.
func (p *power) task(kind string, job func(*api.Call, *vm.VM) (task.Job, error)) api.Handler {
	return func(r *api.Call) (any, error) {
		m, err := p.VMs.FindWith(r, "VM.PowerMgmt")
		if err != nil {
			return nil, err
		}
		if err := m.Unlocked(); err != nil {
			return nil, err
		}
		its, err := job(r, m)
		if err != nil {
			return nil, err
		}
		its.Kind, its.ID, its.Machine = kind, strconv.Itoa(m.ID), m.Machine
		return p.Tasks.Start(r, its)
	}
}

func (p *power) starting(_ *api.Call, m *vm.VM) (task.Job, error) {
	return task.Job{
		Work: func(ctx context.Context, _ *task.Task) error {
			p.VMs.Retire(ctx, m)
			return nil
		},
		Done: func(*task.Task) error {
			if m.Powered() {
				return api.Failure("VM %d already running", m.ID)
			}
			return p.VMs.PowerOn(m)
		},
	}, nil
}

// stopping cuts the power.
func (p *power) stopping(_ *api.Call, m *vm.VM) (task.Job, error) {
	return task.Job{Done: func(*task.Task) error {
		p.VMs.PowerOff(m)
		return nil
	}}, nil
}

// resetting cuts the power and restores it. Pending changes are not applied.
func (p *power) resetting(_ *api.Call, m *vm.VM) (task.Job, error) {
	return task.Job{Done: func(*task.Task) error {
		if !m.Powered() {
			return api.Failure("VM %d not running", m.ID)
		}
		m.Reset()
		return nil
	}}, nil
}

// shutdownSeconds is how long a shutdown may take by default.
const shutdownSeconds = 180

// shuttingDown asks the operating system to turn the virtual machine off.
func (p *power) shuttingDown(r *api.Call, m *vm.VM) (task.Job, error) {
	seconds, err := r.Params.Number("timeout", shutdownSeconds)
	if err != nil {
		return task.Job{}, err
	}
	force := r.Params.Flag("forceStop")
	return task.Job{
		Work: func(ctx context.Context, _ *task.Task) error {
			if p.shutDown(ctx, m, seconds) || force {
				return nil
			}
			return api.Failure("VM quit/powerdown failed - got timeout")
		},
		Done: func(*task.Task) error {
			p.VMs.PowerOff(m)
			return nil
		},
	}, nil
}

// rebooting shuts the virtual machine down and starts it with what was pending.
func (p *power) rebooting(r *api.Call, m *vm.VM) (task.Job, error) {
	if !m.Powered() {
		return task.Job{}, api.Failure("VM %d not running", m.ID)
	}
	seconds, err := r.Params.Number("timeout", shutdownSeconds)
	if err != nil {
		return task.Job{}, err
	}
	return task.Job{
		Work: func(ctx context.Context, _ *task.Task) error {
			if !p.shutDown(ctx, m, seconds) {
				return api.Failure("VM quit/powerdown failed - got timeout")
			}
			p.VMs.Retire(ctx, m)
			return nil
		},
		Done: func(*task.Task) error { return p.VMs.PowerOn(m) },
	}, nil
}

// shutDown asks the operating system to shut down, and reports whether the virtual machine is off in time. It is called without the lock.
func (p *power) shutDown(ctx context.Context, m *vm.VM, seconds int) bool {
	p.Datacenter.Lock()
	m.PressPower()
	off := !m.Powered()
	p.Datacenter.Unlock()
	if off {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
	defer cancel()
	ticker := time.NewTicker(p.Datacenter.Pace.Of(pace.Shutdown, m.Machine+"/looks") / 10)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return false
		}
		p.Datacenter.Lock()
		off := !m.Powered()
		p.Datacenter.Unlock()
		if off {
			return true
		}
	}
}
