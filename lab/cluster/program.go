package cluster

import (
	"context"
	"io"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
)

// Program is what really runs for a container. Containers of images that no
// program plays are played by their status alone.
type Program interface {
	// Plays says whether it stands for the container of this pod.
	Plays(pod *corev1.Pod, container corev1.Container) bool
	// Run runs it until the context ends, as it does when the pod does, and
	// leaves nothing behind. Ready is to be called once it serves; until then
	// the pod is not Ready. An error is a crash of the container.
	Run(ctx context.Context, run Run) error
}

// Run is one run of a container.
type Run struct {
	Cluster   ID
	Host      string // the machine that it runs on
	Pod       *corev1.Pod
	Container corev1.Container
	// Kubeconfig, CACert and Token reach the API server at APIServer as the
	// pod's service account.
	Kubeconfig, CACert, Token []byte
	APIServer                 netip.AddrPort
	// Env is the container's environment as the kubelet makes it of the spec,
	// of Secrets and of ConfigMaps; container.Environment does so.
	Env map[string]string
	// Files are those of the Secrets and ConfigMaps that it has mounted, by their
	// path in it; container.Files does so.
	Files map[string][]byte
	// PodIP is up while the pod runs.
	PodIP netip.Addr
	// Dir is empty, the run's own, and removed after it.
	Dir   string
	Log   io.Writer
	Ready func()
}
