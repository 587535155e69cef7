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
		if container.ContainerID == "" {
			continue // not created yet
		}
		uid := strings.TrimPrefix(container.ContainerID, "containerd://")
		containers = append(containers, &machineapi.ContainerInfo{
			Namespace: "k8s.io", Id: id + ":" + container.Name + ":" + uid[:min(12, len(uid))], PodId: id, Name: container.Name, Status: state,
			Image: container.Image, Uid: uid,
		})
	}
	return containers
}

// Log returns the last lines of a container of a static pod, by the id in Talos' API: "kube-system/kube-apiserver-cp-1:kube-apiserver".
func (p *ControlPlane) Log(id string) []string {
	pod, container, _ := strings.Cut(id, ":")
	container, _, _ = strings.Cut(container, ":")
	statuses, err := safe.StateListAll[*k8s.StaticPodStatus](p.boot.Ctx, p.boot.State)
	if err != nil {
		return nil // the boot ends
	}
	for status := range statuses.All() {
		if status.Metadata().ID() == pod {
			return p.boot.Kubernetes.PodLog(p.boot.Host(), container)
		}
	}
	return nil
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
