package kube

import (
	"context"
	"crypto/x509"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

func TestForwarderIsBackWithItsAddress(t *testing.T) {
	host := sharedHost(t)
	server, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer server.Close()
	go func() {
		for {
			conn, err := server.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, "served")
			_ = conn.Close()
		}
	}()

	facts := timeline.New(time.Now, nil)
	k := &Kubernetes{ctx: t.Context(), options: Options{Network: host, Faults: fault.NewSet(facts), Timeline: facts}}
	to := server.Addr().(*net.TCPAddr).AddrPort()
	talos := sharedTalos(t)
	pair := talos.sign(talos.bundle.Certs.K8s, "anybody", nil, x509.ExtKeyUsageServerAuth)
	front, err := newFront(k.options.Faults, facts, "c", to, frontFiles{cert: pair.Crt, key: pair.Key, proxyCert: pair.Crt, proxyKey: pair.Key})
	require.NoError(t, err)
	at := netip.MustParseAddrPort("10.0.0.99:6443")
	require.NoError(t, host.Add(at.Addr()))
	t.Cleanup(func() { require.NoError(t, host.Remove(at.Addr())) })
	forwarder, err := k.forward(at, to, front)
	require.NoError(t, err)

	said := func() string {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		conn, err := host.Dial(ctx, netip.Addr{}, at)
		if err != nil {
			return err.Error()
		}
		defer conn.Close()
		text, _ := io.ReadAll(conn)
		return string(text)
	}
	require.Equal(t, "served", said())
	require.NoError(t, host.Remove(at.Addr()))
	require.NoError(t, host.Add(at.Addr()))
	require.Eventually(t, func() bool { return said() == "served" }, 10*time.Second, lookAgain)

	require.NoError(t, host.Remove(at.Addr()))
	require.NoError(t, forwarder.close(), "it ends also while its address is away")
	require.NoError(t, host.Add(at.Addr()))
	require.Contains(t, said(), "refused")
}
