package proxmox

import (
	"context"
	"strconv"
	"time"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

func (c *Cluster) powerRoutes() map[string]handler {
	return map[string]handler{
		"POST /nodes/{node}/qemu/{vmid}/status/start":    c.power("qmstart", c.starting),
		"POST /nodes/{node}/qemu/{vmid}/status/stop":     c.power("qmstop", c.stopping),
		"POST /nodes/{node}/qemu/{vmid}/status/reset":    c.power("qmreset", c.resetting),
		"POST /nodes/{node}/qemu/{vmid}/status/shutdown": c.power("qmshutdown", c.shuttingDown),
		"POST /nodes/{node}/qemu/{vmid}/status/reboot":   c.power("qmreboot", c.rebooting),
	}
}

// power makes the handler of a task that changes a machine's power.
func (c *Cluster) power(kind string, does func(*call, *vm) (job, error)) handler {
	return func(r *call) (any, error) {
		m, err := c.vmWith(r, "VM.PowerMgmt")
		if err != nil {
			return nil, err
		}
		if err := m.unlocked(); err != nil {
			return nil, err
		}
		its, err := does(r, m)
		if err != nil {
			return nil, err
		}
		its.kind, its.id, its.whose = kind, strconv.Itoa(m.id), m.lab
		return c.start(r, its)
	}
}

func (c *Cluster) starting(_ *call, m *vm) (job, error) {
	return job{
		work: func(ctx context.Context, _ *task) error {
			c.retire(ctx, m)
			return nil
		},
		done: func(*task) error {
			if m.powered() {
				return failure("VM %d already running", m.id)
			}
			return c.powerOn(m)
		},
	}, nil
}

// powerOn starts the machine on a host that is up.
func (c *Cluster) powerOn(m *vm) error {
	if err := c.reachable(m.host); err != nil {
		return err
	}
	m.started = time.Now()
	return c.powerUp(m)
}

// stopping pulls the plug.
func (c *Cluster) stopping(_ *call, m *vm) (job, error) {
	return job{done: func(*task) error {
		c.cut(m)
		return nil
	}}, nil
}

// resetting pulls the plug and puts it back; nothing that is pending is applied.
func (c *Cluster) resetting(_ *call, m *vm) (job, error) {
	return job{done: func(*task) error {
		if !m.powered() {
			return failure("VM %d not running", m.id)
		}
		m.box.Reset()
		return nil
	}}, nil
}

// shutdownSeconds is how long a shutdown may take unless it is said.
const shutdownSeconds = 180

// shuttingDown asks the operating system to turn the machine off.
func (c *Cluster) shuttingDown(r *call, m *vm) (job, error) {
	seconds, err := r.params.number("timeout", shutdownSeconds)
	if err != nil {
		return job{}, err
	}
	force := r.params.flag("forceStop")
	return job{
		work: func(ctx context.Context, _ *task) error {
			if c.pressed(ctx, m, seconds) || force {
				return nil
			}
			return failure("VM quit/powerdown failed - got timeout")
		},
		done: func(*task) error {
			c.cut(m)
			return nil
		},
	}, nil
}

// rebooting shuts the machine down and starts it with what was pending.
func (c *Cluster) rebooting(r *call, m *vm) (job, error) {
	if !m.powered() {
		return job{}, failure("VM %d not running", m.id)
	}
	seconds, err := r.params.number("timeout", shutdownSeconds)
	if err != nil {
		return job{}, err
	}
	return job{
		work: func(ctx context.Context, _ *task) error {
			if !c.pressed(ctx, m, seconds) {
				return failure("VM quit/powerdown failed - got timeout")
			}
			c.retire(ctx, m)
			return nil
		},
		done: func(*task) error { return c.powerOn(m) },
	}, nil
}

// cut takes the power.
func (c *Cluster) cut(m *vm) {
	if m.box != nil {
		m.box.PowerOff()
	}
	c.stateOf(m)
}

// pressed asks the operating system to shut down, and says whether the machine
// is off in time. Where the config promises a guest agent it is the agent that
// is asked: without one the machine never hears of it.
func (c *Cluster) pressed(ctx context.Context, m *vm, seconds int) bool {
	c.mu.Lock()
	_, answers := m.guest()
	if m.powered() && (answers || !m.agent) {
		m.box.Shutdown()
	}
	off := !m.powered()
	c.mu.Unlock()
	if off {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
	defer cancel()
	ticker := time.NewTicker(c.Pace.Of(pace.Shutdown, m.lab+"/looks") / 10)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return false
		}
		c.mu.Lock()
		off := !m.powered()
		c.mu.Unlock()
		if off {
			return true
		}
	}
}
