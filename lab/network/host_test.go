package network

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// silence is how long a test waits for a connection that nothing answers.
const silence = 200 * time.Millisecond

// theHost is the one network of the namespace that these tests run in.
var theHost = sync.OnceValues(func() (*Host, error) {
	return NewHost(slog.New(slog.NewTextHandler(os.Stderr, nil)))
})

// host returns the network and takes the addresses down after the test.
func host(t *testing.T, up ...string) *Host {
	t.Helper()
	h, err := theHost()
	require.NoError(t, err)
	for _, text := range up {
		addr := netip.MustParseAddr(text)
		require.NoError(t, h.Add(addr))
		t.Cleanup(func() {
			h.SetFirewall(addr, nil)
			require.NoError(t, h.Remove(addr))
		})
	}
	return h
}

// greet serves the address that each connection comes from.
func greet(t *testing.T, listener net.Listener) {
	t.Helper()
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, netip.MustParseAddrPort(conn.RemoteAddr().String()).Addr().String())
			_ = conn.Close()
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		served.Wait()
	})
}

// reach connects and returns the result: the source that the other end sees,
// "refused" or "silence".
func reach(t *testing.T, h *Host, from, to string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), silence)
	defer cancel()
	var source netip.Addr
	if from != "" {
		source = netip.MustParseAddr(from)
	}
	conn, err := h.Dial(ctx, source, netip.MustParseAddrPort(to))
	var timeout net.Error
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "silence"
	}
	require.NoError(t, err)
	defer conn.Close()
	seen, err := io.ReadAll(conn)
	require.NoError(t, err)
	return string(seen)
}

func TestConnectionsComeFromTheOperatorOrFromWhomTheySay(t *testing.T) {
	for _, address := range []struct{ node, other, operator string }{
		{"10.0.0.11", "10.0.0.12", "192.0.2.100"},
		{"2001:db8:1::11", "2001:db8:1::12", "2001:db8::100"},
	} {
		t.Run(address.node, func(t *testing.T) {
			h := host(t, address.node, address.other)
			at := netip.AddrPortFrom(netip.MustParseAddr(address.node), 50000)
			listener, err := h.Listen(at)
			require.NoError(t, err)
			greet(t, listener)
			require.Equal(t, address.operator, reach(t, h, "", at.String()))
			require.Equal(t, address.other, reach(t, h, address.other, at.String()))
			require.Equal(t, address.node, reach(t, h, address.node, at.String()))
		})
	}
}

func TestWhoAnswersWhenNobodyListens(t *testing.T) {
	h := host(t, "10.0.0.11", "2001:db8:1::11")
	for to, want := range map[string]string{
		"10.0.0.11:6443":         "refused",
		"[2001:db8:1::11]:6443":  "refused",
		"10.0.0.99:6443":         "silence",
		"198.51.100.7:443":       "silence",
		"[2001:db8:1::99]:50000": "silence",
	} {
		require.Equal(t, want, reach(t, h, "", to), to)
	}
}

func TestAddressesComeAndGo(t *testing.T) {
	for _, text := range []string{"10.0.0.21", "2001:db8:1::21"} {
		t.Run(text, func(t *testing.T) {
			h := host(t, text)
			addr := netip.MustParseAddr(text)
			at := netip.AddrPortFrom(addr, 50000)
			for range 3 {
				require.NoError(t, h.Add(addr))
				require.NoError(t, h.Add(addr), "once more")
				listener, err := h.Listen(at)
				require.NoError(t, err)
				greet(t, listener)
				require.NotEqual(t, "silence", reach(t, h, "", at.String()))
				require.NoError(t, h.Remove(addr))
				require.NoError(t, h.Remove(addr), "once more")
				require.Equal(t, "silence", reach(t, h, "", at.String()))
				_, err = h.Listen(at)
				require.EqualError(t, err, fmt.Sprintf("listen at %s: the address is not up", at))
				_, err = h.Dial(t.Context(), addr, netip.MustParseAddrPort("192.0.2.100:1"))
				require.EqualError(t, err, fmt.Sprintf("connect to 192.0.2.100:1: the source address %s is not up", addr))
			}
		})
	}
}

func TestRemoveBreaksConnections(t *testing.T) {
	h := host(t, "10.0.0.31", "10.0.0.32")
	node, at := netip.MustParseAddr("10.0.0.31"), netip.MustParseAddrPort("10.0.0.31:50000")
	listener, err := h.Listen(at)
	require.NoError(t, err)
	outside, err := h.Dial(t.Context(), netip.MustParseAddr("10.0.0.32"), at)
	require.NoError(t, err)
	defer outside.Close()
	inside, err := listener.Accept()
	require.NoError(t, err)

	require.NoError(t, h.Remove(node))

	_, err = listener.Accept()
	require.ErrorIs(t, err, net.ErrClosed)
	_, err = inside.Read(make([]byte, 1))
	require.ErrorIs(t, err, net.ErrClosed)
	require.NoError(t, outside.SetReadDeadline(time.Now().Add(silence)))
	_, err = outside.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded, "the other end hears nothing")

	// When the machine is back, it gets what the other end sends, and does not know the
	// connection.
	require.NoError(t, h.Add(node))
	require.NoError(t, outside.SetReadDeadline(time.Time{}))
	_, err = outside.Write([]byte("still there?"))
	require.NoError(t, err)
	_, err = outside.Read(make([]byte, 1))
	require.ErrorIs(t, err, syscall.ECONNRESET)
}

func TestRemoveBreaksConnectionsThatTheAddressMade(t *testing.T) {
	h := host(t, "10.0.0.33", "10.0.0.34")
	at := netip.MustParseAddrPort("10.0.0.34:2379")
	listener, err := h.Listen(at)
	require.NoError(t, err)
	defer listener.Close()
	out, err := h.Dial(t.Context(), netip.MustParseAddr("10.0.0.33"), at)
	require.NoError(t, err)
	require.NoError(t, h.Remove(netip.MustParseAddr("10.0.0.33")))
	_, err = out.Read(make([]byte, 1))
	require.ErrorIs(t, err, net.ErrClosed)
}

func TestClosedSocketsAreForgotten(t *testing.T) {
	h := host(t, "10.0.0.35")
	addr := netip.MustParseAddr("10.0.0.35")
	listener, err := h.Listen(netip.AddrPortFrom(addr, 80))
	require.NoError(t, err)
	greet(t, listener)
	for range 10 {
		require.Equal(t, "10.0.0.35", reach(t, h, "10.0.0.35", "10.0.0.35:80"))
	}
	require.NoError(t, listener.Close())
	kept := h.up[addr]
	kept.mu.Lock()
	defer kept.mu.Unlock()
	require.Empty(t, kept.listeners)
	require.Empty(t, kept.conns)
}
