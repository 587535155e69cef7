// Package ccm simulates Hetzner's cloud controller manager: it runs Kubernetes' own node controllers on Hetzner's API. Routes and load balancers for Services
// are not simulated.
package ccm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	cloudapi "k8s.io/cloud-provider/api"
	"k8s.io/cloud-provider/controllers/node"
	"k8s.io/cloud-provider/controllers/nodelifecycle"
	"k8s.io/component-base/metrics/prometheus/controllers"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/container"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// Program simulates containers of the cloud controller manager.
type Program struct {
	// Endpoint is Hetzner's API, unless the container's environment names another.
	Endpoint string
	Timeline *timeline.Timeline
}

var _ cluster.Program = Program{}

// The values of the real program.
const (
	statusEvery  = 5 * time.Minute
	monitorEvery = 5 * time.Second
	workers      = 1
)

// Handles reports whether the container is one of the cloud controller manager.
func (p Program) Handles(_ *corev1.Pod, c corev1.Container) bool {
	return container.ImageName(c.Image) == "hcloud-cloud-controller-manager"
}

// Run runs the controllers until the context ends.
func (p Program) Run(ctx context.Context, run cluster.Run) error {
	config, err := clientcmd.RESTConfigFromKubeConfig(run.Kubeconfig)
	if err != nil {
		return fmt.Errorf("cloud controller manager: %w", err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("cloud controller manager: %w", err)
	}
	if err := p.control(ctx, client, run.Env, run.Ready); err != nil && ctx.Err() == nil {
		return fmt.Errorf("cloud controller manager: %w", err)
	}
	return nil
}

func (p Program) control(ctx context.Context, client kubernetes.Interface, env map[string]string, ready func()) error {
	cloud, err := p.connect(ctx, env)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	nodes := factory.Core().V1().Nodes()
	if _, err := nodes.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: p.notice}); err != nil {
		return err
	}
	initializer, err := node.NewCloudNodeController(nodes, client, cloud, statusEvery, workers, workers)
	if err != nil {
		return err
	}
	lifecycle, err := nodelifecycle.NewCloudNodeLifecycleController(nodes, client, cloud, monitorEvery)
	if err != nil {
		return err
	}
	factory.StartWithContext(ctx)
	defer factory.Shutdown()
	if !cache.WaitForCacheSync(ctx.Done(), nodes.Informer().HasSynced) {
		return context.Cause(ctx)
	}
	metrics := controllers.NewControllerManagerMetrics("cloud-controller-manager")
	var running sync.WaitGroup
	running.Go(func() { initializer.RunWithContext(ctx, metrics) })
	running.Go(func() { lifecycle.Run(ctx, metrics) })
	ready()
	running.Wait()
	return nil
}

// connect reads the variables of the container like the real program, and checks with the API whether the token is valid.
func (p Program) connect(ctx context.Context, env map[string]string) (*provider, error) {
	token := env["HCLOUD_TOKEN"]
	if token == "" {
		return nil, errors.New("environment variable HCLOUD_TOKEN is required")
	}
	endpoint := p.Endpoint
	if own := env["HCLOUD_ENDPOINT"]; own != "" {
		endpoint = own
	}
	client := hcloud.NewClient(
		hcloud.WithToken(token), hcloud.WithEndpoint(endpoint),
		hcloud.WithApplication("hcloud-cloud-controller", "lab"),
	)
	if _, _, err := client.Server.List(ctx, hcloud.ServerListOpts{ListOpts: hcloud.ListOpts{PerPage: 1}}); err != nil {
		return nil, fmt.Errorf("unable to access the API of Hetzner: %w", err)
	}
	cloud := &provider{client: client}
	if name := env["HCLOUD_NETWORK"]; name != "" {
		network, _, err := client.Network.Get(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("looking for network %s: %w", name, err)
		}
		if network == nil {
			return nil, fmt.Errorf("network %s not found", name)
		}
		cloud.network = network.ID
	}
	return cloud, nil
}

// notice records when a node was initialized.
func (p Program) notice(before, after any) {
	old, was := before.(*corev1.Node)
	now, is := after.(*corev1.Node)
	if was && is && uninitialized(old) && !uninitialized(now) {
		p.Timeline.Record(now.Name, "cloud", "initialized", "providerID", now.Spec.ProviderID)
	}
}

func uninitialized(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool {
		return taint.Key == cloudapi.TaintExternalCloudProvider
	})
}
