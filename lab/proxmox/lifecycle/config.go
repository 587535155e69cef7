package lifecycle

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/storage"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/task"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/vm"
)

// config changes the configuration of virtual machines.
type config struct {
	*Parts
	disks *disks
}

func (c *config) routes() api.Routes {
	return api.Routes{
		"PUT /nodes/{node}/qemu/{vmid}/config":    c.put,
		"POST /nodes/{node}/qemu/{vmid}/config":   c.post,
		"PUT /nodes/{node}/qemu/{vmid}/cloudinit": c.rebuildCloudInit,
		"PUT /nodes/{node}/qemu/{vmid}/resize":    c.resize,
	}
}

func (c *config) put(r *api.Call) (any, error) { return nil, c.change(r) }

// post does the same in a task.
func (c *config) post(r *api.Call) (any, error) {
	if err := c.change(r); err != nil {
		return nil, err
	}
	return c.Tasks.Start(r, task.Job{Kind: "qmconfig", ID: r.PathValue("vmid")})
}

// change sets and deletes keys. What a running machine cannot change is pending until the next start.
func (c *config) change(r *api.Call) error {
	m, err := c.VMs.Find(r)
	if err != nil {
		return err
	}
	given, removed := configOf(r.Params), api.List(r.Params["delete"])
	keys := slices.Concat(slices.Sorted(maps.Keys(given)), removed)
	if len(keys) == 0 && r.Params["revert"] == "" {
		return api.Failure("no options specified")
	}
	if err := vm.CheckValues(given); err != nil {
		return err
	}
	if err := vm.CheckChange(r, m.ID, m.Pool, keys, given); err != nil {
		return err
	}
	if err := vm.CheckBridges(r, given); err != nil {
		return err
	}
	if asked := r.Params["digest"]; asked != "" && asked != m.Digest() {
		return api.Failure("detected modified configuration - file changed by other user? Try again.")
	}
	if err := m.Unlocked(); err != nil {
		return err
	}
	for _, key := range removed {
		if _, both := given[key]; both {
			return api.Invalid("delete", "you can't use '-%s' and '-delete %[1]s' at the same time", key)
		}
	}
	after := m.Next()
	maps.Copy(after, given)
	if _, asked := given["boot"]; asked {
		if err := vm.CheckBoot(after); err != nil {
			return err
		}
	}
	plans := map[string]*allocation{}
	for _, one := range vm.DrivesOf(given) {
		if plans[one.Key], err = c.disks.plan(r, m, one); err != nil {
			return err
		}
	}
	for _, key := range api.List(r.Params["revert"]) {
		delete(m.Pending, key)
	}
	for _, key := range removed {
		c.unset(m, key)
	}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		c.set(m, key, given[key], plans[key])
	}
	c.VMs.Rewire(m)
	return nil
}

// set gives a key a value, now or at the next start.
func (c *config) set(m *vm.VM, key, value string, plan *allocation) {
	atOnce := !m.Powered()
	switch {
	case plan != nil:
		value = c.disks.allocate(m, plan)
		atOnce = true
		if held := c.VMs.Volume(m, vm.ParseDrive(key, value)); held != nil && held.Content == "images" {
			defer c.VMs.Plug(m, key)
		}
	case vm.IsDrive(key):
		one := vm.ParseDrive(key, value)
		// The size of a disk cannot be set here, whatever the request contains.
		if held := c.VMs.Volume(m, one); held != nil && !one.IsMedium() {
			one.Properties["size"] = storage.PrintSize(held.Bytes)
		}
		value, atOnce = one.Print(), true
	default:
		value = c.VMs.Settled(m, key, value)
		atOnce = atOnce || vm.IsAtOnce(key)
	}
	delete(m.Pending, key)
	if atOnce {
		m.Config[key] = value
	} else if m.Config[key] != value {
		m.Pending[key] = value
	}
}

// unset removes a key. The volume of a drive stays and is unused then.
func (c *config) unset(m *vm.VM, key string) {
	value, has := m.Config[key]
	if !has {
		delete(m.Pending, key)
		return
	}
	if vm.IsDrive(key) {
		one := vm.ParseDrive(key, value)
		c.VMs.Unplug(m, key)
		delete(m.Config, key)
		if held := c.VMs.Volume(m, one); held != nil && held.VM == m.ID {
			if one.IsCloudInit() {
				c.Storages.Remove(held)
			} else {
				m.Config[freeUnused(m)] = held.ID
			}
		}
		return
	}
	if id, is := strings.CutPrefix(key, "unused"); is && id != "" {
		if held := c.Storages.Volume(m.Host, value); held != nil {
			c.Storages.Remove(held)
		}
	}
	if m.Powered() && !vm.IsAtOnce(key) {
		m.Pending[key] = ""
		return
	}
	delete(m.Config, key)
	delete(m.Pending, key)
}

// freeUnused returns the next key for an unused volume.
func freeUnused(m *vm.VM) string {
	for number := 0; ; number++ {
		key := "unused" + strconv.Itoa(number)
		if _, taken := m.Config[key]; !taken {
			return key
		}
	}
}

// cloudInitKeys are what the drive for cloud-init is made from.
var cloudInitKeys = regexp.MustCompile(`^(ci[a-z]+|nameserver|searchdomain|sshkeys|ipconfig\d+)$`)

// rebuildCloudInit writes the drive for cloud-init again, with what was pending.
// The operating system reads it when it boots.
func (c *config) rebuildCloudInit(r *api.Call) (any, error) {
	m, err := c.VMs.FindWith(r, "VM.Config.Cloudinit")
	if err != nil {
		return nil, err
	}
	if err := m.Unlocked(); err != nil {
		return nil, err
	}
	next := m.Next()
	for key := range m.Pending {
		if !cloudInitKeys.MatchString(key) {
			continue
		}
		delete(m.Pending, key)
		if value, has := next[key]; has {
			m.Config[key] = value
		} else {
			delete(m.Config, key)
		}
	}
	c.VMs.Rewire(m)
	return nil, nil
}

// resize makes a disk larger.
func (c *config) resize(r *api.Call) (any, error) {
	m, err := c.VMs.FindWith(r, "VM.Config.Disk")
	if err != nil {
		return nil, err
	}
	key, err := r.Params.Required("disk")
	if err != nil {
		return nil, err
	}
	text, err := r.Params.Required("size")
	if err != nil {
		return nil, err
	}
	if err := m.Unlocked(); err != nil {
		return nil, err
	}
	if _, has := m.Config[key]; !has || !vm.IsDrive(key) {
		return nil, api.Failure("disk '%s' does not exist", key)
	}
	one := m.Drive(key)
	held := c.VMs.Volume(m, one)
	if held == nil || one.IsMedium() {
		return nil, api.Failure("you can't resize a cdrom")
	}
	more, relative := strings.CutPrefix(text, "+")
	size, ok := storage.ParseSize(more)
	if !ok {
		return nil, api.Invalid("size", "value does not match the regex pattern")
	}
	if relative {
		size += held.Bytes
	}
	if size < held.Bytes {
		return nil, api.Failure("shrinking disks is not supported")
	}
	if err := r.All("/storage/"+held.Storage, "Datastore.AllocateSpace"); err != nil {
		return nil, err
	}
	return c.Tasks.Start(r, task.Job{
		Kind: "resize", ID: strconv.Itoa(m.ID), Machine: m.Machine,
		Done: func(*task.Task) error {
			held.Bytes = size
			one.Properties["size"] = storage.PrintSize(size)
			m.Config[key] = one.Print()
			c.VMs.Resize(m)
			return nil
		},
	})
}
