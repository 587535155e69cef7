package resources

import (
	"context"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"go.uber.org/zap"
)

// Simulated replaces a controller of Talos' that would touch the host. It has the name of the real one, which owns what it writes.
type Simulated struct {
	Real   string
	Reads  []controller.Input
	Writes []controller.Output
	// Wake triggers a reconciliation for events outside of the resources.
	Wake      Bell
	Reconcile func(ctx context.Context, r controller.Runtime) error
}

var _ controller.Controller = (*Simulated)(nil)

// Name implements controller.Controller.
func (s *Simulated) Name() string { return s.Real }

// Inputs implements controller.Controller.
func (s *Simulated) Inputs() []controller.Input { return s.Reads }

// Outputs implements controller.Controller.
func (s *Simulated) Outputs() []controller.Output { return s.Writes }

// Run implements controller.Controller.
func (s *Simulated) Run(ctx context.Context, r controller.Runtime, _ *zap.Logger) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.EventCh():
		case <-s.Wake:
		}
		if err := s.Reconcile(ctx, r); err != nil {
			return err
		}
		r.ResetRestartBackoff()
	}
}

// Reads returns an input of all resources of a type in a namespace.
func Reads(namespace resource.Namespace, typ resource.Type) controller.Input {
	return controller.Input{Namespace: namespace, Type: typ, Kind: controller.InputWeak}
}

// Writes returns an output of a type that only this controller writes.
func Writes(typ resource.Type) controller.Output {
	return controller.Output{Type: typ, Kind: controller.OutputExclusive}
}

// Shares returns an output of a type that others write too.
func Shares(typ resource.Type) controller.Output {
	return controller.Output{Type: typ, Kind: controller.OutputShared}
}

// Bell wakes one waiting goroutine. A ring before the wait is not lost.
type Bell chan struct{}

// NewBell returns a bell that has not rung.
func NewBell() Bell { return make(Bell, 1) }

// Ring rings the bell.
func (b Bell) Ring() {
	select {
	case b <- struct{}{}:
	default:
	}
}
