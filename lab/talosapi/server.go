package talosapi

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/talos/pkg/machinery/constants"
	"github.com/siderolabs/talos/pkg/machinery/resources/secrets"
	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/network"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// Options are shared by the API of every node of a lab.
type Options struct {
	Network  network.Network
	Faults   *fault.Set
	Timeline *timeline.Timeline
	// Validate validates a config as a version of Talos would, in the mode metal, cloud or container, with Talos on the disk or not; an *Unreadable error means
	// that it cannot be read. The Talos from which the lab is built validates it as well; if Validate is nil, only that one.
	Validate func(version string, config []byte, mode string, installed bool) error
	// Drain is how long calls that follow something continue when the API stops.
	Drain time.Duration
}

// Server serves the API of the nodes of a lab.
type Server struct {
	options Options
}

// New returns a server without nodes.
func New(options Options) *Server {
	return &Server{options: options}
}

// Running is the API of one node, from one boot until it stops.
type Running struct {
	node    *node
	cancel  context.CancelFunc
	front   *grpc.Server
	back    *grpc.Server
	local   *local
	remotes *remotes
	doors   *doors
	drain   *draining
	serving sync.WaitGroup
}

// Serve starts the API of a node at its addresses: that of maintenance, or the one for clients with a certificate. For the latter the node's resources must
// contain its own certificate, issued by the CA of its cluster.
func (s *Server) Serve(m Machine, maintenance bool, at []netip.Addr) (*Running, error) {
	ctx, cancel := context.WithCancel(context.Background())
	node, err := newNode(m, s.options, maintenance, ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	r := &Running{node: node, cancel: cancel, doors: newDoors(s.options.Network), drain: newDraining()}
	if err := r.start(ctx, at); err != nil {
		r.Stop(false)
		return nil, fmt.Errorf("API of %s: %w", m.Host(), err)
	}
	return r, nil
}

// start starts machined, then apid in front of it, then the listeners.
func (r *Running) start(ctx context.Context, at []netip.Addr) error {
	pipe := bufconn.Listen(pipeBytes)
	r.back = r.node.machined(r.interrupt, r.interruptStream)
	r.serving.Go(func() { _ = r.back.Serve(pipe) })
	var err error
	if r.local, err = newLocal(pipe); err != nil {
		return err
	}
	if err := r.openFront(ctx); err != nil {
		return err
	}
	for _, addr := range at {
		if err := r.Add(addr); err != nil {
			return err
		}
	}
	return nil
}

// Add listens at one more address of the node.
func (r *Running) Add(addr netip.Addr) error {
	door, err := r.doors.open(netip.AddrPortFrom(addr, constants.ApidPort))
	if err != nil || door == nil {
		return err
	}
	// Serve ends with the door or with the server, and both are intended.
	r.serving.Go(func() { _ = r.front.Serve(door) })
	return nil
}

// Remove stops listening at an address and drops the connections to it.
func (r *Running) Remove(addr netip.Addr) {
	r.doors.close(netip.AddrPortFrom(addr, constants.ApidPort))
}

// StopMachined ends machined, and leaves apid running: calls that begin from now on are
// answered that there is no socket. It returns at once.
func (r *Running) StopMachined() {
	if r.local.gone.Swap(true) {
		return
	}
	r.serving.Go(r.back.GracefulStop)
}

// Stop ends the API and drops every connection: at once, or after the calls that are
// being answered are complete.
func (r *Running) Stop(graceful bool) {
	r.cancel()
	defer r.drain.cut()
	if r.front != nil {
		if graceful {
			r.drain.end(r.front, r.node.Drain)
		} else {
			r.front.Stop()
		}
	}
	r.doors.closeAll()
	if r.remotes != nil {
		r.remotes.flush()
	}
	if r.local != nil {
		r.local.close()
	}
	if r.back != nil {
		r.back.Stop()
	}
	r.serving.Wait()
}

// hasCertificate reports whether the node has its certificate, and not only the one for maintenance.
func hasCertificate(ctx context.Context, resources state.State) (bool, error) {
	certificate, err := safe.StateGetByID[*secrets.API](ctx, resources, secrets.APIID)
	if state.IsNotFoundError(err) {
		return false, nil
	}
	return err == nil && !certificate.TypedSpec().SkipVerifyingClientCert, err
}
