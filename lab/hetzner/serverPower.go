package hetzner

import (
	"context"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

// serverStep is an action of a server.
func serverStep(s *server, command string, done func()) step {
	return step{command: command, about: []reference{{Type: "server", ID: s.id}}, done: func() error {
		done()
		return nil
	}}
}

// powerAction makes the handler of an action that changes a server's power.
func (c *Cloud) powerAction(make func(*server) step) handler {
	return func(r *call) (reply, error) {
		s, err := find(r, c.servers)
		if err != nil {
			return reply{}, err
		}
		if err := c.unlocked("server", s.id); err != nil {
			return reply{}, err
		}
		return acting(c.startOne(s.lab, make(s)))
	}
}

// starting turns a server on.
func (c *Cloud) starting(s *server) step {
	next := serverStep(s, "start_server", func() {
		c.boot(s)
		c.turn(s, "")
	})
	next.begin = func() { c.turn(s, hcloud.ServerStatusStarting) }
	next.undone = func() { c.turn(s, "") }
	return next
}

// stopping pulls the plug.
func (c *Cloud) stopping(s *server) step {
	next := serverStep(s, "stop_server", func() {
		c.cut(s)
		c.turn(s, "")
	})
	next.begin = func() { c.turn(s, hcloud.ServerStatusStopping) }
	next.undone = func() { c.turn(s, "") }
	return next
}

// shuttingDown presses the button. The action is done when it was pressed,
// whatever the server makes of it.
func (c *Cloud) shuttingDown(s *server) step {
	return serverStep(s, "shutdown_server", func() { s.running().Shutdown() })
}

// resetting pulls the plug and puts it back.
func (c *Cloud) resetting(s *server) step {
	return serverStep(s, "reset_server", func() {
		if !s.rescueNext && s.rescue == nil && s.powered() {
			s.box.Reset()
			return
		}
		c.cut(s)
		c.boot(s)
		c.status(s)
	})
}

// rebooting presses the button, waits until the server is off and turns it on.
func (c *Cloud) rebooting(s *server) step {
	next := serverStep(s, "reboot_server", func() {
		c.boot(s)
		c.status(s)
	})
	next.begin = func() { s.running().Shutdown() }
	next.work = func(ctx context.Context) { c.awaitOff(ctx, s) }
	return next
}

// awaitOff looks until the server turned itself off, or for as long as a
// shutdown can take.
func (c *Cloud) awaitOff(ctx context.Context, s *server) {
	const looks = 50
	limit := 5 * c.Pace.Of(pace.Shutdown, s.lab)
	ticker := time.NewTicker(limit / looks)
	defer ticker.Stop()
	for range looks {
		c.mu.Lock()
		on := s.powered()
		c.mu.Unlock()
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

// turn makes a status that an action has for as long as it runs, or ends it.
func (c *Cloud) turn(s *server, to hcloud.ServerStatus) {
	s.transition = string(to)
	c.status(s)
}

// boot turns the server on, into the rescue system when that was asked for.
func (c *Cloud) boot(s *server) {
	if s.powered() {
		return
	}
	s.rescue = nil
	if s.rescueNext {
		s.rescueNext, s.rescue = false, &machine.Silent{}
		c.Timeline.Record(s.lab, "server", "rescue")
	}
	s.running().PowerOn()
}

// cut takes the power.
func (c *Cloud) cut(s *server) {
	s.running().PowerOff()
	s.rescue = nil
}
