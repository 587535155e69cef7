package kube

import (
	"context"
	"errors"
	"net/netip"
	"syscall"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
)

// caller is a program that connects to the API by its Service address, and to an address that no Service has.
type caller struct{}

func (caller) Handles(_ *corev1.Pod, c corev1.Container) bool { return c.Image == "caller:1" }

func (caller) Run(ctx context.Context, run cluster.Run) error {
	conn, err := run.Dial(ctx, run.APIService)
	if err != nil {
		return &cluster.Exit{Code: 7, Message: run.APIService.String() + ": " + err.Error()}
	}
	if err := conn.Close(); err != nil {
		return err
	}
	if _, err := run.Dial(ctx, netip.MustParseAddrPort(addresses["w-1"]+":4")); !errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	run.Ready()
	<-ctx.Done()
	return nil
}

func (l *life) datapath() {
	l.arm(fault.Rule{On: fault.Datapath, Name: "*:443", Subject: "w-1", Do: fault.Refuse, Times: 1})
	program := deployment("caller", 1, corev1.Container{Name: "caller", Image: "caller:1"})
	program.Spec.Template.Spec.NodeName = "w-1"
	_, err := l.client.AppsV1().Deployments("default").Create(l.t.Context(), program, metav1.CreateOptions{})
	require.NoError(l.t, err)
	pod := l.awaitPod("caller", "it connects at the second attempt", isReady)
	ended := pod.Status.ContainerStatuses[0].LastTerminationState.Terminated
	require.Equal(l.t, int32(7), ended.ExitCode)
	service, err := l.client.CoreV1().Services("default").Get(l.t.Context(), "kubernetes", metav1.GetOptions{})
	require.NoError(l.t, err)
	require.Equal(l.t, service.Spec.ClusterIP+":443: connection refused", ended.Message)
	require.NoError(l.t, l.client.AppsV1().Deployments("default").Delete(l.t.Context(), "caller", metav1.DeleteOptions{}))
}
