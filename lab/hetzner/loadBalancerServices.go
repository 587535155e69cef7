package hetzner

import (
	"cmp"
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"
)

const (
	tcp   = "tcp"
	http1 = "http"
	https = "https"
)

// usualService is what a service is when nothing more is said of it.
func usualService(protocol string, listen, destination int) *schema.LoadBalancerService {
	service := &schema.LoadBalancerService{
		Protocol: protocol, ListenPort: listen, DestinationPort: destination,
		HealthCheck: &schema.LoadBalancerServiceHealthCheck{Protocol: tcp, Port: destination, Interval: 15, Timeout: 10, Retries: 3},
	}
	if protocol != tcp {
		service.HTTP = &schema.LoadBalancerServiceHTTP{CookieName: "HCLBSTICKY", CookieLifetime: 300, TimeoutIdle: 60, Certificates: []int64{}}
		service.HealthCheck.Protocol = http1
		service.HealthCheck.HTTP = usualHTTPCheck()
	}
	return service
}

func usualHTTPCheck() *schema.LoadBalancerServiceHealthCheckHTTP {
	return &schema.LoadBalancerServiceHealthCheckHTTP{Path: "/", StatusCodes: []string{"2??", "3??"}}
}

// newService makes a service as it is asked for.
func newService(asked schema.LoadBalancerActionAddServiceRequest) (*schema.LoadBalancerService, error) {
	listen, destination := valueOr(asked.ListenPort, 0), valueOr(asked.DestinationPort, 0)
	switch asked.Protocol {
	case tcp:
		if listen == 0 || destination == 0 {
			return nil, invalid("listen_port", "listen_port and destination_port are required for tcp")
		}
	case http1:
		listen, destination = cmp.Or(listen, 80), cmp.Or(destination, 80)
	case https:
		// It takes a certificate, and there are none to be had here.
		return nil, failure(hcloud.ErrorCodeNotFound, "certificate not found")
	default:
		return nil, invalid("protocol", "must be tcp, http or https")
	}
	service := usualService(asked.Protocol, listen, destination)
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

// changedService is a service after changes.
func changedService(service schema.LoadBalancerService, changes schema.LoadBalancerActionUpdateServiceRequest) (*schema.LoadBalancerService, error) {
	if protocol := valueOr(changes.Protocol, service.Protocol); protocol != service.Protocol {
		before := service
		service = *usualService(protocol, before.ListenPort, before.DestinationPort)
		service.Proxyprotocol, service.HealthCheck = before.Proxyprotocol, before.HealthCheck
	}
	service.DestinationPort = valueOr(changes.DestinationPort, service.DestinationPort)
	service.Proxyprotocol = valueOr(changes.Proxyprotocol, service.Proxyprotocol)
	if wanted := changes.HTTP; wanted != nil && service.HTTP != nil {
		changed := *service.HTTP
		changed.CookieName = valueOr(wanted.CookieName, changed.CookieName)
		changed.CookieLifetime = valueOr(wanted.CookieLifetime, changed.CookieLifetime)
		changed.RedirectHTTP = valueOr(wanted.RedirectHTTP, changed.RedirectHTTP)
		changed.StickySessions = valueOr(wanted.StickySessions, changed.StickySessions)
		changed.TimeoutIdle = valueOr(wanted.TimeoutIdle, changed.TimeoutIdle)
		service.HTTP = &changed
	}
	if changes.HealthCheck != nil {
		service.HealthCheck = changedCheck(*service.HealthCheck, *changes.HealthCheck)
	}
	return &service, checkService(service)
}

// changedCheck is a health check after changes.
func changedCheck(check schema.LoadBalancerServiceHealthCheck, changes schema.LoadBalancerActionUpdateServiceRequestHealthCheck) *schema.LoadBalancerServiceHealthCheck {
	check.Protocol = valueOr(changes.Protocol, check.Protocol)
	check.Port = valueOr(changes.Port, check.Port)
	check.Interval = valueOr(changes.Interval, check.Interval)
	check.Timeout = valueOr(changes.Timeout, check.Timeout)
	check.Retries = valueOr(changes.Retries, check.Retries)
	if check.Protocol == tcp {
		check.HTTP = nil
		return &check
	}
	if check.HTTP == nil {
		check.HTTP = usualHTTPCheck()
	}
	if wanted := changes.HTTP; wanted != nil {
		changed := *check.HTTP
		changed.Domain = valueOr(wanted.Domain, changed.Domain)
		changed.Path = cmp.Or(valueOr(wanted.Path, changed.Path), "/")
		changed.Response = valueOr(wanted.Response, changed.Response)
		changed.TLS = valueOr(wanted.TLS, changed.TLS)
		if codes := valueOr(wanted.StatusCodes, nil); len(codes) > 0 {
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
			return invalid(name, "must be from 1 to 65535")
		}
	}
	switch {
	case check.Protocol != tcp && check.Protocol != http1 && check.Protocol != https:
		return invalid("health_check.protocol", "must be tcp or http")
	case check.Interval < 3 || check.Interval > 60:
		return invalid("health_check.interval", "must be from 3 to 60 seconds")
	case check.Timeout < 1 || check.Timeout > check.Interval:
		return invalid("health_check.timeout", "must be at least 1 second and not longer than the interval")
	case check.Retries < 0 || check.Retries > 10:
		return invalid("health_check.retries", "must be from 0 to 10")
	}
	return nil
}

// service is the one that listens on a port, or nil.
func (b *loadBalancer) service(listen int) *schema.LoadBalancerService {
	at := slices.IndexFunc(b.services, func(s *schema.LoadBalancerService) bool { return s.ListenPort == listen })
	if at < 0 {
		return nil
	}
	return b.services[at]
}

func (b *loadBalancer) addService(asked schema.LoadBalancerActionAddServiceRequest) error {
	service, err := newService(asked)
	if err != nil {
		return err
	}
	if b.service(service.ListenPort) != nil {
		return failure(hcloud.ErrorCodeSourcePortAlreadyUsed, "source port %d is already used", service.ListenPort)
	}
	if len(b.services) >= b.kind.MaxServices {
		return failure(hcloud.ErrorCodeResourceLimitExceeded, "load balancer type allows %d services", b.kind.MaxServices)
	}
	b.services = append(b.services, service)
	return nil
}

func (c *Cloud) addService(r *call) (reply, error) {
	b, asked, err := ask[schema.LoadBalancerActionAddServiceRequest](r, c.loadBalancers)
	if err != nil {
		return reply{}, err
	}
	if err := b.addService(asked); err != nil {
		return reply{}, err
	}
	return c.balancerAction(b, "add_service", func() {})
}

func (c *Cloud) updateService(r *call) (reply, error) {
	b, asked, err := ask[schema.LoadBalancerActionUpdateServiceRequest](r, c.loadBalancers)
	if err != nil {
		return reply{}, err
	}
	present := b.service(asked.ListenPort)
	if present == nil {
		return reply{}, failure(hcloud.ErrorCodeNotFound, "service not found")
	}
	changed, err := changedService(*present, asked)
	if err != nil {
		return reply{}, err
	}
	*present = *changed
	return c.balancerAction(b, "update_service", func() {})
}

func (c *Cloud) deleteService(r *call) (reply, error) {
	b, asked, err := ask[schema.LoadBalancerDeleteServiceRequest](r, c.loadBalancers)
	if err != nil {
		return reply{}, err
	}
	present := b.service(asked.ListenPort)
	if present == nil {
		return reply{}, failure(hcloud.ErrorCodeNotFound, "service not found")
	}
	b.services = slices.DeleteFunc(b.services, func(s *schema.LoadBalancerService) bool { return s == present })
	return c.balancerAction(b, "delete_service", func() {})
}
