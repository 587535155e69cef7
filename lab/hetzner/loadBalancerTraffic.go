package hetzner

import (
	"context"
	"errors"
	"maps"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

// traffic is what a load balancer does on the network.
type traffic struct {
	// ready says that it was created.
	ready bool
	// up are its addresses that are there.
	up        map[netip.Addr]bool
	frontends map[netip.AddrPort]*frontend
	checks    map[checkKey]*check
	// turns counts the connections by the port listened on, open those that
	// are open by endpoint.
	turns map[int]int
	open  map[string]int
}

// frontend listens for a service.
type frontend struct {
	listener net.Listener
	end      context.CancelFunc
}

// checkKey names an endpoint of a service.
type checkKey struct {
	listen   int
	endpoint string
}

// check is a health check that goes on.
type check struct {
	health
	probe probe
	name  string
	end   context.CancelFunc
}

func newTraffic() *traffic {
	return &traffic{
		up: map[netip.Addr]bool{}, frontends: map[netip.AddrPort]*frontend{}, checks: map[checkKey]*check{},
		turns: map[int]int{}, open: map[string]int{},
	}
}

// status is what is known of an endpoint for the service on a port.
func (t *traffic) status(listen int, at endpoint) hcloud.LoadBalancerTargetHealthStatusStatus {
	if !at.to.IsValid() {
		return hcloud.LoadBalancerTargetHealthStatusStatusUnhealthy
	}
	if its, checked := t.checks[checkKey{listen, at.key}]; checked {
		return its.status
	}
	return hcloud.LoadBalancerTargetHealthStatusStatusUnknown
}

// retarget brings what changed about servers to all load balancers.
func (c *Cloud) retarget() {
	for _, b := range c.loadBalancers.all() {
		c.steerOrTell(b)
	}
}

// steerOrTell is steer where nobody waits for an error.
func (c *Cloud) steerOrTell(b *loadBalancer) {
	if err := c.steer(b); err != nil {
		c.Timeline.Record(b.name, "load balancer", "failed", "error", err.Error())
	}
}

// steer makes the traffic of a load balancer what its settings say.
func (c *Cloud) steer(b *loadBalancer) error {
	if !b.traffic.ready || c.closed {
		return nil
	}
	c.steerChecks(b)
	return c.steerFrontends(b)
}

// steerFrontends listens where the services are to be reached, and nowhere else.
func (c *Cloud) steerFrontends(b *loadBalancer) error {
	wanted := map[netip.AddrPort]int{}
	for _, addr := range b.addresses() {
		for _, service := range b.services {
			wanted[netip.AddrPortFrom(addr, uint16(service.ListenPort))] = service.ListenPort
		}
	}
	var faults []error
	for at, its := range b.traffic.frontends {
		if _, stays := wanted[at]; !stays {
			faults = append(faults, its.close())
			delete(b.traffic.frontends, at)
		}
	}
	faults = append(faults, c.steerAddresses(b))
	for at, listen := range wanted {
		if b.traffic.frontends[at] != nil {
			continue
		}
		listener, err := c.Network.Listen(at)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		ctx, end := context.WithCancel(c.life)
		b.traffic.frontends[at] = &frontend{listener: listener, end: end}
		c.run(func() { c.accept(ctx, b, listener, listen) })
	}
	return errors.Join(faults...)
}

// steerAddresses has the load balancer's addresses up, and no others.
func (c *Cloud) steerAddresses(b *loadBalancer) error {
	var faults []error
	wanted := b.addresses()
	for addr := range b.traffic.up {
		if !slices.Contains(wanted, addr) {
			faults = append(faults, c.Network.Remove(addr))
			delete(b.traffic.up, addr)
		}
	}
	for _, addr := range wanted {
		if !b.traffic.up[addr] {
			faults = append(faults, c.Network.Add(addr))
			b.traffic.up[addr] = true
		}
	}
	return errors.Join(faults...)
}

func (f *frontend) close() error {
	f.end()
	return f.listener.Close()
}

// steerChecks checks every endpoint for every service, and nothing else.
func (c *Cloud) steerChecks(b *loadBalancer) {
	wanted := map[checkKey]*check{}
	for _, at := range c.endpoints(b) {
		if !at.to.IsValid() {
			continue
		}
		for _, service := range b.services {
			wanted[checkKey{service.ListenPort, at.key}] = &check{
				health: health{status: hcloud.LoadBalancerTargetHealthStatusStatusUnknown}, probe: newProbe(service, at), name: at.name,
			}
		}
	}
	maps.DeleteFunc(b.traffic.checks, func(key checkKey, its *check) bool {
		stays := wanted[key] != nil && wanted[key].probe == its.probe
		if stays {
			delete(wanted, key)
		} else {
			its.end()
		}
		return !stays
	})
	for key, its := range wanted {
		ctx, end := context.WithCancel(c.life)
		its.end = end
		b.traffic.checks[key] = its
		c.run(func() { c.watch(ctx, b, key, its) })
	}
}

// watch checks an endpoint again and again.
func (c *Cloud) watch(ctx context.Context, b *loadBalancer, key checkKey, its *check) {
	for {
		// A check of 15 seconds, the usual interval, is the step's time.
		const usual, shortest = 15, time.Second
		unit := c.Pace.Of(pace.HealthCheck, b.name+"/"+its.name) / usual
		limited, end := context.WithTimeout(ctx, max(shortest, unit*time.Duration(its.probe.limit)))
		err := its.probe.try(limited, c.Network)
		end()
		c.mu.Lock()
		if ctx.Err() != nil {
			c.mu.Unlock()
			return
		}
		before := its.status
		its.note(err == nil, its.probe.retries)
		if its.status != before {
			c.Timeline.Record(b.name, "target", string(its.status), "target", its.name, "port", idText(int64(key.listen)))
		}
		c.mu.Unlock()
		timer := time.NewTimer(unit * time.Duration(its.probe.interval))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// silence ends all traffic of a load balancer and takes its addresses down.
func (c *Cloud) silence(b *loadBalancer) error {
	var faults []error
	for at, its := range b.traffic.frontends {
		faults = append(faults, its.close())
		delete(b.traffic.frontends, at)
	}
	for key, its := range b.traffic.checks {
		its.end()
		delete(b.traffic.checks, key)
	}
	for addr := range b.traffic.up {
		faults = append(faults, c.Network.Remove(addr))
		delete(b.traffic.up, addr)
	}
	b.traffic.ready = false
	return errors.Join(faults...)
}
