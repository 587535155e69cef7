package kube

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// podState is what a kubelet knows about a pod that it runs.
type podState struct {
	hostIPs, podIPs  []netip.Addr
	started          metav1.Time
	sandbox          bool
	init, containers []corev1.ContainerStatus
}

// podStatus returns the status that a kubelet reports, as a copy that shares nothing with the state. Before is the previous status, for the times at which
// conditions changed.
func podStatus(pod *corev1.Pod, state podState, before []corev1.PodCondition, now metav1.Time) corev1.PodStatus {
	status := corev1.PodStatus{
		ObservedGeneration:    pod.Generation,
		Phase:                 podPhase(pod.Spec, state),
		StartTime:             &state.started,
		InitContainerStatuses: state.init,
		ContainerStatuses:     state.containers,
		QOSClass:              pod.Status.QOSClass,
	}
	for i, ip := range state.hostIPs {
		if i == 0 {
			status.HostIP = ip.String()
		}
		status.HostIPs = append(status.HostIPs, corev1.HostIP{IP: ip.String()})
	}
	for i, ip := range state.podIPs {
		if i == 0 {
			status.PodIP = ip.String()
		}
		status.PodIPs = append(status.PodIPs, corev1.PodIP{IP: ip.String()})
	}
	for _, condition := range podConditions(pod, state, status.Phase) {
		condition.ObservedGeneration = pod.Generation
		condition.LastTransitionTime = now
		i := slices.IndexFunc(before, func(old corev1.PodCondition) bool { return old.Type == condition.Type })
		if i >= 0 && before[i].Status == condition.Status {
			condition.LastTransitionTime = before[i].LastTransitionTime
		}
		status.Conditions = append(status.Conditions, condition)
	}
	return *status.DeepCopy()
}

// podPhase follows from the containers, by the rules of the kubelet.
func podPhase(spec corev1.PodSpec, state podState) corev1.PodPhase {
	if outcome := initOutcome(spec, state.init); outcome != corev1.PodRunning {
		return outcome
	}
	running, waiting, succeeded, failed := 0, 0, 0, 0
	for _, c := range state.containers {
		ended := c.State.Terminated
		if ended == nil && c.State.Waiting != nil {
			ended = c.LastTerminationState.Terminated
		}
		switch {
		case c.State.Running != nil:
			running++
		case ended == nil:
			waiting++
		case ended.ExitCode == 0:
			succeeded++
		default:
			failed++
		}
	}
	switch {
	case waiting > 0:
		return corev1.PodPending
	case running > 0 || spec.RestartPolicy == corev1.RestartPolicyAlways || spec.RestartPolicy == "":
		return corev1.PodRunning
	case failed == 0:
		return corev1.PodSucceeded
	case spec.RestartPolicy == corev1.RestartPolicyNever:
		return corev1.PodFailed
	}
	return corev1.PodRunning
}

// initOutcome is Running once the init containers allow the others to start.
func initOutcome(spec corev1.PodSpec, statuses []corev1.ContainerStatus) corev1.PodPhase {
	for i, c := range statuses {
		if sidecar(spec.InitContainers[i]) {
			if c.Started == nil || !*c.Started {
				return corev1.PodPending
			}
			continue
		}
		switch {
		case c.State.Terminated == nil:
			return corev1.PodPending
		case c.State.Terminated.ExitCode != 0 && spec.RestartPolicy == corev1.RestartPolicyNever:
			return corev1.PodFailed
		case c.State.Terminated.ExitCode != 0:
			return corev1.PodPending
		}
	}
	return corev1.PodRunning
}

func sidecar(c corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// podConditions returns those that a kubelet sets.
func podConditions(pod *corev1.Pod, state podState, phase corev1.PodPhase) []corev1.PodCondition {
	done := phase == corev1.PodSucceeded || phase == corev1.PodFailed
	condition := func(kind corev1.PodConditionType, holds bool, reason, message string) corev1.PodCondition {
		if holds {
			return corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue}
		}
		return corev1.PodCondition{Type: kind, Status: corev1.ConditionFalse, Reason: reason, Message: message}
	}
	initialized := condition(corev1.PodInitialized, initOutcome(pod.Spec, state.init) == corev1.PodRunning,
		"ContainersNotInitialized", unready("containers with incomplete status", incomplete(pod.Spec, state.init)))
	var notReady []string
	for _, c := range state.containers {
		if !c.Ready {
			notReady = append(notReady, c.Name)
		}
	}
	reason, message := "ContainersNotReady", unready("containers with unready status", notReady)
	if phase == corev1.PodSucceeded {
		initialized.Reason = "PodCompleted"
		reason, message = "PodCompleted", ""
	} else if phase == corev1.PodFailed {
		reason, message = "PodFailed", ""
	}
	containers := condition(corev1.ContainersReady, !done && len(notReady) == 0, reason, message)
	ready := containers
	ready.Type = corev1.PodReady
	if missing := missingGates(pod); ready.Status == corev1.ConditionTrue && missing > 0 {
		ready = condition(corev1.PodReady, false, "ReadinessGatesNotReady", fmt.Sprintf("the status of %d readiness gates is not \"True\"", missing))
	}
	return []corev1.PodCondition{
		condition(corev1.PodReadyToStartContainers, state.sandbox && !done, "", ""),
		initialized, ready, containers,
		condition(corev1.PodScheduled, true, "", ""),
	}
}

func incomplete(spec corev1.PodSpec, statuses []corev1.ContainerStatus) []string {
	var names []string
	for i, c := range statuses {
		succeeded := c.State.Terminated != nil && c.State.Terminated.ExitCode == 0
		if !succeeded && (!sidecar(spec.InitContainers[i]) || c.Started == nil || !*c.Started) {
			names = append(names, c.Name)
		}
	}
	return names
}

func unready(what string, names []string) string {
	return fmt.Sprintf("%s: [%s]", what, strings.Join(names, " "))
}

func missingGates(pod *corev1.Pod) int {
	missing := 0
	for _, gate := range pod.Spec.ReadinessGates {
		if !slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == gate.ConditionType && c.Status == corev1.ConditionTrue
		}) {
			missing++
		}
	}
	return missing
}

// isReady reports whether a pod's status is Ready.
func isReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}
