package node

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"

	"github.com/cosi-project/runtime/pkg/controller"
	osruntime "github.com/cosi-project/runtime/pkg/controller/runtime"
	"github.com/siderolabs/talos/pkg/machinery/config"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/addressing"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/boot"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/discovery"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/hardware"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/kubernetes"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/machineconfig"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/resources"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/sequence"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/service"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/trust"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/talosapi"
)

// node is one boot of Talos, with its parts. What outlives a boot is in the box.
type node struct {
	boot         *boot.Boot
	resources    *resources.Resources
	sequencer    *sequence.Sequencer
	configs      *machineconfig.Store
	hardware     *hardware.Hardware
	member       *addressing.Member
	network      *addressing.Network
	trust        *trust.Member
	discovery    *discovery.Member
	services     *service.Services
	kubelet      *kubernetes.Kubelet
	etcd         *kubernetes.Etcd
	controlPlane *kubernetes.ControlPlane
	doors        *kubernetes.Doors
	api          *apiServer
	engine       *osruntime.Runtime
	controlling  sync.Once // starts the controllers of a control plane

	// The calls of talosapi.Machine, grouped by subject.
	*identity
	*configuration
	*requests
	*images
	*serviceControl
	*records
}

var _ talosapi.Machine = (*node)(nil)

func newNode(ctx context.Context, b *box, image machine.Image, number int) (*node, error) {
	lab := b.maker
	spec := b.currentSpec()
	this, err := boot.New(ctx, lab.options.Lab, spec, b, b.disk, image, number)
	if err != nil {
		return nil, err
	}
	n := &node{boot: this, sequencer: sequence.New(this)}
	if n.resources, err = resources.New(this.Ctx, !this.Version.Has113Types(), n.sequencer.Observe); err != nil {
		this.End(err)
		return nil, err
	}
	this.State = n.resources.State
	n.identity, n.configuration, n.requests = &identity{n}, &configuration{n}, &requests{n}
	n.images, n.serviceControl, n.records = &images{n}, &serviceControl{n}, &records{n}

	n.configs = machineconfig.New(this, &lab.foreign, n.configured)
	n.hardware = hardware.New(this, discovery.NodeID(this))
	n.trust = lab.trust.NewMember(this)
	n.discovery = lab.discovery.NewMember(this, n.sequencer.IsResetting)
	n.doors = kubernetes.NewDoors(this)
	n.api = &apiServer{boot: this, serve: func(maintenance bool, at []netip.Addr) (API, error) {
		return lab.options.Serve(n, maintenance, at)
	}}
	n.member = lab.shared.NewMember()
	n.network = addressing.New(this, n.member, n.api, n.doors)
	n.api.addresses = n.network.Addresses
	n.services = service.New(this, n.serviceKind)
	n.kubelet = kubernetes.NewKubelet(this, n.configs, n.services, &podImages{n.images}, n.hardware.SystemDiskBytes)
	n.etcd = kubernetes.NewEtcd(this, n.configs, n.services, n.images, lab.clusters, n.member)
	n.controlPlane = kubernetes.NewControlPlane(this, n.configs, lab.clusters, n.doors)
	return n, nil
}

// run runs the boot to its end.
func (n *node) run() boot.Ending {
	defer n.halt()
	n.boot.Spawn(n.watchPower)
	n.boot.Spawn(n.services.Check)
	if err := n.start(); err != nil {
		return n.ending(err)
	}
	booting, cancelBoot := context.WithCancel(n.boot.Ctx)
	defer cancelBoot()
	done := make(chan error, 1)
	go func() { done <- (&bootUp{n}).run(booting) }()
	for {
		select {
		case run := <-n.sequencer.Asked():
			// A requested sequence takes over from the boot, as in Talos.
			cancelBoot()
			if done != nil {
				<-done
			}
			return n.ending(run(n.boot.Ctx))
		case err := <-done:
			done = nil
			if err != nil {
				return n.ending(err)
			}
		case <-n.boot.Ctx.Done():
			if done != nil {
				<-done
			}
			return n.ending(context.Cause(n.boot.Ctx))
		}
	}
}

