package kube

import (
	"fmt"
	"maps"
	"path"
	"slices"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
)

// versions are those of the Kubernetes components on a node; nil for one that does not run there.
type versions struct {
	server, manager, scheduler, kubelet *version.Version
}

// skews returns each way in which the nodes of a cluster violate Kubernetes' version skew policy, by node and as text. A controller manager and a scheduler
// ask the API server of their own node, a kubelet any. https://kubernetes.io/releases/version-skew-policy
func skews(nodes map[string]versions) (found [][2]string) {
	for _, node := range slices.Sorted(maps.Keys(nodes)) {
		here := nodes[node]
		compare := func(what string, is *version.Version, at string, server *version.Version, older uint) {
			switch {
			case is == nil || server == nil:
			case is.Minor() > server.Minor():
				found = append(found, [2]string{node, fmt.Sprintf("%s v%s is newer than the API server of %s, v%s", what, is, at, server)})
			case is.Minor()+older < server.Minor():
				found = append(found, [2]string{node, fmt.Sprintf("%s v%s is too old for the API server of %s, v%s", what, is, at, server)})
			}
		}
		compare("kube-controller-manager", here.manager, node, here.server, 1)
		compare("kube-scheduler", here.scheduler, node, here.server, 1)
		for _, other := range slices.Sorted(maps.Keys(nodes)) {
			compare("kubelet", here.kubelet, other, nodes[other].server, 3)
			if server := nodes[other].server; here.server != nil && server != nil && here.server.Minor() > server.Minor()+1 {
				found = append(found, [2]string{node, fmt.Sprintf("kube-apiserver v%s is too new for that of %s, v%s", here.server, other, server)})
			}
		}
	}
	return found
}

// noteSkews records violations that were not there before.
func (s *space) noteSkews() {
	nodes := s.versions()
	s.mu.Lock()
	defer s.mu.Unlock()
	now := map[[2]string]bool{}
	for _, one := range skews(nodes) {
		now[one] = true
		if !s.skewed[one] {
			s.k.record(one[0], "skew", one[1])
		}
	}
	s.skewed = now
}

// versions are those that run in the cluster, by node.
func (s *space) versions() map[string]versions {
	s.k.mu.Lock()
	hosts := slices.Collect(maps.Values(s.k.hosts))
	s.k.mu.Unlock()
	nodes := map[string]versions{}
	for _, h := range hosts {
		h.mu.Lock()
		static, running := h.static, h.kubelet
		h.mu.Unlock()
		var here versions
		if static != nil && static.space == s {
			here = static.versions()
		}
		if running != nil && running.space == s {
			running.mu.Lock()
			here.kubelet = release(running.spec.Image)
			running.mu.Unlock()
		}
		if here != (versions{}) {
			nodes[h.name] = here
		}
	}
	return nodes
}

func (p *staticPods) versions() versions {
	p.mu.Lock()
	defer p.mu.Unlock()
	return versionsOf(p.spec)
}

func versionsOf(spec cluster.ControlPlane) (here versions) {
	for _, pod := range spec.Pods {
		for _, c := range pod.Spec.Containers {
			if len(c.Command) == 0 {
				continue
			}
			switch path.Base(c.Command[0]) {
			case "kube-apiserver":
				here.server = release(c.Image)
			case "kube-controller-manager":
				here.manager = release(c.Image)
			case "kube-scheduler":
				here.scheduler = release(c.Image)
			}
		}
	}
	return here
}
