// Package project is what the parts of a simulated Hetzner project share: its lock, its lifetime, the registries of its resources, ids and public addresses,
// and the actions that change it.
//
// One lock guards the whole project, and there is no other. Everything that enters from outside takes it: a request, an exported method of the cloud, an
// action when one of its steps starts or ends, a connection or a health check of a load balancer. All other code is called with the lock held; exceptions are
// noted in comments. Nothing that waits holds the lock: that is what Step.Work and Run are for.
package project

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/network"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// Subject is the project's name in facts and faults.
const Subject = "hetzner"

// Surroundings are the parts of the lab that a project uses.
type Surroundings struct {
	Network  network.Network
	Machines machine.Maker
	Pace     *pace.Pace
	Faults   *fault.Set
	Timeline *timeline.Timeline
}

// Project is a project without its resources, which are in other packages.
type Project struct {
	sync.Mutex
	Surroundings
	Identities *Identities
	Addresses  *Addresses
	Actions    *Actions

	// limits are the maximum numbers of resources by kind.
	limits map[string]int

	// life ends with End; work is what still runs in it.
	life   context.Context
	end    context.CancelFunc
	work   sync.WaitGroup
	closed bool
}

// New returns an empty project with public addresses of these ranges.
func New(surroundings Surroundings, seed uint64, public []netip.Prefix, limits map[string]int) *Project {
	life, end := context.WithCancel(context.Background())
	p := &Project{Surroundings: surroundings, Identities: newIdentities(seed), limits: limits, life: life, end: end}
	p.Addresses = &Addresses{ranges: public, identities: p.Identities, taken: map[netip.Addr]bool{}}
	p.Actions = newActions(p)
	return p
}

// Life returns the context that ends with the project.
func (p *Project) Life() context.Context { return p.life }

// Closed reports whether the project has ended.
func (p *Project) Closed() bool { return p.closed }

// End ends the project: nothing new starts, and running work must end.
func (p *Project) End() {
	p.closed = true
	p.end()
}

// Work returns what still runs. It is used without the lock.
func (p *Project) Work() *sync.WaitGroup { return &p.work }

// Run runs something without the lock and in parallel to the requests, unless the project has ended.
func (p *Project) Run(what func()) {
	if !p.closed {
		p.work.Go(what)
	}
}

// Now returns the time as the API writes it, in whole seconds.
func Now() time.Time { return time.Now().UTC().Truncate(time.Second) }
