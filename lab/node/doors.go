package node

import (
	"context"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
)

// doors lead to the API server of a control plane from every address of the
// node but the one where it listens itself: a real one listens at all.
type doors struct {
	node *node

	mu     sync.Mutex
	target netip.AddrPort
	up     []netip.Addr
	open   map[netip.Addr]net.Listener
	conns  map[net.Conn]bool
	closed bool
}

func newDoors(n *node) *doors {
	return &doors{node: n, open: map[netip.Addr]net.Listener{}, conns: map[net.Conn]bool{}}
}

// lead opens the doors to the API server, or shuts them for none.
func (d *doors) lead(target netip.AddrPort) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.target == target || d.closed {
		return
	}
	d.shut(func(netip.Addr) bool { return true })
	d.target = target
	d.fit()
}

// end shuts them for good.
func (d *doors) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed, d.target = true, netip.AddrPort{}
	d.shut(func(netip.Addr) bool { return true })
}

// moved follows the addresses of the node.
func (d *doors) moved(up []netip.Addr) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.up = slices.Clone(up)
	d.shut(func(at netip.Addr) bool { return !slices.Contains(up, at) })
	d.fit()
}

func (d *doors) fit() {
	if !d.target.IsValid() {
		return
	}
	for _, at := range d.up {
		if d.open[at] != nil || at == d.target.Addr() {
			continue
		}
		listener, err := d.node.Network.Listen(netip.AddrPortFrom(at, d.target.Port()))
		if err != nil {
			d.node.logs.talos("the API server at %s: %v", at, err)
			continue
		}
		d.open[at] = listener
		target := d.target
		d.node.spawn(func(ctx context.Context) { d.serve(ctx, listener, target) })
	}
}

func (d *doors) shut(which func(netip.Addr) bool) {
	for at, listener := range d.open {
		if which(at) {
			_ = listener.Close()
			delete(d.open, at)
		}
	}
	if len(d.open) == 0 {
		for conn := range d.conns {
			_ = conn.Close()
		}
	}
}

func (d *doors) serve(ctx context.Context, listener net.Listener, target netip.AddrPort) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		d.node.spawn(func(context.Context) { d.pass(ctx, conn, target) })
	}
}

func (d *doors) pass(ctx context.Context, from net.Conn, target netip.AddrPort) {
	defer from.Close()
	to, err := d.node.Network.Dial(ctx, target.Addr(), target)
	if err != nil {
		return // refused, as where the API server is down
	}
	defer to.Close()
	d.note(from, to)
	defer d.forget(from, to)
	var both sync.WaitGroup
	both.Add(2)
	for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
		go func() {
			defer both.Done()
			_, _ = io.Copy(way[1], way[0]) // the end of either side ends both
			_ = way[0].Close()
			_ = way[1].Close()
		}()
	}
	both.Wait()
}

func (d *doors) note(conns ...net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, conn := range conns {
		d.conns[conn] = true
	}
}

func (d *doors) forget(conns ...net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, conn := range conns {
		delete(d.conns, conn)
	}
}
