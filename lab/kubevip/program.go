// Package kubevip simulates kube-vip: the leading pod brings up the control plane's address on its node, and the addresses of Services of type LoadBalancer.
package kubevip

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/container"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/lead"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// Machines are those that its pods run on.
type Machines interface {
	// Link returns the name of a link if it exists; without a name it returns the
	// link of the default route.
	Link(machine, name string) (string, error)
	// Hold adds an address to the link.
	Hold(machine, link string, address netip.Prefix) (release func(), err error)
	// Runs reports whether the machine is up.
	Runs(machine string) bool
}

// Program simulates containers of kube-vip.
type Program struct {
	Machines Machines
	Timeline *timeline.Timeline
}

var _ cluster.Program = Program{}

// Handles reports whether the container is kube-vip.
func (p Program) Handles(_ *corev1.Pod, c corev1.Container) bool {
	return container.ImageName(c.Image) == "kube-vip"
}

// Run takes part in the elections until the context ends.
func (p Program) Run(ctx context.Context, run cluster.Run) error {
	config, err := clientcmd.RESTConfigFromKubeConfig(run.Kubeconfig)
	if err != nil {
		return fmt.Errorf("kube-vip: %w", err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("kube-vip: %w", err)
	}
	if err := p.serve(ctx, client, run); err != nil && ctx.Err() == nil {
		return fmt.Errorf("kube-vip: %w", err)
	}
	return nil
}

func (p Program) serve(ctx context.Context, client kubernetes.Interface, run cluster.Run) error {
	settings, err := read(run)
	if err != nil {
		return err
	}
	if err := reachesAPI(ctx, client, run); err != nil {
		return err
	}
	link, err := p.Machines.Link(run.Host, settings.link)
	if err != nil {
		return fmt.Errorf("could not get link for interface: %w", err)
	}
	run.Ready()
	both, ctx := errgroup.WithContext(ctx)
	if settings.controlPlane {
		both.Go(func() error {
			return p.lead(ctx, client, run, settings, settings.lease, func(ctx context.Context) error {
				release, err := p.Machines.Hold(run.Host, link, settings.address)
				if err != nil {
					return err
				}
				defer release()
				p.Timeline.Record(settings.node, "kube-vip", "holds", "address", settings.address.Addr().String())
				<-ctx.Done()
				return nil
			})
		})
	}
	if settings.services {
		both.Go(func() error {
			return p.lead(ctx, client, run, settings, settings.servicesLease, func(ctx context.Context) error {
				return p.announce(ctx, client, run, settings)
			})
		})
	}
	return both.Wait()
}

// reachesAPI returns an error if a real pod would not reach the API server. The Service kubernetes is not routed until a network is up on the node, and
// kube-vip starts before that; KubePrism is on every node.
func reachesAPI(ctx context.Context, client kubernetes.Interface, run cluster.Run) error {
	if run.Env["KUBERNETES_SERVICE_HOST"] != "" || run.Env["kubernetes_addr"] != "" {
		return nil
	}
	for _, agent := range []string{"k8s-app=cilium", "k8s-app=kube-proxy"} {
		pods, err := client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{
			LabelSelector: agent, FieldSelector: "spec.nodeName=" + run.Pod.Spec.NodeName,
		})
		if err != nil {
			return err
		}
		for _, pod := range pods.Items {
			for _, condition := range pod.Status.Conditions {
				if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
					return nil
				}
			}
		}
	}
	service, err := client.CoreV1().Services(metav1.NamespaceDefault).Get(ctx, "kubernetes", metav1.GetOptions{})
	if err != nil {
		return err
	}
	return fmt.Errorf("dial tcp %s:443: i/o timeout: no network routes Services on the node yet, and KUBERNETES_SERVICE_HOST names no other address", service.Spec.ClusterIP)
}

// lead does the work of a leader. When it is no longer the leader, the program ends, like the real one.
func (p Program) lead(
	ctx context.Context, client kubernetes.Interface, run cluster.Run, s settings, name string, do func(context.Context) error,
) error {
	err := lead.Election{
		Client: client, Namespace: s.namespace, Name: name, Identity: s.node,
		Duration: s.duration, Renew: s.renew, Retry: s.retry,
		IsHeard: func() bool { return p.Machines.Runs(run.Host) },
	}.Run(ctx, do)
	if errors.Is(err, lead.ErrLost) {
		return fmt.Errorf("%w, restarting kube-vip", err)
	}
	return err
}
