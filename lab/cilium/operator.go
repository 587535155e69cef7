// Package cilium plays Cilium's operator: the kinds that addresses of Services
// are told by, and giving those addresses out.
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

// Operator plays containers of Cilium's operator.
type Operator struct {
	// Definitions is a folder with the definitions of Cilium's kinds.
	Definitions string
	Pace        *pace.Pace
	Timeline    *timeline.Timeline
	// IsHeard says whether a machine is up.
	IsHeard func(machine string) bool
}

var _ cluster.Program = Operator{}

// As the real one has them.
const (
	leaseName     = "cilium-operator-resource-lock"
	leaseDuration = 15 * time.Second
	leaseRenew    = 10 * time.Second
	leaseRetry    = 2 * time.Second
)

// Plays says whether it is the container: operator-generic, or that of a cloud.
func (o Operator) Plays(pod *corev1.Pod, c corev1.Container) bool {
	return o.Definitions != "" && c.Name == "cilium-operator" && strings.HasPrefix(container.ImageName(c.Image), "operator")
}

// Run makes the kinds known, and gives out addresses while it leads.
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
