package network

import (
	"fmt"
	"net"
	"sync"
)

// sockets are the listeners and connections of an address that is up.
type sockets struct {
	mu        sync.Mutex
	ended     bool
	listeners map[*listener]struct{}
	conns     map[*conn]struct{}
}

func newSockets() *sockets {
	return &sockets{listeners: map[*listener]struct{}{}, conns: map[*conn]struct{}{}}
}

// end closes all of them. Connections drop unsent data, so that nothing of them remains in the kernel.
func (s *sockets) end() {
	s.mu.Lock()
	s.ended = true
	listeners, conns := s.listeners, s.conns
	s.listeners, s.conns = nil, nil
	s.mu.Unlock()
	for listener := range listeners {
		_ = listener.TCPListener.Close()
	}
	for conn := range conns {
		drop(conn.TCPConn)
	}
}

func drop(conn *net.TCPConn) {
	_ = conn.SetLinger(0)
	_ = conn.Close()
}

// listener adds a listener of an address that cannot go down meanwhile.
func (s *sockets) listener(inner *net.TCPListener) net.Listener {
	l := &listener{TCPListener: inner, of: s}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners[l] = struct{}{}
	return l
}

// connection adds a connection until it is closed; if its address went down meanwhile, it is dropped.
func (s *sockets) connection(inner *net.TCPConn) (net.Conn, error) {
	c := &conn{TCPConn: inner, of: s}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		drop(inner)
		return nil, fmt.Errorf("%s went down: %w", inner.LocalAddr(), net.ErrClosed)
	}
	s.conns[c] = struct{}{}
	return c, nil
}

type listener struct {
	*net.TCPListener
	of *sockets
}

func (l *listener) Accept() (net.Conn, error) {
	inner, err := l.AcceptTCP()
	if err != nil {
		return nil, err
	}
	return l.of.connection(inner)
}

func (l *listener) Close() error {
	l.of.mu.Lock()
	delete(l.of.listeners, l)
	l.of.mu.Unlock()
	return l.TCPListener.Close()
}

type conn struct {
	*net.TCPConn
	of *sockets
}

func (c *conn) Close() error {
	c.of.mu.Lock()
	delete(c.of.conns, c)
	c.of.mu.Unlock()
	return c.TCPConn.Close()
}
