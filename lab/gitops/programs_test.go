package gitops

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
)

// TestMain runs the test binary itself as a controller.
func TestMain(m *testing.M) {
	if os.Getenv("RUNTIME_NAMESPACE") != "" {
		controller()
		return
	}
	os.Exit(m.Run())
}

// controller prints how it was started and serves its health address.
func controller() {
	fmt.Println(strings.Join(os.Args[1:], "\n"))
	for _, name := range []string{"KUBECONFIG", "RUNTIME_NAMESPACE", "TMPDIR", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"} {
		fmt.Println(name + "=" + os.Getenv(name))
	}
	for _, name := range []string{"token", "ca.crt", "namespace"} {
		if content, err := os.ReadFile(filepath.Join(serviceAccount, name)); err == nil {
			fmt.Println(name + ": " + string(content))
		}
	}
	var health string
	for _, arg := range os.Args[1:] {
		for _, flag := range []string{"--health-addr=", "--listen-addr="} {
			if value, is := strings.CutPrefix(arg, flag); is {
				health = value
			}
		}
	}
	if err := http.ListenAndServe(health, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})); err != nil {
		fmt.Println(err)
	}
}

func TestWhoPlaysWhichContainer(t *testing.T) {
	flux := Flux{Binaries: map[string]string{"source-controller": "/bin/source-controller", "helm-controller": ""}}
	sealed := SealedSecrets{Binary: "/bin/sealed-secrets-controller"}
	for image, want := range map[string][2]bool{
		"ghcr.io/fluxcd/source-controller:v1.9.5":              {true, false},
		"mirror.example/x/source-controller:v1@sha256:00":      {true, false},
		"fluxcd/helm-controller:v1.6.4":                        {false, false},
		"fluxcd/notification-controller:v1.9.4":                {false, false},
		"docker.io/bitnami/sealed-secrets-controller:0.39.1":   {false, true},
		"registry.example/sealed-secrets-controller-x:v0.39.1": {false, false},
	} {
		c := corev1.Container{Image: image}
		require.Equal(t, want, [2]bool{flux.Handles(&corev1.Pod{}, c), sealed.Handles(&corev1.Pod{}, c)}, image)
	}
	require.False(t, SealedSecrets{}.Handles(&corev1.Pod{}, corev1.Container{Image: "sealed-secrets-controller"}), "without its binary")
}

func TestAControllerOfFluxRunsWithAddressesOfItsPod(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	flux := Flux{Binaries: map[string]string{"source-controller": self}}
	run := newRun(t, "127.41.0.1", "fluxcd/source-controller:v1.9.5")
	run.Container.Args = []string{
		"--events-addr=http://notification-controller.$(RUNTIME_NAMESPACE).svc./", "--enable-leader-election", "--storage-path=/data",
	}
	require.Equal(t, []string{
		"--events-addr=http://notification-controller.flux-system.svc./", "--enable-leader-election", "--storage-path=/data",
		"--enable-leader-election=false", "--min-retry-delay=100ms", "--events-addr=", "--metrics-addr=127.41.0.1:8080", "--health-addr=127.41.0.1:9440",
		"--storage-path=" + run.Dir + "/data", "--storage-addr=127.41.0.1:9090", "--storage-adv-addr=127.41.0.1:9090",
		"KUBECONFIG=" + run.Dir + "/kubeconfig", "RUNTIME_NAMESPACE=flux-system", "TMPDIR=" + run.Dir + "/tmp",
		"KUBERNETES_SERVICE_HOST=10.0.0.11", "KUBERNETES_SERVICE_PORT=6443",
	}, output(t, flux, run))
	require.DirExists(t, filepath.Join(run.Dir, "data"))
	kubeconfig, err := os.ReadFile(filepath.Join(run.Dir, "kubeconfig"))
	require.NoError(t, err)
	require.Equal(t, "kubeconfig", string(kubeconfig))
}

func TestOtherControllersOfFluxKeepNoArtifacts(t *testing.T) {
	args := fluxArgs("helm-controller", newRun(t, "127.41.0.1", "helm-controller"))
	require.NotContains(t, strings.Join(args, " "), "--storage")
	require.Contains(t, args, "--http-retry=0", "the artifacts may be in another pod at the next try")
}

func TestTheSealedSecretsControllerFindsItsServiceAccount(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting takes root, as the daemon of the lab is in its namespaces")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	run := newRun(t, "127.41.0.2", "sealed-secrets-controller:0.39.1")
	run.Container.Args = []string{"--listen-addr", ":8080"}
	run.Container.Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}, {Name: "metrics", ContainerPort: 8082}}
	require.Equal(t, []string{
		"--listen-addr", ":8080", "--listen-addr=127.41.0.2:8080", "--listen-metrics-addr=127.41.0.2:8082",
		"KUBECONFIG=" + run.Dir + "/kubeconfig", "RUNTIME_NAMESPACE=flux-system", "TMPDIR=" + run.Dir + "/tmp",
		"KUBERNETES_SERVICE_HOST=10.0.0.11", "KUBERNETES_SERVICE_PORT=6443",
		"token: token", "ca.crt: ca", "namespace: flux-system",
	}, output(t, SealedSecrets{Binary: self}, run))
}

func newRun(t *testing.T, address, image string) cluster.Run {
	t.Helper()
	return cluster.Run{
		Pod:        &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod", Namespace: "flux-system"}},
		Container:  corev1.Container{Name: "manager", Image: image},
		Kubeconfig: []byte("kubeconfig"), CACert: []byte("ca"), Token: []byte("token"),
		APIServer: netip.MustParseAddrPort("10.0.0.11:6443"),
		Env:       map[string]string{"RUNTIME_NAMESPACE": "flux-system"},
		PodIP:     netip.MustParseAddr(address),
		Dir:       t.TempDir(),
	}
}

// output runs the program until it is ready, and returns the lines that it printed.
func output(t *testing.T, program cluster.Program, run cluster.Run) []string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var log bytes.Buffer
	run.Log, run.Ready = &log, cancel
	require.NoError(t, program.Run(ctx, run))
	return strings.Split(strings.TrimSpace(log.String()), "\n")
}
