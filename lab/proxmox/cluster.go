// Package proxmox plays a cluster of Proxmox VE hosts: its API as the official
// clients call it, and what the API does to virtual machines.
package proxmox

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/netip"
	"sync"

	"github.com/siderolabs/image-factory/pkg/schematic"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/identity"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// Subject is the cluster's name in facts and faults.
const Subject = "proxmox"

// Options is what a cluster is made of.
type Options struct {
	Machines machine.Maker
	Pace     *pace.Pace
	Faults   *fault.Set
	Timeline *timeline.Timeline
	// Seed decides MACs, UUIDs and the token's secret.
	Seed uint64
	// Hosts are the names of the hosts, and Storages what each of them has.
	Hosts    []string
	Storages []Storage
	// Address is where the API is served.
	Address netip.Addr
	// Factory is the endpoint of the lab's Image Factory, whatever it is called in
	// the URLs that the cluster is told to download.
	Factory string
	// Schematic is what the factory knows of an image's customization.
	Schematic func(id string) (schematic.Schematic, error)
	// Door opens the API's address while any host is up, and shuts it when none is;
	// nil leaves it as it is. It is called with the cluster locked.
	Door func(open bool)
	// DHCP is the server of the network that the machines are in; nil is none.
	DHCP machine.DHCP
}

// Cluster is the cluster. Its methods are safe for concurrent use.
type Cluster struct {
	Options
	mux         *http.ServeMux
	certificate tls.Certificate
	client      *http.Client

	// life ends with Close; work is what still runs in it.
	life context.Context
	end  context.CancelFunc
	work sync.WaitGroup

	// mu guards all that follows.
	mu         sync.Mutex
	closed     bool
	identities *identity.Source
	hosts      []*host
	storages   []*storage
	volumes    map[place]*volume
	vms        map[int]*vm
	tasks      map[string]*task
	pools      map[string]*pool
	access     *access
}

var _ http.Handler = (*Cluster)(nil)

// New is a cluster without virtual machines.
func New(options Options) (*Cluster, error) {
	if options.Door == nil {
		options.Door = func(bool) {}
	}
	certificate, err := newCertificate(options.Hosts, options.Address)
	if err != nil {
		return nil, err
	}
	life, end := context.WithCancel(context.Background())
	c := &Cluster{
		Options:     options,
		certificate: certificate,
		client:      &http.Client{Transport: &http.Transport{}},
		life:        life,
		end:         end,
		identities:  identity.NewSource(options.Seed),
		volumes:     map[place]*volume{},
		vms:         map[int]*vm{},
		tasks:       map[string]*task{},
		pools:       map[string]*pool{},
		access:      newAccess(),
	}
	for _, name := range options.Hosts {
		c.hosts = append(c.hosts, &host{name: name, up: true})
	}
	for _, one := range options.Storages {
		c.storages = append(c.storages, newStorage(one))
	}
	c.mux = c.routes()
	for _, one := range c.hosts {
		c.work.Go(func() { c.watch(one) })
	}
	return c, nil
}

// Certificate is what the API shows: signed by itself, as a host makes it.
func (c *Cluster) Certificate() tls.Certificate { return c.certificate }

// Close ends all that runs: tasks and machines. Requests that come later get no
// answer.
func (c *Cluster) Close(ctx context.Context) error {
	c.mu.Lock()
	c.closed = true
	c.end()
	c.mu.Unlock()
	defer c.client.CloseIdleConnections()
	return machine.End(ctx, &c.work, c.boxes)
}

// boxes are those of all machines.
func (c *Cluster) boxes() []machine.Box {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []machine.Box
	for _, one := range c.vms {
		if one.box != nil {
			all = append(all, one.box)
		}
	}
	return all
}
