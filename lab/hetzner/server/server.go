// Package server is the servers of a project: their properties, and the machine of each. What else a server has (addresses, networks, volumes, firewalls) is
// in the packages of these resources.
package server

import (
	"context"
	"maps"
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/image"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/project"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
)

// Server is a rented machine.
type Server struct {
	project.Record
	// Machine is the name of its machine in the lab. It stays when the server is
	// renamed.
	Machine   string
	UUID      string
	PublicMAC string
	Kind      schema.ServerType
	DiskGB    int
	Location  schema.Location
	UserData  string

	// Image is what its disk was created from, Disk the current content of the disk.
	Image *image.Image
	Disk  machine.Image
	// Box is the machine with that disk; Rescue is the rescue system that runs instead of it, or nil. RescueNext means that the next boot is into the rescue
	// system.
	Box, Rescue machine.Box
	RescueNext  bool

	Backups    *string
	ISO        *schema.ISO
	Protection schema.ServerProtection

	// transition is the status while an action changes it, else empty; recorded is the last status on the timeline.
	transition, recorded hcloud.ServerStatus
}

// New returns a server that is being created.
func New() *Server {
	return &Server{Box: &machine.Silent{}, transition: hcloud.ServerStatusInitializing}
}

// Running returns the box that gets the server's power.
func (s *Server) Running() machine.Box {
	if s.Rescue != nil {
		return s.Rescue
	}
	return s.Box
}

// Boxes returns all boxes of the server.
func (s *Server) Boxes() []machine.Box {
	var boxes []machine.Box
	for _, box := range []machine.Box{s.Box, s.Rescue} {
		if box != nil {
			boxes = append(boxes, box)
		}
	}
	return boxes
}

// Powered reports whether the server is on.
func (s *Server) Powered() bool { return s.Running() != nil && s.Running().Powered() }

// Delete ends the machine and waits until nothing of it runs. It is called without
// the lock.
func (s *Server) Delete(ctx context.Context) {
	for _, box := range s.Boxes() {
		box.Delete(ctx)
	}
}

// Step returns an action of a server that cannot fail by itself.
func (s *Server) Step(command string, done func()) project.Step {
	return project.Step{Command: command, About: []project.Reference{{Type: kind, ID: s.ID}}, Done: func() error {
		done()
		return nil
	}}
}

const kind = "server"

// Servers are the servers of a project.
type Servers struct {
	*project.Registry[*Server]
	project *project.Project
	// leaving are deleted servers whose machines still exist.
	leaving map[*Server]bool
}

// NewServers returns a project without servers.
func NewServers(in *project.Project) *Servers {
	return &Servers{Registry: project.NewRegistry[*Server](in, kind), project: in, leaving: map[*Server]bool{}}
}

// Selected returns the servers with labels that a selector matches.
func (all *Servers) Selected(by api.Selector) []*Server {
	return all.Where(func(s *Server) bool { return by.Matches(s.Labels) })
}

// Hide removes a server from the project while its machine still exists.
func (all *Servers) Hide(s *Server) {
	all.Turn(s, hcloud.ServerStatusDeleting)
	all.Remove(s)
	all.leaving[s] = true
}

// Restore undoes Hide.
func (all *Servers) Restore(s *Server) {
	delete(all.leaving, s)
	all.Add(s)
	all.Turn(s, "")
}

// Forget removes a hidden server whose machine no longer exists.
func (all *Servers) Forget(s *Server) {
	s.Box, s.Rescue = nil, nil
	delete(all.leaving, s)
	all.project.Timeline.Record(s.Machine, "server", "deleted")
}

// Hidden returns the deleted servers whose machines still exist.
func (all *Servers) Hidden() []*Server { return slices.Collect(maps.Keys(all.leaving)) }

// Boxes returns those of all servers.
func (all *Servers) Boxes() []machine.Box {
	var boxes []machine.Box
	for _, s := range append(all.All(), all.Hidden()...) {
		boxes = append(boxes, s.Boxes()...)
	}
	return boxes
}

// Turn sets the status that a server has while an action changes it. An empty status ends that.
func (all *Servers) Turn(s *Server, to hcloud.ServerStatus) {
	s.transition = to
	all.Status(s)
}

// Status returns the current status of a server. A new one is recorded on the timeline: a box may turn itself off, which is noticed when the status is read.
func (all *Servers) Status(s *Server) string {
	status := s.transition
	switch {
	case status != "":
	case s.Powered():
		status = hcloud.ServerStatusRunning
	default:
		status = hcloud.ServerStatusOff
	}
	if status != s.recorded {
		s.recorded = status
		all.project.Timeline.Record(s.Machine, "server", string(status))
	}
	return string(status)
}

// Stopped returns an error if the server is not off, or locked by an action.
func (all *Servers) Stopped(s *Server) error {
	if err := all.Unlocked(s); err != nil {
		return err
	}
	if s.Powered() {
		return api.Failure(hcloud.ErrorCodeServerNotStopped, "server must be stopped for this action")
	}
	return nil
}

// Start starts an action of a server, and answers with it.
func (all *Servers) Start(s *Server, step project.Step) (api.Reply, error) {
	return project.Acting(all.project.Actions.StartOne(s.Machine, step))
}
