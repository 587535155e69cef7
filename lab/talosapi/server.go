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

// Options is what the API of every node of a lab shares.
type Options struct {
	Network  network.Network
	Faults   *fault.Set
	Timeline *timeline.Timeline
	// Validate judges a config as the Talos of a version would, in the mode
	// metal, cloud or container, with Talos on the disk or not; an *Unreadable
	// error says that it cannot even be read. The Talos that the lab is built from
	// judges it besides; nil leaves it to that alone.
	Validate func(version string, config []byte, mode string, installed bool) error
	// Drain is how long calls that follow something go on when the API stops.
	Drain time.Duration
}

// Server serves the API of the nodes of a lab.
type Server struct {
	options Options
}

// New is a server without nodes.
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

// Serve brings up the API of a node at its addresses: that of maintenance, or the
// one for clients with a certificate, for which the node's resources must hold
// its own, from the CA of its cluster.
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

// start brings up machined, apid before it, and the listeners before that.
func (r *Running) start(ctx context.Context, at []netip.Addr) error {
	pipe := bufconn.Listen(pipeBytes)
	r.back = r.node.machined()
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
	// Serve ends with the door or with the server, and both are meant.
	r.serving.Go(func() { _ = r.front.Serve(door) })
	return nil
}

// Remove stops listening at an address and drops the connections to it.
func (r *Running) Remove(addr netip.Addr) {
	r.doors.close(netip.AddrPortFrom(addr, constants.ApidPort))
}

// Stop ends the API and drops every connection: at once, or when the calls that
// are being answered are done.
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

// hasCertificate says whether the node's certificate is there, and not only the
// one for maintenance.
func hasCertificate(ctx context.Context, resources state.State) (bool, error) {
	certificate, err := safe.StateGetByID[*secrets.API](ctx, resources, secrets.APIID)
	if state.IsNotFoundError(err) {
		return false, nil
	}
	return err == nil && !certificate.TypedSpec().SkipVerifyingClientCert, err
}
