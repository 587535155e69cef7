package hetzner

import (
	"maps"
	"net/netip"
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
)

// server is a rented machine.
type server struct {
	record
	// lab is the machine's name in the lab. It stays when the server is renamed.
	lab      string
	uuid     string
	kind     schema.ServerType
	diskGB   int
	location schema.Location
	userData string

	// image is what its disk was made from, disk what is on it.
	image *image
	disk  machine.Image
	// box is the machine with that disk; rescue is the system that was booted
	// instead of it, or nil.
	box, rescue machine.Box
	// rescueNext says that the next boot is into the rescue system.
	rescueNext bool
	// transition is the status while an action changes it, else empty; seen is
	// the status that was told last.
	transition, seen string

	publicMAC  string
	ipv4, ipv6 *primaryIP
	private    []*attachment
	// firewalls are those in force.
	firewalls []*firewall
	placement *placementGroup
	backups   *string
	iso       *schema.ISO
	protected schema.ServerProtection
}

// attachment is a server's place in a network.
type attachment struct {
	network *privateNetwork
	name    string // of the interface, as "eth1"
	mac     string
	addr    netip.Addr
	aliases []netip.Addr
	// attached says that the interface is there; before, the address is kept.
	attached bool
}

func (s *server) attachment(to *privateNetwork) *attachment {
	for _, at := range s.private {
		if at.network == to {
			return at
		}
	}
	return nil
}

// running is the box that has the server's power.
func (s *server) running() machine.Box {
	if s.rescue != nil {
		return s.rescue
	}
	return s.box
}

// boxes are all that the server has.
func (s *server) boxes() []machine.Box {
	var boxes []machine.Box
	for _, box := range []machine.Box{s.box, s.rescue} {
		if box != nil {
			boxes = append(boxes, box)
		}
	}
	return boxes
}

func (s *server) powered() bool { return s.running() != nil && s.running().Powered() }

// status is what the server does now. What is new goes to the timeline: a box
// may turn itself off, which is seen when somebody looks.
func (c *Cloud) status(s *server) string {
	status := s.transition
	switch {
	case status != "":
	case s.powered():
		status = string(hcloud.ServerStatusRunning)
	default:
		status = string(hcloud.ServerStatusOff)
	}
	if status != s.seen {
		s.seen = status
		c.Timeline.Record(s.lab, "server", status)
	}
	return status
}

// stopped refuses what needs a server that is off.
func (c *Cloud) stopped(s *server) error {
	if err := c.unlocked("server", s.id); err != nil {
		return err
	}
	if s.powered() {
		return failure(hcloud.ErrorCodeServerNotStopped, "server must be stopped for this action")
	}
	return nil
}

func (c *Cloud) viewServer(s *server) schema.Server {
	view := schema.Server{
		ID: s.id, Name: s.name, Status: c.status(s), Created: s.created, ServerType: s.kind, IncludedTraffic: 20 << 40,
		PublicNet: c.viewPublicNet(s), PrivateNet: []schema.ServerPrivateNet{}, BackupWindow: s.backups, RescueEnabled: s.rescueNext, ISO: s.iso,
		Locked: c.unlocked("server", s.id) != nil, Location: s.location, Protection: s.protected, Labels: labelled(s.labels),
		Volumes: []int64{}, PrimaryDiskSize: s.diskGB, LoadBalancers: []int64{},
	}
	if s.image != nil {
		view.Image = pointer(s.image.view())
	}
	for _, at := range s.private {
		if at.attached {
			view.PrivateNet = append(view.PrivateNet, schema.ServerPrivateNet{
				Network: at.network.id, IP: at.addr.String(), AliasIPs: texts(at.aliases), MACAddress: at.mac,
			})
		}
	}
	for _, attached := range c.volumesOf(s) {
		view.Volumes = append(view.Volumes, attached.id)
	}
	if s.placement != nil {
		view.PlacementGroup = pointer(c.viewPlacementGroup(s.placement))
	}
	for _, balancer := range c.loadBalancers.all() {
		if slices.ContainsFunc(balancer.targets, func(t *target) bool { return t.server == s }) {
			view.LoadBalancers = append(view.LoadBalancers, balancer.id)
		}
	}
	return view
}

