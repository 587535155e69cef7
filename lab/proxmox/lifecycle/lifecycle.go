// Package lifecycle is what the API does to virtual machines: it creates, shows,
// configures, moves and deletes them, switches their power, and asks their guest
// agents.
package lifecycle

import (
	"maps"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/datacenter"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/storage"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/task"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/vm"
)

// Pools are the pools of the cluster.
type Pools interface {
	Has(name string) bool
}

// ACL is the access control list of the cluster.
type ACL interface {
	// Forget removes all entries for a path.
	Forget(path string)
}

// Parts are the parts of a cluster that virtual machines need.
type Parts struct {
	Datacenter *datacenter.Datacenter
	Tasks      *task.Tasks
	Storages   *storage.Storages
	VMs        *vm.VMs
	Pools      Pools
	ACL        ACL
}

// Routes returns the routes of virtual machines. Address is that of the cluster.
func Routes(parts Parts, address string) api.Routes {
	disks := &disks{Parts: &parts}
	all := api.Routes{}
	for _, routes := range []api.Routes{
		(&view{Parts: &parts}).routes(),
		(&config{Parts: &parts, disks: disks}).routes(),
		(&creation{Parts: &parts, disks: disks}).routes(),
		(&migration{Parts: &parts, address: address}).routes(),
		(&power{Parts: &parts}).routes(),
		(&agent{Parts: &parts}).routes(),
	} {
		maps.Copy(all, routes)
	}
	return all
}
