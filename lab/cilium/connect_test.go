package cilium

import (
	"context"
	"net"
	"net/netip"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
)

const agentImage = "quay.io/cilium/cilium:v1.18.8@sha256:abc"

func connects(limit, script string) corev1.Container {
	return corev1.Container{Image: agentImage, Command: []string{"timeout", limit, "bash", "-c", script}}
}

func TestWhichCommandsConnect(t *testing.T) {
	const script = ": < /dev/tcp/10.96.0.1/443"
	require.True(t, Connect{}.Handles(nil, connects("5", script)))
	require.True(t, Connect{}.Handles(nil, corev1.Container{Image: agentImage, Command: []string{"bash", "-c", script}}))
	for name, other := range map[string]corev1.Container{
		"another image":  {Image: "example.org/app:1", Command: []string{"bash", "-c", script}},
		"another script": connects("5", script+"; sleep 1"),
		"another limit":  connects("5m", script),
		"the agent":      {Image: agentImage, Command: []string{"cilium-agent"}},
	} {
		require.False(t, Connect{}.Handles(nil, other), name)
	}
}

func TestConnection(t *testing.T) {
	silence := func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	for name, test := range map[string]struct {
		script string
		dial   func(context.Context, netip.AddrPort) (net.Conn, error)
		want   error
	}{
		"is established": {
			": < /dev/tcp/$KUBERNETES_SERVICE_HOST/$KUBERNETES_SERVICE_PORT",
			func(_ context.Context, to netip.AddrPort) (net.Conn, error) {
				require.Equal(t, "10.96.0.1:443", to.String())
				near, _ := net.Pipe()
				return near, nil
			},
			nil,
		},
		"uses the container's own variables": {
			": < /dev/tcp/$PEER/80",
			func(_ context.Context, to netip.AddrPort) (net.Conn, error) {
				require.Equal(t, "10.0.0.9:80", to.String())
				return nil, &net.OpError{Op: "dial", Err: syscall.EHOSTUNREACH}
			},
			&cluster.Exit{Code: 1, Message: "bash: line 1: /dev/tcp/10.0.0.9/80: No route to host"},
		},
		"takes too long": {": < /dev/tcp/10.0.0.9/80", silence, &cluster.Exit{Code: 124}},
	} {
		t.Run(name, func(t *testing.T) {
			err := Connect{}.Run(t.Context(), cluster.Run{
				Container: connects("1", test.script), Env: map[string]string{"PEER": "10.0.0.9"},
				APIService: netip.MustParseAddrPort("10.96.0.1:443"), Dial: test.dial,
			})
			require.Equal(t, test.want, err)
		})
	}
}
