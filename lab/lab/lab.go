// Package lab puts the parts of a lab together.
package lab

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/ccm"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cilium"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/daemon"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/factory"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/gitops"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/kube"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/kubevip"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/network"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/rack"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/recovery"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/sample"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/storage"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/talosapi"
)

// token is the token of the lab's cloud, in the form of a real one.
const token = "sluicelabsluicelabsluicelabsluicelabsluicelabsluicelabsluicelab0"

// sampleRepository is the name of the seeded repository on the git server.
const sampleRepository = "sample"

// cloudEndpoint is the address of the Hetzner Cloud API.
var cloudEndpoint = "http://" + network.Cloud.String() + "/v1"

var errNoCluster = errors.New("there is no cluster yet")

// Lab is a running lab.
type Lab struct {
	cloud      *hetzner.Cloud
	kubernetes *kube.Kubernetes
	nodes      *node.Maker
	servers    *servers
	lans       *lans
	rack       *rack.Rack
	// home is nil in a lab without Proxmox.
	home     *home
	hostport string
}

var _ daemon.Lab = (*Lab)(nil)

// Compose puts a lab together and starts it.
func Compose(ctx context.Context, parts daemon.Parts) (daemon.Lab, error) {
	images, err := newFactory(parts)
	if err != nil {
		return nil, err
	}
	git, err := gitops.NewServer(gitops.Options{
		Dir: filepath.Join(parts.Dir, "git"), Faults: parts.Faults, Timeline: parts.Timeline,
	})
	if err != nil {
		return nil, err
	}
	if parts.Config.SampleRepository {
		parts.Progress("seeding the sample repository")
		files, err := sample.Repository()
		if err != nil {
			return nil, err
		}
		if err := git.Seed(ctx, sampleRepository, files); err != nil {
			return nil, err
		}
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the path of sluice-lab: %w", err)
	}
	// Programs reach the machines, which do not exist yet, through this.
	held := &machines{}
	kubernetes := kube.New(kube.Options{
		Dir: filepath.Join(parts.Dir, "kubernetes"), Binary: parts.Config.Tools["controlplane"], Recovery: []string{self, recovery.Command},
		Network: parts.Network, Pace: parts.Pace, Faults: parts.Faults, Timeline: parts.Timeline,
		Programs: programs(parts, held), Log: parts.Log,
	})
	nodes := newNodes(parts, kubernetes, images)
	held.Maker = nodes
	cloud := hetzner.New(hetzner.Options{
		Network: parts.Network, Pace: parts.Pace, Faults: parts.Faults, Timeline: parts.Timeline,
		Tokens: []string{token}, Seed: parts.Config.Seed, Images: images.Has,
		Machines: nodes,
	})
	l := &Lab{
		cloud: cloud, kubernetes: kubernetes, nodes: nodes, hostport: parts.KubernetesAddress,
		servers: newServers(parts.Network, parts.Log), lans: newLANs(parts.Config.DHCP, parts.Timeline),
	}
	if parts.Config.Proxmox != nil {
		if l.home, err = newHome(parts, nodes, images, l.lans, l.servers); err != nil {
			return nil, errors.Join(err, l.Close(ctx))
		}
	}
	if l.rack, err = newRack(parts, images, nodes, l.lans); err != nil {
		return nil, errors.Join(err, l.Close(ctx))
	}
	parts.Progress("opening the cloud, the image factory and the git server")
	if err := errors.Join(
		addSnapshots(cloud, images, slices.Concat(images.snapshots(parts.Config.Snapshots), parts.Config.MoreSnapshots)),
		l.servers.serve(network.Cloud, cloud),
		l.servers.serve(network.Factory, images),
		l.servers.serve(network.Git, git),
		l.openHome(),
	); err != nil {
		return nil, errors.Join(err, l.Close(ctx))
	}
	return l, nil
}

// openHome serves the API of Proxmox, if there is one.
func (l *Lab) openHome() error {
	if l.home == nil {
		return nil
	}
	return l.home.open()
}

