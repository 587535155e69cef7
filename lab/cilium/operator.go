// Package cilium simulates Cilium's operator: it registers Cilium's kinds, including those that configure addresses of Services, and assigns those addresses.
package cilium

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/container"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/lead"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// Operator simulates containers of Cilium's operator.
type Operator struct {
	// Definitions is a folder with the definitions of Cilium's kinds.
	Definitions string
	Pace        *pace.Pace
	Timeline    *timeline.Timeline
	// IsHeard reports whether a machine is up.
	IsHeard func(machine string) bool
}

var _ cluster.Program = Operator{}

// The values of the real one.
const (
	leaseName     = "cilium-operator-resource-lock"
	leaseDuration = 15 * time.Second
	leaseRenew    = 10 * time.Second
	leaseRetry    = 2 * time.Second
)

// Handles reports whether the container is the operator's: operator-generic, or a cloud's.
func (o Operator) Handles(pod *corev1.Pod, c corev1.Container) bool {
	return o.Definitions != "" && c.Name == "cilium-operator" && strings.HasPrefix(container.ImageName(c.Image), "operator")
}

// Run registers the kinds, and assigns addresses while it leads.
func (o Operator) Run(ctx context.Context, run cluster.Run) error {
	config, err := clientcmd.RESTConfigFromKubeConfig(run.Kubeconfig)
	if err != nil {
		return fmt.Errorf("cilium-operator: %w", err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("cilium-operator: %w", err)
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("cilium-operator: %w", err)
	}
	if err := o.operate(ctx, client, objects, run); err != nil && ctx.Err() == nil {
		return fmt.Errorf("cilium-operator: %w", err)
	}
	return nil
}

func (o Operator) operate(ctx context.Context, client kubernetes.Interface, objects dynamic.Interface, run cluster.Run) error {
	subject := fmt.Sprintf("%s %s/%s %s", run.Host, run.Pod.Namespace, run.Pod.GenerateName, run.Container.Name)
	if err := o.Pace.Wait(ctx, pace.Pod, subject); err != nil {
		return err
	}
	if err := register(ctx, objects, o.Definitions); err != nil {
		return err
	}
	run.Ready()
	return lead.Election{
		Client: client, Namespace: run.Pod.Namespace, Name: leaseName, Identity: run.Pod.Name,
		Duration: leaseDuration, Renew: leaseRenew, Retry: leaseRetry,
		IsHeard: func() bool { return o.IsHeard(run.Host) },
	}.Run(ctx, func(ctx context.Context) error {
		return giver{client: client, timeline: o.Timeline}.run(ctx, objects)
	})
}
