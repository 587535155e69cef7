package lifecycle

import (
	"maps"
	"regexp"
	"slices"
	"strconv"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/storage"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/task"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/vm"
)

// migration moves virtual machines to other hosts.
type migration struct {
	*Parts
	address string
}

func (c *migration) routes() api.Routes {
	return api.Routes{"POST /nodes/{node}/qemu/{vmid}/migrate": c.migrate}
}

// migrate moves a virtual machine to another host; one that is on keeps running.
func (c *migration) migrate(r *api.Call) (any, error) {
	m, err := c.VMs.FindWith(r, "VM.Migrate")
	if err != nil {
		return nil, err
	}
	target, err := r.Params.Required("target")
	if err != nil {
		return nil, err
	}
	if target == m.Host {
		return nil, api.Invalid("target", "target is local node.")
	}
	if _, err := c.Datacenter.Host(target); err != nil {
		return nil, api.Failure("no such cluster node '%s'", target)
	}
	if r.Params["targetstorage"] != "" {
		return nil, api.NotImplemented(r.Request)
	}
	if err := m.Unlocked(); err != nil {
		return nil, err
	}
	if m.Powered() && !r.Params.Flag("online") {
		return nil, api.Failure("can't migrate running VM without --online")
	}
	m.Lock = "migrate"
	return c.Tasks.Start(r, task.Job{
		Kind: "qmigrate", ID: strconv.Itoa(m.ID), Machine: m.Machine, Takes: pace.Migrate,
		Done:  func(its *task.Task) error { return c.move(m, target, r.Params.Flag("with-local-disks"), its) },
		After: func(error) { m.Lock = "" },
	})
}

// move moves a virtual machine to another host, with the disks that only its current host sees.
func (c *migration) move(m *vm.VM, target string, withDisks bool, its *task.Task) error {
	its.Logf("starting migration of VM %d to node '%s' (%s)", m.ID, target, c.address)
	aborted := func(why string) error {
		its.Logf("ERROR: migration aborted (duration 00:00:01): %s", why)
		return api.Failure("migration aborted")
	}
	if c.Datacenter.Reachable(target) != nil {
		its.Logf("ssh: connect to host %s port 22: No route to host", target)
		return aborted("Can't connect to destination address using public key")
	}
	found, fixed := c.ownDisks(m), false
	for _, key := range slices.Sorted(maps.Keys(found)) {
		if reason := whyFixed(m, m.Drive(key), found[key], withDisks); reason != "" {
			its.Logf("can't migrate local disk '%s': %s", found[key].ID, reason)
			fixed = true
		}
	}
	if fixed {
		return aborted("Problem found while scanning volumes - can't migrate VM - check log")
	}
	for _, key := range slices.Sorted(maps.Keys(found)) {
		one, held := m.Drive(key), found[key]
		its.Logf("copying local disk image '%s'", held.ID)
		c.Storages.Move(held, target, one.IsCloudInit())
		one.Properties["file"] = held.ID
		m.Config[key] = one.Print()
	}
	m.Host = target
	c.Datacenter.Timeline.Record(m.Machine, "vm", "migrated", "host", target)
	its.Logf("migration finished successfully (duration 00:00:01)")
	return nil
}

var unusedKey = regexp.MustCompile(`^unused\d+$`)

// ownDisks returns the volumes of a virtual machine that only its host sees, by key.
func (c *migration) ownDisks(m *vm.VM) map[string]*storage.Volume {
	found := map[string]*storage.Volume{}
	for key, value := range m.Config {
		if !vm.IsDrive(key) && !unusedKey.MatchString(key) {
			continue
		}
		if held := c.VMs.Volume(m, vm.ParseDrive(key, value)); held != nil && held.Host != "" {
			found[key] = held
		}
	}
	return found
}

// whyFixed returns the reason why a volume cannot be moved, or "".
func whyFixed(m *vm.VM, one vm.Drive, held *storage.Volume, withDisks bool) string {
	switch {
	case one.IsMedium() && !one.IsCloudInit():
		return "local cdrom image"
	case held.VM != m.ID:
		return "owned by other VM (owner = VM " + strconv.Itoa(held.VM) + ")"
	case m.Powered() && !withDisks && !one.IsMedium() && vm.IsDrive(one.Key):
		return "can't live migrate attached local disks without with-local-disks option"
	}
	return ""
}
