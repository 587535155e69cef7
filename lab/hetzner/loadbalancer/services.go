package loadbalancer

import (
	"cmp"
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/project"
)

const (
	tcp   = "tcp"
	http1 = "http"
	https = "https"
)

// defaultService returns a service with the defaults of its protocol.
func defaultService(protocol string, listen, destination int) *schema.LoadBalancerService {
	service := &schema.LoadBalancerService{
		Protocol: protocol, ListenPort: listen, DestinationPort: destination,
		HealthCheck: &schema.LoadBalancerServiceHealthCheck{Protocol: tcp, Port: destination, Interval: 15, Timeout: 10, Retries: 3},
	}
	if protocol != tcp {
		service.HTTP = &schema.LoadBalancerServiceHTTP{CookieName: "HCLBSTICKY", CookieLifetime: 300, TimeoutIdle: 60, Certificates: []int64{}}
		service.HealthCheck.Protocol = http1
		service.HealthCheck.HTTP = defaultHTTPCheck()
	}
	return service
}

func defaultHTTPCheck() *schema.LoadBalancerServiceHealthCheckHTTP {
	return &schema.LoadBalancerServiceHealthCheckHTTP{Path: "/", StatusCodes: []string{"2??", "3??"}}
}

// newService makes a service as requested.
func newService(asked schema.LoadBalancerActionAddServiceRequest) (*schema.LoadBalancerService, error) {
	listen, destination := api.ValueOr(asked.ListenPort, 0), api.ValueOr(asked.DestinationPort, 0)
	switch asked.Protocol {
	case tcp:
		if listen == 0 || destination == 0 {
			return nil, api.Invalid("listen_port", "listen_port and destination_port are required for tcp")
		}
	case http1:
		listen, destination = cmp.Or(listen, 80), cmp.Or(destination, 80)
	case https:
		// It needs a certificate, and the lab has none.
		return nil, api.Failure(hcloud.ErrorCodeNotFound, "certificate not found")
	default:
		return nil, api.Invalid("protocol", "must be tcp, http or https")
	}
	service := defaultService(asked.Protocol, listen, destination)
	changes := schema.LoadBalancerActionUpdateServiceRequest{
		Proxyprotocol: asked.Proxyprotocol, HTTP: (*schema.LoadBalancerActionUpdateServiceRequestHTTP)(asked.HTTP),
	}
	if check := asked.HealthCheck; check != nil {
		changes.HealthCheck = &schema.LoadBalancerActionUpdateServiceRequestHealthCheck{
			Protocol: &check.Protocol, Port: check.Port, Interval: check.Interval, Timeout: check.Timeout, Retries: check.Retries,
			HTTP: (*schema.LoadBalancerActionUpdateServiceRequestHealthCheckHTTP)(check.HTTP),
		}
	}
	return changedService(*service, changes)
}

// changedService returns a service after changes.
func changedService(service schema.LoadBalancerService, changes schema.LoadBalancerActionUpdateServiceRequest) (*schema.LoadBalancerService, error) {
	if protocol := api.ValueOr(changes.Protocol, service.Protocol); protocol != service.Protocol {
		before := service
		service = *defaultService(protocol, before.ListenPort, before.DestinationPort)
		service.Proxyprotocol, service.HealthCheck = before.Proxyprotocol, before.HealthCheck
	}
	service.DestinationPort = api.ValueOr(changes.DestinationPort, service.DestinationPort)
	service.Proxyprotocol = api.ValueOr(changes.Proxyprotocol, service.Proxyprotocol)
	if wanted := changes.HTTP; wanted != nil && service.HTTP != nil {
		changed := *service.HTTP
		changed.CookieName = api.ValueOr(wanted.CookieName, changed.CookieName)
		changed.CookieLifetime = api.ValueOr(wanted.CookieLifetime, changed.CookieLifetime)
		changed.RedirectHTTP = api.ValueOr(wanted.RedirectHTTP, changed.RedirectHTTP)
		changed.StickySessions = api.ValueOr(wanted.StickySessions, changed.StickySessions)
		changed.TimeoutIdle = api.ValueOr(wanted.TimeoutIdle, changed.TimeoutIdle)
		service.HTTP = &changed
	}
	if changes.HealthCheck != nil {
		service.HealthCheck = changedCheck(*service.HealthCheck, *changes.HealthCheck)
	}
	return &service, checkService(service)
}

