package node

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	osruntime "github.com/cosi-project/runtime/pkg/controller/runtime"
	"github.com/google/uuid"
	talosruntime "github.com/siderolabs/talos/internal/app/machined/pkg/runtime"
	"github.com/siderolabs/talos/pkg/machinery/api/common"
	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/resources/runtime"
	"google.golang.org/protobuf/proto"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/talosapi"
)

// end is how a boot ends.
type end int

const (
	endUnplugged end = iota // by the box
	endReboot
	endOff
	endCrash // lost its power and gets it back
	endDead  // lost its power for good
)

// ended is the error that carries an end through a sequence.
type ended struct{ how end }

func (e ended) Error() string {
	return [...]string{"unplugged", "rebooting", "powering off", "lost its power", "lost its power for good"}[e.how]
}

// bell wakes one that waits; rings before it waits are not lost.
type bell chan struct{}

func newBell() bell { return make(bell, 1) }

func (b bell) ring() {
	select {
	case b <- struct{}{}:
	default:
	}
}

// node is one boot of Talos: it begins when the kernel starts and ends with a
// reboot or when the power goes. What outlives it is in the box.
type node struct {
	*box
	version version
	mode    talosruntime.Mode
	image   machine.Image
	booted  time.Time
	bootID  string

	ctx    context.Context
	cancel context.CancelCauseFunc

	resources *resources
	events    *events
	logs      *logs
	services  *services
	files     *files
	wires     bell // rings when NICs come or go
	found     bell // rings when others of the cluster were found
	signed    bell // rings when a certificate may be had
	leases    bell // rings when a shared address comes or goes
	visits    bell // rings when a guest comes or goes
	asked     chan request
	configs   chan config.Provider
	api       *apiServers
	doors     *doors
	engine    *osruntime.Runtime
	work      sync.WaitGroup

	mu          sync.Mutex
	cfg         config.Provider
	sequence    talosruntime.Sequence
	stage       runtime.MachineStage
	staged      chan struct{} // closed when the stage changes
	ready       bool
	toldReady   bool // as the timeline last said
	trial       *trial
	grown       bool // into a control plane: its controllers run
	bootstrap   bool // etcd is to begin here
	addresses   []netip.Addr
	guests      []*guest
	devices     []blockDevice
	kubeletSpec *cluster.Kubelet // of the kubelet that runs

	// applied is the manifests controller's own.
	applied []string
}

var _ talosapi.Machine = (*node)(nil)

func newNode(ctx context.Context, b *box, image machine.Image, count int) (*node, error) {
	version, err := parseVersion(image.Talos)
	if err != nil {
		return nil, err
	}
	mode, err := modeOf(b.spec.Platform)
	if err != nil {
		return nil, err
	}
	n := &node{
		box: b, version: version, mode: mode, image: image,
		booted: time.Now(),
		bootID: derivedUUID(fmt.Sprintf("%s/boot/%d", b.spec.UUID, count)),
		wires:  newBell(), leases: newBell(), visits: newBell(), found: newBell(), signed: newBell(),
		staged: make(chan struct{}),
		asked:  make(chan request, 1), configs: make(chan config.Provider, 1),
	}
	n.ctx, n.cancel = context.WithCancelCause(ctx)
	n.logs = newLogs()
	n.events = newEvents(n.ctx)
	n.services = newServices(n)
	n.files = newFiles()
	n.api = newAPIServers(n)
	n.doors = newDoors(n)
	n.resources, err = newResources(n.ctx, n.observe)
	if err != nil {
		n.cancel(err)
		return nil, err
	}
	return n, nil
}

// derivedUUID is always the same for the same text: one seed, one run.
func derivedUUID(text string) string {
	sum := sha256.Sum256([]byte(text))
	id, _ := uuid.FromBytes(sum[:16]) // sixteen bytes are never refused
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id.String()
}

