package kube

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
)

// slot is the place of a container in a pod.
type slot struct {
	worker *worker
	spec   corev1.Container
	index  int
	init   bool
}

// initialize runs an init container and reports whether the next may start.
func (c *slot) initialize(ctx context.Context) bool {
	if !sidecar(c.spec) {
		return c.keep(ctx)
	}
	started := make(chan struct{})
	c.worker.group.Go(func() { c.keepFrom(ctx, func() { closeOnce(started) }) })
	select {
	case <-started:
		return true
	case <-ctx.Done():
		return false
	}
}

func closeOnce(channel chan struct{}) {
	if !ended(channel) {
		close(channel)
	}
}

// keep runs the container, repeatedly if its policy requires it, and reports whether it succeeded.
func (c *slot) keep(ctx context.Context) bool { return c.keepFrom(ctx, func() {}) }

func (c *slot) keepFrom(ctx context.Context, started func()) bool {
	retries := backoff{}
	for {
		failure := c.attempt(ctx, &retries, started)
		if ctx.Err() != nil {
			return false
		}
		switch failure := failure.(type) {
		case nil:
			if c.init && !sidecar(c.spec) || c.policy() != corev1.RestartPolicyAlways {
				return true
			}
			c.crashed(ctx, &retries)
		case *notStarted:
			c.wait(failure.waiting, failure.message)
			c.linger(ctx, retries.next(c.base()))
		default:
			if c.policy() == corev1.RestartPolicyNever {
				return false
			}
			c.crashed(ctx, &retries)
		}
		if ctx.Err() != nil {
			return false
		}
	}
}

// policy decides when the container is restarted.
func (c *slot) policy() corev1.RestartPolicy {
	switch policy := c.worker.born.Spec.RestartPolicy; {
	case sidecar(c.spec):
		return corev1.RestartPolicyAlways
	case c.init && policy == corev1.RestartPolicyAlways:
		return corev1.RestartPolicyOnFailure
	case policy == "":
		return corev1.RestartPolicyAlways
	default:
		return policy
	}
}

// notStarted is why a container was not started: the reason for which it waits, with a message.
type notStarted struct{ waiting, message string }

func (n *notStarted) Error() string { return n.waiting + ": " + n.message }

// attempt tries once to run it.
func (c *slot) attempt(ctx context.Context, retries *backoff, started func()) error {
	var outcome *fault.Outcome
	if !c.init && c.index == 0 {
		// A pod meets its fault once per attempt, in its first container.
		met, err := c.worker.kubelet.k.options.Faults.Meet(ctx, fault.Point{
			On: fault.Pod, Name: c.worker.born.Namespace + "/" + c.worker.apiName(), Subject: c.worker.kubelet.name(),
		})
		if err != nil {
			return err
		}
		outcome = met
	}
	if err := c.pull(ctx, outcome); err != nil {
		return err
	}
	if err := c.configure(ctx, outcome); err != nil {
		return err
	}
	c.started()
	started()
	err := c.execute(ctx, outcome)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	c.exited(err)
	if c.ranLong() {
		retries.reset()
	}
	return err
}

