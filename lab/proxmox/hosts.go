package proxmox

import (
	"slices"
	"strings"
)

// host is a machine that runs virtual ones.
type host struct {
	name string
	up   bool
}

// version is that of Proxmox VE which is played.
const version, release = "9.1.4", "9.1"

const (
	hostCores  = 32
	hostMemory = 256 << 30
	hostUptime = 1_000_000
)

// host finds one by its name.
func (c *Cluster) host(name string) (*host, error) {
	at := slices.IndexFunc(c.hosts, func(one *host) bool { return one.name == name })
	if at < 0 {
		return nil, failure("hostname lookup '%s' failed - failed to get address info for: %[1]s: Name or service not known", name)
	}
	return c.hosts[at], nil
}

// reachable says whether the host that a path names can answer.
func (c *Cluster) reachable(name string) error {
	if name == "" {
		return nil
	}
	found, err := c.host(name)
	if err == nil && !found.up {
		err = &apiError{status: statusDown, message: "No route to host"}
	}
	return err
}

func (h *host) status() string {
	if h.up {
		return "online"
	}
	return "offline"
}

func (c *Cluster) nodeRoutes() map[string]handler {
	return map[string]handler{
		"GET /nodes":                           c.listNodes,
		"GET /nodes/{node}/status":             c.getNodeStatus,
		"GET /nodes/{node}/version":            c.getVersion,
		"GET /nodes/{node}/network":            c.listNetworks,
		"GET /nodes/{node}/query-url-metadata": c.queryURL,
	}
}

func (c *Cluster) viewNode(h *host) map[string]any {
	view := map[string]any{
		"node": h.name, "type": "node", "id": "node/" + h.name, "status": h.status(), "level": "", "ssl_fingerprint": c.fingerprint(),
	}
	if h.up {
		view["maxcpu"], view["cpu"], view["maxmem"], view["mem"], view["uptime"] = hostCores, 0.01, hostMemory, c.memoryOn(h), hostUptime
		view["maxdisk"], view["disk"] = storageBytes, 4<<30
	}
	return view
}

// memoryOn is what the machines that run there take.
func (c *Cluster) memoryOn(h *host) int {
	total := 2 << 30
	for _, one := range c.vms {
		if one.host == h.name && one.powered() {
			total += one.memoryMiB() << 20
		}
	}
	return total
}

func (c *Cluster) listNodes(*call) (any, error) {
	views := make([]map[string]any, 0, len(c.hosts))
	for _, one := range c.hosts {
		views = append(views, c.viewNode(one))
	}
	return views, nil
}

func (c *Cluster) getNodeStatus(r *call) (any, error) {
	name := r.PathValue("node")
	if err := r.all(c, "/nodes/"+name, "Sys.Audit"); err != nil {
		return nil, err
	}
	found, err := c.host(name)
	if err != nil {
		return nil, err
	}
	memory := c.memoryOn(found)
	return map[string]any{
		"uptime": hostUptime, "pveversion": "pve-manager/" + version + "/0000000000000000", "kversion": "Linux 6.17.2-1-pve",
		"cpuinfo": map[string]any{"cpus": hostCores, "cores": hostCores / 2, "sockets": 1, "model": "QEMU Virtual CPU"},
		"memory":  map[string]any{"total": hostMemory, "used": memory, "free": hostMemory - memory},
		"rootfs":  map[string]any{"total": storageBytes, "used": 4 << 30, "free": storageBytes - 4<<30, "avail": storageBytes - 4<<30},
		"loadavg": []string{"0.10", "0.10", "0.10"},
	}, nil
}

func (c *Cluster) getVersion(*call) (any, error) {
	return map[string]any{"version": version, "release": release, "repoid": "0000000000000000"}, nil
}

// listNetworks has the bridge that machines are attached to.
func (c *Cluster) listNetworks(r *call) (any, error) {
	if err := r.all(c, "/nodes/"+r.PathValue("node"), "Sys.Audit"); err != nil {
		return nil, err
	}
	return []map[string]any{{
		"iface": bridge, "type": "bridge", "active": 1, "autostart": 1, "method": "static", "method6": "manual",
		"address": c.Address.String(), "bridge_ports": "eno1", "bridge_stp": "off", "bridge_fd": "0", "bridge_vlan_aware": 1, "families": []string{"inet"}, "priority": 3,
	}}, nil
}

// HostStatus is how a host is.
type HostStatus struct {
	Name     string          `json:"name"`
	Up       bool            `json:"up"`
	Machines []MachineStatus `json:"machines,omitempty"`
}

// MachineStatus is how a virtual machine is.
type MachineStatus struct {
	ID     int    `json:"id"`
	Name   string `json:"name"`
	Status string `json:"status"`
}

// StorageStatus is what a storage holds, over all hosts.
type StorageStatus struct {
	Storage
	Volumes []string `json:"volumes,omitempty"`
}

// Status is how the cluster is.
type Status struct {
	Endpoint string          `json:"endpoint"`
	Hosts    []HostStatus    `json:"hosts"`
	Storages []StorageStatus `json:"storages"`
}

// Status says how the cluster is.
func (c *Cluster) Status(endpoint string) Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	status := Status{Endpoint: endpoint}
	for _, one := range c.hosts {
		shown := HostStatus{Name: one.name, Up: one.up}
		for _, machine := range c.sortedVMs() {
			if machine.host == one.name {
				shown.Machines = append(shown.Machines, MachineStatus{ID: machine.id, Name: machine.config["name"], Status: c.stateOf(machine)})
			}
		}
		status.Hosts = append(status.Hosts, shown)
	}
	for _, one := range c.storages {
		shown := StorageStatus{Storage: one.Storage}
		for _, held := range c.sortedVolumes() {
			if held.storage == one.Name {
				shown.Volumes = append(shown.Volumes, strings.TrimPrefix(held.host+": "+held.id, ": "))
			}
		}
		status.Storages = append(status.Storages, shown)
	}
	return status
}
