package proxmox

import (
	"cmp"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
)

// bridge is the one network that every host has.
const bridge = "vmbr0"

// vm is a virtual machine.
type vm struct {
	id   int
	host string
	pool string
	// lab is the machine's name in the lab. It stays when the machine is renamed.
	lab string
	// config is what it has, by key; pending is what it gets when it next starts,
	// where an empty value takes the key away.
	config, pending map[string]string
	// lock is why nobody may touch it, such as "create".
	lock string
	// box is the machine with the disk that it booted from last, nil before.
	box  machine.Box
	disk *volume
	// wired are the box's interfaces.
	wired   []machine.NIC
	started time.Time
	// agent says that it was started with the device for the guest agent.
	agent bool
	seen  string
}

func (m *vm) powered() bool { return m.box != nil && m.box.Powered() }

func vmPath(id int) string { return "/vms/" + strconv.Itoa(id) }

func (c *Cluster) sortedVMs() []*vm {
	return slices.SortedFunc(maps.Values(c.vms), func(a, b *vm) int { return cmp.Compare(a.id, b.id) })
}

// stateOf is what the machine does now. What is new goes to the timeline: a
// machine may turn itself off, which is seen when somebody looks.
func (c *Cluster) stateOf(m *vm) string {
	state := "stopped"
	if m.powered() {
		state = "running"
	}
	if state != m.seen {
		m.seen = state
		c.Timeline.Record(m.lab, "vm", state)
	}
	return state
}

// vm is the machine that a path names, on its host.
func (c *Cluster) vm(r *call) (*vm, error) {
	id, err := strconv.Atoi(r.PathValue("vmid"))
	if err != nil {
		return nil, invalid("vmid", "type check ('integer') failed - got '%s'", r.PathValue("vmid"))
	}
	found := c.vms[id]
	if found == nil || found.host != r.PathValue("node") {
		// Who may not know of it hears that first.
		if err := r.some(c, vmPath(id), "VM.Audit", "VM.Allocate", "VM.PowerMgmt", "VM.Config.Options"); err != nil {
			return nil, err
		}
		return nil, failure("Configuration file 'nodes/%s/qemu-server/%d.conf' does not exist", r.PathValue("node"), id)
	}
	return found, nil
}

// vmWith is the same, for who has all of these privileges.
func (c *Cluster) vmWith(r *call, privileges ...string) (*vm, error) {
	found, err := c.vm(r)
	if err != nil {
		return nil, err
	}
	return found, r.onVM(c, found.id, found.pool, privileges...)
}

// unlocked refuses what cannot be done while something else goes on.
func (m *vm) unlocked() error {
	if m.lock != "" {
		return failure("VM is locked (%s)", m.lock)
	}
	return nil
}

// number reads a value of the config, or gives another one.
func (m *vm) number(key string, otherwise int) int {
	// Memory may be a list of properties, of which "current" goes without a key.
	value, err := strconv.Atoi(parseProperties(m.config[key], "current")["current"])
	if err != nil {
		return otherwise
	}
	return value
}

func (m *vm) cpus() int      { return m.number("cores", 1) * m.number("sockets", 1) }
func (m *vm) memoryMiB() int { return m.number("memory", 512) }

// uses says whether a disk of the machine is on the volume.
func (m *vm) uses(v *volume) bool {
	for _, drive := range m.drives() {
		if drive.properties["file"] == v.id {
			return true
		}
	}
	return false
}

func (c *Cluster) vmRoutes() map[string]handler {
	return map[string]handler{
		"GET /nodes/{node}/qemu":                         c.listVMs,
		"POST /nodes/{node}/qemu":                        c.createVM,
		"GET /nodes/{node}/qemu/{vmid}/config":           c.getConfig,
		"PUT /nodes/{node}/qemu/{vmid}/config":           c.putConfig,
		"POST /nodes/{node}/qemu/{vmid}/config":          c.postConfig,
		"GET /nodes/{node}/qemu/{vmid}/pending":          c.getPending,
		"PUT /nodes/{node}/qemu/{vmid}/cloudinit":        c.rebuildCloudInit,
		"PUT /nodes/{node}/qemu/{vmid}/resize":           c.resize,
		"GET /nodes/{node}/qemu/{vmid}/status/current":   c.getStatus,
		"DELETE /nodes/{node}/qemu/{vmid}":               c.deleteVM,
		"GET /nodes/{node}/qemu/{vmid}/snapshot":         c.listSnapshots,
		"GET /nodes/{node}/qemu/{vmid}/firewall/options": c.firewallOptions,
		"GET /nodes/{node}/qemu/{vmid}/firewall/rules":   c.noFirewallRules,
	}
}

func (c *Cluster) listVMs(r *call) (any, error) {
	views := []map[string]any{}
	for _, one := range c.sortedVMs() {
		if one.host == r.PathValue("node") && r.onVM(c, one.id, one.pool, "VM.Audit") == nil {
			views = append(views, c.viewVM(one))
		}
	}
	return views, nil
}

