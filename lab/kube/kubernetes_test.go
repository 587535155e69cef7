package kube

import (
	"bytes"
	"context"
	"io"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/recovery"
)

// TestCluster takes three nodes through the life of a cluster with the real control
// plane. Each part starts where the one before it ended.
func TestCluster(t *testing.T) {
	l := newLife(t)
	for _, part := range []struct {
		name string
		run  func(*life)
	}{
		{"the first control plane comes up", (*life).comesUp},
		{"nodes join and are not Ready without a network", (*life).join},
		{"nodes are Ready with their network", (*life).networked},
		{"workloads run", (*life).workloads},
		{"pods fail as asked", (*life).podFaults},
		{"programs really run", (*life).programs},
		{"pods reach Services through their node", (*life).datapath},
		{"drivers are registered", (*life).storage},
		{"calls fail as asked", (*life).callFaults},
		{"an API server with a bad flag stays down", (*life).badFlag},
		{"each control plane runs as the version of its image", (*life).twoVersions},
		{"etcd keeps the rules of its majority", (*life).majority},
		{"a lost node comes back", (*life).lostNode},
		{"everything survives a reboot of all nodes", (*life).rebootAll},
		{"a snapshot is recovered where all data is lost", (*life).recover},
	} {
		if !t.Run(part.name, func(t *testing.T) {
			l.t = t
			part.run(l)
		}) {
			return
		}
	}
}

func (l *life) comesUp() {
	require.False(l.t, l.kube.Initialized(l.talos.id))
	l.startControlPlane("cp-1", true, nil)
	require.True(l.t, l.kube.Initialized(l.talos.id))
	l.awaitState("that the static pods are ready", func() bool {
		return l.static["cp-1/kube-apiserver"].Ready && l.static["cp-1/kube-controller-manager"].Ready && l.static["cp-1/kube-scheduler"].Ready
	})
	version, err := l.client.ServerVersion()
	require.NoError(l.t, err)
	require.Equal(l.t, "v1.36.4", version.GitVersion)
	require.Contains(l.t, l.kube.Clusters(), l.talos.id)

	mirror := await(l, "pods", "kube-system", labels.Everything(), &corev1.Pod{}, "the mirror of the API server is Ready", func(pod *corev1.Pod) bool {
		return pod.Name == "kube-apiserver-cp-1" && isReady(pod)
	})
	require.Equal(l.t, "Node", mirror.OwnerReferences[0].Kind)
	require.Contains(l.t, mirror.Annotations, corev1.MirrorPodAnnotationKey)
}

func (l *life) join() {
	l.startControlPlane("cp-2", false, nil)
	l.startKubelet("w-1", false)
	node := l.awaitNode("w-1", "the worker is not Ready", func(node *corev1.Node) bool {
		return nodeCondition(node.Status.Conditions, corev1.NodeReady) != nil
	})
	condition := nodeCondition(node.Status.Conditions, corev1.NodeReady)
	require.Equal(l.t, corev1.ConditionFalse, condition.Status)
	require.Contains(l.t, condition.Message, "cni plugin not initialized")
	await(l, "pods", "kube-system", labels.Everything(), &corev1.Pod{}, "what others say of a static pod is put right", func(pod *corev1.Pod) bool {
		return pod.Name == "kube-scheduler-cp-1" && isReady(pod)
	})
	members, err := l.kube.Members(l.t.Context(), "cp-2")
	require.NoError(l.t, err)
	require.Len(l.t, members, 2)

	// Both have their own address, and one process answers for both.
	l.awaitState("that the second API server is ready", func() bool { return l.static["cp-2/kube-apiserver"].Ready })
	_, err = l.clientOf("cp-2").ServerVersion()
	require.NoError(l.t, err)
	await(l, "endpointslices", "default", labels.Everything(), &discoveryv1.EndpointSlice{}, "both are endpoints of the API", func(slice *discoveryv1.EndpointSlice) bool {
		return slice.Name == "kubernetes" && len(slice.Endpoints) == 2
	})
	require.Len(l.t, l.kube.Processes(), 4, "one etcd, API server, controller manager and scheduler")

	require.NoError(l.t, l.kube.Apply(l.t.Context(), l.talos.id, []*unstructured.Unstructured{
		{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "from-talos", "namespace": "lab"}}},
		{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "lab"}}},
	}))
	_, err = l.client.CoreV1().ConfigMaps("lab").Get(l.t.Context(), "from-talos", metav1.GetOptions{})
	require.NoError(l.t, err)
}

