package lifecycle

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/task"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/vm"
)

// notConfig are parameters of requests that are no keys of the configuration.
var notConfig = []string{
	"vmid", "node", "pool", "start", "storage", "force", "unique", "bwlimit", "digest", "delete", "revert", "skiplock", "background_delay",
}

// configOf returns the keys of the configuration that a request gives.
func configOf(given api.Params) map[string]string {
	config := map[string]string{}
	for key, value := range given {
		if !slices.Contains(notConfig, key) {
			config[key] = value
		}
	}
	return config
}

// creation creates and deletes virtual machines.
type creation struct {
	*Parts
	disks *disks
}

func (c *creation) routes() api.Routes {
	return api.Routes{
		"POST /nodes/{node}/qemu":          c.create,
		"DELETE /nodes/{node}/qemu/{vmid}": c.delete,
	}
}

// order is a request for a virtual machine with everything that it names.
type order struct {
	vm     *vm.VM
	config map[string]string
	plans  []*allocation
	start  bool
}

func (c *creation) create(r *api.Call) (any, error) {
	asked, err := c.readOrder(r)
	if err != nil {
		return nil, err
	}
	m := asked.vm
	if other := c.VMs.Get(m.ID); other != nil {
		return nil, api.Failure("unable to create VM %d - VM %[1]d already exists on node '%s'", m.ID, other.Host)
	}
	m.Machine = c.VMs.MachineName(asked.config["name"], m.ID)
	m.Lock = "create"
	c.VMs.Add(m)
	return c.Tasks.Start(r, task.Job{
		Kind: "qmcreate", ID: strconv.Itoa(m.ID), Machine: m.Machine, Takes: pace.ServerCreate,
		Done: func(its *task.Task) error { return c.build(asked, its) },
		After: func(failed error) {
			m.Lock = ""
			if failed != nil {
				c.VMs.Remove(m)
				return
			}
			c.VMs.State(m)
		},
	})
}

// readOrder checks a request and finds everything that it names. Nothing is changed.
func (c *creation) readOrder(r *api.Call) (*order, error) {
	text, err := r.Params.Required("vmid")
	if err != nil {
		return nil, err
	}
	id, err := strconv.Atoi(text)
	if err != nil || id < 100 {
		return nil, api.Invalid("vmid", "value must have a minimum value of 100")
	}
	m := vm.New(id, r.PathValue("node"), r.Params["pool"])
	asked := &order{vm: m, config: configOf(r.Params), start: r.Params.Flag("start")}
	if m.Pool != "" && !c.Pools.Has(m.Pool) {
		return nil, api.Failure("pool '%s' does not exist", m.Pool)
	}
	if r.Params["archive"] != "" {
		return nil, api.NotImplemented(r.Request)
	}
	if err := r.OnVM(id, m.Pool, "VM.Allocate"); err != nil {
		return nil, err
	}
	if err := vm.CheckValues(asked.config); err != nil {
		return nil, err
	}
	if err := vm.CheckChange(r, id, m.Pool, slices.Sorted(maps.Keys(asked.config)), asked.config); err != nil {
		return nil, err
	}
	if err := vm.CheckBridges(r, asked.config); err != nil {
		return nil, err
	}
	for _, one := range vm.DrivesOf(asked.config) {
		plan, err := c.disks.plan(r, m, one)
		if err != nil {
			return nil, err
		}
		if plan != nil {
			asked.plans = append(asked.plans, plan)
		}
	}
	return asked, vm.CheckBoot(asked.config)
}

// build creates the disks of a new virtual machine and its configuration.
func (c *creation) build(asked *order, its *task.Task) error {
	m := asked.vm
	for _, plan := range asked.plans {
		if plan.from != nil && !c.Storages.Has(plan.from) {
			return api.Failure("unable to create VM %d - volume '%s' does not exist", m.ID, plan.from.ID)
		}
	}
	for key, value := range asked.config {
		if vm.IsDrive(key) {
			value = vm.ParseDrive(key, value).Print()
		}
		m.Config[key] = c.VMs.Settled(m, key, value)
	}
	for _, plan := range asked.plans {
		m.Config[plan.drive.Key] = c.disks.allocate(m, plan)
		its.Logf("%s: successfully created disk '%s'", plan.drive.Key, m.Config[plan.drive.Key])
	}
	// A request that has it has all of it.
	if _, has := m.Config["smbios1"]; !has {
		m.Config["smbios1"] = "uuid=" + c.Datacenter.Identities.UUID(m.Machine)
	}
	if given, has := m.Config["vmgenid"]; !has || given == "1" {
		m.Config["vmgenid"] = uuid.NewSHA1(uuid.NameSpaceOID, []byte("generation of "+m.Config["smbios1"])).String()
	}
	if _, has := m.Config["boot"]; !has {
		m.Config["boot"] = defaultBoot(m)
	}
	m.Config["meta"] = fmt.Sprintf("creation-qemu=10.1.2,ctime=%d", time.Now().Unix())
	if asked.start {
		return c.VMs.PowerOn(m)
	}
	return nil
}

// defaultBoot returns the boot order of a virtual machine for which none was asked.
func defaultBoot(m *vm.VM) string {
	order := "order="
	for _, one := range m.Drives() {
		if one.IsDisk() {
			order += one.Key
			break
		}
	}
	return order
}
