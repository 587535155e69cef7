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

// Flux runs the real controllers for containers of their images. Others of Flux,
// as the notification-controller, are played by their status alone.
type Flux struct {
	// Binaries are the programs by image name, such as "source-controller".
	Binaries map[string]string
	// Timeline is told what they come to, unless it is nil.
	Timeline *timeline.Timeline
}

var _ cluster.Program = Flux{}

// Ports that Flux' controllers use in life.
const (
	storagePort = 9090
	metricsPort = 8080
	healthPort  = 9440
)

// Plays says whether there is a program for the container's image.
func (f Flux) Plays(_ *corev1.Pod, c corev1.Container) bool {
	return f.Binaries[container.ImageName(c.Image)] != ""
}

// Run runs the controller with the container's own arguments, but for what a
// container has and a process in the lab has not: addresses of its own for all
// that it listens at, services by name, and somebody to take the lead from.
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

// fluxArgs come after the container's, and so in place of them.
func fluxArgs(name string, run cluster.Run) []string {
	args := []string{
		"--enable-leader-election=false",
		// The pause after each step of an object, which is 0.75 s at least in life and
		// would be half of the time that it takes here.
		"--min-retry-delay=100ms",
		"--events-addr=",
		"--metrics-addr=" + container.At(run, metricsPort),
		"--health-addr=" + container.At(run, healthPort),
	}
	// Services are not routed: the others fetch artifacts from the source-controller's
	// pod itself. When that moves, nobody answers where it was, and who tries the
	// same address again instead of asking anew keeps at it for ten minutes.
	if name != "source-controller" {
		return append(args, "--http-retry=0")
	}
	return append(args,
		"--storage-path="+storage(run),
		"--storage-addr="+container.At(run, storagePort),
		"--storage-adv-addr="+container.At(run, storagePort),
	)
}

// storage is where artifacts are kept: an emptyDir in life.
func storage(run cluster.Run) string {
	return filepath.Join(run.Dir, "data")
}
