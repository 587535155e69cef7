package network

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
)

// Loopback is a network of addresses that every machine has, 127.0.0.0/8, for tests. It has no firewall.
type Loopback struct {
	mu sync.Mutex
	up map[netip.Addr]bool
}

var _ Network = (*Loopback)(nil)

// Add records that the address is up.
func (l *Loopback) Add(addr netip.Addr) error {
	if !addr.IsLoopback() {
		return fmt.Errorf("%s is not on loopback", addr)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.up == nil {
		l.up = map[netip.Addr]bool{}
	}
	l.up[addr] = true
	return nil
}

// Remove records that it is down.
func (l *Loopback) Remove(addr netip.Addr) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.up, addr)
	return nil
}

// Up reports whether an address is.
func (l *Loopback) Up(addr netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.up[addr]
}

// Listen listens at an address that is up.
func (l *Loopback) Listen(at netip.AddrPort) (net.Listener, error) {
	if !l.Up(at.Addr()) {
		return nil, fmt.Errorf("%s is not up", at.Addr())
	}
	return net.Listen("tcp", at.String())
}

// Dial connects.
func (l *Loopback) Dial(ctx context.Context, from netip.Addr, to netip.AddrPort) (net.Conn, error) {
	dialer := net.Dialer{}
	if from.IsValid() {
		dialer.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(from, 0))
	}
	return dialer.DialContext(ctx, "tcp", to.String())
}

// SetFirewall does nothing here.
func (l *Loopback) SetFirewall(netip.Addr, *Firewall) {}
