// Package service is the services of machined on a simulated node: their states, dependencies, events and health.
package service

import (
	"context"
	"fmt"
	"hash/fnv"
	"strings"

	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
)

// Kind defines a service, whether it runs or not.
type Kind struct {
	After []string // services that must be up before
	Waits []string // what else it says that it waits for
	// Condition is met before Prepare runs. Run returns when the service does its work; End reverts it.
	Condition    func(ctx context.Context) error
	Prepare, Run func(ctx context.Context) error
	End          func()
	// Unchecked means that it has no health check.
	Unchecked bool
	Process   string // its command line, where it is a process
	Container bool
}

// service is one of machined's services.
type service struct {
	Kind
	id, host string
	state    machineapi.ServiceStateEvent_Action
	events   []*machineapi.ServiceEvent
	health   *machineapi.ServiceHealth
	cancel   context.CancelCauseFunc // nil once it is stopped
	starting chan struct{}           // closed when it says that it starts
	started  chan struct{}           // closed when its goroutine has ended
	cut      error                   // how its start ended that a stop cut short
	down     chan struct{}           // closed when it is down after a stop
}

func (svc *service) waitsFor() string {
	var all []string
	for _, other := range svc.After {
		all = append(all, fmt.Sprintf("service %q to be %q", other, "up"))
	}
	return strings.Join(append(all, svc.Waits...), ", ")
}

func (svc *service) startedMessage() string {
	number := PID(svc.host, svc.id)
	switch {
	case svc.Container:
		return fmt.Sprintf("Started task %s (PID %d) for container %s", svc.id, number, svc.id)
	case svc.Process != "":
		return fmt.Sprintf("Process %s started with PID %d", svc.task(), number)
	default:
		return "Service started as goroutine"
	}
}

// task returns Talos' name of what runs for the service.
func (svc *service) task() string {
	if svc.Process == "" {
		return fmt.Sprintf("task %s (PID %d, container %s)", svc.id, PID(svc.host, svc.id), svc.id)
	}
	words := strings.Fields(svc.Process)
	for i, word := range words {
		words[i] = fmt.Sprintf("%q", word)
	}
	return "Process([" + strings.Join(words, " ") + "])"
}

// up reports whether the service runs and, if it has a health check, is healthy.
func (svc *service) up() bool {
	return svc.state == machineapi.ServiceStateEvent_RUNNING && (svc.Unchecked || svc.health.GetHealthy())
}

// hasHealth says that the service runs, was not asked to stop, and was healthy once.
func (svc *service) hasHealth() bool {
	return svc.state == machineapi.ServiceStateEvent_RUNNING && svc.cancel != nil && !svc.Unchecked && !svc.health.GetUnknown()
}

// isDown says that the service was stopped, and has ended.
func (svc *service) isDown() bool {
	select {
	case <-svc.down:
		return true
	default:
		return false
	}
}

// PID returns a process number on a host: always the same.
func PID(host, id string) int {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(host + "/" + id))
	return 1200 + int(hash.Sum32()%3000)
}

// stateName returns a state in Talos' words.
func stateName(state machineapi.ServiceStateEvent_Action) string {
	name := state.String()
	return name[:1] + strings.ToLower(name[1:])
}

// failure returns the error of a service in Talos' words.
func failure(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:]
}
