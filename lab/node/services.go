package node

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

// serviceEventsKept is how many events a service remembers.
const serviceEventsKept = 64

// errStopped is how the start of a service ends that is stopped meanwhile.
var errStopped = errors.New("the service is stopped")

// service is one of machined's services.
type service struct {
	kindOfService
	state   machineapi.ServiceStateEvent_Action
	events  []*machineapi.ServiceEvent
	health  *machineapi.ServiceHealth
	cancel  context.CancelCauseFunc
	stopped chan struct{} // closed when its goroutine has ended
	unblock bool          // the boot need not wait for it
}

// services are those of one boot, by id.
type services struct {
	node *node

	mu      sync.Mutex
	byID    map[string]*service
	changed chan struct{}
	closed  bool
}

func newServices(n *node) *services {
	return &services{node: n, byID: map[string]*service{}, changed: make(chan struct{})}
}

func (s *services) ids() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := make([]string, 0, len(s.byID))
	for id := range s.byID {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	return ids
}

// start brings a service up on its own; one that is up stays.
func (s *services) start(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if running := s.byID[id]; s.closed || running != nil && running.cancel != nil {
		return
	}
	ctx, cancel := context.WithCancelCause(s.node.ctx)
	svc := &service{kindOfService: s.node.serviceKind(id), cancel: cancel, stopped: make(chan struct{})}
	if before := s.byID[id]; before != nil {
		svc.events, svc.unblock = before.events, before.unblock
	}
	s.byID[id] = svc
	s.node.work.Add(1)
	go func() {
		defer s.node.work.Done()
		defer close(svc.stopped)
		s.run(ctx, svc)
	}()
}

// run starts the service, again after each failure; it leaves no goroutine once
// the service is up.
func (s *services) run(ctx context.Context, svc *service) {
	for {
		err := s.bringUp(ctx, svc)
		if err == nil || ctx.Err() != nil {
			return
		}
		s.update(svc, machineapi.ServiceStateEvent_FAILED, err.Error(), nil)
		if s.node.Pace.Wait(ctx, pace.Retry, s.node.Host()) != nil {
			return
		}
	}
}

func (s *services) bringUp(ctx context.Context, svc *service) error {
	s.update(svc, machineapi.ServiceStateEvent_STARTING, "Starting service", nil)
	if waits := svc.waitsFor(); waits != "" {
		s.update(svc, machineapi.ServiceStateEvent_WAITING, "Waiting for "+waits, nil)
	}
	for _, other := range svc.after {
		if err := s.await(ctx, other); err != nil {
			return err
		}
	}
	if svc.condition != nil {
		if err := svc.condition(ctx); err != nil {
			return fmt.Errorf("condition failed: %w", err)
		}
	}
	s.update(svc, machineapi.ServiceStateEvent_PREPARING, "Running pre state", nil)
	if err := s.node.meet(ctx, fault.Service, svc.id); err != nil {
		return fmt.Errorf("failed to run pre stage: %w", err)
	}
	if svc.prepare != nil {
		if err := svc.prepare(ctx); err != nil {
			return fmt.Errorf("failed to run pre stage: %w", err)
		}
	}
	s.update(svc, machineapi.ServiceStateEvent_PREPARING, "Creating service runner", nil)
	unknown := &machineapi.ServiceHealth{Unknown: true, LastChange: timestamppb.Now()}
	s.update(svc, machineapi.ServiceStateEvent_RUNNING, svc.startedMessage(), unknown)
	if svc.run != nil {
		if err := svc.run(ctx); err != nil {
			return fmt.Errorf("failed running service: %w", err)
		}
	}
	if svc.unchecked {
		return nil
	}
	if err := s.node.Pace.Wait(ctx, pace.Service, s.node.Host()); err != nil {
		return err
	}
	s.update(svc, machineapi.ServiceStateEvent_RUNNING, "Health check successful",
		&machineapi.ServiceHealth{Healthy: true, LastChange: timestamppb.Now()})
	return nil
}