func (l *life) networked() {
	_, err := l.client.AppsV1().DaemonSets("kube-system").Create(l.t.Context(), daemonSet("cilium", corev1.Container{Name: "cilium-agent", Image: "cilium:1"}), metav1.CreateOptions{})
	require.NoError(l.t, err)
	for _, name := range []string{"cp-1", "cp-2", "w-1"} {
		node := l.awaitNode(name, name+" is Ready", func(node *corev1.Node) bool {
			return ready(node) && nodeCondition(node.Status.Conditions, corev1.NodeNetworkUnavailable) != nil && len(node.Spec.PodCIDRs) > 0
		})
		require.Equal(l.t, "CiliumIsUp", nodeCondition(node.Status.Conditions, corev1.NodeNetworkUnavailable).Reason)
		l.awaitFact(name, "taints", "gone")
	}
	l.awaitState("that the nodes are Ready", func() bool { return l.nodes["cp-1"].Ready && l.nodes["w-1"].Ready })
}

func (l *life) workloads() {
	_, err := l.client.AppsV1().Deployments("default").Create(l.t.Context(), deployment("web", 2, corev1.Container{Name: "web", Image: "web:1"}), metav1.CreateOptions{})
	require.NoError(l.t, err)
	await(l, "deployments", "default", labels.Everything(), &appsv1.Deployment{}, "the deployment is available", func(d *appsv1.Deployment) bool {
		return d.Name == "web" && d.Status.AvailableReplicas == 2
	})
	l.awaitFact(string(l.talos.id), "deployment", "available")
	pod := l.awaitPod("web", "a pod is Ready", isReady)
	node, err := l.client.CoreV1().Nodes().Get(l.t.Context(), pod.Spec.NodeName, metav1.GetOptions{})
	require.NoError(l.t, err)
	require.True(l.t, netip.MustParsePrefix(node.Spec.PodCIDR).Contains(netip.MustParseAddr(pod.Status.PodIP)))
	for _, reason := range []string{"Pulled", "Created", "Started"} {
		l.awaitEvent(pod.Name, reason)
	}

	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "once"}, Spec: batchv1.JobSpec{Template: template("once", corev1.Container{Name: "once", Image: "web:1"})}}
	job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	_, err = l.client.BatchV1().Jobs("default").Create(l.t.Context(), job, metav1.CreateOptions{})
	require.NoError(l.t, err)
	await(l, "jobs", "default", labels.Everything(), &batchv1.Job{}, "the job is done", func(j *batchv1.Job) bool { return j.Status.Succeeded == 1 })

	// A secret that is not there yet keeps a container from starting.
	needy := corev1.Container{Name: "needy", Image: "web:1", EnvFrom: []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "later"}}}}}
	_, err = l.client.AppsV1().Deployments("default").Create(l.t.Context(), deployment("needy", 1, needy), metav1.CreateOptions{})
	require.NoError(l.t, err)
	waits := l.awaitPod("needy", "the container waits for its secret", func(pod *corev1.Pod) bool { return waiting(pod, "CreateContainerConfigError") })
	require.Contains(l.t, waits.Status.ContainerStatuses[0].State.Waiting.Message, `secret "later" not found`)
	_, err = l.client.CoreV1().Secrets("default").Create(l.t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "later"}}, metav1.CreateOptions{})
	require.NoError(l.t, err)
	l.awaitPod("needy", "the pod is Ready with its secret", isReady)
}

