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
	plain    pipes
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
	f.plain.serve(listener, f.handle)
	f.plain.group.Go(func() { f.cutOnChange(ctx) })
	return f, nil
}

func (f *forwarder) handle(client net.Conn) {
	if armed, _ := f.k.options.Faults.Has(fault.Kube); armed {
		f.front.serve(client)
		return
	}
	pipe(client, func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", f.to.String())
	})
}

// cutOnChange ends the connections when faults come up or are gone, so that all
// clients meet them, or are rid of them.
func (f *forwarder) cutOnChange(ctx context.Context) {
	armed, changed := f.k.options.Faults.Has(fault.Kube)
	for {
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
		var now bool
		if now, changed = f.k.options.Faults.Has(fault.Kube); now != armed {
			armed = now
			f.plain.cut()
		}
	}
}

func (f *forwarder) close() error {
	f.cancel()
	return errors.Join(f.plain.close(f.listener), f.front.close())
}
