package daemon

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// forwarded starts forwarding and gives the address; all of it ends with the
// returned function.
func forwarded(t *testing.T, dial func(context.Context) (net.Conn, error)) (string, func()) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { forward(ctx, listener, dial, slog.New(slog.DiscardHandler)) })
	end := func() {
		cancel()
		running.Wait()
	}
	t.Cleanup(end)
	return listener.Addr().String(), end
}

// echo answers each connection with what it sends, once that has ended.
func echo(t *testing.T) func(context.Context) (net.Conn, error) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer conn.Close()
				said, _ := io.ReadAll(conn)
				_, _ = conn.Write(said)
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		running.Wait()
	})
	return func(ctx context.Context) (net.Conn, error) {
		dialer := net.Dialer{}
		return dialer.DialContext(ctx, "tcp", listener.Addr().String())
	}
}

func TestForwardJoinsBothEnds(t *testing.T) {
	address, _ := forwarded(t, echo(t))
	for range 3 {
		conn, err := net.Dial("tcp", address)
		require.NoError(t, err)
		_, err = io.WriteString(conn, "hello")
		require.NoError(t, err)
		require.NoError(t, conn.(*net.TCPConn).CloseWrite())
		said, err := io.ReadAll(conn)
		require.NoError(t, err)
		require.Equal(t, "hello", string(said))
		require.NoError(t, conn.Close())
	}
}

func TestForwardClosesWhereNobodyAnswers(t *testing.T) {
	address, _ := forwarded(t, func(context.Context) (net.Conn, error) { return nil, errors.New("no cluster") })
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
}

func TestForwardEndsConnectionsWithItself(t *testing.T) {
	address, end := forwarded(t, echo(t))
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "still open")
	require.NoError(t, err)
	end()
	_, err = io.ReadAll(conn)
	if err != nil {
		require.ErrorContains(t, err, "reset")
	}
	_, err = net.Dial("tcp", address)
	require.ErrorContains(t, err, "refused")
}
