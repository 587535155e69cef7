// Package sequence runs the sequences of machined on a simulated node, with the events of the real ones, from which Talos' own controller derives the stage
// of the machine.
package sequence

import (
	"context"
	"errors"
	"fmt"
	"sync"

	talosruntime "github.com/siderolabs/talos/internal/app/machined/pkg/runtime"
	"github.com/siderolabs/talos/pkg/machinery/api/common"
	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/resources/runtime"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/boot"
)

// Task is a step of a phase. The tasks of a phase run at the same time.
type Task struct {
	Name string
	Run  func(ctx context.Context) error
}

// Phase is a step of a sequence, by Talos' own name.
type Phase struct {
	name  string
	tasks []Task
}

// NewPhase returns a phase with these tasks.
func NewPhase(name string, tasks ...Task) Phase { return Phase{name, tasks} }

// Nothing returns a task that does nothing here.
func Nothing(name string) Task {
	return Task{name, func(context.Context) error { return nil }}
}

// stageOf is the stage in which the start of a sequence results.
var stageOf = map[talosruntime.Sequence]runtime.MachineStage{
	talosruntime.SequenceInitialize:         runtime.MachineStageBooting,
	talosruntime.SequenceBoot:               runtime.MachineStageBooting,
	talosruntime.SequenceShutdown:           runtime.MachineStageShuttingDown,
	talosruntime.SequenceUpgrade:            runtime.MachineStageUpgrading,
	talosruntime.SequenceStageUpgrade:       runtime.MachineStageUpgrading,
	talosruntime.SequenceMaintenanceUpgrade: runtime.MachineStageUpgrading,
	talosruntime.SequenceReset:              runtime.MachineStageResetting,
	talosruntime.SequenceReboot:             runtime.MachineStageRebooting,
}

// Sequencer runs the sequences of one boot.
type Sequencer struct {
	boot  *boot.Boot
	asked chan func(context.Context) error

	mu       sync.Mutex
	sequence talosruntime.Sequence
	stage    runtime.MachineStage
	changed  chan struct{} // closed when the stage changes
	ready    bool
	recorded bool // whether the last fact said that it is ready
}

// New returns a boot in which no sequence has run. It observes the machine status from now on.
func New(of *boot.Boot) *Sequencer {
	return &Sequencer{boot: of, asked: make(chan func(context.Context) error, 1), changed: make(chan struct{})}
}

// Observe receives the machine status, at the moment that clients see it.
func (s *Sequencer) Observe(status runtime.MachineStatusSpec) {
	s.mu.Lock()
	changed := status.Stage != s.stage
	s.stage, s.ready = status.Stage, status.Status.Ready
	// A node in maintenance is ready too, for a config. Whether anybody saw that is a race, so it is not recorded.
	counts := status.Stage == runtime.MachineStageRunning || status.Stage == runtime.MachineStageBooting
	readied := counts && s.ready != s.recorded
	if readied {
		s.recorded = s.ready
	}
	if changed {
		s.boot.Record("stage", status.Stage.String())
		close(s.changed)
		s.changed = make(chan struct{})
	}
	s.mu.Unlock()
	if readied {
		s.boot.Record("ready", fmt.Sprint(status.Status.Ready))
	}
}

// Stage returns the stage of the machine, and whether it is ready.
func (s *Sequencer) Stage() (runtime.MachineStage, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stage, s.ready
}

// IsResetting reports whether the node is being wiped.
func (s *Sequencer) IsResetting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sequence == talosruntime.SequenceReset
}

// Ask requests a sequence, which takes over from the boot. If another one prevents it, an event reports that. Actor is the actor of its events.
func (s *Sequencer) Ask(actor string, sequence talosruntime.Sequence, phases ...Phase) error {
	withActor := func(ctx context.Context) context.Context {
		return context.WithValue(ctx, talosruntime.ActorIDCtxKey{}, actor)
	}
	s.mu.Lock()
	running := s.sequence
	booting := running == talosruntime.SequenceNoop || running == talosruntime.SequenceInitialize || running == talosruntime.SequenceBoot
	if free := booting || sequence.CanTakeOver(running); !free {
		s.mu.Unlock()
		s.publishError(withActor(s.boot.Ctx), sequence, &common.Error{
			Code: common.Code_LOCKED, Message: "sequence not started: " + talosruntime.ErrLocked.Error(),
		})
		return nil
	}
	s.sequence = sequence
	s.mu.Unlock()
	select {
	case s.asked <- func(ctx context.Context) error { return s.Run(withActor(ctx), sequence, phases...) }:
	default: // one was asked for already, and takes the machine down
	}
	return nil
}

// Asked receives the requested sequences, to be run.
func (s *Sequencer) Asked() <-chan func(context.Context) error { return s.asked }

