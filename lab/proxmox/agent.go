package proxmox

import (
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
)

// talkative is a box whose operating system answers through a guest agent, if
// one runs in it.
type talkative interface {
	Guest() (machine.Guest, bool)
}

// agentEnabled says that the config promises an agent.
func (m *vm) agentEnabled() bool {
	return isTrue(parseProperties(m.config["agent"], "enabled")["enabled"])
}

// guest is what the agent says, while one answers.
func (m *vm) guest() (machine.Guest, bool) {
	box, can := m.box.(talkative)
	if !can || !m.agent {
		return machine.Guest{}, false
	}
	return box.Guest()
}

func (c *Cluster) agentRoutes() map[string]handler {
	const at = " /nodes/{node}/qemu/{vmid}/agent/"
	return map[string]handler{
		"POST" + at + "ping":                  c.askAgent(func(machine.Guest) any { return map[string]any{} }),
		"GET" + at + "network-get-interfaces": c.askAgent(viewInterfaces),
		"GET" + at + "get-host-name":          c.askAgent(func(g machine.Guest) any { return map[string]any{"host-name": g.Hostname} }),
		"GET" + at + "info":                   c.askAgent(func(machine.Guest) any { return map[string]any{"version": "10.2.0", "supported_commands": []any{}} }),
		"GET" + at + "get-osinfo": c.askAgent(func(g machine.Guest) any {
			return map[string]any{"id": "talos", "name": "Talos", "version-id": "v" + g.Talos}
		}),
	}
}

// askAgent makes the handler of a question to the agent.
func (c *Cluster) askAgent(view func(machine.Guest) any) handler {
	return func(r *call) (any, error) {
		m, err := c.vmWith(r, "VM.GuestAgent.Audit")
		if err != nil {
			return nil, err
		}
		switch {
		case !m.powered():
			return nil, failure("VM %d is not running", m.id)
		case !m.agent:
			return nil, failure("No QEMU guest agent configured")
		}
		said, answers := m.guest()
		if !answers {
			return nil, failure("QEMU guest agent is not running")
		}
		return map[string]any{"result": view(said)}, nil
	}
}

func viewInterfaces(g machine.Guest) any {
	views := []map[string]any{}
	for _, link := range g.Links {
		addresses := []map[string]any{}
		for _, addr := range link.Addresses {
			kind := "ipv4"
			if addr.Addr().Is6() {
				kind = "ipv6"
			}
			addresses = append(addresses, map[string]any{"ip-address": addr.Addr().String(), "ip-address-type": kind, "prefix": addr.Bits()})
		}
		view := map[string]any{"name": link.Name, "hardware-address": link.MAC, "statistics": map[string]any{
			"rx-bytes": 0, "rx-packets": 0, "rx-errs": 0, "rx-dropped": 0, "tx-bytes": 0, "tx-packets": 0, "tx-errs": 0, "tx-dropped": 0,
		}}
		if len(addresses) > 0 {
			view["ip-addresses"] = addresses
		}
		views = append(views, view)
	}
	return views
}
