package lifecycle

import (
	"context"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/project"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/server"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

// power switches servers on and off.
type power struct{ *Parts }

func (p *power) routes() api.Routes {
	const at = "POST /servers/{id}/actions/"
	return api.Routes{
		at + "poweron":  p.action(p.starting),
		at + "poweroff": p.action(p.stopping),
		at + "shutdown": p.action(p.shuttingDown),
		at + "reboot":   p.action(p.rebooting),
		at + "reset":    p.action(p.resetting),
	}
}

// action returns the handler of an action that changes the power of a server.
func (p *power) action(step func(*server.Server) project.Step) api.Handler {
	return func(r *api.Call) (api.Reply, error) {
		s, err := project.Find(r, p.Servers.Registry)
		if err != nil {
			return api.Reply{}, err
		}
		if err := p.Servers.Unlocked(s); err != nil {
			return api.Reply{}, err
		}
		return p.Servers.Start(s, step(s))
	}
}

// starting turns a server on.
func (p *power) starting(s *server.Server) project.Step {
	step := s.Step("start_server", func() {
		p.on(s)
		p.Servers.Turn(s, "")
	})
	step.Begin = func() { p.Servers.Turn(s, hcloud.ServerStatusStarting) }
	step.Undone = func() { p.Servers.Turn(s, "") }
	return step
}

// stopping cuts the power of a server.
func (p *power) stopping(s *server.Server) project.Step {
	step := s.Step("stop_server", func() {
		p.off(s)
		p.Servers.Turn(s, "")
	})
	step.Begin = func() { p.Servers.Turn(s, hcloud.ServerStatusStopping) }
	step.Undone = func() { p.Servers.Turn(s, "") }
	return step
}

// shuttingDown presses the power button. The action is complete when it was pressed, whatever the server does then.
func (p *power) shuttingDown(s *server.Server) project.Step {
	return s.Step("shutdown_server", func() { s.Running().Shutdown() })
}

// resetting cuts the power and restores it.
func (p *power) resetting(s *server.Server) project.Step {
	return s.Step("reset_server", func() {
		if !s.RescueNext && s.Rescue == nil && s.Powered() {
			s.Box.Reset()
			return
		}
		p.off(s)
		p.on(s)
		p.Servers.Status(s)
	})
}

// rebooting presses the power button, waits until the server is off and turns it on.
func (p *power) rebooting(s *server.Server) project.Step {
	step := s.Step("reboot_server", func() {
		p.on(s)
		p.Servers.Status(s)
	})
	step.Begin = func() { s.Running().Shutdown() }
	step.Work = func(ctx context.Context) { p.awaitOff(ctx, s) }
	return step
}

// awaitOff returns when the server has turned itself off, or after the longest time that a shutdown may take. It is called without the lock.
func (p *power) awaitOff(ctx context.Context, s *server.Server) {
	const polls = 50
	limit := 5 * p.Project.Pace.Of(pace.Shutdown, s.Machine)
	ticker := time.NewTicker(limit / polls)
	defer ticker.Stop()
	for range polls {
		p.Project.Lock()
		on := s.Powered()
		p.Project.Unlock()
		if !on {
			return
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// on turns a server on, into the rescue system if that was requested.
func (p *power) on(s *server.Server) {
	if s.Powered() {
		return
	}
	s.Rescue = nil
	if s.RescueNext {
		s.RescueNext, s.Rescue = false, &machine.Silent{}
		p.Project.Timeline.Record(s.Machine, "server", "rescue")
	}
	s.Running().PowerOn()
}

// off cuts the power of a server.
func (p *power) off(s *server.Server) {
	s.Running().PowerOff()
	s.Rescue = nil
}
