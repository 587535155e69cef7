package lifecycle

import (
	"fmt"
	"regexp"

	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/project"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/server"
)

// servers creates, shows, changes and deletes servers.
type servers struct {
	*Parts
	power *power
}

func (s *servers) routes() api.Routes {
	return api.Routes{
		"GET /servers":         s.list,
		"POST /servers":        s.create,
		"GET /servers/{id}":    project.Getter(s.Servers.Registry, func(one *server.Server) any { return schema.ServerGetResponse{Server: s.view(one)} }),
		"PUT /servers/{id}":    s.update,
		"DELETE /servers/{id}": s.delete,
	}
}

func (s *servers) view(one *server.Server) schema.Server {
	view := schema.Server{
		ID: one.ID, Name: one.Name, Status: s.Servers.Status(one), Created: one.Created, ServerType: one.Kind, IncludedTraffic: 20 << 40,
		PublicNet:  schema.ServerPublicNet{FloatingIPs: []int64{}, Firewalls: s.Firewalls.ViewOf(one)},
		PrivateNet: s.Networks.ViewOf(one), BackupWindow: one.Backups, RescueEnabled: one.RescueNext, ISO: one.ISO,
		Locked: s.Servers.Unlocked(one) != nil, Location: one.Location, Protection: one.Protection, Labels: one.LabelsOf(),
		Volumes: s.Volumes.IDsOf(one), PrimaryDiskSize: one.DiskGB, LoadBalancers: s.Balancers.Targeting(one),
		PlacementGroup: s.Groups.ViewOf(one),
	}
	s.PublicIPs.View(one, &view.PublicNet)
	if one.Image != nil {
		view.Image = new(one.Image.View())
	}
	return view
}

func (s *servers) list(r *api.Call) (api.Reply, error) {
	found := api.Filter(s.Servers.All(), r.URL.Query()["status"], s.Servers.Status)
	return project.List(r, "servers", found, s.view)
}

func (s *servers) update(r *api.Call) (api.Reply, error) {
	one, asked, err := project.Ask[schema.ServerUpdateRequest](r, s.Servers.Registry)
	if err != nil {
		return api.Reply{}, err
	}
	if asked.Name != "" {
		if err := s.checkName(asked.Name); err != nil {
			return api.Reply{}, err
		}
	}
	if err := s.Servers.Change(one, asked.Name, asked.Labels); err != nil {
		return api.Reply{}, err
	}
	if asked.Labels != nil {
		s.Firewalls.Relabeled(one)
		s.Balancers.Retarget()
	}
	return api.Answer(schema.ServerUpdateResponse{Server: s.view(one)})
}

// delete removes the server from the project at once. Its machine ends with the action, and its resources become free only then.
func (s *servers) delete(r *api.Call) (api.Reply, error) {
	one, err := project.Find(r, s.Servers.Registry)
	if err != nil {
		return api.Reply{}, err
	}
	if one.Protection.Delete {
		return api.Reply{}, api.Protected(s.Servers.Kind)
	}
	if err := s.Servers.Unlocked(one); err != nil {
		return api.Reply{}, err
	}
	s.Servers.Hide(one)
	started := s.Project.Actions.StartOne(one.Machine, project.Step{
		Command: "delete_server",
		About:   []project.Reference{s.Servers.Reference(one)},
		Work:    one.Delete,
		Done: func() error {
			s.release(one)
			s.Servers.Forget(one)
			return nil
		},
		Undone: func() { s.Servers.Restore(one) },
	})
	return api.Answer(schema.ServerDeleteResponse{Action: started})
}

// release releases everything that a server has and is in.
func (s *servers) release(one *server.Server) {
	s.Volumes.Release(one)
	s.Firewalls.Forget(one)
	s.Groups.Leave(one)
	s.Balancers.Forget(one)
	s.PublicIPs.Release(one)
	s.Networks.Forget(one)
}

var hostname = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9.-]{0,251}[a-zA-Z0-9])?$`)

// checkName returns an error if a server cannot have this name; that of a server
// whose machine still exists is taken.
func (s *servers) checkName(name string) error {
	if !hostname.MatchString(name) {
		return api.Invalid("name", "must be a valid hostname")
	}
	for _, hidden := range s.Servers.Hidden() {
		if hidden.Name == name {
			return api.NotUnique("name", "server name is already used")
		}
	}
	return nil
}

// machineName returns the name of a server, or a similar one that no machine has: a renamed server keeps the name of its machine.
func (s *servers) machineName(name string) string {
	used := map[string]bool{}
	for _, other := range append(s.Servers.All(), s.Servers.Hidden()...) {
		used[other.Machine] = true
	}
	free := name
	for number := 2; used[free]; number++ {
		free = fmt.Sprintf("%s-%d", name, number)
	}
	return free
}