func (l *life) podFaults() {
	pull := l.arm(fault.Rule{On: fault.Pod, Name: "default/unpulled-*", Do: fault.Fail, Code: "ImagePullBackOff", Message: "no such image"})
	crash := l.arm(fault.Rule{On: fault.Pod, Name: "default/crashing-*", Do: fault.Fail, Code: "CrashLoopBackOff", Message: "panic: on purpose"})
	hold := l.arm(fault.Rule{On: fault.Pod, Name: "default/held-*", Do: fault.Hold})
	for _, name := range []string{"unpulled", "crashing", "held"} {
		_, err := l.client.AppsV1().Deployments("default").Create(l.t.Context(), deployment(name, 1, corev1.Container{Name: "c", Image: name + ":1"}), metav1.CreateOptions{})
		require.NoError(l.t, err)
	}
	pod := l.awaitPod("unpulled", "its image cannot be pulled", func(pod *corev1.Pod) bool { return waiting(pod, "ImagePullBackOff") })
	require.Contains(l.t, pod.Status.ContainerStatuses[0].State.Waiting.Message, "no such image")
	l.awaitEvent(pod.Name, "Failed")
	pod = l.awaitPod("crashing", "it crashes again and again", func(pod *corev1.Pod) bool { return waiting(pod, "CrashLoopBackOff") })
	require.Equal(l.t, "panic: on purpose", pod.Status.ContainerStatuses[0].LastTerminationState.Terminated.Message)
	l.awaitEvent(pod.Name, "BackOff")
	l.awaitPod("held", "it is being created", func(pod *corev1.Pod) bool { return waiting(pod, "ContainerCreating") })
	for _, id := range []string{pull, crash, hold} {
		require.NoError(l.t, l.faults.Remove(id))
	}
	for _, name := range []string{"unpulled", "crashing", "held"} {
		l.awaitPod(name, name+" is Ready when the fault is gone", isReady)
		require.NoError(l.t, l.client.AppsV1().Deployments("default").Delete(l.t.Context(), name, metav1.DeleteOptions{}))
	}
}

func (l *life) programs() {
	l.program.asked = make(chan string, 1)
	_, err := l.client.CoreV1().ServiceAccounts("default").Create(l.t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "greeter"}}, metav1.CreateOptions{})
	require.NoError(l.t, err)
	program := deployment("greeter", 1, corev1.Container{Name: "greeter", Image: "greeter:1"})
	program.Spec.Template.Spec.ServiceAccountName = "greeter"
	_, err = l.client.AppsV1().Deployments("default").Create(l.t.Context(), program, metav1.CreateOptions{})
	require.NoError(l.t, err)
	pod := l.awaitPod("greeter", "the program's pod is Ready", isReady)
	require.Equal(l.t, "system:serviceaccount:default:greeter at "+pod.Status.PodIP, <-l.program.asked)
	conn, err := l.network.Dial(l.t.Context(), netip.Addr{}, netip.AddrPortFrom(netip.MustParseAddr(pod.Status.PodIP), 8080))
	require.NoError(l.t, err)
	require.NoError(l.t, conn.Close())
	require.NoError(l.t, l.client.AppsV1().Deployments("default").Delete(l.t.Context(), "greeter", metav1.DeleteOptions{}))

	_, err = l.client.AppsV1().Deployments("default").Create(l.t.Context(), deployment("failing", 1, corev1.Container{Name: "c", Image: "greeter:1", Args: []string{"crash"}}), metav1.CreateOptions{})
	require.NoError(l.t, err)
	crashed := l.awaitPod("failing", "the program crashed", func(pod *corev1.Pod) bool { return waiting(pod, "CrashLoopBackOff") })
	require.Equal(l.t, "cannot continue", crashed.Status.ContainerStatuses[0].LastTerminationState.Terminated.Message)
	require.NoError(l.t, l.client.AppsV1().Deployments("default").Delete(l.t.Context(), "failing", metav1.DeleteOptions{}))
}

