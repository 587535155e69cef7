package container

import (
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/process"
)

// Command returns a container's command as a process that runs the given program.
// It keeps its files in the folder of the run, and reaches the API server by
// KUBECONFIG.
func Command(run cluster.Run, program string) (process.Command, error) {
	kubeconfig := filepath.Join(run.Dir, "kubeconfig")
	temporary := filepath.Join(run.Dir, "tmp")
	if err := os.MkdirAll(temporary, 0o700); err != nil {
		return process.Command{}, fmt.Errorf("container %s: %w", run.Container.Name, err)
	}
	if err := os.WriteFile(kubeconfig, run.Kubeconfig, 0o600); err != nil {
		return process.Command{}, fmt.Errorf("container %s: %w", run.Container.Name, err)
	}
	env := map[string]string{
		"KUBECONFIG":              kubeconfig,
		"KUBERNETES_SERVICE_HOST": run.APIServer.Addr().String(),
		"KUBERNETES_SERVICE_PORT": strconv.Itoa(int(run.APIServer.Port())),
		"HOME":                    run.Dir,
		"TMPDIR":                  temporary,
		"PATH":                    os.Getenv("PATH"),
	}
	maps.Copy(env, run.Env)
	command := process.Command{Path: program, Args: Expand(run.Container.Args, run.Env), Dir: run.Dir, Log: run.Log}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		command.Env = append(command.Env, name+"="+env[name])
	}
	return command, nil
}

// At returns the pod's address with a port.
func At(run cluster.Run, port int) string {
	return net.JoinHostPort(run.PodIP.String(), strconv.Itoa(port))
}

// Port returns the container's port of this name, or the default.
func Port(c corev1.Container, name string, otherwise int) int {
	for _, port := range c.Ports {
		if port.Name == name {
			return int(port.ContainerPort)
		}
	}
	return otherwise
}
