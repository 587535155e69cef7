// Package proxmox simulates a cluster of Proxmox VE hosts: its API as the official clients call it, and its effects on virtual machines.
//
// The parts are separate packages. api is the HTTP layer; datacenter contains what all parts share, such as the one lock and the rule for it. They depend on
// each other in one direction:
//
//	api < datacenter < access, task < storage < vm < pool, lifecycle < proxmox
//
// A part calls one that depends on it through a small interface, which New sets.
package proxmox

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/netip"

	"github.com/siderolabs/image-factory/pkg/schematic"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/access"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/datacenter"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/lifecycle"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/pool"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/storage"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/task"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/vm"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// Subject is the cluster's name in facts and faults.
const Subject = datacenter.Subject

// Storage is a place for images and disks, which every host has separately.
type Storage = storage.Definition

// Options are the options of a cluster.
type Options struct {
	Machines machine.Maker
	Pace     *pace.Pace
	Faults   *fault.Set
	Timeline *timeline.Timeline
	// Seed determines MACs, UUIDs and the token's secret.
	Seed uint64
	// Hosts are the names of the hosts, and Storages what each of them has.
	Hosts    []string
	Storages []Storage
	// Address is where the API is served.
	Address netip.Addr
	// Factory is the endpoint of the lab's Image Factory, whatever the host in the URLs that the cluster is to download.
	Factory string
	// Schematic returns what the factory knows about an image's customization.
	Schematic func(id string) (schematic.Schematic, error)
	// Door opens the API's address while any host is up, and closes it when none is; nil does nothing. It is called with the cluster locked.
	Door func(open bool)
	// DHCP is the server of the network that the machines are in; nil is none.
	DHCP machine.DHCP
}

// Cluster is the cluster. Its methods are safe for concurrent use.
type Cluster struct {
	datacenter  *datacenter.Datacenter
	access      *access.Access
	storages    *storage.Storages
	vms         *vm.VMs
	certificate tls.Certificate
	front       *front
}

var _ http.Handler = (*Cluster)(nil)

// New returns a cluster without virtual machines.
func New(options Options) (*Cluster, error) {
	if options.Door == nil {
		options.Door = func(bool) {}
	}
	certificate, err := newCertificate(options.Hosts, options.Address)
	if err != nil {
		return nil, err
	}
	in := datacenter.New(options.Pace, options.Faults, options.Timeline, options.Seed, options.Hosts)
	access := access.New(in)
	tasks := task.New(in)
	storages := storage.New(in, tasks, options.Storages, options.Factory)
	vms := vm.NewVMs(vm.Lab{Machines: options.Machines, Schematic: options.Schematic, DHCP: options.DHCP}, in, storages)
	storages.Machines = vms
	shown := &overview{datacenter: in, storages: storages, vms: vms, address: options.Address, fingerprint: fingerprint(certificate)}
	shown.pools = pool.New(in, storages, vms, shown.viewVM)
	machines := lifecycle.Routes(lifecycle.Parts{
		Datacenter: in, Tasks: tasks, Storages: storages, VMs: vms, Pools: shown.pools, ACL: access,
	}, options.Address.String())
	c := &Cluster{
		datacenter: in, access: access, storages: storages, vms: vms, certificate: certificate,
		front: newFront(in, access, shown.routes(), tasks.Routes(), storages.Routes(), machines, shown.pools.Routes(), access.Routes()),
	}
	power := &hostPower{datacenter: in, vms: vms, door: options.Door}
	for _, host := range in.Hosts {
		in.Run(func() { power.watch(host) })
	}
	return c, nil
}

// ServeHTTP answers a request, after meeting the faults that were injected for it.
func (c *Cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) { c.front.ServeHTTP(w, r) }

// Certificate returns that of the API. It is self-signed, like that of a real host.
func (c *Cluster) Certificate() tls.Certificate { return c.certificate }

// AddToken adds a user with a token that has all privileges, and returns the token as
// clients send it.
func (c *Cluster) AddToken(user, id string) string { return c.access.AddToken(user, id) }

// Close ends everything that runs: tasks and machines. Later requests get no answer.
func (c *Cluster) Close(ctx context.Context) error {
	c.datacenter.Lock()
	c.datacenter.End()
	c.datacenter.Unlock()
	defer c.storages.Close()
	return machine.End(ctx, c.datacenter.Work(), func() []machine.Box {
		c.datacenter.Lock()
		defer c.datacenter.Unlock()
		return c.vms.Boxes()
	})
}
