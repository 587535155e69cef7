package hetzner

import (
	"context"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
)

// patience is how long a load balancer tries to connect to a healthy target.
const patience = 5 * time.Second

// accept leads the connections of a frontend on, until its listener is closed.
func (c *Cloud) accept(ctx context.Context, b *loadBalancer, listener net.Listener, listen int) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		c.work.Go(func() { c.forward(ctx, b, conn, listen) })
	}
}

// forward leads one connection to a healthy target.
func (c *Cloud) forward(ctx context.Context, b *loadBalancer, conn net.Conn, listen int) {
	defer func() { _ = conn.Close() }()
	c.mu.Lock()
	chosen, port, found := c.choose(b, listen)
	service := b.service(listen)
	plain := service == nil || service.Protocol == tcp
	if found {
		b.traffic.open[chosen.key]++
	}
	c.mu.Unlock()
	if !found {
		decline(conn, plain)
		return
	}
	defer func() {
		c.mu.Lock()
		b.traffic.open[chosen.key]--
		c.mu.Unlock()
	}()
	limited, end := context.WithTimeout(ctx, patience)
	defer end()
	onward, err := c.Network.Dial(limited, chosen.from, netip.AddrPortFrom(chosen.to, port))
	if err != nil {
		decline(conn, plain)
		return
	}
	defer func() { _ = onward.Close() }()
	stop := context.AfterFunc(ctx, func() { _, _ = conn.Close(), onward.Close() })
	defer stop()
	join(conn, onward)
}

// choose is the target for the next connection of a service.
func (c *Cloud) choose(b *loadBalancer, listen int) (endpoint, uint16, bool) {
	service := b.service(listen)
	if service == nil {
		return endpoint{}, 0, false
	}
	var healthy []endpoint
	for _, at := range c.endpoints(b) {
		if b.traffic.status(listen, at) == hcloud.LoadBalancerTargetHealthStatusStatusHealthy {
			healthy = append(healthy, at)
		}
	}
	if len(healthy) == 0 {
		return endpoint{}, 0, false
	}
	chosen := healthy[b.traffic.turns[listen]%len(healthy)]
	b.traffic.turns[listen]++
	if b.algorithm == "least_connections" {
		for _, at := range healthy {
			if b.traffic.open[at.key] < b.traffic.open[chosen.key] {
				chosen = at
			}
		}
	}
	return chosen, uint16(service.DestinationPort), true
}

// decline ends a connection for which there is no target: a plain one is reset,
// one of HTTP is told.
func decline(conn net.Conn, plain bool) {
	if !plain {
		_, _ = io.WriteString(conn, "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		return
	}
	if abrupt, able := conn.(interface{ SetLinger(int) error }); able {
		_ = abrupt.SetLinger(0)
	}
}

// join copies both ways until both sides have ended.
func join(a, b net.Conn) {
	var both sync.WaitGroup
	both.Go(func() { pipe(a, b) })
	both.Go(func() { pipe(b, a) })
	both.Wait()
}

// pipe copies one way, and passes the end on.
func pipe(to, from net.Conn) {
	_, err := io.Copy(to, from)
	if half, able := to.(interface{ CloseWrite() error }); able && err == nil {
		_ = half.CloseWrite()
		return
	}
	_, _ = to.Close(), from.Close()
}
