package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/boot"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

// eventsKept is the number of events of a service that are kept.
const eventsKept = 64

// errStopped is the reason of a start that ends because the service is stopped, in Talos' words.
var errStopped = errors.New("context canceled")

// Services are the services of one boot.
type Services struct {
	boot *boot.Boot
	// kind returns the kind of the service with an id on this node.
	kind func(id string) Kind

	mu   sync.Mutex
	byID map[string]*service
	// optional are those for which the boot does not wait.
	optional map[string]bool
	changed  chan struct{}
	closed   bool
}

// New returns a boot in which no service has started.
func New(of *boot.Boot, kind func(id string) Kind) *Services {
	return &Services{boot: of, kind: kind, byID: map[string]*service{}, optional: map[string]bool{}, changed: make(chan struct{})}
}

// IDs returns the ids of the services that were ever started.
func (s *Services) IDs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.byID))
}

// Start starts a service, unless it runs. It returns at once, while the service is starting.
func (s *Services) Start(id string) {
	if svc := s.start(id); svc != nil {
		<-svc.starting
	}
}

// start returns the service unless it already runs.
func (s *Services) start(id string) *service {
	kind := s.kind(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if running := s.byID[id]; s.closed || running != nil && !running.isDown() {
		return nil
	}
	ctx, cancel := context.WithCancelCause(s.boot.Ctx)
	svc := &service{Kind: kind, id: id, host: s.boot.Host(), cancel: cancel, starting: make(chan struct{}), started: make(chan struct{}), down: make(chan struct{})}
	if before := s.byID[id]; before != nil {
		svc.events = before.events
	}
	s.byID[id] = svc
	s.boot.Spawn(func(context.Context) {
		defer close(svc.started)
		s.update(svc, machineapi.ServiceStateEvent_STARTING, "Starting service", nil)
		close(svc.starting)
		s.run(ctx, svc)
	})
	return svc
}

// run starts the service, and again after each failure that is not final. It returns once the service is up.
func (s *Services) run(ctx context.Context, svc *service) {
	for {
		err := s.bringUp(ctx, svc)
		if err == nil || ctx.Err() != nil {
			svc.cut = err
			return
		}
		if exit := (*boot.ExitError)(nil); errors.As(err, &exit) {
			s.update(svc, machineapi.ServiceStateEvent_WAITING, fmt.Sprintf("Error running Containerd(%s), going to restart forever: %v", svc.id, exit), nil)
		} else {
			s.update(svc, machineapi.ServiceStateEvent_FAILED, failure(err), nil)
		}
		if errors.As(err, new(*boot.FinalError)) {
			return
		}
		if s.boot.Wait(ctx, pace.Retry) != nil {
			return
		}
		s.update(svc, machineapi.ServiceStateEvent_STARTING, "Starting service", nil)
	}
}

func (s *Services) bringUp(ctx context.Context, svc *service) error {
	if waits := svc.waitsFor(); waits != "" {
		s.update(svc, machineapi.ServiceStateEvent_WAITING, "Waiting for "+waits, nil)
	}
	for _, other := range svc.After {
		if err := s.Await(ctx, other); err != nil {
			return err
		}
	}
	if svc.Condition != nil {
		if err := svc.Condition(ctx); err != nil {
			return fmt.Errorf("condition failed: %w", err)
		}
	}
	s.update(svc, machineapi.ServiceStateEvent_PREPARING, "Running pre state", nil)
	if err := s.boot.Meet(ctx, fault.Service, svc.id); err != nil {
		return fmt.Errorf("failed to run pre stage: %w", err)
	}
	if svc.Prepare != nil {
		if err := svc.Prepare(ctx); err != nil {
			return fmt.Errorf("failed to run pre stage: %w", err)
		}
	}
	s.update(svc, machineapi.ServiceStateEvent_PREPARING, "Creating service runner", nil)
	unknown := &machineapi.ServiceHealth{Unknown: true, LastChange: timestamppb.Now()}
	s.update(svc, machineapi.ServiceStateEvent_RUNNING, svc.startedMessage(), unknown)
	if svc.Run != nil {
		if err := svc.Run(ctx); err != nil {
			return fmt.Errorf("failed running service: %w", err)
		}
	}
	if svc.Unchecked {
		return nil
	}
	if err := s.boot.Wait(ctx, pace.Service); err != nil {
		return err
	}
	s.update(svc, machineapi.ServiceStateEvent_RUNNING, "Health check successful",
		&machineapi.ServiceHealth{Healthy: true, LastChange: timestamppb.Now()})
	return nil
}

// Await returns when the service is up, or optional.
func (s *Services) Await(ctx context.Context, id string) error {
	for {
		s.mu.Lock()
		svc, changed := s.byID[id], s.changed
		up := svc != nil && (svc.up() || s.optional[id])
		s.mu.Unlock()
		if up {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Stop stops services in that order, and waits until each is down. The services stop even if the caller does not wait.
func (s *Services) Stop(ctx context.Context, ids ...string) error {
	for _, id := range ids {
		svc := s.stop(id)
		if svc == nil {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		select {
		case <-svc.down:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// stop stops a service, unless it is already stopping. It returns nil if there is nothing to wait for.
func (s *Services) stop(id string) *service {
	s.mu.Lock()
	defer s.mu.Unlock()
	svc := s.byID[id]
	if svc == nil || s.closed {
		return nil
	}
	if svc.cancel == nil {
		return svc
	}
	svc.cancel(errStopped)
	svc.cancel = nil
	s.boot.Spawn(func(ctx context.Context) {
		defer close(svc.down)
		<-svc.started
		if ctx.Err() == nil {
			s.end(svc)
		}
	})
	return svc
}

// end ends a service whose goroutine has ended.
func (s *Services) end(svc *service) {
	s.mu.Lock()
	ran := svc.state == machineapi.ServiceStateEvent_RUNNING
	s.mu.Unlock()
	if ran {
		s.update(svc, machineapi.ServiceStateEvent_STOPPING, "Sending SIGTERM to "+svc.task(), nil)
	}
	if svc.End != nil {
		svc.End()
	}
	if !ran && svc.cut != nil && !s.boot.Version.FinishesCleanly() {
		s.update(svc, machineapi.ServiceStateEvent_FAILED, failure(svc.cut), nil)
		return
	}
	s.update(svc, machineapi.ServiceStateEvent_FINISHED, "Service finished successfully", nil)
}

// MakeOptional lets the boot continue without the service, as a bootstrap does with etcd.
func (s *Services) MakeOptional(id string) {
	s.mu.Lock()
	svc := s.byID[id]
	s.optional[id] = true
	s.mu.Unlock()
	if svc != nil {
		s.update(svc, machineapi.ServiceStateEvent_FINISHED, "Bootstrap requested", nil)
	}
}

// Unload forgets a service that is down, with its events.
func (s *Services) Unload(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byID, id)
}

// IsRunning reports whether the service was started and not stopped, whatever its state.
func (s *Services) IsRunning(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	svc := s.byID[id]
	return svc != nil && !svc.isDown()
}

// Close prevents further services from starting.
func (s *Services) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}

// IsUp reports whether the service is up.
func (s *Services) IsUp(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	svc := s.byID[id]
	return svc != nil && svc.up()
}

// List describes the services, by id.
func (s *Services) List() []*machineapi.ServiceInfo {
	infos := []*machineapi.ServiceInfo{}
	for _, id := range s.IDs() {
		s.mu.Lock()
		svc := s.byID[id]
		infos = append(infos, &machineapi.ServiceInfo{
			Id: svc.id, State: stateName(svc.state), Health: svc.health,
			Events: &machineapi.ServiceEvents{Events: slices.Clone(svc.events)},
		})
		s.mu.Unlock()
	}
	return infos
}
