package kube

import (
	"bytes"
	"context"
	stdx509 "crypto/x509"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/controller/runtime"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/rtestutils"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/siderolabs/crypto/x509"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"

	k8sadapter "github.com/siderolabs/talos/internal/app/machined/pkg/adapters/k8s"
	k8sctrl "github.com/siderolabs/talos/internal/app/machined/pkg/controllers/k8s"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/pkg/kubeconfig"
	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"github.com/siderolabs/talos/pkg/machinery/constants"
	"github.com/siderolabs/talos/pkg/machinery/resources/k8s"
	"github.com/siderolabs/talos/pkg/machinery/resources/v1alpha1"
)

// talos simulates the nodes of one cluster: Talos' generator makes its PKI, and the
// static pods come from Talos' own controller.
type talos struct {
	t        *testing.T
	id       cluster.ID
	bundle   *secrets.Bundle
	endpoint string
	// version is that of all images of Kubernetes.
	version string
}

const binaryVersion = "v1.36.4"

func newTalos(t *testing.T, endpoint string) *talos {
	t.Helper()
	bundle, err := newBundle()
	require.NoError(t, err)
	return &talos{t: t, id: "test", bundle: bundle, endpoint: endpoint, version: binaryVersion}
}

var sharedBundle = sync.OnceValues(newBundle)

// newBundle generates secrets with a service account key that is not RSA: generating
// the 4096 bits of newer Talos versions takes seconds.
func newBundle() (*secrets.Bundle, error) {
	return secrets.NewBundle(secrets.NewClock(), config.TalosVersion1_6)
}

func sharedTalos(t *testing.T) *talos {
	t.Helper()
	bundle, err := sharedBundle()
	require.NoError(t, err)
	return &talos{t: t, id: "test", bundle: bundle, endpoint: "https://10.0.0.11:6443", version: binaryVersion}
}

func (f *talos) member(node, address string) cluster.Member {
	return cluster.Member{
		Cluster: f.id, Name: node, Address: netip.MustParseAddr(address), Version: "3.6.8",
		CACert: f.bundle.Certs.Etcd.Crt, CAKey: f.bundle.Certs.Etcd.Key,
	}
}

func (f *talos) kubelet(node, address string, controlPlane bool) cluster.Kubelet {
	spec := cluster.Kubelet{
		Cluster: f.id, Node: node, IPs: []netip.Addr{netip.MustParseAddr(address)},
		Image: "kubelet:" + f.version, Args: map[string]string{}, Labels: map[string]string{},
		Info: corev1.NodeSystemInfo{
			Architecture: "amd64", OperatingSystem: "linux", OSImage: "Talos (v1.13.8)",
			KubeletVersion: f.version, ContainerRuntimeVersion: "containerd://2.1.4", KernelVersion: "6.18.5-talos",
		},
		Capacity: corev1.ResourceList{
			corev1.ResourceCPU: apiresource.MustParse("2"), corev1.ResourceMemory: apiresource.MustParse("4Gi"),
		},
	}
	if controlPlane {
		spec.Labels["node-role.kubernetes.io/control-plane"] = ""
		spec.Taints = []corev1.Taint{{Key: "node-role.kubernetes.io/control-plane", Effect: corev1.TaintEffectNoSchedule}}
	}
	return spec
}

// controlPlane returns what a node renders, with extra flags of its API server.
func (f *talos) controlPlane(node, address string, extra map[string]string) cluster.ControlPlane {
	return cluster.ControlPlane{
		Cluster: f.id, Node: node, Address: netip.MustParseAddr(address), Port: 6443,
		Pods: f.pods(extra), Files: f.files(address), AdminKubeconfig: f.kubeconfig("admin", constants.KubernetesAdminCertOrganization),
	}
}

