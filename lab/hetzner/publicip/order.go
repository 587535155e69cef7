package publicip

import (
	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/server"
)

// Order is the public addresses that a new server will have.
type Order struct {
	existing []*IP
	// kinds are those of primary IPs to create.
	kinds []string
}

// Empty reports whether the server is to have none.
func (o Order) Empty() bool { return len(o.existing)+len(o.kinds) == 0 }

// ReadOrder checks a request; without any setting a server gets one address of each kind. Nothing is changed.
func (s *IPs) ReadOrder(asked *schema.ServerCreatePublicNet, location schema.Location) (Order, error) {
	if asked == nil {
		return Order{kinds: []string{ipv4, ipv6}}, nil
	}
	var order Order
	for _, wanted := range []struct {
		kind   string
		enable bool
		id     int64
	}{{ipv4, asked.EnableIPv4, asked.IPv4ID}, {ipv6, asked.EnableIPv6, asked.IPv6ID}} {
		if wanted.id == 0 {
			if wanted.enable {
				order.kinds = append(order.kinds, wanted.kind)
			}
			continue
		}
		ip, err := s.registry.Get(wanted.id)
		switch {
		case err != nil:
			return order, err
		case ip.kind != wanted.kind:
			return order, api.Failure(hcloud.ErrorCodePrimaryIPVersionMismatch, "primary IP with ID %d is no %s", ip.ID, wanted.kind)
		case ip.server != nil:
			return order, api.Failure(hcloud.ErrorCodePrimaryIPAssigned, "primary IP with ID %d is already assigned", ip.ID)
		case ip.location.ID != location.ID:
			return order, otherLocation()
		}
		order.existing = append(order.existing, ip)
	}
	return order, nil
}

// Provide gives a new server the addresses of its order. If it fails, nothing is changed.
func (s *IPs) Provide(to *server.Server, order Order) error {
	var made []*IP
	for _, kind := range order.kinds {
		ip, err := s.make(kind, to)
		if err != nil {
			for _, other := range made {
				s.remove(other)
			}
			return err
		}
		made = append(made, ip)
	}
	for _, ip := range append(made, order.existing...) {
		ip.server = to
	}
	return nil
}

// make creates a primary IP that is deleted together with its server.
func (s *IPs) make(kind string, of *server.Server) (*IP, error) {
	record, err := s.registry.NewRecord("primary_ip-"+kind+"-"+of.Machine, nil)
	if err != nil {
		return nil, err
	}
	ip, err := s.add(record, kind, of.Location)
	if err != nil {
		return nil, err
	}
	ip.autoDelete = true
	return ip, nil
}

// Release removes all addresses from a server whose machine no longer exists.
func (s *IPs) Release(from *server.Server) {
	for _, ip := range []*IP{s.of(from, ipv4), s.of(from, ipv6)} {
		if ip == nil {
			continue
		}
		s.release(ip)
		if ip.autoDelete {
			s.remove(ip)
		}
	}
}

func otherLocation() error {
	return api.Failure(hcloud.ErrorCodePrimaryIPDatacenterMismatch, "primary IP and server are in different locations")
}
