// Package daemon runs a lab in the background: it starts the lab in its own namespaces, checks whether it runs, runs commands in it and ends it.
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
	// Dir is a folder for the lab's own files. It is empty at first and removed with the lab.
	Dir      string
	Config   Config
	Network  network.Network
	Timeline *timeline.Timeline
	Pace     *pace.Pace
	Faults   *fault.Set
	// KubernetesAddress is the address on the host's loopback that leads to Lab.DialKubernetes.
	KubernetesAddress string
	// Progress reports a step to the command that waits for the lab.
	Progress func(step string)
	Log      *slog.Logger
}

// Compose puts a lab together. It returns when the lab can be used; the context ends with the lab.
type Compose func(ctx context.Context, parts Parts) (Lab, error)

// Lab is a running lab.
type Lab interface {
	// Status returns its state, to be encoded as JSON.
	Status() any
	// Kubeconfig returns that of the first cluster, for programs on the host.
	Kubeconfig() ([]byte, error)
	// Leases returns those of its DHCP servers.
	Leases() []dhcp.Lease
	// Machines returns the existing machines, which no platform created.
	Machines() control.Machines
	// Env returns the environment of commands in the lab.
	Env() map[string]string
	// DialKubernetes connects to the API server of the first cluster.
	DialKubernetes(ctx context.Context) (net.Conn, error)
	// Close ends everything in order, and at once when the context ends.
	Close(ctx context.Context) error
}