func (f *talos) pods(extra map[string]string) []*corev1.Pod {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), 30*time.Second)
	defer cancel()
	resources := state.WrapCore(namespaced.NewState(func(ns resource.Namespace) state.CoreState { return inmem.NewState(ns) }))
	controllers, err := runtime.NewRuntime(resources, zap.NewNop())
	require.NoError(f.t, err)
	require.NoError(f.t, controllers.RegisterController(&k8sctrl.ControlPlaneStaticPodController{}))

	apiServer := k8s.NewAPIServerConfig()
	*apiServer.TypedSpec() = k8s.APIServerConfigSpec{
		Image: "kube-apiserver:" + f.version, ControlPlaneEndpoint: f.endpoint, EtcdServers: []string{"https://127.0.0.1:2379"},
		LocalPort: 6443, ServiceCIDRs: []string{"10.96.0.0/12"}, AdvertisedAddress: "$(POD_IP)", ExtraArgs: map[string]k8s.ArgValues{},
	}
	for name, value := range extra {
		apiServer.TypedSpec().ExtraArgs[name] = k8s.ArgValues{Values: []string{value}}
	}
	controllerManager := k8s.NewControllerManagerConfig()
	*controllerManager.TypedSpec() = k8s.ControllerManagerConfigSpec{
		Enabled: true, Image: "kube-controller-manager:" + f.version, PodCIDRs: []string{"10.244.0.0/16"}, ServiceCIDRs: []string{"10.96.0.0/12"},
		// Two heartbeats, not three: the test waits until a node is lost.
		ExtraArgs: map[string]k8s.ArgValues{"node-monitor-grace-period": {Values: []string{"6s"}}},
	}
	scheduler := k8s.NewSchedulerConfig()
	*scheduler.TypedSpec() = k8s.SchedulerConfigSpec{Enabled: true, Image: "kube-scheduler:" + f.version}
	etcd := v1alpha1.NewService("etcd")
	etcd.TypedSpec().Healthy = true
	for _, res := range []resource.Resource{
		apiServer, controllerManager, scheduler, etcd,
		k8s.NewSecretsStatus(k8s.ControlPlaneNamespaceName, k8s.StaticPodSecretsStaticPodID),
		k8s.NewConfigStatus(k8s.ControlPlaneNamespaceName, k8s.ConfigStatusStaticPodID),
	} {
		require.NoError(f.t, resources.Create(ctx, res))
	}
	running, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- controllers.Run(running) }()
	var pods []*corev1.Pod
	for _, id := range []string{k8s.APIServerID, k8s.ControllerManagerID, k8s.SchedulerID} {
		rtestutils.AssertResource(ctx, f.t, resources, id, func(*k8s.StaticPod, *assert.Assertions) {})
		res, err := resources.Get(ctx, k8s.NewStaticPod(k8s.NamespaceName, id).Metadata())
		require.NoError(f.t, err)
		pod, err := k8sadapter.StaticPod(res.(*k8s.StaticPod)).Pod()
		require.NoError(f.t, err)
		pods = append(pods, pod)
	}
	stop()
	require.NoError(f.t, <-done)
	return pods
}

