package talosapi

import (
	"context"
	"net"

	"github.com/siderolabs/grpc-proxy/proxy"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/siderolabs/talos/pkg/grpc/proxy/backend"
	"github.com/siderolabs/talos/pkg/machinery/constants"
)

// pipeBytes is the buffer between apid and machined, each way.
const pipeBytes = 32 << 10

// local passes calls on to machined: as Talos does, but through memory where
// Talos has a socket in a file.
type local struct {
	*backend.Local
	conn *grpc.ClientConn
}

func newLocal(pipe *bufconn.Listener) (*local, error) {
	conn, err := grpc.NewClient("passthrough:///machined",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return pipe.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(
			grpc.MaxCallRecvMsgSize(constants.GRPCMaxMessageSize),
			grpc.ForceCodecV2(proxy.Codec()),
		),
	)
	if err != nil {
		return nil, err
	}
	return &local{Local: backend.NewLocal("machined", ""), conn: conn}, nil
}

// GetConnection has Talos prepare the context. The connection that comes with it
// is never used, and gRPC dials at the first use only.
func (l *local) GetConnection(ctx context.Context, method string) (context.Context, *grpc.ClientConn, error) {
	ctx, _, err := l.Local.GetConnection(ctx, method)
	return ctx, l.conn, err
}

func (l *local) close() {
	_ = l.Local.Close()
	_ = l.conn.Close()
}