// observe is called with the machine status the moment that clients see it.
func (n *node) observe(status runtime.MachineStatusSpec) {
	n.mu.Lock()
	staged := status.Stage != n.stage
	n.stage, n.ready = status.Stage, status.Status.Ready
	// A node in maintenance is ready as well, for a config. Whether anybody saw
	// that is a matter of who is quicker, and no fact.
	counts := status.Stage == runtime.MachineStageRunning || status.Stage == runtime.MachineStageBooting
	readied := counts && n.ready != n.toldReady
	if readied {
		n.toldReady = n.ready
	}
	if staged {
		n.Timeline.Record(n.Host(), "stage", status.Stage.String())
		close(n.staged)
		n.staged = make(chan struct{})
	}
	n.mu.Unlock()
	if readied {
		n.Timeline.Record(n.Host(), "ready", fmt.Sprint(status.Status.Ready))
	}
}

// run is the whole boot.
func (n *node) run() end {
	defer n.halt()
	n.spawn(n.watchPower)
	if err := n.start(); err != nil {
		return n.ending(err)
	}
	boot, cancelBoot := context.WithCancel(n.ctx)
	defer cancelBoot()
	done := make(chan error, 1)
	go func() { done <- n.bootUp(boot) }()
	for {
		select {
		case request := <-n.asked:
			// A request takes over from the boot, as in Talos.
			cancelBoot()
			if done != nil {
				<-done
			}
			return n.ending(request.play(n.ctx))
		case err := <-done:
			done = nil
			if err != nil {
				return n.ending(err)
			}
		case <-n.ctx.Done():
			if done != nil {
				<-done
			}
			return n.ending(context.Cause(n.ctx))
		}
	}
}

// ending is what an error of a sequence means; one that nobody foresaw reboots
// the machine, as machined does.
func (n *node) ending(err error) end {
	if n.ctx.Err() != nil {
		err = context.Cause(n.ctx)
	}
	var how ended
	switch {
	case errors.Is(err, errUnplugged):
		return endUnplugged
	case errors.As(err, &how):
		return how.how
	default:
		n.logs.talos("fatal error: %v; rebooting", err)
		n.Timeline.Record(n.Host(), "boot", "failed", "error", err.Error())
		return endReboot
	}
}

// halt ends all that the boot started.
func (n *node) halt() {
	n.api.end()
	n.cancel(errUnplugged)
	n.services.close()
	n.trust.leave(n)
	n.discovery.leave(n)
	n.Kubernetes.StopKubelet(n.Host())
	n.Kubernetes.StopStaticPods(n.Host())
	n.Kubernetes.StopEtcd(n.Host())
	n.doors.end()
	n.work.Wait()
	n.unplugNetwork()
	n.shared.leave(n)
}

// meet is a fault point; a fault that is an error of the step comes back as one.
func (n *node) meet(ctx context.Context, on fault.Kind, name string) error {
	outcome, err := n.Faults.Meet(ctx, fault.Point{On: on, Name: name, Subject: n.Host()})
	if err != nil || outcome == nil {
		return err
	}
	switch outcome.Do {
	case fault.Crash:
		how := endCrash
		if outcome.Code == fault.StaysOff {
			how = endDead
		}
		n.cancel(ended{how})
		return ended{how}
	default:
		message := outcome.Message
		if message == "" {
			message = "failed on purpose"
		}
		return fmt.Errorf("%s %q: %s", on, name, message)
	}
}

// spawn runs beside the sequences until the boot ends.
func (n *node) spawn(do func(ctx context.Context)) {
	n.work.Add(1)
	go func() {
		defer n.work.Done()
		do(n.ctx)
	}()
}

// enter passes the fault point of a stage, publishes what brings the stage
// about and waits until clients can see it: none is ever too short to be seen.
func (n *node) enter(ctx context.Context, stage runtime.MachineStage, event proto.Message) error {
	if err := n.meet(ctx, fault.Stage, stage.String()); err != nil {
		return err
	}
	n.events.Publish(ctx, event)
	for {
		n.mu.Lock()
		reached, changed := n.stage == stage, n.staged
		n.mu.Unlock()
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

// publishError says that a sequence did not go well.
func (n *node) publishError(ctx context.Context, sequence talosruntime.Sequence, err *common.Error) {
	n.events.Publish(ctx, &machineapi.SequenceEvent{Sequence: sequence.String(), Action: machineapi.SequenceEvent_NOOP, Error: err})
}
