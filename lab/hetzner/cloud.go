// Package hetzner plays one project of the Hetzner Cloud: its API as the
// official client calls it, and what the API does to machines and the network.
package hetzner

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"sync"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/network"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// subject is the cloud's name in facts and faults.
const subject = "hetzner"

// Options is what a project is made of.
type Options struct {
	Network  network.Network
	Machines machine.Maker
	Pace     *pace.Pace
	Faults   *fault.Set
	Timeline *timeline.Timeline
	// Tokens are the valid ones. Without any, every token of 64 characters is.
	Tokens []string
	// Seed decides ids, MACs and addresses.
	Seed uint64
	// Public are the ranges of public addresses. The default is
	// 198.51.100.0/24 and 203.0.113.0/24.
	Public []netip.Prefix
	// Images says whether there is such an image of Talos; nil knows them all.
	Images func(talos, schematic, arch string) error
	// Limits are how many resources of a kind there may be, such as "server".
	Limits map[string]int
	// HourlyRequests is the rate limit; the default is 3600.
	HourlyRequests int
}

// Cloud is a project. Its methods are safe for concurrent use.
type Cloud struct {
	Options
	router *router

	// life ends with Close; work is what still runs in it.
	life context.Context
	end  context.CancelFunc
	work sync.WaitGroup

	// mu guards all that follows.
	mu         sync.Mutex
	closed     bool
	limits     map[string]int
	rate       *rateLimit
	identities *identities
	actions    map[int64]*action
	lastAction int64
	busy       map[reference]int

	catalog         *catalog
	images          *registry[*image]
	sshKeys         *registry[*sshKey]
	networks        *registry[*privateNetwork]
	placementGroups *registry[*placementGroup]
	firewalls       *registry[*firewall]
	primaryIPs      *registry[*primaryIP]
	floatingIPs     *registry[*floatingIP]
	volumes         *registry[*volume]
	servers         *registry[*server]
	loadBalancers   *registry[*loadBalancer]
	// leaving are deleted servers whose machine is not gone yet.
	leaving map[*server]bool
}

var _ http.Handler = (*Cloud)(nil)

// New is an empty project.
func New(options Options) *Cloud {
	if len(options.Public) == 0 {
		options.Public = []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24")}
	}
	if options.HourlyRequests == 0 {
		options.HourlyRequests = 3600
	}
	life, end := context.WithCancel(context.Background())
	c := &Cloud{
		Options:    options,
		life:       life,
		end:        end,
		limits:     options.Limits,
		rate:       newRateLimit(options.HourlyRequests, now()),
		identities: newIdentities(options.Seed),
		actions:    map[int64]*action{},
		busy:       map[reference]int{},
		leaving:    map[*server]bool{},

		catalog:         newCatalog(),
		images:          newRegistry[*image]("image"),
		sshKeys:         newRegistry[*sshKey]("ssh_key"),
		networks:        newRegistry[*privateNetwork]("network"),
		placementGroups: newRegistry[*placementGroup]("placement_group"),
		firewalls:       newRegistry[*firewall]("firewall"),
		primaryIPs:      newRegistry[*primaryIP]("primary_ip"),
		floatingIPs:     newRegistry[*floatingIP]("floating_ip"),
		volumes:         newRegistry[*volume]("volume"),
		servers:         newRegistry[*server]("server"),
		loadBalancers:   newRegistry[*loadBalancer]("load_balancer"),
	}
	for _, system := range systemImages() {
		c.images.add(system)
	}
	c.router = c.routes()
	return c
}

// Close ends all that runs: actions, load balancers and machines. Requests that
// come later get no answer.
func (c *Cloud) Close(ctx context.Context) error {
	c.mu.Lock()
	c.closed = true
	c.end()
	var faults []error
	for _, balancer := range c.loadBalancers.all() {
		faults = append(faults, c.silence(balancer))
	}
	c.mu.Unlock()
	return errors.Join(append(faults, machine.End(ctx, &c.work, c.boxes))...)
}

// boxes are those of all servers.
func (c *Cloud) boxes() []machine.Box {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []machine.Box
	for _, server := range c.servers.all() {
		all = append(all, server.boxes()...)
	}
	for server := range c.leaving {
		all = append(all, server.boxes()...)
	}
	return all
}

// run does something beside the requests, until Close. It is called with the
// cloud locked.
func (c *Cloud) run(what func()) {
	if c.closed {
		return
	}
	c.work.Go(what)
}
