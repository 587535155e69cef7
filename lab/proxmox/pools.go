package proxmox

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// pool is a set of machines and storages to which privileges are given.
type pool struct {
	comment  string
	storages []string
}

func (c *Cluster) poolNames() []string { return slices.Sorted(maps.Keys(c.pools)) }

func (c *Cluster) poolRoutes() map[string]handler {
	return map[string]handler{
		"GET /pools":             c.listPools,
		"POST /pools":            c.createPool,
		"PUT /pools":             c.changePool,
		"DELETE /pools":          c.deletePool,
		"GET /pools/{poolid}":    c.getPool,
		"PUT /pools/{poolid}":    c.changePool,
		"DELETE /pools/{poolid}": c.deletePool,
	}
}

func (c *Cluster) seesPool(r *call, name string) error {
	return r.some(c, "/pool/"+name, "Pool.Audit", "Pool.Allocate")
}

// pool is the one that a path or a parameter names.
func (c *Cluster) pool(r *call) (string, *pool, error) {
	name := r.PathValue("poolid")
	if name == "" {
		var err error
		if name, err = r.params.required("poolid"); err != nil {
			return "", nil, err
		}
	}
	if c.pools[name] == nil {
		return name, nil, failure("pool '%s' does not exist", name)
	}
	return name, c.pools[name], nil
}

// listPools lists all, or with its members the one that is asked for.
func (c *Cluster) listPools(r *call) (any, error) {
	if r.params["poolid"] != "" {
		view, err := c.getPool(r)
		if err != nil {
			return nil, err
		}
		return []any{view}, nil
	}
	views := []map[string]any{}
	for _, name := range c.poolNames() {
		if c.seesPool(r, name) == nil {
			views = append(views, c.pools[name].view(name))
		}
	}
	return views, nil
}

func (p *pool) view(name string) map[string]any {
	view := map[string]any{"poolid": name}
	if p.comment != "" {
		view["comment"] = p.comment
	}
	return view
}

func (c *Cluster) getPool(r *call) (any, error) {
	name, found, err := c.pool(r)
	if err != nil {
		return nil, err
	}
	if err := c.seesPool(r, name); err != nil {
		return nil, err
	}
	members := []map[string]any{}
	for _, one := range c.sortedVMs() {
		if one.pool == name {
			members = append(members, c.viewResource(one))
		}
	}
	for _, one := range found.storages {
		for _, at := range c.hosts {
			members = append(members, map[string]any{"id": "storage/" + at.name + "/" + one, "type": "storage", "storage": one, "node": at.name})
		}
	}
	view := found.view(name)
	view["members"] = members
	return view, nil
}

func (c *Cluster) createPool(r *call) (any, error) {
	name, err := r.params.required("poolid")
	if err != nil {
		return nil, err
	}
	if err := r.all(c, "/pool/"+name, "Pool.Allocate"); err != nil {
		return nil, err
	}
	if c.pools[name] != nil {
		return nil, failure("create pool failed: pool '%s' already exists", name)
	}
	c.pools[name] = &pool{comment: r.params["comment"]}
	return nil, nil
}

// changePool gives a pool another comment, and members, or takes them out.
func (c *Cluster) changePool(r *call) (any, error) {
	name, found, err := c.pool(r)
	if err != nil {
		return nil, err
	}
	if err := r.all(c, "/pool/"+name, "Pool.Allocate"); err != nil {
		return nil, err
	}
	if comment, given := r.params["comment"]; given {
		found.comment = comment
	}
	remove := r.params.flag("delete")
	for _, text := range list(r.params["vms"]) {
		id, err := strconv.Atoi(text)
		if err != nil {
			return nil, invalid("vms", "invalid format - '%s' is no VM id", text)
		}
		one := c.vms[id]
		switch {
		case one == nil:
			return nil, failure("update pool failed: VM %d does not exist", id)
		case remove && one.pool != name:
			return nil, failure("update pool failed: VM %d is not a pool member", id)
		case !remove && one.pool == name:
			return nil, failure("update pool failed: VM %d is already a pool member", id)
		case !remove && one.pool != "" && !r.params.flag("allow-move"):
			return nil, failure("update pool failed: VM %d is already part of pool '%s'", id, one.pool)
		}
		if err := r.onVM(c, id, one.pool, "VM.Allocate"); err != nil {
			return nil, err
		}
		one.pool = name
		if remove {
			one.pool = ""
		}
	}
	for _, text := range list(r.params["storage"]) {
		if _, err := c.storage(text); err != nil {
			return nil, err
		}
		found.storages = slices.DeleteFunc(found.storages, func(other string) bool { return other == text })
		if !remove {
			found.storages = append(found.storages, text)
		}
	}
	return nil, nil
}

func (c *Cluster) deletePool(r *call) (any, error) {
	name, found, err := c.pool(r)
	if err != nil {
		return nil, fmt.Errorf("delete pool failed: %w", err)
	}
	if err := r.all(c, "/pool/"+name, "Pool.Allocate"); err != nil {
		return nil, err
	}
	for _, one := range c.sortedVMs() {
		if one.pool == name {
			return nil, failure("delete pool failed: pool '%s' is not empty (contains VM %d)", name, one.id)
		}
	}
	if len(found.storages) > 0 {
		return nil, failure("delete pool failed: pool '%s' is not empty (contains storage '%s')", name, found.storages[0])
	}
	delete(c.pools, name)
	return nil, nil
}