// start returns what happens before the sequences of machined.
func (n *node) start() error {
	n.boot.Logs.Dmesg("Linux version %s (talos) #1 SMP PREEMPT_DYNAMIC", n.boot.Kernel())
	n.boot.Logs.Dmesg("Command line: %s", n.boot.CommandLine())
	if err := n.boot.Wait(n.boot.Ctx, pace.Kernel); err != nil {
		return err
	}
	if err := n.boot.SetClock(n.boot.Ctx, "boot"); err != nil {
		return err
	}
	n.boot.Logs.Talos("[initramfs] booting Talos v%s", n.boot.Image.Talos)
	if err := n.network.ShowPlatform(); err != nil {
		return err
	}
	if err := n.hardware.Show(); err != nil {
		return err
	}
	return n.runControllers()
}

// ending returns the result of a sequence's error. An unexpected error reboots the machine after a while, as machined does.
func (n *node) ending(err error) boot.Ending {
	if n.boot.Ctx.Err() != nil {
		err = context.Cause(n.boot.Ctx)
	}
	var ended boot.Ended
	switch {
	case errors.Is(err, boot.ErrUnplugged):
		return boot.Unplugged
	case errors.As(err, &ended):
		return ended.How
	default:
		n.boot.Logs.Talos("fatal error: %v; rebooting", err)
		n.boot.Record("boot", "failed", "error", err.Error())
		_ = n.boot.Wait(n.boot.Ctx, pace.Fatal)
		n.revert()
		if cut := context.Cause(n.boot.Ctx); errors.Is(cut, boot.ErrUnplugged) {
			return boot.Unplugged
		} else if errors.As(cut, &ended) {
			return ended.How
		}
		return boot.Reboot
	}
}

// revert returns to the former system after a failed upgrade, as machined does after a fatal error.
func (n *node) revert() {
	if label, reverted := n.boot.Disk.Revert(); reverted {
		n.boot.Logs.Talos("reverting failed upgrade, switching to %q", label)
		n.boot.Record("reverted", n.boot.Image.Talos)
	}
}

// halt ends everything that the boot started.
func (n *node) halt() {
	n.api.end()
	n.boot.End(boot.ErrUnplugged)
	n.services.Close()
	n.trust.Leave()
	n.discovery.Leave()
	host := n.boot.Host()
	n.boot.Kubernetes.StopKubelet(host)
	n.boot.Kubernetes.StopStaticPods(host)
	n.boot.Kubernetes.StopEtcd(host)
	n.doors.End()
	n.boot.AwaitSpawned()
	n.network.Unplug()
	n.member.Leave()
}

// watchPower cuts the power while the node runs, whenever a fault requires it.
func (n *node) watchPower(ctx context.Context) {
	for {
		some, changed := n.boot.Faults.Has(fault.Machine)
		if some && n.boot.Meet(ctx, fault.Machine, "power") != nil {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// runControllers starts the controllers that run from the start of a boot.
func (n *node) runControllers() error {
	var err error
	n.engine, err = osruntime.NewRuntime(n.boot.State, n.boot.Logs.Logger("controller-runtime"))
	if err != nil {
		return fmt.Errorf("the controller runtime: %w", err)
	}
	all := append(commonControllers(n.boot.Mode, n.boot.Events, n.hardware), n.simulatedControllers()...)
	if err := n.register(all); err != nil {
		return err
	}
	n.boot.Spawn(func(context.Context) { n.resources.Notify() })
	n.boot.Spawn(func(ctx context.Context) {
		if err := n.engine.Run(ctx); err != nil && ctx.Err() == nil {
			n.boot.End(fmt.Errorf("fatal controller runtime error: %w", err))
		}
	})
	return nil
}

// configured shows what a config brings, and starts the controllers that only a control plane needs, once its config
// is in force. A real node runs them everywhere, where they find nothing to do.
func (n *node) configured(cfg config.Provider) error {
	// With a config on the disk there is STATE, which has the identity of the node.
	if err := n.hardware.ShowVolumes(); err != nil {
		return err
	}
	if cfg.Machine() == nil || !cfg.Machine().Type().IsControlPlane() {
		return nil
	}
	var err error
	n.controlling.Do(func() {
		err = n.register(append(controlPlaneControllers(n.etcd.MemberID), n.controlPlane.ControlPlaneControllers()...))
	})
	return err
}

func (n *node) register(controllers []controller.Controller) error {
	for _, one := range controllers {
		if err := n.engine.RegisterController(one); err != nil {
			return err
		}
	}
	return nil
}

// simulatedControllers replace those that would touch the host.
func (n *node) simulatedControllers() []controller.Controller {
	return append(n.network.Controllers(),
		n.hardware.VolumeController(), n.hardware.KernelController(), n.trust.Controller(), n.discovery.Controller(), n.kubelet.Controller(), n.controlPlane.Controller())
}
