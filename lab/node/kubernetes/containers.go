package kubernetes

import (
	"strings"

	"github.com/cosi-project/runtime/pkg/safe"
	k8sadapter "github.com/siderolabs/talos/internal/app/machined/pkg/adapters/k8s"
	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/resources/k8s"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/service"
)

// containersOf returns the containers of a static pod, as containerd lists them.
func containersOf(pod *k8s.StaticPodStatus) []*machineapi.ContainerInfo {
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

// Containers returns the containers of the static pods.
func (p *ControlPlane) Containers() []*machineapi.ContainerInfo {
	statuses, err := safe.StateListAll[*k8s.StaticPodStatus](p.boot.Ctx, p.boot.State)
	if err != nil {
		return nil // the boot ends
	}
	var containers []*machineapi.ContainerInfo
	for pod := range statuses.All() {
		for _, container := range containersOf(pod) {
			container.Pid = uint32(service.PID(p.boot.Host(), container.Id))
			containers = append(containers, container)
		}
	}
	return containers
}
