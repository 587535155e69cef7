// Package resources is the resources of one boot of a node, as Talos' own controllers use them, and controllers that simulate those which would touch a real
// host.
package resources

import (
	"context"
	"fmt"
	"sync"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/talos/internal/app/machined/pkg/runtime/v1alpha2"
	"github.com/siderolabs/talos/pkg/machinery/resources/runtime"
)

// New is the state of one boot, with the namespaces and definitions of the real
// machined, or of one of 1.12. Observe is called for every machine status in the moment that clients
// see it; the state is locked, so it must not use the state.
func New(ctx context.Context, is112 bool, observe func(runtime.MachineStatusSpec)) (*Resources, error) {
	inner, err := v1alpha2.NewState()
	if err != nil {
		return nil, fmt.Errorf("a state for the resources: %w", err)
	}
	if is112 {
		if err := define112(ctx, inner.Resources()); err != nil {
			return nil, fmt.Errorf("the types of Talos 1.12: %w", err)
		}
	}
	r := &Resources{CoreState: inner.Resources(), ctx: ctx, observe: observe, watched: map[kind]chan<- []state.Event{}, more: make(chan struct{}, 1)}
	r.State = state.WrapCore(r)
	return r, nil
}

type kind struct {
	namespace resource.Namespace
	typ       resource.Type
}

// Resources is a state that notifies the controllers of writes by itself: with one watch per controller, a hundred nodes would have ten thousand goroutines.
type Resources struct {
	state.CoreState
	State state.State

	ctx     context.Context
	observe func(runtime.MachineStatusSpec)
	more    chan struct{}

	mu      sync.Mutex
	watched map[kind]chan<- []state.Event
	queue   []state.Event
}

// Create implements state.CoreState.
func (r *Resources) Create(ctx context.Context, created resource.Resource, opts ...state.CreateOption) error {
	return r.write(state.Created, created, func() error { return r.CoreState.Create(ctx, created, opts...) })
}

// Update implements state.CoreState.
func (r *Resources) Update(ctx context.Context, updated resource.Resource, opts ...state.UpdateOption) error {
	return r.write(state.Updated, updated, func() error { return r.CoreState.Update(ctx, updated, opts...) })
}

// Destroy implements state.CoreState.
func (r *Resources) Destroy(ctx context.Context, at resource.Pointer, opts ...state.DestroyOption) error {
	gone := resource.NewTombstone(resource.NewMetadata(at.Namespace(), at.Type(), at.ID(), resource.VersionUndefined))
	return r.write(state.Destroyed, gone, func() error { return r.CoreState.Destroy(ctx, at, opts...) })
}

// write keeps the notifications in the order of the writes.
func (r *Resources) write(what state.EventType, about resource.Resource, do func() error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := do(); err != nil {
		return err
	}
	metadata := about.Metadata()
	if _, watched := r.watched[kind{metadata.Namespace(), metadata.Type()}]; watched {
		r.queue = append(r.queue, state.Event{Type: what, Resource: header{metadata.Copy()}})
		select {
		case r.more <- struct{}{}:
		default:
		}
	}
	if status, is := about.(*runtime.MachineStatus); is {
		r.observe(*status.TypedSpec())
	}
	return nil
}

// WatchKindAggregated is called by the controller runtime; it keeps the channel for all kinds. API clients use the watches of the inner state.
func (r *Resources) WatchKindAggregated(_ context.Context, of resource.Kind, to chan<- []state.Event, _ ...state.WatchKindOption) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watched[kind{of.Namespace(), of.Type()}] = to
	return nil
}

// Notify notifies the controller runtime of writes until the boot ends.
func (r *Resources) Notify() {
	for {
		select {
		case <-r.ctx.Done():
			return
		case <-r.more:
		}
		r.mu.Lock()
		queue := r.queue
		r.queue = nil
		by := map[chan<- []state.Event][]state.Event{}
		for _, event := range queue {
			metadata := event.Resource.Metadata()
			to := r.watched[kind{metadata.Namespace(), metadata.Type()}]
			by[to] = append(by[to], event)
		}
		r.mu.Unlock()
		for to, events := range by {
			select {
			case to <- events:
			case <-r.ctx.Done():
				return
			}
		}
	}
}

// header is a resource without its spec: the controller runtime reads no more.
type header struct{ metadata resource.Metadata }

func (h header) Metadata() *resource.Metadata { return &h.metadata }
func (h header) Spec() any                    { return nil }
func (h header) DeepCopy() resource.Resource  { return header{h.metadata.Copy()} }

// Put creates or changes a resource, in the name of a controller.
func Put[R resource.Resource](ctx context.Context, in state.State, owner string, empty R, change func(R)) error {
	_, err := in.ModifyWithResult(ctx, empty, func(r resource.Resource) error {
		change(r.(R))
		return nil
	}, state.WithUpdateOwner(owner))
	if err != nil {
		return fmt.Errorf("%s %s: %w", empty.Metadata().Type(), empty.Metadata().ID(), err)
	}
	return nil
}

// Drop removes a resource if it exists.
func Drop(ctx context.Context, in state.State, owner string, at resource.Pointer) error {
	if err := in.Destroy(ctx, at, state.WithDestroyOwner(owner)); err != nil && !state.IsNotFoundError(err) {
		return fmt.Errorf("%s %s: %w", at.Type(), at.ID(), err)
	}
	return nil
}
