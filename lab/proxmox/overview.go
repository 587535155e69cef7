package proxmox

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/datacenter"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/pool"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/storage"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/vm"
)

const (
	// version and release are those of Proxmox VE that are simulated.
	version, release = "9.1.4", "9.1"
	// clusterName is that of all hosts together.
	clusterName = "lab"
	// bridge is the one network that every host has.
	bridge = "vmbr0"

	hostCores  = 32
	hostMemory = 256 << 30
	hostUptime = 1_000_000
	hostDisk   = 4 << 30 // in use
)

// overview shows the cluster as a whole and its hosts.
type overview struct {
	datacenter  *datacenter.Datacenter
	storages    *storage.Storages
	vms         *vm.VMs
	pools       *pool.Pools
	address     netip.Addr
	fingerprint string
}

func (o *overview) routes() api.Routes {
	return api.Routes{
		"GET /version":                 getVersion,
		"GET /cluster/status":          o.getStatus,
		"GET /cluster/resources":       o.listResources,
		"GET /cluster/nextid":          o.nextID,
		"GET /cluster/options":         func(*api.Call) (any, error) { return map[string]any{"keyboard": "en-us"}, nil },
		"GET /cluster/ha/resources":    none,
		"GET /cluster/ha/groups":       none,
		"GET /cluster/ha/rules":        none,
		"GET /cluster/firewall/rules":  none,
		"GET /cluster/firewall/groups": none,
		"GET /cluster/replication":     none,
		"GET /cluster/ha/resources/{sid}": func(r *api.Call) (any, error) {
			return nil, api.Failure("no such resource '%s'", r.PathValue("sid"))
		},
		"GET /cluster/firewall/options": func(r *api.Call) (any, error) {
			return map[string]any{"digest": api.Digest("")}, r.All("/", "Sys.Audit")
		},
		"GET /nodes":                o.listNodes,
		"GET /nodes/{node}/status":  o.getNodeStatus,
		"GET /nodes/{node}/version": getVersion,
		"GET /nodes/{node}/network": o.listNetworks,
	}
}

// none answers with an empty list, to callers who may see it.
func none(r *api.Call) (any, error) { return []any{}, r.All("/", "Sys.Audit") }

func getVersion(*api.Call) (any, error) {
	return map[string]any{"version": version, "release": release, "repoid": "0000000000000000"}, nil
}

// getStatus shows the hosts; a single host is not a cluster.
func (o *overview) getStatus(r *api.Call) (any, error) {
	if err := r.All("/", "Sys.Audit"); err != nil {
		return nil, err
	}
	hosts := o.datacenter.Hosts
	var views []map[string]any
	for i, one := range hosts {
		views = append(views, map[string]any{
			"type": "node", "id": "node/" + one.Name, "name": one.Name, "nodeid": i + 1, "online": number(one.Up), "local": 0, "level": "", "ip": o.address.String(),
		})
	}
	if len(hosts) > 1 {
		views = append([]map[string]any{{
			"type": "cluster", "id": "cluster", "name": clusterName, "version": len(hosts), "nodes": len(hosts), "quorate": number(o.datacenter.Quorate()),
		}}, views...)
	}
	return views, nil
}

// number returns a boolean as the API writes it.
func number(value bool) int {
	if value {
		return 1
	}
	return 0
}

// listResources lists virtual machines, hosts, storages and pools, or those of a
// type.
func (o *overview) listResources(r *api.Call) (any, error) {
	wanted := r.Params["type"]
	views := []map[string]any{}
	if wanted == "" || wanted == "vm" {
		for _, one := range o.vms.Sorted() {
			if r.OnVM(one.ID, one.Pool, "VM.Audit") == nil {
				views = append(views, o.viewVM(one))
			}
		}
	}
	if wanted == "" || wanted == "node" {
		for _, one := range o.datacenter.Hosts {
			views = append(views, o.viewNode(one))
		}
	}
	if wanted == "" || wanted == "storage" {
		for _, at := range o.datacenter.Hosts {
			for _, one := range o.storages.All() {
				if storage.CheckSeen(r, one.Name) == nil {
					views = append(views, o.viewStorage(at, one))
				}
			}
		}
	}
	if wanted == "" {
		for _, name := range o.pools.Seen(r) {
			views = append(views, map[string]any{"id": "/pool/" + name, "type": "pool", "pool": name})
		}
	}
	return views, nil
}

func (o *overview) viewStorage(at *datacenter.Host, of *storage.Storage) map[string]any {
	known := o.storages.View(at.Name, of)
	view := map[string]any{
		"id": "storage/" + at.Name + "/" + of.Name, "type": "storage", "node": at.Name, "plugintype": of.Kind(), "status": "unknown",
		"storage": known["storage"], "content": known["content"], "shared": known["shared"],
	}
	if at.Up {
		view["status"], view["maxdisk"], view["disk"] = "available", known["total"], known["used"]
	}
	return view
}

