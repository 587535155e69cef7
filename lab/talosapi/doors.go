package talosapi

import (
	"net"
	"net/netip"
	"sync"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/network"
)

// doors are a node's listeners with their connections.
type doors struct {
	network network.Network

	mu     sync.Mutex
	opened map[netip.AddrPort]*door
}

// door is a listener that knows its connections, so that they can be closed.
type door struct {
	net.Listener

	mu    sync.Mutex
	conns map[string]net.Conn
}

func newDoors(network network.Network) *doors {
	return &doors{network: network, opened: map[netip.AddrPort]*door{}}
}

// open listens; it returns nil if it already listens there.
func (d *doors) open(at netip.AddrPort) (*door, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.opened[at] != nil {
		return nil, nil
	}
	listener, err := d.network.Listen(at)
	if err != nil {
		return nil, err
	}
	opened := &door{Listener: listener, conns: map[string]net.Conn{}}
	d.opened[at] = opened
	return opened, nil
}

func (d *doors) close(at netip.AddrPort) {
	d.mu.Lock()
	closed := d.opened[at]
	delete(d.opened, at)
	d.mu.Unlock()
	if closed != nil {
		closed.shut()
	}
}

func (d *doors) closeAll() {
	d.mu.Lock()
	opened := d.opened
	d.opened = map[netip.AddrPort]*door{}
	d.mu.Unlock()
	for _, door := range opened {
		door.shut()
	}
}

// cut closes the connection of a client, whichever door it came through.
func (d *doors) cut(client string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, door := range d.opened {
		door.mu.Lock()
		if conn := door.conns[client]; conn != nil {
			// The client notices; nothing else needs the error.
			_ = conn.Close()
		}
		door.mu.Unlock()
	}
}

// Accept records the connection, so that it can be closed.
func (d *door) Accept() (net.Conn, error) {
	conn, err := d.Listener.Accept()
	if err != nil {
		return nil, err
	}
	client := conn.RemoteAddr().String()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.conns[client] = conn
	return &guest{Conn: conn, leave: func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.conns, client)
	}}, nil
}

func (d *door) shut() {
	_ = d.Listener.Close()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, conn := range d.conns {
		_ = conn.Close()
	}
}

// guest is a connection that its door forgets when it closes.
type guest struct {
	net.Conn
	leave func()
}

func (g *guest) Close() error {
	g.leave()
	return g.Conn.Close()
}