func (l *life) storage() {
	registrar := corev1.Container{Name: "csi-node-driver-registrar", Image: "registrar:1", Args: []string{"--kubelet-registration-path=/var/lib/kubelet/plugins/csi.example/csi.sock"}}
	_, err := l.client.AppsV1().DaemonSets("kube-system").Create(l.t.Context(), daemonSet("csi-node", registrar), metav1.CreateOptions{})
	require.NoError(l.t, err)
	registered := func(names ...string) func(*storagev1.CSINode) bool {
		return func(node *storagev1.CSINode) bool {
			var found []string
			for _, driver := range node.Spec.Drivers {
				found = append(found, driver.Name)
			}
			return node.Name == "w-1" && slices.Equal(found, names)
		}
	}
	await(l, "csinodes", "", labels.Everything(), &storagev1.CSINode{}, "the driver is registered", registered("csi.example"))

	// A pod waits for its volume until it is bound, and attached by a pod that does so.
	_, err = l.client.StorageV1().CSIDrivers().Create(l.t.Context(), &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: "csi.example"}}, metav1.CreateOptions{})
	require.NoError(l.t, err)
	l.volume("data")
	needs := deployment("stateful", 1, corev1.Container{Name: "c", Image: "web:1"})
	needs.Spec.Template.Spec.NodeName = "w-1"
	needs.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"},
	}}}
	_, err = l.client.AppsV1().Deployments("default").Create(l.t.Context(), needs, metav1.CreateOptions{})
	require.NoError(l.t, err)
	await(l, "volumeattachments", "", labels.Everything(), &storagev1.VolumeAttachment{}, "the volume is to be attached", func(at *storagev1.VolumeAttachment) bool {
		return at.Spec.NodeName == "w-1" && !at.Status.Attached
	})
	_, err = l.client.AppsV1().Deployments("kube-system").Create(l.t.Context(), deployment("csi-controller", 1, corev1.Container{Name: "csi-attacher", Image: "attacher:1"}), metav1.CreateOptions{})
	require.NoError(l.t, err)
	l.awaitPod("stateful", "the pod has its volume", isReady)
	require.NoError(l.t, l.client.AppsV1().Deployments("default").Delete(l.t.Context(), "stateful", metav1.DeleteOptions{}))

	require.NoError(l.t, l.client.AppsV1().DaemonSets("kube-system").Delete(l.t.Context(), "csi-node", metav1.DeleteOptions{}))
	await(l, "csinodes", "", labels.Everything(), &storagev1.CSINode{}, "the driver is gone", registered())
}

