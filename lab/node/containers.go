package node

import (
	"strings"

	k8sadapter "github.com/siderolabs/talos/internal/app/machined/pkg/adapters/k8s"
	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/resources/k8s"
)

// serviceImage is what the container of a service runs.
func (n *node) serviceImage(id string) string {
	cfg := n.Config()
	if cfg == nil || cfg.Machine() == nil {
		return id
	}
	switch id {
	case "kubelet":
		return cfg.Machine().Kubelet().Image()
	case "etcd":
		return cfg.Cluster().Etcd().Image()
	default:
		return id
	}
}

// podContainers are the containers of a static pod, as containerd would show
// them.
func podContainers(pod *k8s.StaticPodStatus) []*machineapi.ContainerInfo {
	status, err := k8sadapter.StaticPodStatus(pod).Status()
	if err != nil {
		return nil
	}
	id := pod.Metadata().ID()
	containers := []*machineapi.ContainerInfo{{Namespace: "k8s.io", Id: id, PodId: id, Name: id, Status: "SANDBOX_READY", Image: "pause"}}
	for _, container := range status.ContainerStatuses {
		state := "CONTAINER_EXITED"
		if container.State.Running != nil {
			state = "CONTAINER_RUNNING"
		}
		containers = append(containers, &machineapi.ContainerInfo{
			Namespace: "k8s.io", Id: id + ":" + container.Name, PodId: id, Name: container.Name, Status: state, Image: container.Image,
			Uid: strings.TrimPrefix(container.ContainerID, "containerd://"),
		})
	}
	return containers
}

// extensionServices are those that the image's extensions bring.
func (n *node) extensionServices() []string {
	var ids []string
	for _, extension := range n.Extensions(n.image.Schematic, n.image.Talos) {
		if extension.Service != "" {
			ids = append(ids, "ext-"+extension.Service)
		}
	}
	return ids
}
