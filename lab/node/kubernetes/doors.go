package kubernetes

import (
	"context"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/boot"
)

// Doors forward connections to the API server of a control plane, from every address of the node except the one where the API server listens itself: a real
// one listens on all.
type Doors struct {
	boot *boot.Boot

	mu     sync.Mutex
	target netip.AddrPort
	up     []netip.Addr
	open   map[netip.Addr]net.Listener
	conns  map[net.Conn]bool
	closed bool
}

// NewDoors returns closed doors.
func NewDoors(of *boot.Boot) *Doors {
	return &Doors{boot: of, open: map[netip.Addr]net.Listener{}, conns: map[net.Conn]bool{}}
}

// lead opens the doors to the API server, or closes them if there is none.
func (d *Doors) lead(target netip.AddrPort) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.target == target || d.closed {
		return
	}
	d.shut(func(netip.Addr) bool { return true })
	d.target = target
	d.fit()
}

// End closes them permanently.
func (d *Doors) End() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed, d.target = true, netip.AddrPort{}
	d.shut(func(netip.Addr) bool { return true })
}

// Moved implements addressing.Follower.
func (d *Doors) Moved(up []netip.Addr) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.up = slices.Clone(up)
	d.shut(func(at netip.Addr) bool { return !slices.Contains(up, at) })
	d.fit()
}

func (d *Doors) fit() {
	if !d.target.IsValid() {
		return
	}
	for _, at := range d.up {
		if d.open[at] != nil || at == d.target.Addr() {
			continue
		}
		listener, err := d.boot.Network.Listen(netip.AddrPortFrom(at, d.target.Port()))
		if err != nil {
			d.boot.Logs.Talos("the API server at %s: %v", at, err)
			continue
		}
		d.open[at] = listener
		target := d.target
		d.boot.Spawn(func(ctx context.Context) { d.serve(ctx, listener, target) })
	}
}

func (d *Doors) shut(which func(netip.Addr) bool) {
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

func (d *Doors) serve(ctx context.Context, listener net.Listener, target netip.AddrPort) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		d.boot.Spawn(func(context.Context) { d.pass(ctx, conn, target) })
	}
}

func (d *Doors) pass(ctx context.Context, from net.Conn, target netip.AddrPort) {
	defer from.Close()
	to, err := d.boot.Network.Dial(ctx, target.Addr(), target)
	if err != nil {
		return // refused: the API server is down
	}
	defer to.Close()
	d.note(from, to)
	defer d.forget(from, to)
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
		both.Go(func() {
			_, _ = io.Copy(way[1], way[0]) // either side ends both
			_ = way[0].Close()
			_ = way[1].Close()
		})
	}
	both.Wait()
}

func (d *Doors) note(conns ...net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, conn := range conns {
		d.conns[conn] = true
	}
}

func (d *Doors) forget(conns ...net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, conn := range conns {
		delete(d.conns, conn)
	}
}
