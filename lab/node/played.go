package node

import (
	"context"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"go.uber.org/zap"
)

// played stands in for one of Talos' controllers that would touch the host. It
// has the name of the real one, which owns what it writes.
type played struct {
	name    string
	inputs  []controller.Input
	outputs []controller.Output
	// wake makes it reconcile for what happens outside of the resources.
	wake      bell
	reconcile func(ctx context.Context, r controller.Runtime) error
}

var _ controller.Controller = (*played)(nil)

// Name implements controller.Controller.
func (p *played) Name() string { return p.name }

// Inputs implements controller.Controller.
func (p *played) Inputs() []controller.Input { return p.inputs }

// Outputs implements controller.Controller.
func (p *played) Outputs() []controller.Output { return p.outputs }

// Run implements controller.Controller.
func (p *played) Run(ctx context.Context, r controller.Runtime, _ *zap.Logger) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.EventCh():
		case <-p.wake:
		}
		if err := p.reconcile(ctx, r); err != nil {
			return err
		}
		r.ResetRestartBackoff()
	}
}

// reads is an input of all resources of a type in a namespace.
func reads(namespace resource.Namespace, typ resource.Type) controller.Input {
	return controller.Input{Namespace: namespace, Type: typ, Kind: controller.InputWeak}
}

// writes and shares are outputs, of a type that only it writes and of one that
// others write too.
func writes(typ resource.Type) controller.Output {
	return controller.Output{Type: typ, Kind: controller.OutputExclusive}
}

func shares(typ resource.Type) controller.Output {
	return controller.Output{Type: typ, Kind: controller.OutputShared}
}