// changedCheck returns a health check after changes.
func changedCheck(check schema.LoadBalancerServiceHealthCheck, changes schema.LoadBalancerActionUpdateServiceRequestHealthCheck) *schema.LoadBalancerServiceHealthCheck {
	check.Protocol = api.ValueOr(changes.Protocol, check.Protocol)
	check.Port = api.ValueOr(changes.Port, check.Port)
	check.Interval = api.ValueOr(changes.Interval, check.Interval)
	check.Timeout = api.ValueOr(changes.Timeout, check.Timeout)
	check.Retries = api.ValueOr(changes.Retries, check.Retries)
	if check.Protocol == tcp {
		check.HTTP = nil
		return &check
	}
	if check.HTTP == nil {
		check.HTTP = defaultHTTPCheck()
	}
	if wanted := changes.HTTP; wanted != nil {
		changed := *check.HTTP
		changed.Domain = api.ValueOr(wanted.Domain, changed.Domain)
		changed.Path = cmp.Or(api.ValueOr(wanted.Path, changed.Path), "/")
		changed.Response = api.ValueOr(wanted.Response, changed.Response)
		changed.TLS = api.ValueOr(wanted.TLS, changed.TLS)
		if codes := api.ValueOr(wanted.StatusCodes, nil); len(codes) > 0 {
			changed.StatusCodes = codes
		}
		check.HTTP = &changed
	}
	return &check
}

func checkService(service schema.LoadBalancerService) error {
	check := service.HealthCheck
	for name, port := range map[string]int{
		"listen_port": service.ListenPort, "destination_port": service.DestinationPort, "health_check.port": check.Port,
	} {
		if port < 1 || port > 65535 {
			return api.Invalid(name, "must be from 1 to 65535")
		}
	}
	switch {
	case check.Protocol != tcp && check.Protocol != http1 && check.Protocol != https:
		return api.Invalid("health_check.protocol", "must be tcp or http")
	case check.Interval < 3 || check.Interval > 60:
		return api.Invalid("health_check.interval", "must be from 3 to 60 seconds")
	case check.Timeout < 1 || check.Timeout > check.Interval:
		return api.Invalid("health_check.timeout", "must be at least 1 second and not longer than the interval")
	case check.Retries < 0 || check.Retries > 10:
		return api.Invalid("health_check.retries", "must be from 0 to 10")
	}
	return nil
}

// service returns the one that listens on a port, or nil.
func (b *Balancer) service(listen int) *schema.LoadBalancerService {
	at := slices.IndexFunc(b.services, func(s *schema.LoadBalancerService) bool { return s.ListenPort == listen })
	if at < 0 {
		return nil
	}
	return b.services[at]
}

// addService adds a service as requested.
func (b *Balancer) addService(asked schema.LoadBalancerActionAddServiceRequest) error {
	service, err := newService(asked)
	if err != nil {
		return err
	}
	if b.service(service.ListenPort) != nil {
		return api.Failure(hcloud.ErrorCodeSourcePortAlreadyUsed, "source port %d is already used", service.ListenPort)
	}
	if len(b.services) >= b.kind.MaxServices {
		return api.Failure(hcloud.ErrorCodeResourceLimitExceeded, "load balancer type allows %d services", b.kind.MaxServices)
	}
	b.services = append(b.services, service)
	return nil
}

func (s *Balancers) addService(r *api.Call) (api.Reply, error) {
	b, asked, err := project.Ask[schema.LoadBalancerActionAddServiceRequest](r, s.registry)
	if err != nil {
		return api.Reply{}, err
	}
	if err := b.addService(asked); err != nil {
		return api.Reply{}, err
	}
	return s.start(b, "add_service", func() {})
}

func (s *Balancers) updateService(r *api.Call) (api.Reply, error) {
	b, asked, err := project.Ask[schema.LoadBalancerActionUpdateServiceRequest](r, s.registry)
	if err != nil {
		return api.Reply{}, err
	}
	present := b.service(asked.ListenPort)
	if present == nil {
		return api.Reply{}, serviceNotFound()
	}
	changed, err := changedService(*present, asked)
	if err != nil {
		return api.Reply{}, err
	}
	*present = *changed
	return s.start(b, "update_service", func() {})
}

func (s *Balancers) deleteService(r *api.Call) (api.Reply, error) {
	b, asked, err := project.Ask[schema.LoadBalancerDeleteServiceRequest](r, s.registry)
	if err != nil {
		return api.Reply{}, err
	}
	present := b.service(asked.ListenPort)
	if present == nil {
		return api.Reply{}, serviceNotFound()
	}
	b.services = slices.DeleteFunc(b.services, func(one *schema.LoadBalancerService) bool { return one == present })
	return s.start(b, "delete_service", func() {})
}

func serviceNotFound() error {
	return api.Failure(hcloud.ErrorCodeNotFound, "service not found")
}
