package storage

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

// TestMain runs the test binary itself as the provisioner.
func TestMain(m *testing.M) {
	if os.Getenv("POD_NAME") != "" {
		fakeProvisioner()
		return
	}
	os.Exit(m.Run())
}

// fakeProvisioner prints how it was started and serves its metrics address.
func fakeProvisioner() {
	fmt.Println(strings.Join(os.Args[1:], "\n"))
	_, address, _ := strings.Cut(os.Args[len(os.Args)-1], "=")
	if err := http.ListenAndServe(address, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})); err != nil {
		fmt.Println(err)
	}
}

func TestTheProvisionerRunsBesideTheDriverOfItsPod(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var log bytes.Buffer
	run := cluster.Run{
		Pod:       &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "uid"}},
		Container: corev1.Container{Args: []string{"--csi-address=/csi/csi.sock", "--leader-election", "--http-endpoint=:8080"}},
		Env:       map[string]string{"POD_NAME": "controller"},
		PodIP:     netip.MustParseAddr("127.42.0.1"),
		Dir:       t.TempDir(), Log: &log, Ready: cancel,
	}
	require.NoError(t, Programs(Options{Dir: dir, Provisioner: self})[0].Run(ctx, run))
	socket, err := sockets{dir: dir}.of(run.Pod)
	require.NoError(t, err)
	require.Equal(t, []string{
		"--csi-address=/csi/csi.sock", "--leader-election", "--csi-address=" + socket,
		"--kubeconfig=" + filepath.Join(run.Dir, "kubeconfig"), "--leader-election=false", "--http-endpoint=127.42.0.1:9185",
	}, strings.Split(strings.TrimSpace(log.String()), "\n"))
}