// Run runs a sequence.
func (s *Sequencer) Run(ctx context.Context, sequence talosruntime.Sequence, phases ...Phase) error {
	s.mu.Lock()
	s.sequence = sequence
	s.mu.Unlock()
	if err := s.runPhases(ctx, sequence, phases); err != nil {
		s.boot.Logs.Talos("%s sequence: failed: %v", sequence, err)
		code := common.Code_FATAL
		if errors.Is(err, context.Canceled) {
			code = common.Code_CANCELED
		}
		if !errors.As(err, new(boot.Ended)) {
			s.publishError(ctx, sequence, &common.Error{Code: code, Message: "sequence failed: " + err.Error()})
		}
		return err
	}
	s.boot.Logs.Talos("%s sequence: done", sequence)
	return nil
}

func (s *Sequencer) runPhases(ctx context.Context, sequence talosruntime.Sequence, phases []Phase) error {
	start := &machineapi.SequenceEvent{Sequence: sequence.String(), Action: machineapi.SequenceEvent_START}
	if stage, known := stageOf[sequence]; known && sequence != talosruntime.SequenceBoot {
		if err := s.Enter(ctx, stage, start); err != nil {
			return err
		}
	} else {
		s.boot.Events.Publish(ctx, start)
	}
	s.boot.Logs.Talos("%s sequence: %d phase(s)", sequence, len(phases))
	for number, phase := range phases {
		if err := s.runPhase(ctx, sequence, phase, fmt.Sprintf("%d/%d", number+1, len(phases))); err != nil {
			return fmt.Errorf("error running phase %d in %s sequence: %w", number+1, sequence, err)
		}
	}
	stop := &machineapi.SequenceEvent{Sequence: sequence.String(), Action: machineapi.SequenceEvent_STOP}
	if sequence == talosruntime.SequenceBoot {
		return s.Enter(ctx, runtime.MachineStageRunning, stop)
	}
	s.boot.Events.Publish(ctx, stop)
	return nil
}

func (s *Sequencer) runPhase(ctx context.Context, sequence talosruntime.Sequence, phase Phase, progress string) error {
	s.boot.Logs.Talos("phase %s (%s): %d tasks(s)", phase.name, progress, len(phase.tasks))
	start := &machineapi.PhaseEvent{Phase: phase.name, Action: machineapi.PhaseEvent_START}
	if stage, changes := stageOfPhase(sequence, phase.name); changes {
		if err := s.Enter(ctx, stage, start); err != nil {
			return err
		}
	} else {
		s.boot.Events.Publish(ctx, start)
	}
	defer s.boot.Events.Publish(ctx, &machineapi.PhaseEvent{Phase: phase.name, Action: machineapi.PhaseEvent_STOP})
	group, ctx := errgroup.WithContext(ctx)
	for number, task := range phase.tasks {
		group.Go(func() error {
			s.boot.Events.Publish(ctx, &machineapi.TaskEvent{Task: task.Name, Action: machineapi.TaskEvent_START})
			s.boot.Logs.Talos("task %s (%d/%d): starting", task.Name, number+1, len(phase.tasks))
			err := task.Run(ctx)
			s.boot.Events.Publish(ctx, &machineapi.TaskEvent{Task: task.Name, Action: machineapi.TaskEvent_STOP})
			if err != nil {
				return fmt.Errorf("task %d/%d: failed, %w", number+1, len(phase.tasks), err)
			}
			s.boot.Logs.Talos("task %s (%d/%d): done", task.Name, number+1, len(phase.tasks))
			return nil
		})
	}
	return group.Wait()
}

// stageOfPhase returns the stage in which a phase results, by the rules of the real controller.
func stageOfPhase(sequence talosruntime.Sequence, phase string) (runtime.MachineStage, bool) {
	switch {
	case sequence == talosruntime.SequenceInstall && phase == "install":
		return runtime.MachineStageInstalling, true
	case phase != "kexec":
		return 0, false
	}
	switch sequence {
	case talosruntime.SequenceInstall, talosruntime.SequenceUpgrade, talosruntime.SequenceStageUpgrade, talosruntime.SequenceMaintenanceUpgrade:
		return runtime.MachineStageRebooting, true
	}
	return 0, false
}

// Enter passes the fault point of a stage, publishes the event that leads to it, and waits until clients can see it: no stage is too short to be seen.
func (s *Sequencer) Enter(ctx context.Context, stage runtime.MachineStage, event proto.Message) error {
	if err := s.boot.Meet(ctx, fault.Stage, stage.String()); err != nil {
		return err
	}
	s.boot.Events.Publish(ctx, event)
	for {
		s.mu.Lock()
		reached, changed := s.stage == stage, s.changed
		s.mu.Unlock()
		if reached {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// publishError publishes the error of a sequence.
func (s *Sequencer) publishError(ctx context.Context, sequence talosruntime.Sequence, err *common.Error) {
	s.boot.Events.Publish(ctx, &machineapi.SequenceEvent{Sequence: sequence.String(), Action: machineapi.SequenceEvent_NOOP, Error: err})
}
