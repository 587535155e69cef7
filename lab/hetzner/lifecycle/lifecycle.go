// Package lifecycle is what the API does to servers: it creates, shows, changes and deletes them, switches their power, and writes their disks. It combines
// what the packages of the other resources keep about a server.
package lifecycle

import (
	"maps"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/catalog"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/firewall"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/image"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/placement"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/privatenet"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/project"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/publicip"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/server"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/sshkey"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/volume"
)

// Balancers are the load balancers, with the calls that servers need.
type Balancers interface {
	// Targeting returns the ids of those that a server is a target of.
	Targeting(of *server.Server) []int64
	// Forget removes a server from the targets of all.
	Forget(s *server.Server)
	// Retarget applies changes of servers.
	Retarget()
}

// Parts are the parts of a project that a server can have, or be in.
type Parts struct {
	Project   *project.Project
	Catalog   *catalog.Catalog
	Servers   *server.Servers
	Images    *image.Images
	Keys      *sshkey.Keys
	Groups    *placement.Groups
	Volumes   *volume.Volumes
	Networks  *privatenet.Networks
	Firewalls *firewall.Firewalls
	PublicIPs *publicip.IPs
	Balancers Balancers
}

// Lifecycle is what the API does to the servers of a project.
type Lifecycle struct {
	*Disks
	servers  *servers
	power    *power
	settings *settings
}

// New serves the servers of a project.
func New(parts Parts) *Lifecycle {
	power := &power{Parts: &parts}
	return &Lifecycle{
		Disks:    &Disks{Parts: &parts, power: power},
		servers:  &servers{Parts: &parts, power: power},
		power:    power,
		settings: &settings{Parts: &parts},
	}
}

// Routes returns the routes of servers and of most of their actions. The others are with the
// resource that an action is about.
func (l *Lifecycle) Routes() api.Routes {
	all := api.Routes{}
	for _, routes := range []api.Routes{l.servers.routes(), l.power.routes(), l.Disks.routes(), l.settings.routes()} {
		maps.Copy(all, routes)
	}
	return all
}
