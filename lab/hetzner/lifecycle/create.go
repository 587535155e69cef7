package lifecycle

import (
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/firewall"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/placement"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/privatenet"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/project"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/publicip"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/server"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/volume"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

const maxUserData = 32 << 10

// order is a request for a server with everything that it names.
type order struct {
	server    *server.Server
	group     *placement.Group // or nil
	networks  []*privatenet.Network
	volumes   []*volume.Volume
	firewalls []*firewall.Firewall
	public    publicip.Order
	start     bool
}

func (s *servers) create(r *api.Call) (api.Reply, error) {
	var asked schema.ServerCreateRequest
	if err := r.Decode(&asked); err != nil {
		return api.Reply{}, err
	}
	order, err := s.readOrder(asked)
	if err != nil {
		return api.Reply{}, err
	}
	made := order.server
	if made.Record, err = s.Servers.NewRecord(asked.Name, asked.Labels); err != nil {
		return api.Reply{}, err
	}
	if err := s.equip(order); err != nil {
		return api.Reply{}, err
	}
	s.Servers.Add(made)
	actions := s.Project.Actions.Start(made.Machine, s.construction(order)...)
	response := schema.ServerCreateResponse{Server: s.view(made), Action: actions[0], NextActions: actions[1:]}
	if len(asked.SSHKeys) == 0 {
		response.RootPassword = new(s.Project.Identities.Password(made.Name))
	}
	return api.Created(response)
}

// readOrder checks a request and finds everything that it names. Nothing is changed.
func (s *servers) readOrder(asked schema.ServerCreateRequest) (*order, error) {
	made := server.New()
	made.UserData = asked.UserData
	found := &order{server: made, start: api.ValueOr(asked.StartAfterCreate, true)}
	if err := s.checkName(asked.Name); err != nil {
		return nil, err
	}
	if len(asked.UserData) > maxUserData {
		return nil, api.Invalid("user_data", "is longer than 32 KiB")
	}
	var err error
	if made.Kind, err = s.Catalog.ServerTypes.Choose("server_type", asked.ServerType); err != nil {
		return nil, err
	}
	made.DiskGB = made.Kind.Disk
	if made.Location, err = s.Catalog.ServerLocation(made.Kind, asked.Location); err != nil {
		return nil, err
	}
	if made.Image, err = s.Images.Choose(asked.Image, made.Kind); err != nil {
		return nil, err
	}
	made.Disk = made.Image.Content
	if err := s.Keys.Check(asked.SSHKeys); err != nil {
		return nil, err
	}
	if asked.PlacementGroup != 0 {
		if found.group, err = s.Groups.WithRoom(asked.PlacementGroup); err != nil {
			return nil, err
		}
	}
	if found.networks, err = s.Networks.GetAll(asked.Networks); err != nil {
		return nil, err
	}
	if found.volumes, err = s.Volumes.Free(asked.Volumes, made.Location); err != nil {
		return nil, err
	}
	firewalls := make([]int64, 0, len(asked.Firewalls))
	for _, wanted := range asked.Firewalls {
		firewalls = append(firewalls, wanted.Firewall)
	}
	if found.firewalls, err = s.Firewalls.GetAll(firewalls); err != nil {
		return nil, err
	}
	if found.public, err = s.PublicIPs.ReadOrder(asked.PublicNet, made.Location); err != nil {
		return nil, err
	}
	return found, found.checkConnected()
}

// checkConnected returns an error if a server could not be reached, or if its firewalls would protect nothing.
func (o *order) checkConnected() error {
	switch {
	case !o.public.Empty():
		return nil
	case len(o.firewalls) > 0:
		return api.Failure(hcloud.ErrorCodePrivateNetOnlyServer, "server has no public interface")
	case len(o.networks) == 0 && o.start:
		return api.Invalid("public_net", "a server without public addresses needs a network to be started")
	}
	return nil
}

// equip gives a new server its names, its addresses and everything else that it needs. If it fails, nothing is taken.
func (s *servers) equip(o *order) error {
	made := o.server
	made.Machine = s.machineName(made.Name)
	made.UUID = s.Project.Identities.UUID(made.Machine)
	made.PublicMAC = s.Project.Identities.MAC(true, made.Machine)
	for _, network := range o.networks {
		if err := s.Networks.Join(made, network, !o.public.Empty()); err != nil {
			s.Networks.Forget(made)
			return err
		}
	}
	if err := s.PublicIPs.Provide(made, o.public); err != nil {
		s.Networks.Forget(made)
		return err
	}
	for _, wanted := range o.volumes {
		s.Volumes.Give(wanted, made)
	}
	for _, wanted := range o.firewalls {
		s.Firewalls.Cover(wanted, made)
	}
	if o.group != nil {
		s.Groups.Join(made, o.group)
	}
	return nil
}

// construction returns the steps until a new server runs: it has its interfaces and
// firewalls before it starts.
func (s *servers) construction(o *order) []project.Step {
	made := o.server
	create := project.Step{
		Command: "create_server", Takes: pace.ServerCreate, About: []project.Reference{s.Servers.Reference(made)},
		Done: func() error {
			s.Firewalls.Enforce(made)
			s.Balancers.Retarget()
			if !o.start {
				s.Servers.Turn(made, "")
			}
			return s.assemble(made)
		},
		Undone: func() { s.Servers.Turn(made, "") },
	}
	steps := slices.Concat([]project.Step{create}, s.Networks.Attaching(made))
	if o.start {
		steps = append(steps, s.power.starting(made))
	}
	return steps
}
