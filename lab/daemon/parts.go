// Package daemon runs a lab in the background: it starts it in namespaces of its
// own, knows whether it lives, runs commands in it and ends it.
package daemon

import (
	"context"
	"log/slog"
	"net"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/control"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/dhcp"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/network"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// Parts is what a lab is composed of.
type Parts struct {
	// Dir is the lab's own, for what it must keep in files. It begins empty and
	// ends with the lab.
	Dir      string
	Config   Config
	Network  network.Network
	Timeline *timeline.Timeline
	Pace     *pace.Pace
	Faults   *fault.Set
	// KubernetesAddress is the address on the host's loopback that leads to
	// Lab.DialKubernetes.
	KubernetesAddress string
	// Progress tells whoever waits for the lab what it does.
	Progress func(step string)
	Log      *slog.Logger
}

// Compose puts a lab together. It returns when the lab can be used; the context
// is that of the lab's life.
type Compose func(ctx context.Context, parts Parts) (Lab, error)

// Lab is a lab that runs.
type Lab interface {
	// Status says how it is, as something that becomes JSON.
	Status() any
	// Kubeconfig is that of the first cluster, for programs on the host.
	Kubeconfig() ([]byte, error)
	// Leases are what the DHCP servers in it gave away.
	Leases() []dhcp.Lease
	// Machines are those that no cloud has.
	Machines() control.Machines
	// Env is what commands in the lab find in their environment.
	Env() map[string]string
	// DialKubernetes connects to the API server of the first cluster.
	DialKubernetes(ctx context.Context) (net.Conn, error)
	// Close ends everything in order, and at once when the context ends.
	Close(ctx context.Context) error
}