// files returns what Talos renders beside them.
func (f *talos) files(address string) map[string][]byte {
	f.t.Helper()
	certs := f.bundle.Certs
	server := f.sign(certs.K8s, "kube-apiserver", nil, stdx509.ExtKeyUsageServerAuth, x509.DNSNames([]string{"localhost", "kubernetes"}),
		x509.IPAddresses([]net.IP{net.ParseIP("127.0.0.1"), net.ParseIP(address)}))
	etcd := f.sign(certs.Etcd, "kube-apiserver-etcd-client", nil, stdx509.ExtKeyUsageClientAuth)
	kubelet := f.sign(certs.K8s, "apiserver-kubelet-client", []string{"system:masters"}, stdx509.ExtKeyUsageClientAuth)
	proxy := f.sign(certs.K8sAggregator, "front-proxy-client", nil, stdx509.ExtKeyUsageClientAuth)
	account, err := certs.K8sServiceAccount.GetKey()
	require.NoError(f.t, err)

	apiSecrets, apiConfig := constants.KubernetesAPIServerSecretsDir, constants.KubernetesAPIServerConfigDir
	manager, schedulerSecrets, schedulerConfig := constants.KubernetesControllerManagerSecretsDir, constants.KubernetesSchedulerSecretsDir, constants.KubernetesSchedulerConfigDir
	return map[string][]byte{
		apiSecrets + "/etcd-client-ca.crt":           certs.Etcd.Crt,
		apiSecrets + "/etcd-client.crt":              etcd.Crt,
		apiSecrets + "/etcd-client.key":              etcd.Key,
		apiSecrets + "/ca.crt":                       certs.K8s.Crt,
		apiSecrets + "/apiserver.crt":                server.Crt,
		apiSecrets + "/apiserver.key":                server.Key,
		apiSecrets + "/apiserver-kubelet-client.crt": kubelet.Crt,
		apiSecrets + "/apiserver-kubelet-client.key": kubelet.Key,
		apiSecrets + "/service-account.pub":          account.GetPublicKeyPEM(),
		apiSecrets + "/service-account.key":          account.GetPrivateKeyPEM(),
		apiSecrets + "/aggregator-ca.crt":            certs.K8sAggregator.Crt,
		apiSecrets + "/front-proxy-client.crt":       proxy.Crt,
		apiSecrets + "/front-proxy-client.key":       proxy.Key,
		apiSecrets + "/encryptionconfig.yaml": []byte(fmt.Sprintf(`
kind: EncryptionConfiguration
apiVersion: apiserver.config.k8s.io/v1
resources:
  - resources: [secrets]
    providers:
      - secretbox: {keys: [{name: key2, secret: %s}]}
      - identity: {}
`, f.bundle.Secrets.SecretboxEncryptionSecret)),
		apiConfig + "/admission-control-config.yaml": []byte("apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins: []\n"),
		apiConfig + "/auditpolicy.yaml":              []byte("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n"),
		apiConfig + "/authorization-config.yaml": []byte(`
apiVersion: apiserver.config.k8s.io/v1
kind: AuthorizationConfiguration
authorizers: [{type: Node, name: node}, {type: RBAC, name: rbac}]
`),
		manager + "/ca.crt":              certs.K8s.Crt,
		manager + "/ca.key":              certs.K8s.Key,
		manager + "/service-account.key": account.GetPrivateKeyPEM(),
		manager + "/kubeconfig":          f.kubeconfig("system:kube-controller-manager", ""),
		schedulerSecrets + "/kubeconfig": f.kubeconfig("system:kube-scheduler", ""),
		schedulerConfig + "/scheduler-config.yaml": []byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n" +
			"clientConnection: {kubeconfig: " + schedulerSecrets + "/kubeconfig}\n"),
	}
}

func (f *talos) sign(by *x509.PEMEncodedCertificateAndKey, name string, groups []string, usage stdx509.ExtKeyUsage, more ...x509.Option) *x509.PEMEncodedCertificateAndKey {
	f.t.Helper()
	ca, err := x509.NewCertificateAuthorityFromCertificateAndKey(by)
	require.NoError(f.t, err)
	pair, err := x509.NewKeyPair(ca, append(more,
		x509.CommonName(name), x509.Organization(groups...), x509.NotAfter(time.Now().Add(time.Hour)),
		x509.KeyUsage(stdx509.KeyUsageDigitalSignature|stdx509.KeyUsageKeyEncipherment), x509.ExtKeyUsage([]stdx509.ExtKeyUsage{usage}))...)
	require.NoError(f.t, err)
	return x509.NewCertificateAndKeyFromKeyPair(pair)
}

func (f *talos) kubeconfig(name, group string) []byte {
	f.t.Helper()
	var out bytes.Buffer
	require.NoError(f.t, kubeconfig.Generate(&kubeconfig.GenerateInput{
		ClusterName: "test", IssuingCA: f.bundle.Certs.K8s, AcceptedCAs: []*x509.PEMEncodedCertificate{{Crt: f.bundle.Certs.K8s.Crt}},
		CertificateLifetime: time.Hour, CommonName: name, Organization: group,
		Endpoint: f.endpoint, Username: strings.ReplaceAll(name, ":", "-"), ContextName: "test",
	}, &out))
	return out.Bytes()
}
