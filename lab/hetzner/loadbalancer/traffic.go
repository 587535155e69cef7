package loadbalancer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/project"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

// traffic is the load balancer on the network: it listens, forwards and checks as configured.
type traffic struct {
	project *project.Project
	of      *Balancer
	// endpoints are the load balancer's current ones.
	endpoints func() []endpoint

	// ready means that the load balancer was created.
	ready bool
	// up are its addresses that are up.
	up        map[netip.Addr]bool
	frontends map[netip.AddrPort]*frontend
	checks    map[checkKey]*check
	// turns counts the connections by destination port, open the open ones by endpoint.
	turns map[int]int
	open  map[string]int
}

// frontend listens for a service.
type frontend struct {
	listener net.Listener
	end      context.CancelFunc
}

func (f *frontend) close() error {
	f.end()
	return f.listener.Close()
}

// checkKey names an endpoint of a service.
type checkKey struct {
	listen   int
	endpoint string
}

// check is a health check that is repeated.
type check struct {
	health
	probe probe
	name  string
	end   context.CancelFunc
}

func newTraffic(in *project.Project, of *Balancer, endpoints func() []endpoint) *traffic {
	return &traffic{
		project: in, of: of, endpoints: endpoints,
		up: map[netip.Addr]bool{}, frontends: map[netip.AddrPort]*frontend{}, checks: map[checkKey]*check{},
		turns: map[int]int{}, open: map[string]int{},
	}
}

// status returns the known health of an endpoint for the service on a port.
func (t *traffic) status(listen int, at endpoint) hcloud.LoadBalancerTargetHealthStatusStatus {
	if !at.to.IsValid() {
		return hcloud.LoadBalancerTargetHealthStatusStatusUnhealthy
	}
	if its, checked := t.checks[checkKey{listen, at.key}]; checked {
		return its.status
	}
	return hcloud.LoadBalancerTargetHealthStatusStatusUnknown
}

// begin starts the traffic of a load balancer that was created.
func (t *traffic) begin() error {
	t.ready = true
	return t.steer()
}

// steerOrRecord is steer for callers that cannot return the error.
func (t *traffic) steerOrRecord() {
	if err := t.steer(); err != nil {
		t.project.Timeline.Record(t.of.Name, "load balancer", "failed", "error", err.Error())
	}
}

// steer makes the traffic follow the configuration.
func (t *traffic) steer() error {
	if !t.ready || t.project.Closed() {
		return nil
	}
	t.steerChecks()
	return t.steerFrontends()
}

// steerFrontends listens exactly where the services must be reached.
func (t *traffic) steerFrontends() error {
	wanted := map[netip.AddrPort]int{}
	for _, addr := range t.of.addresses() {
		for _, service := range t.of.services {
			wanted[netip.AddrPortFrom(addr, uint16(service.ListenPort))] = service.ListenPort
		}
	}
	var failures []error
	for at, its := range t.frontends {
		if _, stays := wanted[at]; !stays {
			failures = append(failures, its.close())
			delete(t.frontends, at)
		}
	}
	failures = append(failures, t.steerAddresses())
	for at, listen := range wanted {
		if t.frontends[at] != nil {
			continue
		}
		listener, err := t.project.Network.Listen(at)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		ctx, end := context.WithCancel(t.project.Life())
		t.frontends[at] = &frontend{listener: listener, end: end}
		t.project.Run(func() { t.accept(ctx, listener, listen) })
	}
	return errors.Join(failures...)
}

// steerAddresses brings up exactly the addresses of the load balancer.
func (t *traffic) steerAddresses() error {
	var failures []error
	wanted := t.of.addresses()
	for addr := range t.up {
		if !slices.Contains(wanted, addr) {
			failures = append(failures, t.project.Network.Remove(addr))
			delete(t.up, addr)
		}
	}
	for _, addr := range wanted {
		if !t.up[addr] {
			failures = append(failures, t.project.Network.Add(addr))
			t.up[addr] = true
		}
	}
	return errors.Join(failures...)
}

// steerChecks checks exactly every endpoint for every service.
func (t *traffic) steerChecks() {
	wanted := map[checkKey]*check{}
	for _, at := range t.endpoints() {
		if !at.to.IsValid() {
			continue
		}
		for _, service := range t.of.services {
			wanted[checkKey{service.ListenPort, at.key}] = &check{
				health: health{status: hcloud.LoadBalancerTargetHealthStatusStatusUnknown}, probe: newProbe(service, at), name: at.name,
			}
		}
	}
	maps.DeleteFunc(t.checks, func(key checkKey, its *check) bool {
		stays := wanted[key] != nil && wanted[key].probe == its.probe
		if stays {
			delete(wanted, key)
		} else {
			its.end()
		}
		return !stays
	})
	for key, its := range wanted {
		ctx, end := context.WithCancel(t.project.Life())
		its.end = end
		t.checks[key] = its
		t.project.Run(func() { t.repeat(ctx, key, its) })
	}
}

// repeat repeats a health check until its context ends. It is called without the
// lock.
func (t *traffic) repeat(ctx context.Context, key checkKey, its *check) {
	for {
		// The duration in the lab is that of an interval of 15 seconds, the default.
		const defaultInterval, shortest = 15, time.Second
		second := t.project.Pace.Of(pace.HealthCheck, t.of.Name+"/"+its.name) / defaultInterval
		failed, err := t.project.Faults.Meet(ctx, fault.Point{On: fault.Health, Name: fmt.Sprintf("%s:%d", its.name, key.listen), Subject: t.of.Name})
		if err == nil && failed == nil {
			limited, end := context.WithTimeout(ctx, max(shortest, second*time.Duration(its.probe.limit)))
			err = its.probe.run(limited, t.project.Network)
			end()
		}
		if !t.note(ctx, key, its, err == nil && failed == nil) {
			return
		}
		timer := time.NewTimer(second * time.Duration(its.probe.interval))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// note records the result of a check, unless the check has ended. It is called without the lock.
func (t *traffic) note(ctx context.Context, key checkKey, its *check, passed bool) (continues bool) {
	t.project.Lock()
	defer t.project.Unlock()
	if ctx.Err() != nil {
		return false
	}
	before := its.status
	its.add(passed, its.probe.retries)
	if its.status != before {
		t.project.Timeline.Record(t.of.Name, "target", string(its.status), "target", its.name, "port", api.IDText(int64(key.listen)))
	}
	return true
}

// silence ends all traffic and takes the addresses down.
func (t *traffic) silence() error {
	var failures []error
	for at, its := range t.frontends {
		failures = append(failures, its.close())
		delete(t.frontends, at)
	}
	for key, its := range t.checks {
		its.end()
		delete(t.checks, key)
	}
	for addr := range t.up {
		failures = append(failures, t.project.Network.Remove(addr))
		delete(t.up, addr)
	}
	t.ready = false
	return errors.Join(failures...)
}