// newNodes returns the function that creates the nodes of all machines.
func newNodes(parts daemon.Parts, kubernetes cluster.Kubernetes, images *imageFactory) *node.Maker {
	validators := validatorsOf(parts.Config.Tools)
	api := talosapi.New(talosapi.Options{
		Network: parts.Network, Faults: parts.Faults, Timeline: parts.Timeline, Validate: validators.validate,
		Drain: parts.Pace.Of(pace.Drain, "apid"),
	})
	return node.New(node.Options{
		Lab: node.Lab{
			Network: parts.Network, Kubernetes: kubernetes, Pace: parts.Pace, Faults: parts.Faults, Timeline: parts.Timeline,
			Extensions: images.extensions, SchematicText: images.schematicText, HasInstaller: images.hasInstaller,
		},
		Serve: func(m talosapi.Machine, maintenance bool, at []netip.Addr) (node.API, error) {
			return api.Serve(m, maintenance, at)
		},
	})
}

// newRack returns the rack of the existing machines.
func newRack(parts daemon.Parts, images *imageFactory, nodes machine.Maker, lans *lans) (*rack.Rack, error) {
	return rack.New(rack.Options{
		Makes: nodes, Timeline: parts.Timeline, LAN: lans.server, Schematic: factory.DefaultSchematic, Meta: images.meta, Learn: images.learn,
	}, parts.Config.Machines)
}

// programs returns those that really run for containers with their images.
func programs(parts daemon.Parts, held *machines) []cluster.Program {
	tools := parts.Config.Tools
	flux := gitops.Flux{Binaries: map[string]string{}, Timeline: parts.Timeline}
	for _, name := range []string{"source-controller", "kustomize-controller", "helm-controller"} {
		flux.Binaries[name] = tools[name]
	}
	return append(storage.Programs(storage.Options{
		Dir: filepath.Join(parts.Dir, "csi"), Provisioner: tools["csi-provisioner"], Endpoint: cloudEndpoint,
		Timeline: parts.Timeline,
	}),
		flux,
		gitops.SealedSecrets{Binary: tools["sealed-secrets-controller"]},
		ccm.Program{Endpoint: cloudEndpoint, Timeline: parts.Timeline},
		cilium.Connect{},
		kubevip.Program{Machines: held, Timeline: parts.Timeline},
		cilium.Operator{
			Definitions: parts.Config.Definitions, Pace: parts.Pace, Timeline: parts.Timeline,
			IsHeard: func(machine string) bool { return held.Runs(machine) },
		},
	)
}

// machines are the nodes as programs in the cluster reach them: nodes run programs, and some programs change their node.
type machines struct{ *node.Maker }

// addSnapshots adds snapshots of Talos to the cloud, as if Packer had created them.
func addSnapshots(cloud *hetzner.Cloud, images *imageFactory, snapshots []daemon.Snapshot) error {
	for _, s := range snapshots {
		if err := images.learn(s.Schematic, s.Customization); err != nil {
			return fmt.Errorf("snapshot of Talos %s: %w", s.Talos, err)
		}
		snapshot := hetzner.Snapshot{
			Name: s.Description, Labels: s.Labels, Talos: s.Talos, Schematic: s.Schematic, Arch: s.Arch, Installs: s.Installs,
		}
		if _, err := cloud.AddSnapshot(snapshot); err != nil {
			return fmt.Errorf("snapshot of Talos %s: %w", s.Talos, err)
		}
	}
	return nil
}

// Env returns the variables with which the cloud's tools use the lab's cloud.
func (l *Lab) Env() map[string]string {
	env := map[string]string{
		"HCLOUD_TOKEN": token, "HCLOUD_ENDPOINT": cloudEndpoint, "IMAGE_FACTORY_ENDPOINT": "http://" + network.Factory.String(),
	}
	if l.home != nil {
		maps.Copy(env, l.home.env())
	}
	return env
}

// DialKubernetes connects to the API server of the first cluster.
func (l *Lab) DialKubernetes(ctx context.Context) (net.Conn, error) {
	clusters := l.kubernetes.Clusters()
	if len(clusters) == 0 {
		return nil, errNoCluster
	}
	var dialer net.Dialer
	return dialer.DialContext(ctx, "tcp", l.kubernetes.APIServer(clusters[0]).String())
}

// Close ends the lab: programs at once, because their results are no longer needed, then machines and load balancers, and finally the servers.
func (l *Lab) Close(ctx context.Context) error {
	l.kubernetes.Abandon()
	var faults []error
	if l.home != nil {
		faults = append(faults, l.home.Close(ctx))
	}
	if l.rack != nil {
		faults = append(faults, l.rack.Close(ctx))
	}
	return errors.Join(append(faults, l.cloud.Close(ctx), l.kubernetes.Close(ctx), l.servers.close(ctx))...)
}
