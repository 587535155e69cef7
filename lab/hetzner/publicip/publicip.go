// Package publicip is the primary IPs of a project: the public addresses of its servers. Floating IPs are left out, because nothing here uses them.
package publicip

import (
	"maps"
	"net/netip"
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/catalog"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/project"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/server"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
)

const (
	ipv4 = "ipv4"
	ipv6 = "ipv6"
)

// IP is a primary IP.
type IP struct {
	project.Record
	kind string // "ipv4" or "ipv6"
	// addr is the address of an IPv4 one, net6 the network of an IPv6 one.
	addr       netip.Addr
	net6       netip.Prefix
	location   schema.Location
	server     *server.Server // or nil
	autoDelete bool
	protected  bool
	names      project.ReverseNames
}

// text returns the address as the API writes it.
func (ip *IP) text() string {
	if ip.kind == ipv6 {
		return ip.net6.String()
	}
	return ip.addr.String()
}

func (ip *IP) view() schema.PrimaryIP {
	view := schema.PrimaryIP{
		ID: ip.ID, IP: ip.text(), Labels: ip.LabelsOf(), Name: ip.Name, Type: ip.kind,
		Protection: schema.PrimaryIPProtection{Delete: ip.protected}, DNSPtr: []schema.PrimaryIPDNSPTR{},
		AssigneeType: "server", AutoDelete: ip.autoDelete, Created: ip.Created, Location: ip.location,
	}
	if ip.server != nil {
		view.AssigneeID = new(ip.server.ID)
	}
	for _, at := range slices.Sorted(maps.Keys(ip.names)) {
		view.DNSPtr = append(view.DNSPtr, schema.PrimaryIPDNSPTR{IP: at, DNSPtr: ip.names[at]})
	}
	return view
}

// Firewalls protect the addresses of a server.
type Firewalls interface {
	Enforce(of *server.Server)
}

// IPs are the primary IPs of a project.
type IPs struct {
	// Firewalls is set before the first request.
	Firewalls Firewalls

	project  *project.Project
	catalog  *catalog.Catalog
	servers  *server.Servers
	registry *project.Registry[*IP]
}

// New returns a project without primary IPs.
func New(in *project.Project, catalog *catalog.Catalog, servers *server.Servers) *IPs {
	return &IPs{project: in, catalog: catalog, servers: servers, registry: project.NewRegistry[*IP](in, "primary_ip")}
}

// of returns the primary IP of a kind that a server has, or nil.
func (s *IPs) of(owner *server.Server, kind string) *IP {
	for _, ip := range s.registry.All() {
		if ip.server == owner && ip.kind == kind {
			return ip
		}
	}
	return nil
}

// Address returns the public IPv4 address of a server, if it has one.
func (s *IPs) Address(of *server.Server) (netip.Addr, bool) {
	if ip := s.of(of, ipv4); ip != nil {
		return ip.addr, true
	}
	return netip.Addr{}, false
}

// HasAny reports whether a server has a public address.
func (s *IPs) HasAny(of *server.Server) bool {
	return s.of(of, ipv4) != nil || s.of(of, ipv6) != nil
}

// View adds the addresses of a server to the view of its public network.
func (s *IPs) View(of *server.Server, view *schema.ServerPublicNet) {
	if ip := s.of(of, ipv4); ip != nil {
		view.IPv4 = schema.ServerPublicNetIPv4{ID: ip.ID, IP: ip.text(), DNSPtr: ip.names[ip.text()]}
	}
	view.IPv6.DNSPtr = []schema.ServerPublicNetIPv6DNSPtr{}
	if ip := s.of(of, ipv6); ip != nil {
		view.IPv6.ID, view.IPv6.IP = ip.ID, ip.text()
		for _, at := range slices.Sorted(maps.Keys(ip.names)) {
			view.IPv6.DNSPtr = append(view.IPv6.DNSPtr, schema.ServerPublicNetIPv6DNSPtr{IP: at, DNSPtr: ip.names[at]})
		}
	}
}

// NIC returns the public interface of a server, if it has a public address.
func (s *IPs) NIC(of *server.Server) (machine.NIC, bool) {
	nic := machine.NIC{Name: "eth0", MAC: of.PublicMAC, DHCP: true, Public: true}
	if addr, has := s.Address(of); has {
		nic.Addresses = []netip.Prefix{netip.PrefixFrom(addr, addr.BitLen())}
		nic.Gateway = project.PublicRouter
	}
	return nic, s.HasAny(of)
}

// rewire gives the machine of a server its current public interface.
func (s *IPs) rewire(of *server.Server) {
	for _, box := range of.Boxes() {
		box.Detach(of.PublicMAC)
		if nic, has := s.NIC(of); has {
			box.Attach(nic)
		}
	}
}

// add creates a primary IP that has its record.
func (s *IPs) add(record project.Record, kind string, location schema.Location) (*IP, error) {
	ip := &IP{Record: record, kind: kind, location: location, names: project.ReverseNames{}}
	if kind == ipv6 {
		ip.net6 = s.project.Identities.Network6(record.Name)
	} else {
		addr, err := s.project.Addresses.Take(record.Name)
		if err != nil {
			return nil, err
		}
		ip.addr = addr
	}
	s.registry.Add(ip)
	return ip, nil
}

func (s *IPs) remove(ip *IP) {
	s.project.Addresses.Release(ip.addr)
	s.registry.Remove(ip)
}

// release removes an address from its server.
func (s *IPs) release(ip *IP) {
	ip.server = nil
	if ip.kind == ipv4 {
		s.project.Network.SetFirewall(ip.addr, nil)
	}
}

// assignable returns an error if a server cannot be given a primary IP of a
// kind.
func (s *IPs) assignable(to *server.Server, kind string) error {
	if kind == ipv4 && s.of(to, kind) != nil {
		return api.Failure(hcloud.ErrorCodeServerHasIPv4, "server already has an ipv4 address")
	}
	if kind == ipv6 && s.of(to, kind) != nil {
		return api.Failure(hcloud.ErrorCodeServerHasIPv6, "server already has an ipv6 address")
	}
	return s.servers.Stopped(to)
}

// assign gives a primary IP to a server that is off.
func (s *IPs) assign(ip *IP, to *server.Server) schema.Action {
	ip.server = to
	return s.project.Actions.StartOne(to.Machine, project.Step{
		Command: "assign_primary_ip",
		About:   []project.Reference{s.registry.Reference(ip), s.servers.Reference(to)},
		Done: func() error {
			s.Firewalls.Enforce(to)
			s.rewire(to)
			return nil
		},
	})
}
