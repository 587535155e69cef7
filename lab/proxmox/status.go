package proxmox

import "strings"

// HostStatus is the status of a host.
type HostStatus struct {
	Name     string          `json:"name"`
	Up       bool            `json:"up"`
	Machines []MachineStatus `json:"machines,omitempty"`
}

// MachineStatus is the status of a virtual machine.
type MachineStatus struct {
	ID     int    `json:"id"`
	Name   string `json:"name"`
	Status string `json:"status"`
}

// StorageStatus is a storage with its volumes on all hosts.
type StorageStatus struct {
	Storage
	Volumes []string `json:"volumes,omitempty"`
}

// Status is the status of a cluster.
type Status struct {
	Endpoint string          `json:"endpoint"`
	Hosts    []HostStatus    `json:"hosts"`
	Storages []StorageStatus `json:"storages"`
}

// Status returns the status of the cluster, which is served at an endpoint.
func (c *Cluster) Status(endpoint string) Status {
	c.datacenter.Lock()
	defer c.datacenter.Unlock()
	status := Status{Endpoint: endpoint}
	for _, host := range c.datacenter.Hosts {
		shown := HostStatus{Name: host.Name, Up: host.Up}
		for _, machine := range c.vms.On(host.Name) {
			shown.Machines = append(shown.Machines, MachineStatus{ID: machine.ID, Name: machine.Config["name"], Status: c.vms.State(machine)})
		}
		status.Hosts = append(status.Hosts, shown)
	}
	for _, one := range c.storages.All() {
		shown := StorageStatus{Storage: one.Definition}
		for _, held := range c.storages.Sorted() {
			if held.Storage == one.Name {
				shown.Volumes = append(shown.Volumes, strings.TrimPrefix(held.Host+": "+held.ID, ": "))
			}
		}
		status.Storages = append(status.Storages, shown)
	}
	return status
}
