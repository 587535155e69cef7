package kube

import (
	"context"
	"io"
	"net"
	"net/netip"
	"sync"
)

// prism is a local address of a cluster's API that leads to any ready API server, as KubePrism does on every Talos node.
type prism struct {
	listener net.Listener
	dial     func(context.Context) (net.Conn, error)
	err      error // why it does not listen
	pipes    pipes
}

func newPrism(dial func(context.Context) (net.Conn, error)) *prism {
	p := &prism{dial: dial}
	// The kernel chooses the port, so each cluster has its own.
	if p.listener, p.err = net.Listen("tcp", "127.0.0.1:0"); p.err == nil {
		p.pipes.group.Go(func() {
			p.pipes.accept(p.listener, func(client net.Conn) { pipe(client, p.dial) })
		})
	}
	return p
}

func (p *prism) address() netip.AddrPort {
	if p.err != nil {
		return netip.AddrPort{}
	}
	return p.listener.Addr().(*net.TCPAddr).AddrPort()
}

func (p *prism) close() error {
	if p.err != nil {
		return p.err
	}
	err := p.listener.Close()
	p.pipes.end()
	return err
}

// pipes are connections that are forwarded.
type pipes struct {
	mu     sync.Mutex
	open   map[net.Conn]bool // and whether cut spares it
	closed bool
	group  sync.WaitGroup
}

// accept handles incoming connections until the listener is closed.
func (p *pipes) accept(listener net.Listener, handle func(net.Conn)) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		p.group.Go(func() {
			defer p.forget(client)
			if p.add(client) {
				handle(client)
			}
		})
	}
}

// add registers a connection, and reports whether end was not called yet.
func (p *pipes) add(client net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	if p.open == nil {
		p.open = map[net.Conn]bool{}
	}
	p.open[client] = false
	return true
}

func (p *pipes) forget(client net.Conn) {
	_ = client.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, client)
}

// spare excludes a connection from cut.
func (p *pipes) spare(client net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[client] = true
}

// cut closes the connections that are not excluded.
func (p *pipes) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for client, spared := range p.open {
		if !spared {
			_ = client.Close()
		}
	}
}

// end closes all connections, and waits for everything that was started here. The listener must be closed first.
func (p *pipes) end() {
	p.mu.Lock()
	p.closed = true
	for client := range p.open {
		_ = client.Close()
	}
	p.mu.Unlock()
	p.group.Wait()
}

// pipe copies bytes both ways until one side ends.
func pipe(client net.Conn, dial func(context.Context) (net.Conn, error)) {
	server, err := dial(context.Background())
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	var up sync.WaitGroup
	up.Go(func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	})
	_, _ = io.Copy(client, server)
	_ = client.Close()
	up.Wait()
}