func (l *life) callFaults() {
	l.arm(fault.Rule{On: fault.Kube, Name: "GET /api/v1/nodes", Do: fault.Fail, Code: "503", Message: "on purpose", Times: 1})
	id := l.arm(fault.Rule{On: fault.Kube, Name: "GET /api/v1/namespaces", Do: fault.Refuse})
	nodes := l.client.CoreV1().Nodes()
	_, err := nodes.List(l.t.Context(), metav1.ListOptions{})
	require.True(l.t, apierrors.IsServiceUnavailable(err), "%v", err)
	list, err := nodes.List(l.t.Context(), metav1.ListOptions{})
	require.NoError(l.t, err)
	require.Len(l.t, list.Items, 3)
	// The client would try for ten seconds.
	ctx, cancel := context.WithTimeout(l.t.Context(), time.Second)
	defer cancel()
	_, err = l.client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	require.Error(l.t, err, "the connection was closed")
	self, err := l.client.AuthenticationV1().SelfSubjectReviews().Create(l.t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	require.NoError(l.t, err)
	require.Equal(l.t, "admin", self.Status.UserInfo.Username)
	require.Contains(l.t, self.Status.UserInfo.Groups, "system:masters")
	require.NoError(l.t, l.faults.Remove(id))
	_, err = l.client.CoreV1().Namespaces().List(l.t.Context(), metav1.ListOptions{})
	require.NoError(l.t, err)
}

func (l *life) badFlag() {
	before := l.static["cp-2/kube-apiserver"].Status.ContainerStatuses[0]
	l.runStaticPods("cp-2", map[string]string{"no-such-flag": "yes"})
	l.awaitState("that the API server of cp-2 crashes", func() bool {
		status := l.static["cp-2/kube-apiserver"].Status
		return len(status.ContainerStatuses) > 0 && status.ContainerStatuses[0].State.Waiting != nil &&
			status.ContainerStatuses[0].State.Waiting.Reason == "CrashLoopBackOff"
	})
	crash := l.static["cp-2/kube-apiserver"].Status.ContainerStatuses[0].LastTerminationState.Terminated
	require.NotEqual(l.t, before.ContainerID, crash.ContainerID, "another manifest is another pod")
	require.Contains(l.t, crash.Message, "unknown flag: --no-such-flag")
	_, err := l.network.Dial(l.t.Context(), netip.Addr{}, netip.MustParseAddrPort("10.0.0.12:6443"))
	require.ErrorContains(l.t, err, "connection refused")
	_, err = l.client.ServerVersion()
	require.NoError(l.t, err)
	l.runStaticPods("cp-2", nil)
	l.awaitState("that the API server of cp-2 is ready again", func() bool { return l.static["cp-2/kube-apiserver"].Ready })
}

func (l *life) twoVersions() {
	// Locked to true from 1.36 on.
	gate := map[string]string{"feature-gates": "KubeletPSI=false"}
	l.talos.version = "v1.35.2"
	l.runStaticPods("cp-2", gate)
	l.awaitState("that the API server of cp-2 is ready", func() bool {
		pod := l.static["cp-2/kube-apiserver"]
		return pod.Ready && pod.Status.ContainerStatuses[0].Image == "kube-apiserver:v1.35.2"
	})
	for node, want := range map[string]string{"cp-1": binaryVersion, "cp-2": "v1.35.2"} {
		version, err := l.clientOf(node).ServerVersion()
		require.NoError(l.t, err)
		require.Equal(l.t, want, version.GitVersion)
	}
	// Deprecated since 1.33. Events are written a moment later.
	_, err := l.client.CoreV1().Endpoints("default").List(l.t.Context(), metav1.ListOptions{})
	require.NoError(l.t, err)
	require.Eventually(l.t, func() bool {
		log, err := l.kube.AuditLog("cp-1", "/var/log/audit/kube/kube-apiserver.log")
		require.NoError(l.t, err)
		defer log.Close()
		text, err := io.ReadAll(log)
		require.NoError(l.t, err)
		return strings.Contains(string(text), `"k8s.io/deprecated":"true"`)
	}, 10*time.Second, 50*time.Millisecond)
	l.awaitFact("w-1", "skew", "kubelet v1.36.4 is newer than the API server of cp-2, v1.35.2")

	l.talos.version = binaryVersion
	l.runStaticPods("cp-2", gate)
	l.awaitState("that the API server of cp-2 crashes", func() bool {
		return waiting(&corev1.Pod{Status: l.static["cp-2/kube-apiserver"].Status}, "CrashLoopBackOff")
	})
	require.Contains(l.t, strings.Join(l.kube.PodLog("cp-2", "kube-apiserver"), "\n"), "cannot set feature gate KubeletPSI to false, feature is locked to true")
	l.runStaticPods("cp-2", nil)
	l.awaitState("that the API server of cp-2 is ready again", func() bool { return l.static["cp-2/kube-apiserver"].Ready })
}

func (l *life) majority() {
	status, err := l.kube.MemberStatus(l.t.Context(), "cp-1")
	require.NoError(l.t, err)
	require.Equal(l.t, status.ID, status.Leader)
	require.Equal(l.t, "3.6.8", status.Version)
	var snapshot bytes.Buffer
	require.NoError(l.t, l.kube.Snapshot(l.t.Context(), "cp-2", &snapshot))
	require.Greater(l.t, snapshot.Len(), 100_000)

	l.kube.StopEtcd("cp-2")
	_, err = l.kube.Members(l.t.Context(), "cp-1")
	require.ErrorContains(l.t, err, "etcdserver: request timed out")
	ctx, cancel := context.WithTimeout(l.t.Context(), time.Second)
	defer cancel()
	_, err = l.client.CoreV1().ConfigMaps("lab").Update(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "from-talos"}}, metav1.UpdateOptions{})
	require.Error(l.t, err, "nothing can be written")
	require.NoError(l.t, l.kube.StartEtcd(l.t.Context(), "cp-2", l.talos.member("cp-2", addresses["cp-2"]), false))
	_, err = l.client.CoreV1().ConfigMaps("lab").Update(l.t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "from-talos"}}, metav1.UpdateOptions{})
	require.NoError(l.t, err)

	// A member that was removed cannot come back with its data; without data it joins again.
	members, err := l.kube.Members(l.t.Context(), "cp-1")
	require.NoError(l.t, err)
	require.NoError(l.t, l.kube.RemoveMember(l.t.Context(), "cp-1", members[1].ID))
	l.kube.StopEtcd("cp-2")
	err = l.kube.StartEtcd(l.t.Context(), "cp-2", l.talos.member("cp-2", addresses["cp-2"]), false)
	require.ErrorContains(l.t, err, "the member has been permanently removed from the cluster")
	l.kube.WipeEtcd("cp-2")
	require.NoError(l.t, l.kube.StartEtcd(l.t.Context(), "cp-2", l.talos.member("cp-2", addresses["cp-2"]), false))
	after, err := l.kube.Members(l.t.Context(), "cp-2")
	require.NoError(l.t, err)
	require.Len(l.t, after, 2)
	require.NotEqual(l.t, members[1].ID, after[1].ID)
}