// viewVM is what lists and the status show.
func (c *Cluster) viewVM(m *vm) map[string]any {
	view := map[string]any{
		"vmid": m.id, "name": m.name(), "status": c.stateOf(m), "cpus": m.cpus(), "maxmem": m.memoryMiB() << 20, "maxdisk": c.bootBytes(m),
		"mem": 0, "cpu": 0, "disk": 0, "uptime": 0, "netin": 0, "netout": 0, "diskread": 0, "diskwrite": 0,
	}
	if tags := m.config["tags"]; tags != "" {
		view["tags"] = tags
	}
	if m.lock != "" {
		view["lock"] = m.lock
	}
	if m.powered() {
		view["uptime"], view["mem"], view["pid"] = int(time.Since(m.started).Seconds()), m.memoryMiB()<<19, 1000+m.id
	}
	return view
}

func (m *vm) name() string { return cmp.Or(m.config["name"], fmt.Sprintf("VM %d", m.id)) }

func (c *Cluster) getStatus(r *call) (any, error) {
	found, err := c.vmWith(r, "VM.Audit")
	if err != nil {
		return nil, err
	}
	view := c.viewVM(found)
	view["ha"], view["qmpstatus"] = map[string]any{"managed": 0}, view["status"]
	if found.agentEnabled() {
		view["agent"] = 1
	}
	if found.powered() {
		view["running-machine"], view["running-qemu"] = "pc-q35-10.1+pve0", "10.1.2"
	}
	return view, nil
}

// numbers are the keys of a config that are shown as numbers.
var numbers = regexp.MustCompile(`^(acpi|autostart|balloon|ciupgrade|cores|cpulimit|cpuunits|freeze|keephugepages|kvm|localtime|migrate_downtime|migrate_speed|numa|onboot|protection|reboot|shares|sockets|tablet|tdf|template|vcpus)$`)

// typed is a value as the API shows it.
func typed(key, value string) any {
	if number, err := strconv.Atoi(value); err == nil && numbers.MatchString(key) {
		return number
	}
	return value
}

// getConfig shows what the machine gets when it next starts, unless the current
// one is asked for.
func (c *Cluster) getConfig(r *call) (any, error) {
	found, err := c.vmWith(r, "VM.Audit")
	if err != nil {
		return nil, err
	}
	config := found.config
	if !r.params.flag("current") {
		config = found.next()
	}
	view := map[string]any{"digest": found.digest()}
	for key, value := range config {
		view[key] = typed(key, value)
	}
	if found.lock != "" {
		view["lock"] = found.lock
	}
	return view, nil
}

// next is the config with what is pending.
func (m *vm) next() map[string]string {
	config := maps.Clone(m.config)
	for key, value := range m.pending {
		if value == "" {
			delete(config, key)
		} else {
			config[key] = value
		}
	}
	return config
}

// digest tells whether a config is the one that somebody read.
func (m *vm) digest() string {
	var text strings.Builder
	for _, config := range []map[string]string{m.config, m.pending} {
		for _, key := range slices.Sorted(maps.Keys(config)) {
			fmt.Fprintf(&text, "%s: %s\n", key, config[key])
		}
		text.WriteString("[PENDING]\n")
	}
	return digestOf(text.String())
}

func digestOf(text string) string {
	sum := sha1.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

func (c *Cluster) getPending(r *call) (any, error) {
	found, err := c.vmWith(r, "VM.Audit")
	if err != nil {
		return nil, err
	}
	keys := slices.Collect(maps.Keys(found.config))
	for key := range found.pending {
		if _, has := found.config[key]; !has {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	views := []map[string]any{}
	for _, key := range keys {
		view := map[string]any{"key": key}
		if value, has := found.config[key]; has {
			view["value"] = typed(key, value)
		}
		if value, waits := found.pending[key]; waits && value == "" {
			view["delete"] = 1
		} else if waits {
			view["pending"] = typed(key, value)
		}
		views = append(views, view)
	}
	return views, nil
}

// listSnapshots has the present state only: there are no snapshots here.
func (c *Cluster) listSnapshots(r *call) (any, error) {
	found, err := c.vmWith(r, "VM.Audit")
	if err != nil {
		return nil, err
	}
	return []map[string]any{{"name": "current", "description": "You are here!", "digest": found.digest(), "running": found.powered()}}, nil
}

// firewallOptions are those of a machine for which nobody set any.
func (c *Cluster) firewallOptions(r *call) (any, error) {
	_, err := c.vmWith(r, "VM.Audit")
	return map[string]any{"digest": digestOf("")}, err
}

func (c *Cluster) noFirewallRules(r *call) (any, error) {
	_, err := c.vmWith(r, "VM.Audit")
	return []any{}, err
}
