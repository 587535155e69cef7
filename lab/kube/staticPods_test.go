package kube

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
)

func TestWhichStaticPodsRestart(t *testing.T) {
	pod := func(name, command string, arguments ...string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Command: append([]string{command}, arguments...)}},
		}}
	}
	server, manager := pod("kube-apiserver", "/usr/local/bin/kube-apiserver"), pod("kube-controller-manager", "/usr/local/bin/kube-controller-manager")
	scheduler, own := pod("kube-scheduler", "/usr/local/bin/kube-scheduler"), pod("own", "/own")
	all := []*corev1.Pod{server, manager, scheduler, own}
	components := []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler"}
	names := append(slices.Clone(components), "own")
	for _, known := range []struct {
		name     string
		old, now []*corev1.Pod
		replaced []string
	}{
		{"none without a change", all, all, nil},
		{"all components with the flags of the scheduler", all, []*corev1.Pod{server, manager, pod("kube-scheduler", "/usr/local/bin/kube-scheduler", "--v=4"), own}, components},
		{"all components with the flags of the API server", all, []*corev1.Pod{pod("kube-apiserver", "/usr/local/bin/kube-apiserver", "--v=4"), manager, scheduler, own}, components},
		{"another pod alone", all, []*corev1.Pod{server, manager, scheduler, pod("own", "/own", "--v=4")}, []string{"own"}},
		{"one that is gone", all, []*corev1.Pod{server, manager, scheduler}, []string{"own"}},
		{"none while others are added", []*corev1.Pod{server, own}, all, nil},
	} {
		t.Run(known.name, func(t *testing.T) {
			running := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return podNamed(known.old, name) == nil })
			require.ElementsMatch(t, known.replaced, replaced(cluster.ControlPlane{Pods: known.old}, cluster.ControlPlane{Pods: known.now}, running))
		})
	}
}
