// Package hetzner simulates one project of the Hetzner Cloud: its API as the official client calls it, and its effects on machines and the network.
//
// The parts are separate packages. api is the HTTP layer; project contains what all parts share, above all the one lock and the rule for it; each of the
// others is for one kind of resources. They depend on each other in one direction:
//
//	api < project < catalog, image, sshkey < server < placement, volume,
//	publicip < firewall, privatenet < loadbalancer < lifecycle < hetzner
//
// If a part calls one that depends on it, it does so through a small interface that New sets.
//
// The simulation covers what a cluster needs. Certificates, DNS, storage boxes,
// floating IPs, prices, metrics and backups are left out.
package hetzner

import (
	"context"
	"errors"
	"net/http"
	"net/netip"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/catalog"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/firewall"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/image"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/lifecycle"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/loadbalancer"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/placement"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/privatenet"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/project"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/publicip"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/server"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/sshkey"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/volume"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/network"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// Options are the options of a project.
type Options struct {
	Network  network.Network
	Machines machine.Maker
	Pace     *pace.Pace
	Faults   *fault.Set
	Timeline *timeline.Timeline
	// Tokens are the valid ones. Without any, every token of 64 characters is.
	Tokens []string
	// Seed determines ids, MACs and addresses.
	Seed uint64
	// Public are the ranges of public addresses. The default is
	// 198.51.100.0/24 and 203.0.113.0/24.
	Public []netip.Prefix
	// Images returns an error if there is no such image of Talos; nil accepts all.
	Images func(talos, schematic, arch string) error
	// Limits are how many resources of a kind there may be, such as "server".
	Limits map[string]int
	// HourlyRequests is the rate limit; the default is 3600.
	HourlyRequests int
}

// Snapshot is a snapshot of a disk with Talos on it.
type Snapshot = image.Snapshot

// Cloud is a project. Its methods are safe for concurrent use.
type Cloud struct {
	project   *project.Project
	images    *image.Images
	servers   *server.Servers
	balancers *loadbalancer.Balancers
	lifecycle *lifecycle.Lifecycle
	front     *front
}

var _ http.Handler = (*Cloud)(nil)

// New returns an empty project.
func New(options Options) *Cloud {
	if len(options.Public) == 0 {
		options.Public = []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24")}
	}
	if options.HourlyRequests == 0 {
		options.HourlyRequests = 3600
	}
	in := project.New(project.Surroundings{
		Network: options.Network, Machines: options.Machines, Pace: options.Pace, Faults: options.Faults, Timeline: options.Timeline,
	}, options.Seed, options.Public, options.Limits)
	offers := catalog.New()
	images := image.New(in, options.Images)
	keys := sshkey.New(in)
	servers := server.NewServers(in)
	groups := placement.New(in, servers)
	volumes := volume.New(in, offers, servers)
	publicIPs := publicip.New(in, offers, servers)
	firewalls := firewall.New(in, servers, publicIPs)
	publicIPs.Firewalls = firewalls
	networks := privatenet.New(in, servers, publicIPs)
	balancers := loadbalancer.New(in, offers, servers, publicIPs, networks)
	networks.Balancers = balancers
	life := lifecycle.New(lifecycle.Parts{
		Project: in, Catalog: offers, Servers: servers, Images: images, Keys: keys, Groups: groups, Volumes: volumes,
		Networks: networks, Firewalls: firewalls, PublicIPs: publicIPs, Balancers: balancers,
	})
	return &Cloud{
		project: in, images: images, servers: servers, balancers: balancers, lifecycle: life,
		front: &front{
			project: in, tokens: options.Tokens, rate: api.NewRateLimit(options.HourlyRequests, project.Now()),
			router: api.NewRouter(
				in.Actions.Routes(), offers.Routes(), images.Routes(), keys.Routes(), networks.Routes(), groups.Routes(),
				firewalls.Routes(), publicIPs.Routes(), volumes.Routes(), life.Routes(), balancers.Routes(),
			),
		},
	}
}

// ServeHTTP answers a request, after meeting the faults that were injected for it.
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) { c.front.ServeHTTP(w, r) }

// AddSnapshot adds a snapshot to the project, as an upload does, and returns its id.
func (c *Cloud) AddSnapshot(snapshot Snapshot) (int64, error) { return c.images.AddSnapshot(snapshot) }

// WriteDisk writes an image of Talos to the disk of a server in the rescue system, as programs that upload images do.
func (c *Cloud) WriteDisk(ctx context.Context, server string, content machine.Image) error {
	return c.lifecycle.WriteDisk(ctx, server, content)
}

// Close ends everything that runs: actions, load balancers and machines. Later requests get no answer.
func (c *Cloud) Close(ctx context.Context) error {
	c.project.Lock()
	c.project.End()
	silenced := c.balancers.Silence()
	c.project.Unlock()
	return errors.Join(silenced, machine.End(ctx, c.project.Work(), func() []machine.Box {
		c.project.Lock()
		defer c.project.Unlock()
		return c.servers.Boxes()
	}))
}
