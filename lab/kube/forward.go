package kube

import (
	"context"
	"errors"
	"net"
	"net/netip"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
)

// forwarder makes the API server of a node answer at the node's own address. It
// passes bytes on as they are, and takes part in the talk only while a fault of
// the API is asked for.
type forwarder struct {
	k        *Kubernetes
	front    *front
	to       netip.AddrPort
	listener net.Listener
	pipes    pipes
	cancel   context.CancelFunc
}

// forward listens until the forwarder is closed.
func (k *Kubernetes) forward(at, to netip.AddrPort, front *front) (*forwarder, error) {
	listener, err := k.options.Network.Listen(at)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(k.ctx)
	f := &forwarder{k: k, front: front, to: to, listener: listener, cancel: cancel}
	f.pipes.serve(listener, f.handle)
	f.pipes.group.Go(func() { f.cutOnChange(ctx) })
	return f, nil
}

func (f *forwarder) handle(client net.Conn) {
	if armed, _ := f.k.options.Faults.Has(fault.Kube); armed {
		f.pipes.spare(client)
		f.front.serve(client)
		return
	}
	pipe(client, func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", f.to.String())
	})
}

// cutOnChange ends the connections that are passed on as they are when faults come
// up, so that all clients meet them. Those that meet them are not cut when the
// faults are gone: an answer may be under way.
func (f *forwarder) cutOnChange(ctx context.Context) {
	for {
		armed, changed := f.k.options.Faults.Has(fault.Kube)
		if armed {
			f.pipes.cut()
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func (f *forwarder) close() error {
	f.cancel()
	return errors.Join(f.pipes.close(f.listener), f.front.close())
}