func (o *overview) viewVM(m *vm.VM) map[string]any {
	view := map[string]any{
		"id": fmt.Sprintf("qemu/%d", m.ID), "type": "qemu", "vmid": m.ID, "node": m.Host, "name": m.Name(), "status": o.vms.State(m), "template": 0,
		"maxcpu": m.CPUs(), "maxmem": m.MemoryMiB() << 20, "maxdisk": o.vms.BootBytes(m), "cpu": 0, "mem": 0, "disk": 0, "uptime": 0,
	}
	if m.Powered() {
		view["uptime"], view["mem"] = m.Usage()
	}
	if at, err := o.datacenter.Host(m.Host); err == nil && !at.Up {
		view["status"] = "unknown"
	}
	for key, value := range map[string]string{"pool": m.Pool, "tags": m.Config["tags"], "lock": m.Lock} {
		if value != "" {
			view[key] = value
		}
	}
	return view
}

// nextID returns the first free id of a virtual machine. For a requested id it checks that it is free.
func (o *overview) nextID(r *api.Call) (any, error) {
	asked, err := r.Params.Number("vmid", 0)
	if err != nil {
		return nil, err
	}
	if asked != 0 {
		if o.vms.Get(asked) != nil {
			return nil, api.Invalid("vmid", "VM %d already exists", asked)
		}
		return strconv.Itoa(asked), nil
	}
	for id := 100; ; id++ {
		if o.vms.Get(id) == nil {
			return strconv.Itoa(id), nil
		}
	}
}

func (o *overview) viewNode(h *datacenter.Host) map[string]any {
	view := map[string]any{
		"node": h.Name, "type": "node", "id": "node/" + h.Name, "status": h.Status(), "level": "", "ssl_fingerprint": o.fingerprint,
	}
	if h.Up {
		view["maxcpu"], view["cpu"], view["maxmem"], view["mem"], view["uptime"] = hostCores, 0.01, hostMemory, o.memoryOn(h), hostUptime
		view["maxdisk"], view["disk"] = storage.TotalBytes, hostDisk
	}
	return view
}

// memoryOn returns the memory in use on a host.
func (o *overview) memoryOn(h *datacenter.Host) int { return 2<<30 + o.vms.MemoryBytesOn(h.Name) }

func (o *overview) listNodes(*api.Call) (any, error) {
	views := make([]map[string]any, 0, len(o.datacenter.Hosts))
	for _, one := range o.datacenter.Hosts {
		views = append(views, o.viewNode(one))
	}
	return views, nil
}

func (o *overview) getNodeStatus(r *api.Call) (any, error) {
	name := r.PathValue("node")
	if err := r.All("/nodes/"+name, "Sys.Audit"); err != nil {
		return nil, err
	}
	found, err := o.datacenter.Host(name)
	if err != nil {
		return nil, err
	}
	memory := o.memoryOn(found)
	return map[string]any{
		"uptime": hostUptime, "pveversion": "pve-manager/" + version + "/0000000000000000", "kversion": "Linux 6.17.2-1-pve",
		"cpuinfo": map[string]any{"cpus": hostCores, "cores": hostCores / 2, "sockets": 1, "model": "QEMU Virtual CPU"},
		"memory":  map[string]any{"total": hostMemory, "used": memory, "free": hostMemory - memory},
		"rootfs":  map[string]any{"total": storage.TotalBytes, "used": hostDisk, "free": storage.TotalBytes - hostDisk, "avail": storage.TotalBytes - hostDisk},
		"loadavg": []string{"0.10", "0.10", "0.10"},
	}, nil
}

// listNetworks shows the bridge that virtual machines are attached to. Every caller may list networks, but bridges only those that it may use
// (pve-manager, PVE/API2/Network.pm).
func (o *overview) listNetworks(r *api.Call) (any, error) {
	wanted := r.Params["type"]
	isWanted := wanted == "" || slices.Contains([]string{"bridge", "any_bridge", "any_local_bridge"}, wanted)
	if !isWanted || r.Some("/sdn/zones/localnetwork/"+bridge, "SDN.Audit", "SDN.Use") != nil {
		return []any{}, nil
	}
	return []map[string]any{{
		"iface": bridge, "type": "bridge", "active": 1, "autostart": 1, "method": "static", "method6": "manual",
		"address": o.address.String(), "bridge_ports": "eno1", "bridge_stp": "off", "bridge_fd": "0", "bridge_vlan_aware": 1, "families": []string{"inet"}, "priority": 3,
	}}, nil
}
