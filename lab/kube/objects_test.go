package kube

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
)

// greeter is a program that asks the API for its own identity, and serves at its
// pod's address. With the argument crash it fails.
type greeter struct{ asked chan string }

func (*greeter) Handles(_ *corev1.Pod, c corev1.Container) bool { return c.Image == "greeter:1" }

func (g *greeter) Run(ctx context.Context, run cluster.Run) error {
	config, err := clientcmd.RESTConfigFromKubeConfig(run.Kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	self, err := client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", netip.AddrPortFrom(run.PodIP, 8080).String())
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }()
	run.Ready()
	if slices.Contains(run.Container.Args, "crash") {
		_, err := fmt.Fprintln(run.Log, "cannot continue")
		return fmt.Errorf("exit 1 (%v)", err)
	}
	select {
	case g.asked <- self.Status.UserInfo.Username + " at " + run.PodIP.String():
	case <-ctx.Done():
		return nil
	}
	<-ctx.Done()
	return nil
}

// volume creates a volume of the driver, with a claim for it.
func (l *life) volume(name string) {
	size, modes, class := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}, []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, ""
	_, err := l.client.CoreV1().PersistentVolumes().Create(l.t.Context(), &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: size, AccessModes: modes,
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "csi.example", VolumeHandle: name}},
		},
	}, metav1.CreateOptions{})
	require.NoError(l.t, err)
	_, err = l.client.CoreV1().PersistentVolumeClaims("default").Create(l.t.Context(), &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: modes, StorageClassName: &class, VolumeName: name,
			Resources: corev1.VolumeResourceRequirements{Requests: size},
		},
	}, metav1.CreateOptions{})
	require.NoError(l.t, err)
}

func waiting(pod *corev1.Pod, reason string) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool {
		return c.State.Waiting != nil && c.State.Waiting.Reason == reason
	})
}

func template(app string, c corev1.Container) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": app, "k8s-app": app}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{c}},
	}
}

func deployment(name string, replicas int32, c corev1.Container) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}, Template: template(name, c),
		},
	}
}

func daemonSet(name string, c corev1.Container) *appsv1.DaemonSet {
	pod := template(name, c)
	pod.Spec.HostNetwork = true
	pod.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	return &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}, Template: pod},
	}
}