func (c *Cloud) viewPublicNet(s *server) schema.ServerPublicNet {
	view := schema.ServerPublicNet{FloatingIPs: []int64{}, Firewalls: []schema.ServerFirewall{}}
	if s.ipv4 != nil {
		view.IPv4 = schema.ServerPublicNetIPv4{ID: s.ipv4.id, IP: s.ipv4.text(), DNSPtr: s.ipv4.pointers[s.ipv4.text()]}
	}
	view.IPv6.DNSPtr = []schema.ServerPublicNetIPv6DNSPtr{}
	if s.ipv6 != nil {
		view.IPv6.ID, view.IPv6.IP = s.ipv6.id, s.ipv6.text()
		for _, at := range slices.Sorted(maps.Keys(s.ipv6.pointers)) {
			view.IPv6.DNSPtr = append(view.IPv6.DNSPtr, schema.ServerPublicNetIPv6DNSPtr{IP: at, DNSPtr: s.ipv6.pointers[at]})
		}
	}
	for _, ip := range c.floatingIPs.all() {
		if ip.server == s {
			view.FloatingIPs = append(view.FloatingIPs, ip.id)
		}
	}
	for _, wall := range c.firewallsOf(s) {
		status := "pending"
		if slices.Contains(s.firewalls, wall) {
			status = "applied"
		}
		view.Firewalls = append(view.Firewalls, schema.ServerFirewall{ID: wall.id, Status: status})
	}
	return view
}

func texts(addresses []netip.Addr) []string {
	written := []string{}
	for _, addr := range addresses {
		written = append(written, addr.String())
	}
	return written
}

func (c *Cloud) serverRoutes() map[string]handler {
	return map[string]handler{
		"GET /servers":              c.listServers,
		"POST /servers":             c.createServer,
		"GET /servers/{id}":         c.getServer,
		"PUT /servers/{id}":         c.updateServer,
		"DELETE /servers/{id}":      c.deleteServer,
		"GET /servers/{id}/metrics": c.getMetrics,
	}
}

func (c *Cloud) listServers(r *call) (reply, error) {
	servers := allowed(c.servers.all(), r.URL.Query()["status"], c.status)
	return list(r, "servers", servers, c.viewServer)
}

func (c *Cloud) getServer(r *call) (reply, error) {
	s, err := find(r, c.servers)
	if err != nil {
		return reply{}, err
	}
	return answer(schema.ServerGetResponse{Server: c.viewServer(s)})
}

func (c *Cloud) updateServer(r *call) (reply, error) {
	s, asked, err := ask[schema.ServerUpdateRequest](r, c.servers)
	if err != nil {
		return reply{}, err
	}
	if asked.Name != "" {
		if err := c.checkServerName(asked.Name); err != nil {
			return reply{}, err
		}
	}
	if err := c.servers.change(s, asked.Name, asked.Labels); err != nil {
		return reply{}, err
	}
	if asked.Labels != nil {
		c.relabel(s)
		c.retarget()
	}
	return answer(schema.ServerUpdateResponse{Server: c.viewServer(s)})
}

// getMetrics has nothing to tell: nothing is measured.
func (c *Cloud) getMetrics(r *call) (reply, error) {
	if _, err := find(r, c.servers); err != nil {
		return reply{}, err
	}
	return reply{}, failure(errorCodeUnavailable, "metrics are currently not available")
}

// deleteServer hides it from the project at once. Its machine ends with the
// action, and what it had is free only then.
func (c *Cloud) deleteServer(r *call) (reply, error) {
	s, err := find(r, c.servers)
	if err != nil {
		return reply{}, err
	}
	if s.protected.Delete {
		return reply{}, protected("server")
	}
	if err := c.unlocked("server", s.id); err != nil {
		return reply{}, err
	}
	s.transition = string(hcloud.ServerStatusDeleting)
	c.status(s)
	c.servers.remove(s)
	c.leaving[s] = true
	began := c.startOne(s.lab, step{
		command: "delete_server",
		about:   []reference{{Type: "server", ID: s.id}},
		work:    s.demolish,
		done: func() error {
			c.vacate(s)
			return nil
		},
		undone: func() {
			delete(c.leaving, s)
			c.servers.add(s)
			c.turn(s, "")
		},
	})
	return answer(schema.ServerDeleteResponse{Action: began})
}
