package talosapi

import (
	"context"
	"time"

	"github.com/cosi-project/runtime/pkg/state"

	v1alpha1server "github.com/siderolabs/talos/internal/app/machined/internal/server/v1alpha1"
	"github.com/siderolabs/talos/internal/app/machined/pkg/runtime"
	v1alpha1runtime "github.com/siderolabs/talos/internal/app/machined/pkg/runtime/v1alpha1"
	"github.com/siderolabs/talos/pkg/machinery/config"
)

// official lets Talos' own code decide some calls for a node of the lab. It replaces machined's controller; methods that the code does not use in these calls
// are nil. Nothing is carried out here: the decision is recorded for the caller.
type official struct {
	runtime.Controller
	runtime *officialRuntime
	server  *v1alpha1server.Server
}

// officialRuntime is Talos' own runtime, except for what would change the node.
type officialRuntime struct {
	*v1alpha1runtime.Runtime
	neverReboots bool
	decided      decision
}

// decision is the result of an accepted config.
type decision struct {
	config      config.Provider
	revertAfter time.Duration
}

func newOfficial(n *node) *official {
	o := &official{runtime: &officialRuntime{Runtime: v1alpha1runtime.NewRuntime(officialState{n}, nil, nil), neverReboots: n.neverReboots}}
	o.server = &v1alpha1server.Server{Controller: o}
	return o
}

// Runtime returns the runtime.
func (o *official) Runtime() runtime.Runtime { return o.runtime }

// Run is called for the reboot after a config. It does nothing: the answer also contains that a reboot is needed, and the caller reboots.
func (o *official) Run(context.Context, runtime.Sequence, any, ...runtime.LockOption) error {
	return nil
}

// CanApplyImmediate returns why a change needs a reboot. The code is that of 1.13; 1.14 has no such function any more.
func (r *officialRuntime) CanApplyImmediate(cfg config.Provider) error {
	if r.neverReboots {
		return nil
	}
	return r.Runtime.CanApplyImmediate(cfg)
}

// RollbackToConfigAfter records when to revert.
func (r *officialRuntime) RollbackToConfigAfter(after time.Duration) error {
	r.decided.revertAfter = after
	return nil
}

// SetConfig records the config.
func (r *officialRuntime) SetConfig(cfg config.Provider) error {
	r.decided.config = cfg
	return nil
}

// SetPersistedConfig records the config.
func (r *officialRuntime) SetPersistedConfig(cfg config.Provider) error {
	r.decided.config = cfg
	return nil
}

// officialState presents a node as machined's state.
type officialState struct{ node *node }

func (s officialState) Platform() runtime.Platform      { return officialPlatform{node: s.node} }
func (s officialState) Machine() runtime.MachineState   { return officialMachine{node: s.node} }
func (s officialState) Cluster() runtime.ClusterState   { return nil }
func (s officialState) V1Alpha2() runtime.V1Alpha2State { return officialResources{node: s.node} }

type officialPlatform struct {
	runtime.Platform
	node *node
}

func (p officialPlatform) Name() string       { return p.node.Platform() }
func (p officialPlatform) Mode() runtime.Mode { return p.node.mode() }

type officialMachine struct {
	runtime.MachineState
	node *node
}

func (m officialMachine) Installed() bool { return m.node.Installed() }

type officialResources struct {
	runtime.V1Alpha2State
	node *node
}

func (r officialResources) Resources() state.State { return r.node.Resources() }

func (r officialResources) GetConfig(context.Context) (config.Provider, error) {
	return r.node.Config(), nil
}