func (l *life) lostNode() {
	silent := l.arm(fault.Rule{On: fault.Node, Name: "lease", Subject: "cp-2", Do: fault.Hold})
	l.kube.StopKubelet("w-1")
	node := l.awaitNode("w-1", "its state is unknown", func(node *corev1.Node) bool {
		return nodeCondition(node.Status.Conditions, corev1.NodeReady).Status == corev1.ConditionUnknown
	})
	require.Contains(l.t, nodeCondition(node.Status.Conditions, corev1.NodeReady).Message, "Kubelet stopped posting node status")
	l.awaitNode("cp-2", "one without heartbeats counts as lost as well", func(node *corev1.Node) bool {
		return nodeCondition(node.Status.Conditions, corev1.NodeReady).Status == corev1.ConditionUnknown
	})
	l.awaitFact("cp-2", "taints", "set")
	require.NoError(l.t, l.faults.Remove(silent))
	l.awaitNode("cp-2", "its heartbeats arrive again", ready)
	l.awaitFact("cp-2", "taints", "gone")
	l.startKubelet("w-1", false)
	l.awaitNode("w-1", "it is Ready again", ready)
	pod := l.awaitPod("web", "its pod is back", func(pod *corev1.Pod) bool {
		return pod.Spec.NodeName == "w-1" && isReady(pod) && pod.Status.ContainerStatuses[0].RestartCount > 0
	})
	require.Equal(l.t, "Unknown", pod.Status.ContainerStatuses[0].LastTerminationState.Terminated.Reason)
}

