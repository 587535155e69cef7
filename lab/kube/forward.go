package kube

import (
	"context"
	"net"
	"net/netip"
	"time"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
)

// forwarder makes the API server of a node answer at the node's own address. It passes bytes on unchanged, and only takes part in the HTTP exchange while a
// fault of the API is armed.
type forwarder struct {
	k      *Kubernetes
	front  *front
	at, to netip.AddrPort
	pipes  pipes
	ctx    context.Context
	cancel context.CancelFunc
}

// forward listens until the forwarder is closed.
func (k *Kubernetes) forward(at, to netip.AddrPort, front *front) (*forwarder, error) {
	listener, err := k.options.Network.Listen(at)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(k.ctx)
	f := &forwarder{k: k, front: front, at: at, to: to, ctx: ctx, cancel: cancel}
	f.pipes.group.Go(func() { f.serve(listener) })
	f.pipes.group.Go(func() { f.cutOnChange(ctx) })
	return f, nil
}

// serve listens again after the address was down for a while, as when a DHCP lease is replaced by an address from the config: a real API server listens on
// all addresses.
func (f *forwarder) serve(listener net.Listener) {
	for listener != nil {
		done := context.AfterFunc(f.ctx, func() { _ = listener.Close() })
		f.pipes.accept(listener, f.handle)
		if !done() {
			return
		}
		_ = listener.Close()
		listener = f.listenAgain()
	}
}

// listenAgain waits until the address is up; it returns nil at the end.
func (f *forwarder) listenAgain() net.Listener {
	ticker := time.NewTicker(lookAgain)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-f.ctx.Done():
			return nil
		}
		if listener, err := f.k.options.Network.Listen(f.at); err == nil {
			return listener
		}
	}
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

// cutOnChange closes unfiltered connections when faults are armed, so that all clients meet the faults. Filtered connections are not closed when the faults
// are gone, because an answer may be in progress.
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
	f.cancel() // closes the listener
	f.pipes.end()
	return f.front.close()
}