// execute returns the container while it runs.
func (c *slot) execute(ctx context.Context, outcome *fault.Outcome) error {
	step := pace.Pod
	if c.init {
		step = pace.Init
	}
	takes := func() error { return c.worker.kubelet.k.options.Pace.Wait(ctx, step, c.subject()) }
	if outcome != nil {
		if err := takes(); err != nil {
			return err
		}
		return fmt.Errorf("%s", orElse(outcome.Message, "the process exited with code 1"))
	}
	if run := c.worker.runs(c.spec); run != nil {
		output := &lastLine{}
		err := run(ctx, output, func() { c.setReady() })
		if exit := (*cluster.Exit)(nil); errors.As(err, &exit) {
			return exit
		}
		if err != nil {
			return fmt.Errorf("%s", orElse(output.String(), err.Error()))
		}
		return nil
	}
	if err := takes(); err != nil {
		return err
	}
	if c.policy() != corev1.RestartPolicyAlways {
		return nil
	}
	c.setReady()
	<-ctx.Done()
	return context.Cause(ctx)
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

func (c *slot) subject() string {
	return c.worker.kubelet.host.name + " " + c.worker.subject + " " + c.spec.Name
}

func (c *slot) base() time.Duration {
	return c.worker.kubelet.k.options.Pace.Of(pace.Backoff, c.subject())
}

// set changes the container's status.
func (c *slot) set(change func(*corev1.ContainerStatus)) {
	c.worker.change(func(s *podState) {
		if c.init {
			change(&s.init[c.index])
		} else {
			change(&s.containers[c.index])
		}
	})
}

func (c *slot) status() corev1.ContainerStatus {
	c.worker.mu.Lock()
	defer c.worker.mu.Unlock()
	if c.init {
		return c.worker.state.init[c.index]
	}
	return c.worker.state.containers[c.index]
}

// wait sets the reason for which the container waits.
func (c *slot) wait(reason, message string) {
	c.set(func(s *corev1.ContainerStatus) {
		s.Ready = false
		s.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
	})
	c.worker.fact(reason, "container", c.spec.Name)
}

func (c *slot) started() {
	id := c.worker.born.UID
	c.set(func(s *corev1.ContainerStatus) {
		yes := true
		if s.State.Terminated != nil {
			s.LastTerminationState = s.State
		}
		// A container from before the node's boot has no id yet, and is already counted.
		if s.LastTerminationState.Terminated != nil && s.ContainerID != "" {
			s.RestartCount++
		}
		s.ContainerID = "containerd://" + digest(fmt.Sprintf("%s/%s/%d", id, c.spec.Name, s.RestartCount))
		s.ImageID = imageID(c.spec.Image)
		s.Started = &yes
		s.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}
	})
	c.event(corev1.EventTypeNormal, "Created", "Container created")
	c.event(corev1.EventTypeNormal, "Started", "Container started")
}

func (c *slot) setReady() {
	c.set(func(s *corev1.ContainerStatus) { s.Ready = true })
}

// exited records how it ended.
func (c *slot) exited(failure error) {
	how := &corev1.ContainerStateTerminated{Reason: "Completed"}
	if failure != nil {
		how.ExitCode, how.Reason, how.Message = 1, "Error", failure.Error()
		if exit := (*cluster.Exit)(nil); errors.As(failure, &exit) {
			how.ExitCode, how.Message = exit.Code, exit.Message
		}
	}
	c.set(func(s *corev1.ContainerStatus) {
		finish(s, how)
		// An init container that succeeded counts as ready.
		s.Ready = c.init && failure == nil
	})
}

// finish changes a container's status to one that has just ended.
func finish(s *corev1.ContainerStatus, how *corev1.ContainerStateTerminated) {
	no := false
	how.FinishedAt, how.ContainerID = metav1.Now(), s.ContainerID
	if s.State.Running != nil {
		how.StartedAt = s.State.Running.StartedAt
	}
	s.State = corev1.ContainerState{Terminated: how}
	s.Ready, s.Started = false, &no
}

// ranLong reports whether it ran so long that earlier crashes no longer count.
func (c *slot) ranLong() bool {
	ended := c.status().State.Terminated
	return ended != nil && ended.FinishedAt.Sub(ended.StartedAt.Time) > longRun*c.base()
}

// crashed waits before the next start: not the first time, then longer each time.
func (c *slot) crashed(ctx context.Context, retries *backoff) {
	if retries.spare() {
		return
	}
	delay := retries.next(c.base())
	pod := c.worker.born
	name := fmt.Sprintf("%s_%s(%s)", pod.Name, pod.Namespace, pod.UID)
	c.event(corev1.EventTypeWarning, "BackOff", fmt.Sprintf("Back-off restarting failed container %s in pod %s", c.spec.Name, name))
	c.set(func(s *corev1.ContainerStatus) {
		if s.State.Terminated != nil {
			s.LastTerminationState = s.State
		}
		s.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
			Reason:  "CrashLoopBackOff",
			Message: fmt.Sprintf("back-off %s restarting failed container=%s pod=%s", delay.Round(time.Second), c.spec.Name, name),
		}}
	})
	c.worker.fact("CrashLoopBackOff", "container", c.spec.Name)
	c.linger(ctx, delay)
}

func (c *slot) linger(ctx context.Context, d time.Duration) {
	// The caller checks the context itself.
	_ = wait(ctx, d)
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// imageID returns the image with its digest.
func imageID(image string) string {
	if strings.Contains(image, "@") {
		return image
	}
	name := image
	if slash, colon := strings.LastIndex(image, "/"), strings.LastIndex(image, ":"); colon > slash {
		name = image[:colon]
	}
	return name + "@sha256:" + digest(image)
}
