package lab

import (
	"fmt"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/control"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/dhcp"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/kube"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox"
)

// status is the state of the lab's parts.
type status struct {
	Machines  []node.Status  `json:"machines"`
	Processes []kube.Process `json:"processes"`
	// Leases are those of the networks at home.
	Leases []dhcp.Lease `json:"leases"`
	// Proxmox is the state of its hosts, if there are any.
	Proxmox *proxmox.Status `json:"proxmox,omitempty"`
}

// Status returns the state of its parts.
func (l *Lab) Status() any {
	found := status{Machines: l.nodes.Machines(), Processes: l.kubernetes.Processes(), Leases: l.lans.leases()}
	if l.home != nil {
		hosts := l.home.Status(l.home.endpoint())
		found.Proxmox = &hosts
	}
	return found
}

// Leases returns those that the DHCP servers of the networks at home have assigned.
func (l *Lab) Leases() []dhcp.Lease { return l.lans.leases() }

// Machines returns those that no cloud has.
func (l *Lab) Machines() control.Machines { return l.rack }

// Kubeconfig returns that of the first cluster, for programs on the host.
func (l *Lab) Kubeconfig() ([]byte, error) {
	clusters := l.kubernetes.Clusters()
	if len(clusters) == 0 {
		return nil, errNoCluster
	}
	return forHost(l.kubernetes.Kubeconfig(clusters[0]), l.hostport)
}

// forHost leads a kubeconfig to the lab's port on the host. The API server does
// not know that it is called so, but by one of its own names.
func forHost(kubeconfig []byte, hostport string) ([]byte, error) {
	config, err := clientcmd.Load(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("the cluster's kubeconfig: %w", err)
	}
	for _, cluster := range config.Clusters {
		cluster.Server = "https://" + hostport
		cluster.TLSServerName = "kubernetes.default.svc"
	}
	return clientcmd.Write(*config)
}
