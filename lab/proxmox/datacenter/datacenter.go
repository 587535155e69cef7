// Package datacenter is what the parts of a simulated Proxmox cluster share: its lock, its lifetime, its hosts, and the ids that it generates.
//
// One lock guards the whole cluster, and there is no other. Everything that enters from outside takes it: a request, an exported method of the cluster, a
// task when it ends or writes to its log, a host whose power changes. All other code is called with the lock held; exceptions are noted in comments. Nothing
// that waits holds the lock: that is what a task's Work and Run are for.
package datacenter

import (
	"context"
	"slices"
	"sync"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/identity"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// Subject is the cluster's name in facts and faults.
const Subject = "proxmox"

// Host is a machine that runs virtual machines.
type Host struct {
	Name string
	Up   bool
}

// Status returns the host's status as the API writes it.
func (h *Host) Status() string {
	if h.Up {
		return "online"
	}
	return "offline"
}

// Datacenter is a cluster without what is on its hosts, which is in other packages.
type Datacenter struct {
	sync.Mutex
	Pace       *pace.Pace
	Faults     *fault.Set
	Timeline   *timeline.Timeline
	Identities *identity.Source
	Hosts      []*Host

	// life ends with End; work is what still runs in it.
	life   context.Context
	end    context.CancelFunc
	work   sync.WaitGroup
	closed bool
}

// New returns a cluster of hosts that are up.
func New(pace *pace.Pace, faults *fault.Set, facts *timeline.Timeline, seed uint64, hosts []string) *Datacenter {
	life, end := context.WithCancel(context.Background())
	d := &Datacenter{Pace: pace, Faults: faults, Timeline: facts, Identities: identity.NewSource(seed), life: life, end: end}
	for _, name := range hosts {
		d.Hosts = append(d.Hosts, &Host{Name: name, Up: true})
	}
	return d
}

// Life returns the context that ends with the cluster.
func (d *Datacenter) Life() context.Context { return d.life }

// Closed reports whether the cluster has ended.
func (d *Datacenter) Closed() bool { return d.closed }

// End ends the cluster: nothing new starts, and running work must end.
func (d *Datacenter) End() {
	d.closed = true
	d.end()
}

// Work returns what still runs. It is used without the lock.
func (d *Datacenter) Work() *sync.WaitGroup { return &d.work }

// Run runs something without the lock and in parallel to the requests, unless the cluster has ended.
func (d *Datacenter) Run(what func()) {
	if !d.closed {
		d.work.Go(what)
	}
}

// Host returns the host of that name.
func (d *Datacenter) Host(name string) (*Host, error) {
	at := slices.IndexFunc(d.Hosts, func(one *Host) bool { return one.Name == name })
	if at < 0 {
		return nil, api.Failure("hostname lookup '%s' failed - failed to get address info for: %[1]s: Name or service not known", name)
	}
	return d.Hosts[at], nil
}

// Reachable returns an error if the host that a path names does not answer. A path without a host needs none.
func (d *Datacenter) Reachable(name string) error {
	if name == "" {
		return nil
	}
	found, err := d.Host(name)
	if err == nil && !found.Up {
		err = &api.Error{Status: api.StatusDown, Message: "No route to host"}
	}
	return err
}

// HostsUp returns how many hosts are up.
func (d *Datacenter) HostsUp() int {
	count := 0
	for _, one := range d.Hosts {
		if one.Up {
			count++
		}
	}
	return count
}

// Quorate reports whether the hosts that are up may change anything: more than half of all.
func (d *Datacenter) Quorate() bool { return 2*d.HostsUp() > len(d.Hosts) }
