package lifecycle

import (
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/api"
)

// agent asks the guest agents of virtual machines.
type agent struct{ *Parts }

func (a *agent) routes() api.Routes {
	const at = " /nodes/{node}/qemu/{vmid}/agent/"
	return api.Routes{
		"POST" + at + "ping":                  a.ask(func(machine.Guest) any { return map[string]any{} }),
		"GET" + at + "network-get-interfaces": a.ask(viewInterfaces),
		"GET" + at + "get-host-name":          a.ask(func(g machine.Guest) any { return map[string]any{"host-name": g.Hostname} }),
		"GET" + at + "info":                   a.ask(func(machine.Guest) any { return map[string]any{"version": "10.2.0", "supported_commands": []any{}} }),
		"GET" + at + "get-osinfo": a.ask(func(g machine.Guest) any {
			return map[string]any{"id": "talos", "name": "Talos", "version-id": "v" + g.Talos}
		}),
	}
}

// ask returns the handler of a question to a guest agent.
func (a *agent) ask(view func(machine.Guest) any) api.Handler {
	return func(r *api.Call) (any, error) {
		m, err := a.VMs.FindWith(r, "VM.GuestAgent.Audit")
		if err != nil {
			return nil, err
		}
		switch {
		case !m.Powered():
			return nil, api.Failure("VM %d is not running", m.ID)
		case !m.HasAgent():
			return nil, api.Failure("No QEMU guest agent configured")
		}
		answer, answers := m.Guest()
		if !answers {
			return nil, api.Failure("QEMU guest agent is not running")
		}
		return map[string]any{"result": view(answer)}, nil
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