func (l *life) rebootAll() {
	for _, node := range []string{"w-1", "cp-2", "cp-1"} {
		l.kube.StopKubelet(node)
		l.kube.StopStaticPods(node)
		l.kube.StopEtcd(node)
	}
	require.Empty(l.t, l.kube.Processes())
	require.True(l.t, l.kube.HasData("cp-1"))
	l.mu.Lock()
	clear(l.static)
	l.mu.Unlock()
	l.startControlPlane("cp-1", false, nil)
	l.startControlPlane("cp-2", false, nil)
	l.startKubelet("w-1", false)
	l.awaitState("that the API server is ready", func() bool { return l.static["cp-1/kube-apiserver"].Ready })
	_, err := l.client.CoreV1().ConfigMaps("lab").Get(l.t.Context(), "from-talos", metav1.GetOptions{})
	require.NoError(l.t, err)
	l.awaitNode("w-1", "it is Ready", ready)
}

func (l *life) recover() {
	var snapshot bytes.Buffer
	require.NoError(l.t, l.kube.Snapshot(l.t.Context(), "cp-1", &snapshot))
	later := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "later"}}
	_, err := l.client.CoreV1().ConfigMaps("lab").Create(l.t.Context(), later, metav1.CreateOptions{})
	require.NoError(l.t, err)
	for _, node := range []string{"cp-2", "cp-1"} {
		l.kube.StopKubelet(node)
		l.kube.StopStaticPods(node)
		l.kube.WipeEtcd(node)
	}
	l.mu.Lock()
	clear(l.static)
	l.mu.Unlock()
	require.False(l.t, l.kube.Initialized(l.talos.id))

	attempt := func(content []byte, skipHashCheck bool) error {
		require.NoError(l.t, l.kube.UploadSnapshot("cp-1", bytes.NewReader(content)))
		return l.kube.RecoverEtcd(l.t.Context(), "cp-1", l.talos.member("cp-1", addresses["cp-1"]), skipHashCheck, func(line string) { l.t.Log(line) })
	}
	require.ErrorContains(l.t, attempt([]byte("no snapshot"), false), "error verifying snapshot: ")
	require.ErrorIs(l.t, attempt(snapshot.Bytes()[:snapshot.Len()/2], false), recovery.ErrCrashed)
	require.False(l.t, l.kube.HasData("cp-1"), "nothing was written")
	changed := bytes.Clone(snapshot.Bytes())
	changed[len(changed)-1] ^= 1
	require.ErrorContains(l.t, attempt(changed, false), "error recovering from the snapshot: expected sha256 ")
	require.True(l.t, l.kube.HasData("cp-1"), "as etcd's own code leaves it")
	err = l.kube.StartEtcd(l.t.Context(), "cp-1", l.talos.member("cp-1", addresses["cp-1"]), false)
	require.ErrorContains(l.t, err, "a recovery that failed")
	l.kube.WipeEtcd("cp-1")

	require.NoError(l.t, attempt(snapshot.Bytes(), false))
	require.True(l.t, l.kube.HasData("cp-1"))
	l.startControlPlane("cp-1", false, nil)
	l.awaitState("that the API server is ready", func() bool { return l.static["cp-1/kube-apiserver"].Ready })
	members, err := l.kube.Members(l.t.Context(), "cp-1")
	require.NoError(l.t, err)
	require.Len(l.t, members, 1, "whoever was a member in the snapshot")
	_, err = l.client.CoreV1().ConfigMaps("lab").Get(l.t.Context(), "from-talos", metav1.GetOptions{})
	require.NoError(l.t, err)
	_, err = l.client.CoreV1().ConfigMaps("lab").Get(l.t.Context(), "later", metav1.GetOptions{})
	require.True(l.t, apierrors.IsNotFound(err), "%v", err)
	l.startControlPlane("cp-2", false, nil)
	members, err = l.kube.Members(l.t.Context(), "cp-2")
	require.NoError(l.t, err)
	require.Len(l.t, members, 2)
	l.awaitNode("w-1", "it never stopped", ready)
}

func (l *life) awaitEvent(pod, reason string) {
	l.t.Helper()
	await(l, "events", "default", labels.Everything(), &corev1.Event{}, pod+" has an event "+reason, func(event *corev1.Event) bool {
		return event.InvolvedObject.Name == pod && event.Reason == reason
	})
}
