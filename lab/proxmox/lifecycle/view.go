package lifecycle

import (
	"maps"
	"slices"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/vm"
)

// view shows virtual machines.
type view struct{ *Parts }

func (v *view) routes() api.Routes {
	return api.Routes{
		"GET /nodes/{node}/qemu":                         v.list,
		"GET /nodes/{node}/qemu/{vmid}/config":           v.getConfig,
		"GET /nodes/{node}/qemu/{vmid}/pending":          v.getPending,
		"GET /nodes/{node}/qemu/{vmid}/status/current":   v.getStatus,
		"GET /nodes/{node}/qemu/{vmid}/snapshot":         v.listSnapshots,
		"GET /nodes/{node}/qemu/{vmid}/firewall/options": v.getFirewallOptions,
		"GET /nodes/{node}/qemu/{vmid}/firewall/rules":   v.listFirewallRules,
	}
}

func (v *view) list(r *api.Call) (any, error) {
	views := []map[string]any{}
	for _, one := range v.VMs.On(r.PathValue("node")) {
		if r.OnVM(one.ID, one.Pool, "VM.Audit") == nil {
			views = append(views, v.of(one))
		}
	}
	return views, nil
}

// of returns what lists and the status show.
func (v *view) of(m *vm.VM) map[string]any {
	shown := map[string]any{
		"vmid": m.ID, "name": m.Name(), "status": v.VMs.State(m), "cpus": m.CPUs(), "maxmem": m.MemoryMiB() << 20, "maxdisk": v.VMs.BootBytes(m),
		"mem": 0, "cpu": 0, "disk": 0, "uptime": 0, "netin": 0, "netout": 0, "diskread": 0, "diskwrite": 0,
	}
	if tags := m.Config["tags"]; tags != "" {
		shown["tags"] = tags
	}
	if m.Lock != "" {
		shown["lock"] = m.Lock
	}
	if m.Powered() {
		shown["uptime"], shown["mem"] = m.Usage()
		shown["pid"] = 1000 + m.ID
	}
	return shown
}

func (v *view) getStatus(r *api.Call) (any, error) {
	found, err := v.VMs.FindWith(r, "VM.Audit")
	if err != nil {
		return nil, err
	}
	shown := v.of(found)
	shown["ha"], shown["qmpstatus"] = map[string]any{"managed": 0}, shown["status"]
	if found.AgentEnabled() {
		shown["agent"] = 1
	}
	if found.Powered() {
		shown["running-machine"], shown["running-qemu"] = "pc-q35-10.1+pve0", "10.1.2"
	}
	return shown, nil
}

// getConfig shows the configuration of the next start, or the current one if requested.
func (v *view) getConfig(r *api.Call) (any, error) {
	found, err := v.VMs.FindWith(r, "VM.Audit")
	if err != nil {
		return nil, err
	}
	config := found.Config
	if !r.Params.Flag("current") {
		config = found.Next()
	}
	shown := map[string]any{"digest": found.Digest()}
	for key, value := range config {
		shown[key] = vm.Typed(key, value)
	}
	if found.Lock != "" {
		shown["lock"] = found.Lock
	}
	return shown, nil
}

func (v *view) getPending(r *api.Call) (any, error) {
	found, err := v.VMs.FindWith(r, "VM.Audit")
	if err != nil {
		return nil, err
	}
	keys := slices.Collect(maps.Keys(found.Config))
	for key := range found.Pending {
		if _, has := found.Config[key]; !has {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	views := []map[string]any{}
	for _, key := range keys {
		shown := map[string]any{"key": key}
		if value, has := found.Config[key]; has {
			shown["value"] = vm.Typed(key, value)
		}
		if value, waits := found.Pending[key]; waits && value == "" {
			shown["delete"] = 1
		} else if waits {
			shown["pending"] = vm.Typed(key, value)
		}
		views = append(views, shown)
	}
	return views, nil
}

// listSnapshots shows only the current state: there are no snapshots here.
func (v *view) listSnapshots(r *api.Call) (any, error) {
	found, err := v.VMs.FindWith(r, "VM.Audit")
	if err != nil {
		return nil, err
	}
	return []map[string]any{{"name": "current", "description": "You are here!", "digest": found.Digest(), "running": found.Powered()}}, nil
}

// getFirewallOptions shows those of a virtual machine without any.
func (v *view) getFirewallOptions(r *api.Call) (any, error) {
	_, err := v.VMs.FindWith(r, "VM.Audit")
	return map[string]any{"digest": api.Digest("")}, err
}

func (v *view) listFirewallRules(r *api.Call) (any, error) {
	_, err := v.VMs.FindWith(r, "VM.Audit")
	return []any{}, err
}
