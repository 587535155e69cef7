package storage

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	corev1 "k8s.io/api/core/v1"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/container"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/process"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// Options is what the programs need.
type Options struct {
	// Dir is where the sockets of pods are. Its path must be short, because a socket's path is limited to about a hundred characters.
	Dir string
	// Provisioner is the real csi-provisioner.
	Provisioner string
	// Endpoint is Hetzner's API, unless the driver's environment names another.
	Endpoint string
	Timeline *timeline.Timeline
}

// Programs returns the csi-provisioner and the controllers of the drivers. The node
// plugins, the attacher, the resizer, the registrar and the liveness probe are
// simulated by their status alone.
func Programs(options Options) []cluster.Program {
	sockets := sockets{dir: options.Dir}
	return []cluster.Program{
		provisioner{binary: options.Provisioner, sockets: sockets},
		controller{
			image: "hcloud-csi-driver", name: HetznerDriver, sockets: sockets, timeline: options.Timeline,
			volumes: func(run cluster.Run) (Volumes, error) { return hetzner(run.Env, options.Endpoint) },
		},
		controller{
			image: "proxmox-csi-controller", name: ProxmoxDriver, sockets: sockets, timeline: options.Timeline,
			volumes: newProxmox,
		},
	}
}

// controller simulates the controller of a driver.
type controller struct {
	image, name string
	sockets     sockets
	timeline    *timeline.Timeline
	volumes     func(run cluster.Run) (Volumes, error)
}

// Handles reports whether the container is the controller: the node plugin may have the same image.
func (c controller) Handles(_ *corev1.Pod, asked corev1.Container) bool {
	if container.ImageName(asked.Image) != c.image {
		return false
	}
	for _, word := range append(asked.Command, asked.Args...) {
		if strings.TrimLeft(word, "-") == "node" || strings.HasSuffix(word, "-driver-node") {
			return false
		}
	}
	return true
}

// Run serves the driver at the pod's socket.
func (c controller) Run(ctx context.Context, run cluster.Run) error {
	volumes, err := c.volumes(run)
	if err != nil {
		return fmt.Errorf("driver %s: %w", c.name, err)
	}
	socket, err := c.sockets.of(run.Pod)
	if err != nil {
		return fmt.Errorf("driver %s: %w", c.name, err)
	}
	defer c.sockets.drop(run.Pod)
	driver := &driver{
		name: c.name, version: "lab", volumes: recorded{Volumes: volumes, driver: c.name, timeline: c.timeline},
	}
	driver.storage, _ = volumes.(storage)
	return driver.serve(ctx, socket, run.Ready)
}

// hetzner returns the volumes of the token's project.
func hetzner(env map[string]string, endpoint string) (Volumes, error) {
	token := env["HCLOUD_TOKEN"]
	if token == "" {
		return nil, errors.New("you need to provide an API token by the variable HCLOUD_TOKEN")
	}
	if own := env["HCLOUD_ENDPOINT"]; own != "" {
		endpoint = own
	}
	client := hcloud.NewClient(hcloud.WithToken(token), hcloud.WithEndpoint(endpoint), hcloud.WithApplication("csi-driver", "lab"))
	return hetznerVolumes{client: client}, nil
}

// recorded are volumes whose creation and deletion are on the timeline.
type recorded struct {
	Volumes
	driver   string
	timeline *timeline.Timeline
}

// Create creates a volume and records it. The volume's name is random; the record has
// its claim too, if the provisioner is configured to pass it.
func (r recorded) Create(ctx context.Context, asked Request) (Volume, error) {
	volume, err := r.Volumes.Create(ctx, asked)
	if err == nil {
		var detail []string
		if claim := asked.Parameters[claimName]; claim != "" {
			detail = []string{"claim", asked.Parameters[claimNamespace] + "/" + claim}
		}
		r.timeline.Record(r.driver, "volume", "created", detail...)
	}
	return volume, err
}

// Delete deletes a volume and records it.
func (r recorded) Delete(ctx context.Context, id string) error {
	err := r.Volumes.Delete(ctx, id)
	if err == nil {
		r.timeline.Record(r.driver, "volume", "deleted")
	}
	return err
}

// provisioner runs the real csi-provisioner.
type provisioner struct {
	binary  string
	sockets sockets
}

// Handles reports whether it is the container of a csi-provisioner.
func (p provisioner) Handles(_ *corev1.Pod, asked corev1.Container) bool {
	return p.binary != "" && container.ImageName(asked.Image) == "csi-provisioner"
}

// metricsPort is a port that no other container of the pod uses.
const metricsPort = 9185

// Run runs it with the container's own arguments, next to the driver of the pod.
func (p provisioner) Run(ctx context.Context, run cluster.Run) error {
	socket, err := p.sockets.of(run.Pod)
	if err != nil {
		return fmt.Errorf("csi-provisioner: %w", err)
	}
	command, err := container.Command(run, p.binary)
	if err != nil {
		return err
	}
	metrics := container.At(run, metricsPort)
	command.Args = append(unlike(command.Args, "--http-endpoint", "--metrics-address"),
		"--csi-address="+socket,
		"--kubeconfig="+run.Dir+"/kubeconfig",
		"--leader-election=false",
		"--http-endpoint="+metrics,
	)
	return process.Serve(ctx, command, "http://"+metrics+"/metrics", run.Ready)
}

// unlike removes flags that cannot be overridden by a second occurrence.
func unlike(args []string, flags ...string) []string {
	var kept []string
	for _, arg := range args {
		var drop bool
		for _, flag := range flags {
			drop = drop || strings.HasPrefix(arg, flag+"=")
		}
		if !drop {
			kept = append(kept, arg)
		}
	}
	return kept
}
