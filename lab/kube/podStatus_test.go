package kube

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var (
	runs    = corev1.ContainerStatus{Name: "c", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	begins  = corev1.ContainerStatus{Name: "c", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}}
	endWell = corev1.ContainerStatus{Name: "c", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}
	endBad  = corev1.ContainerStatus{Name: "c", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1}}}
	again   = corev1.ContainerStatus{
		Name: "c", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}, LastTerminationState: endBad.State,
	}
)

func TestPodPhase(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	yes := true
	sidecarRuns := runs
	sidecarRuns.Started = &yes
	for name, test := range map[string]struct {
		policy     corev1.RestartPolicy
		inits      []corev1.Container
		init, main []corev1.ContainerStatus
		phase      corev1.PodPhase
	}{
		"one container starts":                  {main: []corev1.ContainerStatus{runs, begins}, phase: corev1.PodPending},
		"all run":                               {main: []corev1.ContainerStatus{runs, runs}, phase: corev1.PodRunning},
		"one crashes again and again":           {main: []corev1.ContainerStatus{again}, phase: corev1.PodRunning},
		"ended and to be started again":         {main: []corev1.ContainerStatus{endWell}, phase: corev1.PodRunning},
		"a job succeeded":                       {policy: corev1.RestartPolicyOnFailure, main: []corev1.ContainerStatus{endWell}, phase: corev1.PodSucceeded},
		"a job failed for good":                 {policy: corev1.RestartPolicyNever, main: []corev1.ContainerStatus{endWell, endBad}, phase: corev1.PodFailed},
		"a job failed and is tried again":       {policy: corev1.RestartPolicyOnFailure, main: []corev1.ContainerStatus{endBad}, phase: corev1.PodRunning},
		"an init container runs":                {inits: make([]corev1.Container, 1), init: []corev1.ContainerStatus{runs}, main: []corev1.ContainerStatus{begins}, phase: corev1.PodPending},
		"an init container failed":              {inits: make([]corev1.Container, 1), init: []corev1.ContainerStatus{endBad}, main: []corev1.ContainerStatus{begins}, phase: corev1.PodPending},
		"an init container failed for good":     {policy: corev1.RestartPolicyNever, inits: make([]corev1.Container, 1), init: []corev1.ContainerStatus{endBad}, main: []corev1.ContainerStatus{begins}, phase: corev1.PodFailed},
		"init is done":                          {inits: make([]corev1.Container, 1), init: []corev1.ContainerStatus{endWell}, main: []corev1.ContainerStatus{runs}, phase: corev1.PodRunning},
		"a sidecar that runs lets others start": {inits: []corev1.Container{{RestartPolicy: &always}}, init: []corev1.ContainerStatus{sidecarRuns}, main: []corev1.ContainerStatus{runs}, phase: corev1.PodRunning},
		"others wait for a sidecar that starts": {inits: []corev1.Container{{RestartPolicy: &always}}, init: []corev1.ContainerStatus{begins}, main: []corev1.ContainerStatus{begins}, phase: corev1.PodPending},
	} {
		t.Run(name, func(t *testing.T) {
			spec := corev1.PodSpec{RestartPolicy: test.policy, InitContainers: test.inits}
			require.Equal(t, test.phase, podPhase(spec, podState{init: test.init, containers: test.main}))
		})
	}
}

func TestPodConditions(t *testing.T) {
	early, late := metav1.NewTime(time.Unix(1, 0)), metav1.NewTime(time.Unix(2, 0))
	pod := &corev1.Pod{}
	begun := podStatus(pod, podState{containers: []corev1.ContainerStatus{begins}}, nil, early)
	require.False(t, isReady(&corev1.Pod{Status: begun}))
	require.Equal(t, "containers with unready status: [c]", begun.Conditions[2].Message)

	serving := podStatus(pod, podState{sandbox: true, containers: []corev1.ContainerStatus{runs}}, begun.Conditions, late)
	require.True(t, isReady(&corev1.Pod{Status: serving}))
	for _, condition := range serving.Conditions {
		changed := condition.Type != corev1.PodInitialized && condition.Type != corev1.PodScheduled
		require.Equal(t, map[bool]metav1.Time{true: late, false: early}[changed], condition.LastTransitionTime, condition.Type)
	}

	gated := &corev1.Pod{Spec: corev1.PodSpec{ReadinessGates: []corev1.PodReadinessGate{{ConditionType: "lb"}}}}
	require.False(t, isReady(&corev1.Pod{Status: podStatus(gated, podState{containers: []corev1.ContainerStatus{runs}}, nil, late)}))

	job := &corev1.Pod{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever}}
	done := podStatus(job, podState{sandbox: true, containers: []corev1.ContainerStatus{endWell}}, nil, late)
	require.Equal(t, "PodCompleted", done.Conditions[2].Reason)
}

func TestBackoffDoublesUpToFiveMinutes(t *testing.T) {
	b := backoff{}
	require.True(t, b.spare(), "the first restart is at once")
	require.False(t, b.spare())
	var delays []time.Duration
	for range 7 {
		delays = append(delays, b.next(10*time.Second))
	}
	require.Equal(t, []time.Duration{10e9, 20e9, 40e9, 80e9, 160e9, 300e9, 300e9}, delays)
	b.reset()
	require.Equal(t, 10*time.Second, b.next(10*time.Second))
}

func TestImageID(t *testing.T) {
	for image, id := range map[string]string{
		"registry:5000/web:1":     "registry:5000/web@sha256:",
		"registry:5000/web":       "registry:5000/web@sha256:",
		"web@sha256:0123":         "web@sha256:0123",
		"registry/team/web:1.2.3": "registry/team/web@sha256:",
	} {
		require.Contains(t, imageID(image), id)
	}
}
