package talosapi

import (
	"context"
	"net"
	"os"
	"sync/atomic"
	"syscall"

	"github.com/siderolabs/grpc-proxy/proxy"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/siderolabs/talos/pkg/grpc/proxy/backend"
	"github.com/siderolabs/talos/pkg/machinery/constants"
)

// pipeBytes is the buffer between apid and machined, each way.
const pipeBytes = 32 << 10

// local forwards calls to machined: as Talos does, but through memory instead of a socket.
type local struct {
	*backend.Local
	conn *grpc.ClientConn
	// gone says that machined has stopped, and its socket with it: calls go nowhere then.
	gone    atomic.Bool
	nowhere *grpc.ClientConn
}

// errNoSocket is what apid gets where machined has stopped.
var errNoSocket = &net.OpError{
	Op: "dial", Net: "unix", Addr: &net.UnixAddr{Name: constants.MachineSocketPath, Net: "unix"}, Err: os.NewSyscallError("connect", syscall.ENOENT),
}

func newLocal(pipe *bufconn.Listener) (*local, error) {
	conn, err := connectMachined(pipe.DialContext)
	if err != nil {
		return nil, err
	}
	nowhere, err := connectMachined(func(context.Context) (net.Conn, error) { return nil, errNoSocket })
	if err != nil {
		return nil, err
	}
	return &local{Local: backend.NewLocal("machined", ""), conn: conn, nowhere: nowhere}, nil
}

func connectMachined(dial func(context.Context) (net.Conn, error)) (*grpc.ClientConn, error) {
	return grpc.NewClient("passthrough:///machined",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return dial(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(
			grpc.MaxCallRecvMsgSize(constants.GRPCMaxMessageSize),
			grpc.ForceCodecV2(proxy.Codec()),
		),
	)
}

// GetConnection lets Talos prepare the context. The connection that comes with it is never used, and gRPC dials only at the first use.
func (l *local) GetConnection(ctx context.Context, method string) (context.Context, *grpc.ClientConn, error) {
	ctx, _, err := l.Local.GetConnection(ctx, method)
	if l.gone.Load() {
		return ctx, l.nowhere, err
	}
	return ctx, l.conn, err
}

func (l *local) close() {
	_ = l.Local.Close()
	_ = l.conn.Close()
	_ = l.nowhere.Close()
}
