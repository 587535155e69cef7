// Package vm is the virtual machines of a cluster: the configuration of each, the hardware that follows from it, and the machine that runs with it.
package vm

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/storage"
)

// VM is a virtual machine.
type VM struct {
	ID   int
	Host string
	Pool string
	// Machine is the name of its machine in the lab. It stays when the VM is renamed.
	Machine string
	// Config is its configuration, by key. Pending are the changes at the next start; an empty value removes the key.
	Config, Pending map[string]string
	// Lock is the operation that has locked it, such as "create".
	Lock string
	// Started is when it was last started.
	Started time.Time

	// box is the machine, and disk the one from which it booted last; nil before the first start.
	box  machine.Box
	disk *storage.Volume
	// nics are those of the box.
	nics []machine.NIC
	// agent means that it was started with the device for the guest agent.
	agent    bool
	recorded string // the last state on the timeline
}

// New returns a virtual machine without a configuration.
func New(id int, host, pool string) *VM {
	return &VM{ID: id, Host: host, Pool: pool, Config: map[string]string{}, Pending: map[string]string{}}
}

// Name returns its name as lists show it.
func (m *VM) Name() string { return cmp.Or(m.Config["name"], fmt.Sprintf("VM %d", m.ID)) }

// Powered reports whether it is on.
func (m *VM) Powered() bool { return m.box != nil && m.box.Powered() }

// Unlocked returns an error if an operation has locked it.
func (m *VM) Unlocked() error {
	if m.Lock != "" {
		return api.Failure("VM is locked (%s)", m.Lock)
	}
	return nil
}

// number returns a value of the configuration, or another one.
func (m *VM) number(key string, otherwise int) int {
	// Memory may be a list of properties, of which "current" has no key.
	value, err := strconv.Atoi(api.ParseProperties(m.Config[key], "current")["current"])
	if err != nil {
		return otherwise
	}
	return value
}

// CPUs returns how many CPUs it has.
func (m *VM) CPUs() int { return m.number("cores", 1) * m.number("sockets", 1) }

// MemoryMiB returns its memory.
func (m *VM) MemoryMiB() int { return m.number("memory", 512) }

// Usage returns the uptime of a virtual machine that is on, and the memory that it uses.
func (m *VM) Usage() (uptimeSeconds, memoryBytes int) {
	return int(time.Since(m.Started).Seconds()), m.MemoryMiB() << 19
}

// StartOrder returns its place among those that start with a host; those without one are last.
func (m *VM) StartOrder() int {
	order, err := strconv.Atoi(api.ParseProperties(m.Config["startup"], "order")["order"])
	if err != nil {
		return math.MaxInt
	}
	return order
}

// Next returns the configuration with what is pending.
func (m *VM) Next() map[string]string {
	config := maps.Clone(m.Config)
	for key, value := range m.Pending {
		if value == "" {
			delete(config, key)
		} else {
			config[key] = value
		}
	}
	return config
}

// Digest identifies the configuration.
func (m *VM) Digest() string {
	var text strings.Builder
	for _, config := range []map[string]string{m.Config, m.Pending} {
		for _, key := range slices.Sorted(maps.Keys(config)) {
			fmt.Fprintf(&text, "%s: %s\n", key, config[key])
		}
		text.WriteString("[PENDING]\n")
	}
	return api.Digest(text.String())
}

// AgentEnabled reports whether the configuration promises a guest agent.
func (m *VM) AgentEnabled() bool {
	return api.IsTrue(api.ParseProperties(m.Config["agent"], "enabled")["enabled"])
}
