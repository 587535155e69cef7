// Package pool is the pools of a cluster: sets of virtual machines and storages on which privileges are granted together.
package pool

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/datacenter"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/storage"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/vm"
)

// pool is a pool. Its virtual machines know that they are in it.
type pool struct {
	comment  string
	storages []string
}

func (p *pool) view(name string) map[string]any {
	view := map[string]any{"poolid": name}
	if p.comment != "" {
		view["comment"] = p.comment
	}
	return view
}

// Pools are the pools of a cluster.
type Pools struct {
	datacenter *datacenter.Datacenter
	storages   *storage.Storages
	vms        *vm.VMs
	byName     map[string]*pool
	// viewVM is a virtual machine as the list of resources shows it.
	viewVM func(*vm.VM) map[string]any
}

// New returns a cluster without pools.
func New(in *datacenter.Datacenter, storages *storage.Storages, vms *vm.VMs, viewVM func(*vm.VM) map[string]any) *Pools {
	return &Pools{datacenter: in, storages: storages, vms: vms, byName: map[string]*pool{}, viewVM: viewVM}
}

// Has reports whether there is a pool of that name.
func (p *Pools) Has(name string) bool { return p.byName[name] != nil }

// Seen returns the names of the pools that a caller may see.
func (p *Pools) Seen(r *api.Call) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(p.byName)), func(name string) bool { return checkSeen(r, name) != nil })
}

func checkSeen(r *api.Call, name string) error {
	return r.Some("/pool/"+name, "Pool.Audit", "Pool.Allocate")
}

// Routes returns the routes of pools.
func (p *Pools) Routes() api.Routes {
	return api.Routes{
		"GET /pools":             p.list,
		"POST /pools":            p.create,
		"PUT /pools":             p.change,
		"DELETE /pools":          p.delete,
		"GET /pools/{poolid}":    p.get,
		"PUT /pools/{poolid}":    p.change,
		"DELETE /pools/{poolid}": p.delete,
	}
}

// find returns the pool that a path or a parameter names.
func (p *Pools) find(r *api.Call) (string, *pool, error) {
	name := r.PathValue("poolid")
	if name == "" {
		var err error
		if name, err = r.Params.Required("poolid"); err != nil {
			return "", nil, err
		}
	}
	if !p.Has(name) {
		return name, nil, api.Failure("pool '%s' does not exist", name)
	}
	return name, p.byName[name], nil
}

// list lists all pools, or the requested one with its members.
func (p *Pools) list(r *api.Call) (any, error) {
	if r.Params["poolid"] != "" {
		view, err := p.get(r)
		if err != nil {
			return nil, err
		}
		return []any{view}, nil
	}
	views := []map[string]any{}
	for _, name := range p.Seen(r) {
		views = append(views, p.byName[name].view(name))
	}
	return views, nil
}

func (p *Pools) get(r *api.Call) (any, error) {
	name, found, err := p.find(r)
	if err != nil {
		return nil, err
	}
	if err := checkSeen(r, name); err != nil {
		return nil, err
	}
	members := []map[string]any{}
	for _, one := range p.membersOf(name) {
		members = append(members, p.viewVM(one))
	}
	for _, one := range found.storages {
		for _, at := range p.datacenter.Hosts {
			members = append(members, map[string]any{"id": "storage/" + at.Name + "/" + one, "type": "storage", "storage": one, "node": at.Name})
		}
	}
	view := found.view(name)
	view["members"] = members
	return view, nil
}

// membersOf returns the virtual machines in a pool.
func (p *Pools) membersOf(name string) []*vm.VM {
	return slices.DeleteFunc(p.vms.Sorted(), func(one *vm.VM) bool { return one.Pool != name })
}

func (p *Pools) create(r *api.Call) (any, error) {
	name, err := r.Params.Required("poolid")
	if err != nil {
		return nil, err
	}
	if err := r.All("/pool/"+name, "Pool.Allocate"); err != nil {
		return nil, err
	}
	if p.Has(name) {
		return nil, api.Failure("create pool failed: pool '%s' already exists", name)
	}
	p.byName[name] = &pool{comment: r.Params["comment"]}
	return nil, nil
}

// change changes a pool's comment, and adds or removes members.
func (p *Pools) change(r *api.Call) (any, error) {
	name, found, err := p.find(r)
	if err != nil {
		return nil, err
	}
	if err := r.All("/pool/"+name, "Pool.Allocate"); err != nil {
		return nil, err
	}
	if comment, given := r.Params["comment"]; given {
		found.comment = comment
	}
	remove := r.Params.Flag("delete")
	for _, text := range api.List(r.Params["vms"]) {
		if err := p.changeMember(r, name, text, remove); err != nil {
			return nil, err
		}
	}
	for _, text := range api.List(r.Params["storage"]) {
		if _, err := p.storages.Get(text); err != nil {
			return nil, err
		}
		found.storages = slices.DeleteFunc(found.storages, func(other string) bool { return other == text })
		if !remove {
			found.storages = append(found.storages, text)
		}
	}
	return nil, nil
}

// changeMember adds a virtual machine to a pool, or removes it.
func (p *Pools) changeMember(r *api.Call, name, text string, remove bool) error {
	id, err := strconv.Atoi(text)
	if err != nil {
		return api.Invalid("vms", "invalid format - '%s' is no VM id", text)
	}
	one := p.vms.Get(id)
	switch {
	case one == nil:
		return api.Failure("update pool failed: VM %d does not exist", id)
	case remove && one.Pool != name:
		return api.Failure("update pool failed: VM %d is not a pool member", id)
	case !remove && one.Pool == name:
		return api.Failure("update pool failed: VM %d is already a pool member", id)
	case !remove && one.Pool != "" && !r.Params.Flag("allow-move"):
		return api.Failure("update pool failed: VM %d is already part of pool '%s'", id, one.Pool)
	}
	if err := r.OnVM(id, one.Pool, "VM.Allocate"); err != nil {
		return err
	}
	one.Pool = name
	if remove {
		one.Pool = ""
	}
	return nil
}

func (p *Pools) delete(r *api.Call) (any, error) {
	name, found, err := p.find(r)
	if err != nil {
		return nil, fmt.Errorf("delete pool failed: %w", err)
	}
	if err := r.All("/pool/"+name, "Pool.Allocate"); err != nil {
		return nil, err
	}
	if members := p.membersOf(name); len(members) > 0 {
		return nil, api.Failure("delete pool failed: pool '%s' is not empty (contains VM %d)", name, members[0].ID)
	}
	if len(found.storages) > 0 {
		return nil, api.Failure("delete pool failed: pool '%s' is not empty (contains storage '%s')", name, found.storages[0])
	}
	delete(p.byName, name)
	return nil, nil
}
