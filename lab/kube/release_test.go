package kube

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRelease(t *testing.T) {
	for image, want := range map[string]string{
		"registry.k8s.io/kube-apiserver:v1.35.4":               "1.35.4",
		"localhost:5000/kube-apiserver:v1.36.0-rc.1":           "1.36.0-rc.1",
		"registry.k8s.io/kube-apiserver:v1.35.4@sha256:0123ab": "1.35.4",
	} {
		require.Equal(t, want, release(image).String(), image)
		require.Equal(t, []string{"KUBERNETES_VERSION=v" + want}, runAs(image))
	}
	for _, image := range []string{"localhost:5000/kube-apiserver", "kube-apiserver@sha256:0123ab", "kube-apiserver:latest"} {
		require.Nil(t, release(image), image)
		require.Empty(t, runAs(image))
	}
}

func TestAnEarlierReleaseStartsWithWhatLaterOnesRemoved(t *testing.T) {
	args := []string{"--v=2", "--cloud-config=", "--feature-gates=KubeletPSI=true,HonorPVReclaimPolicy=true", "--feature-gates=HonorPVReclaimPolicy=false"}
	for image, want := range map[string][]string{
		"kube-apiserver:v1.32.1": {"--v=2", "--feature-gates=KubeletPSI=true"},
		"kube-apiserver:v1.35.4": {"--v=2", "--cloud-config=", "--feature-gates=KubeletPSI=true"},
		"kube-apiserver:v1.36.4": args,
		"kube-apiserver:latest":  args,
	} {
		require.Equal(t, want, known("kube-apiserver", image, args), image)
	}
}
