package node

import (
	"context"
	"errors"
	"fmt"

	talosruntime "github.com/siderolabs/talos/internal/app/machined/pkg/runtime"
	"github.com/siderolabs/talos/pkg/machinery/api/common"
	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/resources/runtime"
	"golang.org/x/sync/errgroup"
)

// task is a step of a phase; those of one phase run side by side.
type task struct {
	name string
	run  func(ctx context.Context) error
}

// phase is a step of a sequence, by Talos' own names.
type phase struct {
	name  string
	tasks []task
}

func step(name string, tasks ...task) phase { return phase{name, tasks} }

// nothing is a task that only its name tells of.
func nothing(name string) task {
	return task{name, func(context.Context) error { return nil }}
}

// stageOf is the stage that the start of a sequence puts the machine in.
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

// play runs a sequence with the events of the real one, from which the real
// controller derives the machine's stage.
func (n *node) play(ctx context.Context, sequence talosruntime.Sequence, phases ...phase) error {
	n.mu.Lock()
	n.sequence = sequence
	n.mu.Unlock()
	if err := n.sequenced(ctx, sequence, phases); err != nil {
		n.logs.talos("%s sequence: failed: %v", sequence, err)
		code := common.Code_FATAL
		if errors.Is(err, context.Canceled) {
			code = common.Code_CANCELED
		}
		if !errors.As(err, new(ended)) {
			n.publishError(ctx, sequence, &common.Error{Code: code, Message: "sequence failed: " + err.Error()})
		}
		return err
	}
	n.logs.talos("%s sequence: done", sequence)
	return nil
}

func (n *node) sequenced(ctx context.Context, sequence talosruntime.Sequence, phases []phase) error {
	start := &machineapi.SequenceEvent{Sequence: sequence.String(), Action: machineapi.SequenceEvent_START}
	if stage, known := stageOf[sequence]; known && sequence != talosruntime.SequenceBoot {
		if err := n.enter(ctx, stage, start); err != nil {
			return err
		}
	} else {
		n.events.Publish(ctx, start)
	}
	n.logs.talos("%s sequence: %d phase(s)", sequence, len(phases))
	for number, phase := range phases {
		if err := n.phase(ctx, sequence, phase, fmt.Sprintf("%d/%d", number+1, len(phases))); err != nil {
			return fmt.Errorf("error running phase %d in %s sequence: %w", number+1, sequence, err)
		}
	}
	stop := &machineapi.SequenceEvent{Sequence: sequence.String(), Action: machineapi.SequenceEvent_STOP}
	if sequence == talosruntime.SequenceBoot {
		return n.enter(ctx, runtime.MachineStageRunning, stop)
	}
	n.events.Publish(ctx, stop)
	return nil
}

func (n *node) phase(ctx context.Context, sequence talosruntime.Sequence, phase phase, progress string) error {
	n.logs.talos("phase %s (%s): %d tasks(s)", phase.name, progress, len(phase.tasks))
	start := &machineapi.PhaseEvent{Phase: phase.name, Action: machineapi.PhaseEvent_START}
	if stage, changes := stageOfPhase(sequence, phase.name); changes {
		if err := n.enter(ctx, stage, start); err != nil {
			return err
		}
	} else {
		n.events.Publish(ctx, start)
	}
	defer n.events.Publish(ctx, &machineapi.PhaseEvent{Phase: phase.name, Action: machineapi.PhaseEvent_STOP})
	group, ctx := errgroup.WithContext(ctx)
	for number, task := range phase.tasks {
		group.Go(func() error {
			n.events.Publish(ctx, &machineapi.TaskEvent{Task: task.name, Action: machineapi.TaskEvent_START})
			n.logs.talos("task %s (%d/%d): starting", task.name, number+1, len(phase.tasks))
			err := task.run(ctx)
			n.events.Publish(ctx, &machineapi.TaskEvent{Task: task.name, Action: machineapi.TaskEvent_STOP})
			if err != nil {
				return fmt.Errorf("task %d/%d: failed, %w", number+1, len(phase.tasks), err)
			}
			n.logs.talos("task %s (%d/%d): done", task.name, number+1, len(phase.tasks))
			return nil
		})
	}
	return group.Wait()
}

// stageOfPhase is the stage that a phase brings, by the real controller's rules.
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
