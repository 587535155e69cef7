package service

import (
	"context"
	"maps"
	"slices"

	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

// update changes the state of a service: in its events, in those of the machine, in
// its log and on the timeline.
func (s *Services) update(svc *service, state machineapi.ServiceStateEvent_Action, message string, health *machineapi.ServiceHealth) {
	s.mu.Lock()
	announce := s.set(svc, state, message, health)
	s.mu.Unlock()
	announce()
}

// set changes the state with the lock held, and returns what reports it without.
func (s *Services) set(svc *service, state machineapi.ServiceStateEvent_Action, message string, health *machineapi.ServiceHealth) (announce func()) {
	was, wasHealthy := svc.state, svc.health.GetHealthy()
	svc.state = state
	if state != machineapi.ServiceStateEvent_RUNNING {
		health = &machineapi.ServiceHealth{LastMessage: "service not running", LastChange: timestamppb.Now()}
		if svc.health == nil || svc.health.Unknown {
			health = &machineapi.ServiceHealth{Unknown: true, LastChange: timestamppb.Now()}
		}
	}
	svc.health = health
	svc.events = append(svc.events, &machineapi.ServiceEvent{Msg: message, State: stateName(state), Ts: timestamppb.Now()})
	if surplus := len(svc.events) - eventsKept; surplus > 0 {
		svc.events = slices.Clone(svc.events[surplus:])
	}
	close(s.changed)
	s.changed = make(chan struct{})
	return func() {
		s.boot.Logs.Talos("service[%s](%s): %s", svc.id, stateName(state), message)
		if state == machineapi.ServiceStateEvent_RUNNING && health.GetUnknown() {
			s.boot.Logs.Greet(svc.id, svc.Container)
		}
		s.boot.Events.Publish(s.boot.Ctx, &machineapi.ServiceStateEvent{Service: svc.id, Action: state, Message: message, Health: health})
		switch {
		case health.GetHealthy() && !wasHealthy:
			s.boot.Record("service", "healthy", "id", svc.id)
		case state != was:
			s.boot.Record("service", stateName(state), "id", svc.id)
		case wasHealthy && !health.GetHealthy():
			s.boot.Record("service", "unhealthy", "id", svc.id)
		}
	}
}

// Check repeats the health checks of the services that run until the boot ends. They
// fail on purpose alone, so that there are none while nothing asks for that.
func (s *Services) Check(ctx context.Context) {
	for {
		some, changed := s.boot.Faults.Has(fault.Health)
		for _, svc := range s.checked() {
			if s.check(ctx, svc) != nil {
				return
			}
		}
		if some {
			if s.boot.Wait(ctx, pace.Check) != nil {
				return
			}
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// checked are the services that run, and whose health is known.
func (s *Services) checked() []*service {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*service
	for _, id := range slices.Sorted(maps.Keys(s.byID)) {
		if s.byID[id].hasHealth() {
			all = append(all, s.byID[id])
		}
	}
	return all
}

// check is one health check of a service. Only what changes is reported.
func (s *Services) check(ctx context.Context, svc *service) error {
	outcome, err := s.boot.Faults.Meet(ctx, fault.Point{On: fault.Health, Name: svc.id, Subject: s.boot.Host()})
	if err != nil {
		return err
	}
	health, message := &machineapi.ServiceHealth{Healthy: outcome == nil, LastChange: timestamppb.Now()}, "Health check successful"
	if outcome != nil {
		health.LastMessage = outcome.Message
		if health.LastMessage == "" {
			health.LastMessage = context.DeadlineExceeded.Error()
		}
		message = "Health check failed: " + health.LastMessage
	}
	s.mu.Lock()
	announce := func() {}
	if svc.hasHealth() && svc.health.GetHealthy() != health.GetHealthy() {
		announce = s.set(svc, machineapi.ServiceStateEvent_RUNNING, message, health)
	}
	s.mu.Unlock()
	announce()
	return nil
}
