package kube

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

func TestRewriting(t *testing.T) {
	rewrite := rewriting{
		paths: map[string]string{"/system/secrets": "/lab/secrets", "/system/secrets/deep": "/lab/deep"},
		set:   map[string]string{"bind-address": "127.65.1.2", "secure-port": "6443"},
	}
	for name, test := range map[string]struct{ command, args []string }{
		"the lab's flags replace those of the pod": {
			command: []string{"/usr/local/bin/kube-apiserver", "--bind-address=0.0.0.0", "--bind-address=::"},
			args:    []string{"--bind-address=127.65.1.2", "--secure-port=6443"},
		},
		"paths lead to the lab's folders, the deepest first": {
			command: []string{"kube-apiserver", "--tls-cert-file=/system/secrets/apiserver.crt", "--other=/system/secrets/deep/key"},
			args:    []string{"--tls-cert-file=/lab/secrets/apiserver.crt", "--other=/lab/deep/key", "--bind-address=127.65.1.2", "--secure-port=6443"},
		},
		"all else stays, also what comes twice, is empty or has no value": {
			command: []string{"kube-apiserver", "--service-account-issuer=a", "--service-account-issuer=b", "--empty=", "--profiling", "--path=/system/secretsmore"},
			args:    []string{"--service-account-issuer=a", "--service-account-issuer=b", "--empty=", "--profiling", "--path=/system/secretsmore", "--bind-address=127.65.1.2", "--secure-port=6443"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			program, args := rewrite.apply(test.command)
			require.Equal(t, "kube-apiserver", program)
			require.Equal(t, test.args, args)
		})
	}
}

func TestExpandFillsTheEnvironment(t *testing.T) {
	command, env := expand(corev1.Container{
		Command: []string{"kube-apiserver", "--advertise-address=$(POD_IP)", "--proxy=$(PROXY)", "--unknown=$(NONE)", "--literal=$$(POD_IP)"},
		Env: []corev1.EnvVar{
			{Name: "POD_IP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}},
			{Name: "PROXY", Value: "p"},
		},
	}, "10.0.0.11")
	require.Equal(t, []string{"kube-apiserver", "--advertise-address=10.0.0.11", "--proxy=p", "--unknown=$(NONE)", "--literal=$(POD_IP)"}, command)
	require.Equal(t, []string{"POD_IP=10.0.0.11", "PROXY=p"}, env)
}

func TestSharingKey(t *testing.T) {
	f := sharedTalos(t)
	key := func(address string, extra map[string]string, change func(map[string][]byte)) string {
		spec := f.controlPlane("node", address, extra)
		change(spec.Files)
		pod := podNamed(spec.Pods, "kube-apiserver")
		part := newShare("node", spec, pod, pod.Spec.Containers[0])
		return sharingKey(pod.Spec.Containers[0].Image, part.command, part.env, part.files)
	}
	as := func(map[string][]byte) {}
	first := key("10.0.0.11", nil, as)
	require.Equal(t, first, key("10.0.0.12", nil, as), "certificates and the address of a node are its own")
	require.NotEqual(t, first, key("10.0.0.11", map[string]string{"v": "4"}, as), "a flag differs")
	require.NotEqual(t, first, key("10.0.0.11", nil, func(files map[string][]byte) {
		for name := range files {
			if filepath.Base(name) == "auditpolicy.yaml" {
				files[name] = []byte("rules: []")
			}
		}
	}), "a file differs")
}

func TestFilesLeadIntoTheLab(t *testing.T) {
	f := sharedTalos(t)
	spec := f.controlPlane("node", "10.0.0.11", nil)
	dir := t.TempDir()
	pod := podNamed(spec.Pods, "kube-scheduler")
	part := newShare("node", spec, pod, pod.Spec.Containers[0])
	rewrite := rewriting{paths: map[string]string{}}
	for inside, host := range part.folders {
		rewrite.paths[inside] = filepath.Join(dir, host)
	}
	require.NoError(t, writeFiles(part.files, rewrite, "https://127.0.0.1:4711"))
	config, err := os.ReadFile(rewrite.relocate(flag(part.command, "config")))
	require.NoError(t, err)
	kubeconfig := rewrite.relocate(flag(part.command, "authentication-kubeconfig"))
	require.Contains(t, string(config), kubeconfig, "paths in files")
	data, err := os.ReadFile(kubeconfig)
	require.NoError(t, err)
	require.Contains(t, string(data), "server: https://127.0.0.1:4711")
}

func TestServingCertificateForSeveralNodes(t *testing.T) {
	f := sharedTalos(t)
	var certs [][]byte
	var caCert, caKey []byte
	for _, address := range []string{"10.0.0.11", "10.0.0.12"} {
		spec := f.controlPlane("node", address, nil)
		pod := podNamed(spec.Pods, "kube-apiserver")
		part := newShare("node", spec, pod, pod.Spec.Containers[0])
		require.Equal(t, f.bundle.Certs.K8s.Key, part.caKey)
		caCert, caKey = part.caCert, part.caKey
		certs = append(certs, part.files[flag(part.command, "tls-cert-file")])
	}
	joined, err := joinServing(caCert, caKey, certs)
	require.NoError(t, err)
	cert, err := parseCertificate(joined.Crt)
	require.NoError(t, err)
	for _, name := range []string{"10.0.0.11", "10.0.0.12", "127.0.0.1", "localhost"} {
		require.NoError(t, cert.VerifyHostname(name))
	}
	require.Len(t, cert.IPAddresses, 3, "what both have is there once")
	ca, err := parseCertificate(caCert)
	require.NoError(t, err)
	require.NoError(t, cert.CheckSignatureFrom(ca))
}

func TestWhatTheCommandSaysIsNotHastened(t *testing.T) {
	set := map[string]string{}
	hasten(set, []string{"kube-controller-manager", "--node-monitor-grace-period=40s"})
	require.Equal(t, map[string]string{"node-monitor-period": "1s", "kube-api-qps": "500", "kube-api-burst": "1000"}, set)
}
