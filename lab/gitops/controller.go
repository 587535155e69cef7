package gitops

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/container"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/process"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// Flux runs the real controllers for containers with their images. Other controllers of Flux, such as the notification-controller, are simulated by their
// status alone.
type Flux struct {
	// Binaries are the programs by image name, such as "source-controller".
	Binaries map[string]string
	// Timeline records the results of reconciling, unless it is nil.
	Timeline *timeline.Timeline
}

var _ cluster.Program = Flux{}

// The ports of Flux' controllers in a real cluster.
const (
	storagePort = 9090
	metricsPort = 8080
	healthPort  = 9440
)

// Handles reports whether there is a program for the container's image.
func (f Flux) Handles(_ *corev1.Pod, c corev1.Container) bool {
	return f.Binaries[container.ImageName(c.Image)] != ""
}

// Run runs the controller with the container's own arguments, except for what a process in the lab does not have: its own addresses to listen on, Services by
// name, and other replicas for a leader election.
func (f Flux) Run(ctx context.Context, run cluster.Run) error {
	name := container.ImageName(run.Container.Image)
	command, err := container.Command(run, f.Binaries[name])
	if err != nil {
		return err
	}
	if err := os.MkdirAll(storage(run), 0o700); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	command.Args = append(command.Args, fluxArgs(name, run)...)
	health := "http://" + container.At(run, healthPort) + "/readyz"
	if f.Timeline == nil {
		return process.Serve(ctx, command, health, run.Ready)
	}
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() error { return watch(ctx, name, run.Kubeconfig, f.Timeline) })
	both.Go(func() error { return process.Serve(ctx, command, health, run.Ready) })
	return both.Wait()
}

// fluxArgs come after the container's arguments, and so override them.
func fluxArgs(name string, run cluster.Run) []string {
	args := []string{
		"--enable-leader-election=false",
		// The delay after each step of an object. It is at least 0.75 s by default,
		// which would be half of the time that reconciling takes here.
		"--min-retry-delay=100ms",
		"--events-addr=",
		"--metrics-addr=" + container.At(run, metricsPort),
		"--health-addr=" + container.At(run, healthPort),
	}
	// Services are not routed: the other controllers fetch artifacts from the source-controller's pod itself. When that pod moves, its former address does not
	// answer; a controller that retries it, instead of reading the artifact's address again, does so for ten minutes.
	if name != "source-controller" {
		return append(args, "--http-retry=0")
	}
	return append(args,
		"--storage-path="+storage(run),
		"--storage-addr="+container.At(run, storagePort),
		"--storage-adv-addr="+container.At(run, storagePort),
	)
}

// storage returns where artifacts are kept: an emptyDir in a real cluster.
func storage(run cluster.Run) string {
	return filepath.Join(run.Dir, "data")
}
