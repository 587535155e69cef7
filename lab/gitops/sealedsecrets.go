package gitops

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/container"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/process"
)

// SealedSecrets runs the real sealed-secrets controller for containers with its image. It listens on the pod's own address, where kubeseal reaches it through
// the API server.
type SealedSecrets struct {
	// Binary is the controller.
	Binary string
}

var _ cluster.Program = SealedSecrets{}

// serviceAccount is where a container finds the token of its service account: the controller reads it only from there.
const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount"

// Handles reports whether it is the controller's container.
func (s SealedSecrets) Handles(_ *corev1.Pod, c corev1.Container) bool {
	return s.Binary != "" && container.ImageName(c.Image) == "sealed-secrets-controller"
}

// Run runs the controller.
func (s SealedSecrets) Run(ctx context.Context, run cluster.Run) error {
	command, err := container.Command(run, s.Binary)
	if err != nil {
		return err
	}
	http := container.At(run, container.Port(run.Container, "http", 8080))
	command.Args = append(command.Args,
		"--listen-addr="+http,
		"--listen-metrics-addr="+container.At(run, container.Port(run.Container, "metrics", 8081)),
	)
	command.Folders = map[string]map[string][]byte{serviceAccount: {
		"token": run.Token, "ca.crt": run.CACert, "namespace": []byte(run.Pod.Namespace),
	}}
	return process.Serve(ctx, command, "http://"+http+"/healthz", run.Ready)
}
