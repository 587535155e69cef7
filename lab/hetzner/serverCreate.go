package hetzner

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

const maxUserData = 32 << 10

var hostname = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9.-]{0,251}[a-zA-Z0-9])?$`)

// checkServerName says what is wrong with the name of a server, and keeps that
// of one whose machine is not gone yet.
func (c *Cloud) checkServerName(name string) error {
	if !hostname.MatchString(name) {
		return invalid("name", "must be a valid hostname")
	}
	for leaving := range c.leaving {
		if leaving.name == name {
			return notUnique("name", "server name is already used")
		}
	}
	return nil
}

// serverOrder is a request for a server with all that it names.
type serverOrder struct {
	server    *server
	networks  []*privateNetwork
	volumes   []*volume
	firewalls []*firewall
	keys      bool
	start     bool
	// own are the primary IPs that are asked for; fresh are the kinds to be made.
	own   []*primaryIP
	fresh []string
}

func (c *Cloud) createServer(r *call) (reply, error) {
	var asked schema.ServerCreateRequest
	if err := r.decode(&asked); err != nil {
		return reply{}, err
	}
	order, err := c.readOrder(asked)
	if err != nil {
		return reply{}, err
	}
	s := order.server
	if s.record, err = enroll(c, c.servers, asked.Name, asked.Labels); err != nil {
		return reply{}, err
	}
	if err := c.outfit(order); err != nil {
		c.abandon(order)
		return reply{}, err
	}
	c.servers.add(s)
	actions := c.start(s.lab, c.construction(order)...)
	response := schema.ServerCreateResponse{Server: c.viewServer(s), Action: actions[0], NextActions: actions[1:]}
	if !order.keys {
		response.RootPassword = pointer(fmt.Sprintf("%016x", c.identities.Number("password", s.name)))
	}
	return created(response)
}

// readOrder checks a request and finds all that it names. Nothing is changed.
func (c *Cloud) readOrder(asked schema.ServerCreateRequest) (*serverOrder, error) {
	s := &server{userData: asked.UserData, transition: string(hcloud.ServerStatusInitializing), box: &machine.Silent{}}
	order := &serverOrder{server: s, keys: len(asked.SSHKeys) > 0, start: valueOr(asked.StartAfterCreate, true)}
	if err := c.checkServerName(asked.Name); err != nil {
		return nil, err
	}
	if len(asked.UserData) > maxUserData {
		return nil, invalid("user_data", "is longer than 32 KiB")
	}
	var err error
	if s.kind, err = c.catalog.serverTypes.choose("server_type", asked.ServerType); err != nil {
		return nil, err
	}
	s.diskGB = s.kind.Disk
	if s.location, err = c.placeFor(s.kind, asked.Location); err != nil {
		return nil, err
	}
	if s.image, err = c.chooseImage(asked.Image, s.kind); err != nil {
		return nil, err
	}
	s.disk = s.image.holds
	for _, id := range asked.SSHKeys {
		if _, err := c.sshKeys.get(id); err != nil {
			return nil, err
		}
	}
	if asked.PlacementGroup != 0 {
		if s.placement, err = c.placementGroups.get(asked.PlacementGroup); err != nil {
			return nil, err
		}
		if err := c.room(s.placement); err != nil {
			return nil, err
		}
	}
	if order.networks, err = each(asked.Networks, c.networks.get); err != nil {
		return nil, err
	}
	if order.volumes, err = each(asked.Volumes, c.volumes.get); err != nil {
		return nil, err
	}
	for _, wanted := range order.volumes {
		if wanted.server != nil {
			return nil, failure(hcloud.ErrorCodeVolumeAlreadyAttached, "volume is already attached to a server")
		}
		if wanted.location.ID != s.location.ID {
			return nil, invalid("volumes", "server and volume must be in the same location")
		}
	}
	for _, wanted := range asked.Firewalls {
		wall, err := c.firewalls.get(wanted.Firewall)
		if err != nil {
			return nil, err
		}
		order.firewalls = append(order.firewalls, wall)
	}
	return order, c.readPublicNet(order, asked.PublicNet)
}

// each finds all resources of a list of ids.
func each[T resource](ids []int64, get func(int64) (T, error)) ([]T, error) {
	var found []T
	for _, id := range ids {
		one, err := get(id)
		if err != nil {
			return nil, err
		}
		found = append(found, one)
	}
	return found, nil
}

// placeFor is where a server of a type is to be.
func (c *Cloud) placeFor(kind schema.ServerType, name string) (schema.Location, error) {
	sold := slices.DeleteFunc(slices.Clone(kind.Locations), func(at schema.ServerTypeLocation) bool { return !at.Available })
	if name == "" {
		name = sold[0].Name
	}
	location, err := c.catalog.locations.choose("location", schema.IDOrName{Name: name})
	if err != nil {
		return location, err
	}
	if !slices.ContainsFunc(sold, func(at schema.ServerTypeLocation) bool { return at.Name == name }) {
		return location, invalid("location", "unsupported location for server type")
	}
	return location, nil
}

// readPublicNet says which public addresses are asked for.
func (c *Cloud) readPublicNet(order *serverOrder, asked *schema.ServerCreatePublicNet) error {
	if asked == nil {
		order.fresh = []string{"ipv4", "ipv6"}
		return nil
	}
	for _, wanted := range []struct {
		kind   string
		enable bool
		id     int64
	}{{"ipv4", asked.EnableIPv4, asked.IPv4ID}, {"ipv6", asked.EnableIPv6, asked.IPv6ID}} {
		if wanted.id == 0 {
			if wanted.enable {
				order.fresh = append(order.fresh, wanted.kind)
			}
			continue
		}
		ip, err := c.primaryIPs.get(wanted.id)
		switch {
		case err != nil:
			return err
		case ip.kind != wanted.kind:
			return failure(hcloud.ErrorCodePrimaryIPVersionMismatch, "primary IP with ID %d is no %s", ip.id, wanted.kind)
		case ip.server != nil:
			return failure(hcloud.ErrorCodePrimaryIPAssigned, "primary IP with ID %d is already assigned", ip.id)
		case ip.location.ID != order.server.location.ID:
			return failure(hcloud.ErrorCodePrimaryIPDatacenterMismatch, "primary IP and server are in different locations")
		}
		order.own = append(order.own, ip)
	}
	if len(order.own)+len(order.fresh) > 0 {
		return nil
	}
	if len(order.firewalls) > 0 {
		return failure(hcloud.ErrorCodePrivateNetOnlyServer, "server has no public interface")
	}
	if len(order.networks) == 0 && order.start {
		return invalid("public_net", "a server without public addresses needs a network to be started")
	}
	return nil
}

// outfit gives a new server its names and addresses.
func (c *Cloud) outfit(order *serverOrder) error {
	s := order.server
	s.lab = c.labName(s.name)
	s.uuid = c.identities.UUID(s.lab)
	s.publicMAC = c.identities.mac(true, s.lab)
	for _, network := range order.networks {
		addr, err := c.reserve(network, s.location.NetworkZone, nil, nil)
		if err != nil {
			return err
		}
		s.private = append(s.private, c.newAttachment(s, network, addr, len(order.own)+len(order.fresh) > 0))
	}
	for _, kind := range order.fresh {
		made, err := enroll(c, c.primaryIPs, "primary_ip-"+kind+"-"+s.lab, nil)
		if err != nil {
			return err
		}
		ip, err := c.newPrimaryIP(made, kind, s.location)
		if err != nil {
			return err
		}
		ip.autoDelete = true
		order.own = append(order.own, ip)
	}
	for _, ip := range order.own {
		c.give(ip, s)
	}
	for _, wanted := range order.volumes {
		wanted.device, wanted.server = c.letterFor(s), s
	}
	for _, wall := range order.firewalls {
		wall.servers = append(wall.servers, s)
	}
	return nil
}

// abandon takes back the addresses that were made for an order.
func (c *Cloud) abandon(order *serverOrder) {
	for _, ip := range order.own {
		if ip.server == nil && ip.autoDelete && slices.Contains(order.fresh, ip.kind) {
			c.primaryIPs.remove(ip)
		}
	}
}

// labName is the server's name, or one like it that no machine has: a server
// that was renamed keeps its machine's.
func (c *Cloud) labName(name string) string {
	used := map[string]bool{}
	for _, other := range c.servers.all() {
		used[other.lab] = true
	}
	for other := range c.leaving {
		used[other.lab] = true
	}
	lab := name
	for number := 2; used[lab]; number++ {
		lab = fmt.Sprintf("%s-%d", name, number)
	}
	return lab
}

// construction is what happens until a new server runs: it has its interfaces
// and firewalls before it starts.
func (c *Cloud) construction(order *serverOrder) []step {
	s := order.server
	about := []reference{{Type: "server", ID: s.id}}
	steps := []step{{
		command: "create_server", takes: pace.ServerCreate, about: about,
		done: func() error {
			c.enforce(s)
			c.retarget()
			if !order.start {
				c.turn(s, "")
			}
			return c.assemble(s)
		},
		undone: func() { c.turn(s, "") },
	}}
	for _, at := range s.private {
		steps = append(steps, c.plugging(s, at))
	}
	if order.start {
		steps = append(steps, c.starting(s))
	}
	return steps
}