// update is every change of a service: in its events, in the machine's, in its
// log and on the timeline.
func (s *services) update(svc *service, state machineapi.ServiceStateEvent_Action, message string, health *machineapi.ServiceHealth) {
	s.mu.Lock()
	was, wasHealthy := svc.state, svc.health.GetHealthy()
	svc.state = state
	if state != machineapi.ServiceStateEvent_RUNNING {
		health = &machineapi.ServiceHealth{LastMessage: "service not running", LastChange: timestamppb.Now()}
		if svc.health == nil || svc.health.Unknown {
			health = &machineapi.ServiceHealth{Unknown: true, LastChange: timestamppb.Now()}
		}
	}
	svc.health = health
	svc.events = append(svc.events, &machineapi.ServiceEvent{Msg: message, State: stateName(state), Ts: timestamppb.New(time.Now())})
	if surplus := len(svc.events) - serviceEventsKept; surplus > 0 {
		svc.events = slices.Clone(svc.events[surplus:])
	}
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()

	s.node.logs.talos("service[%s](%s): %s", svc.id, stateName(state), message)
	if state == machineapi.ServiceStateEvent_RUNNING && health.GetUnknown() {
		s.node.logs.greet(svc.id, svc.container)
	}
	s.node.events.Publish(s.node.ctx, &machineapi.ServiceStateEvent{Service: svc.id, Action: state, Message: message, Health: health})
	switch {
	case health.GetHealthy() && !wasHealthy:
		s.node.Timeline.Record(s.node.Host(), "service", "healthy", "id", svc.id)
	case state != was:
		s.node.Timeline.Record(s.node.Host(), "service", stateName(state), "id", svc.id)
	}
}

// await returns when the service is up, or need not be waited for.
func (s *services) await(ctx context.Context, id string) error {
	for {
		s.mu.Lock()
		svc, changed := s.byID[id], s.changed
		up := svc != nil && (svc.up() || svc.unblock)
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

// up is what Talos calls so: it runs, and is healthy if its health is checked.
func (svc *service) up() bool {
	return svc.state == machineapi.ServiceStateEvent_RUNNING && (svc.unchecked || svc.health.GetHealthy())
}

// stop stops services in that order and waits for their ends.
func (s *services) stop(ctx context.Context, ids ...string) error {
	for _, id := range ids {
		s.mu.Lock()
		svc := s.byID[id]
		if svc == nil || svc.cancel == nil {
			s.mu.Unlock()
			continue
		}
		svc.cancel(errStopped)
		svc.cancel = nil
		s.mu.Unlock()
		select {
		case <-svc.stopped:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		s.update(svc, machineapi.ServiceStateEvent_STOPPING, "Sending SIGTERM to "+svc.task(), nil)
		if svc.end != nil {
			svc.end()
		}
		s.update(svc, machineapi.ServiceStateEvent_FINISHED, "Service finished successfully", nil)
	}
	return nil
}

// letPass makes the boot go on without the service, as a bootstrap does with
// etcd.
func (s *services) letPass(id string) {
	s.mu.Lock()
	svc := s.byID[id]
	if svc != nil {
		svc.unblock = true
	}
	s.mu.Unlock()
	if svc != nil {
		s.update(svc, machineapi.ServiceStateEvent_FINISHED, "Bootstrap requested", nil)
	}
}

// close lets no service start any more.
func (s *services) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}

// isUp says whether the service is up.
func (s *services) isUp(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	svc := s.byID[id]
	return svc != nil && svc.up()
}

func (s *services) list() []*machineapi.ServiceInfo {
	infos := []*machineapi.ServiceInfo{}
	for _, id := range s.ids() {
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

// pid is the process of a service: always the same.
func pid(host, id string) int {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(host + "/" + id))
	return 1200 + int(hash.Sum32()%3000)
}

// stateName is how Talos writes a state.
func stateName(state machineapi.ServiceStateEvent_Action) string {
	name := state.String()
	return name[:1] + strings.ToLower(name[1:])
}
