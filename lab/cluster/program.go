package cluster

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
)

// Program is a real program that runs for a container. A container that no program handles is simulated by its status alone.
type Program interface {
	// Handles reports whether the program runs for this container of this pod.
	Handles(pod *corev1.Pod, container corev1.Container) bool
	// Run runs until the context ends, which happens when the pod ends, and leaves nothing behind. Ready must be called once it serves; until then the pod is
	// not Ready. An error is a crash of the container.
	Run(ctx context.Context, run Run) error
}

// Exit is the end of a program with a code other than 0. Any other error is an end with code 1.
type Exit struct {
	Code    int32
	Message string // the last line of its output
}

func (e *Exit) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Message
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
	// APIService is the Service address of the API.
	APIService netip.AddrPort
	// Dial connects as the container would, through the datapath of its node, which translates addresses of Services.
	Dial func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
	// Env is the container's environment as the kubelet builds it from the spec, Secrets and ConfigMaps (container.Environment).
	Env map[string]string
	// Files are the mounted Secrets and ConfigMaps, by path in the container (container.Files).
	Files map[string][]byte
	// PodIP is reachable while the pod runs.
	PodIP netip.Addr
	// Dir is an empty folder for this run alone, removed after it.
	Dir   string
	Log   io.Writer
	Ready func()
}
