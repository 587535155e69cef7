package kube

import (
	"context"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// cniAgent describes the condition that a network's agent sets on its node once it runs there.
type cniAgent struct{ reason, message string }

// cniAgents are recognized by the label k8s-app or app of their pods.
var cniAgents = map[string]cniAgent{
	"cilium":  {"CiliumIsUp", "Cilium is running on this node"},
	"flannel": {"FlannelIsUp", "Flannel is running on this node"},
}

// cniOf returns the network whose agent the pod is, or "".
func cniOf(pod *corev1.Pod) string {
	owner := metav1.GetControllerOf(pod)
	if owner == nil || owner.Kind != "DaemonSet" {
		return ""
	}
	for _, label := range []string{"k8s-app", "app"} {
		if _, known := cniAgents[pod.Labels[label]]; known {
			return pod.Labels[label]
		}
	}
	return ""
}

// noticeCNI records which network agents are ready on the node since it started. The Node is Ready only while one is. What the API reported last counts: an
// unreachable API server changes nothing.
func (k *kubelet) noticeCNI(pod *corev1.Pod, there bool) {
	agent := cniOf(pod)
	if agent == "" {
		return
	}
	k.mu.Lock()
	if there && k.runsReady(pod) {
		k.cni[pod.UID] = agent
	} else {
		delete(k.cni, pod.UID)
	}
	up := len(k.cni) > 0
	k.mu.Unlock()
	if !k.network.set(up) {
		return
	}
	k.k.record(k.host.name, "network", map[bool]string{true: "up", false: "down"}[up], "cni", agent)
	signal(k.refit)
	if up {
		k.group.Go(func() { k.announce(cniAgents[agent]) })
	}
}

// runsReady reports whether the pod is Ready now, and not only was before the node went down. It is called with the lock held.
func (k *kubelet) runsReady(pod *corev1.Pod) bool {
	w := k.workers[pod.UID]
	return w != nil && isReady(pod) && pod.DeletionTimestamp == nil && w.isReady()
}

// announce sets the condition that a real agent sets itself.
func (k *kubelet) announce(agent cniAgent) {
	now := metav1.Now()
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": []corev1.NodeCondition{{
		Type: corev1.NodeNetworkUnavailable, Status: corev1.ConditionFalse, Reason: agent.reason, Message: agent.message,
		LastHeartbeatTime: now, LastTransitionTime: now,
	}}}})
	if err == nil {
		err = k.try(func(ctx context.Context, a *api) error {
			_, err := a.client.CoreV1().Nodes().PatchStatus(ctx, k.name(), patch)
			return err
		})
	}
	if err != nil && k.ctx.Err() == nil {
		k.k.options.Log.Warn("announce the network of a node", "node", k.name(), "error", err)
	}
}
