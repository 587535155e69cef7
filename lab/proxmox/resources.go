package proxmox

import (
	"fmt"
	"strconv"
	"time"
)

// clusterName is what all hosts together are called.
const clusterName = "lab"

func (c *Cluster) clusterRoutes() map[string]handler {
	return map[string]handler{
		"GET /version":                 c.getVersion,
		"GET /cluster/status":          c.clusterStatus,
		"GET /cluster/resources":       c.clusterResources,
		"GET /cluster/nextid":          c.nextID,
		"GET /cluster/options":         func(*call) (any, error) { return map[string]any{"keyboard": "en-us"}, nil },
		"GET /cluster/ha/resources":    noneWith(c, "/", "Sys.Audit"),
		"GET /cluster/ha/groups":       noneWith(c, "/", "Sys.Audit"),
		"GET /cluster/ha/rules":        noneWith(c, "/", "Sys.Audit"),
		"GET /cluster/firewall/rules":  noneWith(c, "/", "Sys.Audit"),
		"GET /cluster/firewall/groups": noneWith(c, "/", "Sys.Audit"),
		"GET /cluster/replication":     noneWith(c, "/", "Sys.Audit"),
		"GET /cluster/ha/resources/{sid}": func(r *call) (any, error) {
			return nil, failure("no such resource '%s'", r.PathValue("sid"))
		},
		"GET /cluster/firewall/options": func(r *call) (any, error) {
			return map[string]any{"digest": digestOf("")}, r.all(c, "/", "Sys.Audit")
		},
	}
}

// noneWith lists what there is none of, for who may know.
func noneWith(c *Cluster, path string, privileges ...string) handler {
	return func(r *call) (any, error) { return []any{}, r.all(c, path, privileges...) }
}

// clusterStatus tells the hosts; one alone is no cluster.
func (c *Cluster) clusterStatus(r *call) (any, error) {
	if err := r.all(c, "/", "Sys.Audit"); err != nil {
		return nil, err
	}
	var views []map[string]any
	for i, one := range c.hosts {
		online := 0
		if one.up {
			online = 1
		}
		views = append(views, map[string]any{
			"type": "node", "id": "node/" + one.name, "name": one.name, "nodeid": i + 1, "online": online, "local": 0, "level": "", "ip": c.Address.String(),
		})
	}
	if len(c.hosts) > 1 {
		quorate := 0
		if c.quorate() {
			quorate = 1
		}
		views = append([]map[string]any{{
			"type": "cluster", "id": "cluster", "name": clusterName, "version": len(c.hosts), "nodes": len(c.hosts), "quorate": quorate,
		}}, views...)
	}
	return views, nil
}

// clusterResources lists machines, hosts, storages and pools, or those of a type.
func (c *Cluster) clusterResources(r *call) (any, error) {
	wanted := r.params["type"]
	views := []map[string]any{}
	if wanted == "" || wanted == "vm" {
		for _, one := range c.sortedVMs() {
			if r.onVM(c, one.id, one.pool, "VM.Audit") == nil {
				views = append(views, c.viewResource(one))
			}
		}
	}
	if wanted == "" || wanted == "node" {
		for _, one := range c.hosts {
			views = append(views, c.viewNode(one))
		}
	}
	if wanted == "" || wanted == "storage" {
		for _, at := range c.hosts {
			for _, one := range c.storages {
				if c.seesStorage(r, one.Name) != nil {
					continue
				}
				views = append(views, c.viewStorageResource(at, one))
			}
		}
	}
	if wanted == "" {
		for _, name := range c.poolNames() {
			if c.seesPool(r, name) == nil {
				views = append(views, map[string]any{"id": "/pool/" + name, "type": "pool", "pool": name})
			}
		}
	}
	return views, nil
}

func (c *Cluster) viewStorageResource(at *host, of *storage) map[string]any {
	known := c.viewStorage(at.name, of)
	view := map[string]any{
		"id": "storage/" + at.name + "/" + of.Name, "type": "storage", "node": at.name, "plugintype": of.kind(), "status": "unknown",
		"storage": known["storage"], "content": known["content"], "shared": known["shared"],
	}
	if at.up {
		view["status"], view["maxdisk"], view["disk"] = "available", known["total"], known["used"]
	}
	return view
}

func (c *Cluster) viewResource(m *vm) map[string]any {
	view := map[string]any{
		"id": fmt.Sprintf("qemu/%d", m.id), "type": "qemu", "vmid": m.id, "node": m.host, "name": m.name(), "status": c.stateOf(m), "template": 0,
		"maxcpu": m.cpus(), "maxmem": m.memoryMiB() << 20, "maxdisk": c.bootBytes(m), "cpu": 0, "mem": 0, "disk": 0, "uptime": 0,
	}
	if m.powered() {
		view["uptime"], view["mem"] = int(time.Since(m.started).Seconds()), m.memoryMiB()<<19
	}
	if at, err := c.host(m.host); err == nil && !at.up {
		view["status"] = "unknown"
	}
	for key, value := range map[string]string{"pool": m.pool, "tags": m.config["tags"], "lock": m.lock} {
		if value != "" {
			view[key] = value
		}
	}
	return view
}

// nextID is the first id that no machine has, or says whether one is free.
func (c *Cluster) nextID(r *call) (any, error) {
	asked, err := r.params.number("vmid", 0)
	if err != nil {
		return nil, err
	}
	if asked != 0 {
		if c.vms[asked] != nil {
			return nil, invalid("vmid", "VM %d already exists", asked)
		}
		return strconv.Itoa(asked), nil
	}
	for id := 100; ; id++ {
		if c.vms[id] == nil {
			return strconv.Itoa(id), nil
		}
	}
}
