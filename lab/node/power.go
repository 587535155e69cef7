package node

import (
	"context"
	"slices"
	"strings"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
)

// watchPower lets the power fail while the node runs, whenever a rule asks for
// it.
func (n *node) watchPower(ctx context.Context) {
	for {
		some, changed := n.Faults.Has(fault.Machine)
		if some && n.meet(ctx, fault.Machine, "power") != nil {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// Status is how a machine is.
type Status struct {
	Name    string   `json:"name"`
	UUID    string   `json:"uuid"`
	MACs    []string `json:"macs,omitempty"`
	Powered bool     `json:"powered"`
	// Talos is the version that runs, and Stage where it is; none while it does
	// not run.
	Talos     string   `json:"talos,omitempty"`
	Stage     string   `json:"stage,omitempty"`
	Ready     bool     `json:"ready"`
	Addresses []string `json:"addresses,omitempty"`
}

// Machines are all that there are, by name.
func (m *Maker) Machines() []Status {
	m.mu.Lock()
	boxes := make([]*box, 0, len(m.boxes))
	for _, b := range m.boxes {
		boxes = append(boxes, b)
	}
	m.mu.Unlock()
	statuses := make([]Status, 0, len(boxes))
	for _, b := range boxes {
		statuses = append(statuses, b.status())
	}
	slices.SortFunc(statuses, func(a, b Status) int { return strings.Compare(a.Name, b.Name) })
	return statuses
}

func (b *box) status() Status {
	status := Status{Name: b.spec.Name, UUID: b.spec.UUID, Powered: b.Powered()}
	for _, nic := range b.wiring() {
		status.MACs = append(status.MACs, nic.MAC)
	}
	if n := b.running(); n != nil {
		status.Talos = n.Version()
		n.mu.Lock()
		status.Stage, status.Ready = n.stage.String(), n.ready
		n.mu.Unlock()
		for _, addr := range n.Addresses() {
			status.Addresses = append(status.Addresses, addr.String())
		}
	}
	return status
}
