package kube

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/container"
)

// tokenLife is longer than any lab runs: tokens are not renewed.
const tokenLife = int64(365 * 24 * 3600)

// program returns a runner of the program that handles the container, or nil.
func (w *worker) program(c corev1.Container) runner {
	for _, program := range w.kubelet.k.options.Programs {
		if program.Handles(w.born, c) {
			return func(ctx context.Context, output *lastLine, ready func()) error {
				return w.runProgram(ctx, program, c, output, ready)
			}
		}
	}
	return nil
}

// runProgram gives the program everything that the container would have, and removes it afterwards.
func (w *worker) runProgram(ctx context.Context, program cluster.Program, c corev1.Container, output *lastLine, ready func()) (err error) {
	k := w.kubelet.k
	run := cluster.Run{
		Cluster: w.kubelet.space.id, Host: w.kubelet.host.name, Pod: w.current(), Container: c,
		APIServer: w.kubelet.space.prism.address(), Dial: w.dial, Log: output, Ready: ready,
	}
	if run.APIService, err = w.kubelet.space.apiService(ctx); err != nil {
		return err
	}
	if run.Token, run.CACert, err = w.token(ctx); err != nil {
		return fmt.Errorf("a token for the pod: %w", err)
	}
	if run.Kubeconfig, err = kubeconfigFor(run.APIServer, run.CACert, run.Token); err != nil {
		return err
	}
	if run.Env, run.Files, err = w.furnish(ctx, run.Pod, c); err != nil {
		return err
	}
	down, err := w.bringUp(&run)
	if err != nil {
		return err
	}
	defer down()
	if err := os.MkdirAll(filepath.Join(k.options.Dir, "runs"), 0o755); err != nil {
		return err
	}
	if run.Dir, err = os.MkdirTemp(filepath.Join(k.options.Dir, "runs"), c.Name+"-"); err != nil {
		return err
	}
	defer func() {
		if gone := os.RemoveAll(run.Dir); err == nil {
			err = gone
		}
	}()
	return program.Run(ctx, run)
}

// bringUp brings up the pod's address on the network while one of its containers runs. A pod on the host's network has the host's address, which is up
// anyway.
func (w *worker) bringUp(run *cluster.Run) (down func(), err error) {
	w.mu.Lock()
	ips := w.state.podIPs
	w.mu.Unlock()
	if len(ips) == 0 {
		return nil, fmt.Errorf("pod %s has no address", w.subject)
	}
	run.PodIP = ips[0]
	if w.born.Spec.HostNetwork {
		return func() {}, nil
	}
	return w.shareAddress(ips)
}

// shareAddress counts the containers that use the pod's addresses.
func (w *worker) shareAddress(ips []netip.Addr) (down func(), err error) {
	net := w.kubelet.k.options.Network
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.onNetwork == 0 {
		for _, ip := range ips {
			if err := net.Add(ip); err != nil {
				return nil, err
			}
		}
	}
	w.onNetwork++
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.onNetwork--; w.onNetwork > 0 {
			return
		}
		for _, ip := range ips {
			if err := net.Remove(ip); err != nil {
				w.kubelet.k.options.Log.Warn("take a pod's address down", "address", ip, "error", err)
			}
		}
	}, nil
}

// token returns a token of the pod's service account, bound to the pod.
func (w *worker) token(ctx context.Context) (token, caCert []byte, err error) {
	account := w.born.Spec.ServiceAccountName
	if account == "" {
		account = "default"
	}
	life := tokenLife
	err = w.kubelet.tryFor(ctx, func(ctx context.Context, a *api) error {
		answer, err := a.client.CoreV1().ServiceAccounts(w.born.Namespace).CreateToken(ctx, account, &authenticationv1.TokenRequest{
			Spec: authenticationv1.TokenRequestSpec{
				ExpirationSeconds: &life,
				BoundObjectRef:    &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: w.born.Name, UID: w.born.UID},
			},
		}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		token, caCert = []byte(answer.Status.Token), a.config.CAData
		return nil
	})
	return token, caCert, err
}

// furnish returns the environment and the mounted files of the container.
func (w *worker) furnish(ctx context.Context, pod *corev1.Pod, c corev1.Container) (env map[string]string, files map[string][]byte, err error) {
	err = w.kubelet.tryFor(ctx, func(ctx context.Context, a *api) error {
		if env, err = container.Environment(ctx, a.client, pod, c); err != nil {
			return err
		}
		files, err = container.Files(ctx, a.client, pod, c)
		return err
	})
	return env, files, err
}

// kubeconfigFor returns a kubeconfig with a token.
func kubeconfigFor(server netip.AddrPort, caCert, token []byte) ([]byte, error) {
	const name = "lab"
	return clientcmd.Write(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{name: {Server: "https://" + server.String(), CertificateAuthorityData: caCert}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{name: {Token: string(token)}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	})
}
