package loadbalancer

import (
	"context"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
)

// connectTimeout is how long a load balancer tries to connect to a healthy target.
const connectTimeout = 5 * time.Second

// accept forwards the connections of a frontend until its listener is closed. It is called without the lock, like all that follow except choose.
func (t *traffic) accept(ctx context.Context, listener net.Listener, listen int) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		t.project.Work().Go(func() { t.forward(ctx, conn, listen) })
	}
}

// forward forwards one connection to a healthy target.
func (t *traffic) forward(ctx context.Context, conn net.Conn, listen int) {
	defer func() { _ = conn.Close() }()
	t.project.Lock()
	chosen, port, found := t.choose(listen)
	service := t.of.service(listen)
	plain := service == nil || service.Protocol == tcp
	if found {
		t.open[chosen.key]++
	}
	t.project.Unlock()
	if !found {
		decline(conn, plain)
		return
	}
	defer func() {
		t.project.Lock()
		t.open[chosen.key]--
		t.project.Unlock()
	}()
	limited, end := context.WithTimeout(ctx, connectTimeout)
	defer end()
	onward, err := t.project.Network.Dial(limited, chosen.from, netip.AddrPortFrom(chosen.to, port))
	if err != nil {
		decline(conn, plain)
		return
	}
	defer func() { _ = onward.Close() }()
	stop := context.AfterFunc(ctx, func() { _, _ = conn.Close(), onward.Close() })
	defer stop()
	join(conn, onward)
}

// choose returns the target for the next connection of a service. It is called with the
// lock.
func (t *traffic) choose(listen int) (endpoint, uint16, bool) {
	service := t.of.service(listen)
	if service == nil {
		return endpoint{}, 0, false
	}
	var healthy []endpoint
	for _, at := range t.endpoints() {
		if t.status(listen, at) == hcloud.LoadBalancerTargetHealthStatusStatusHealthy {
			healthy = append(healthy, at)
		}
	}
	if len(healthy) == 0 {
		return endpoint{}, 0, false
	}
	chosen := healthy[t.turns[listen]%len(healthy)]
	t.turns[listen]++
	if t.of.algorithm == "least_connections" {
		for _, at := range healthy {
			if t.open[at.key] < t.open[chosen.key] {
				chosen = at
			}
		}
	}
	return chosen, uint16(service.DestinationPort), true
}

// decline ends a connection for which there is no target: a plain one is reset, an HTTP one gets an answer.
func decline(conn net.Conn, plain bool) {
	if !plain {
		_, _ = io.WriteString(conn, "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		return
	}
	if abrupt, can := conn.(interface{ SetLinger(int) error }); can {
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

// pipe copies one way, and passes the end of the stream on.
func pipe(to, from net.Conn) {
	_, err := io.Copy(to, from)
	if half, can := to.(interface{ CloseWrite() error }); can && err == nil {
		_ = half.CloseWrite()
		return
	}
	_, _ = to.Close(), from.Close()
}
