package talosapi

import (
	"context"
	"regexp"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/siderolabs/talos/pkg/grpc/factory"
)

// answerLimit is longer than any answer takes, also where a hundred nodes share two
// cores.
const answerLimit = 5 * time.Second

// following are the calls that go on until who called has enough.
var following = regexp.MustCompile(`^/(machine\.MachineService/(Dmesg|Events|Logs|PacketCapture)|cosi\.resource\.State/Watch)$`)

// draining ends a server in order: who waits for an answer gets it. Whoever follows
// something is cut off after a time, as Talos does, and hears what it would hear of
// a connection that ends.
type draining struct {
	over context.Context
	cut  context.CancelFunc
}

func newDraining() *draining {
	over, cut := context.WithCancel(context.Background())
	return &draining{over, cut}
}

// intercept lets calls of a server that follow something end when they are cut off.
func (d *draining) intercept(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	if !following.MatchString(info.FullMethod) {
		return handle(server, stream)
	}
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	stop := context.AfterFunc(d.over, cancel)
	defer stop()
	err := handle(server, followed{stream, ctx})
	if d.over.Err() != nil {
		return status.Error(codes.Unavailable, "error reading from server: EOF")
	}
	return err
}

// followed is a stream that may be cut off.
type followed struct {
	grpc.ServerStream
	ctx context.Context
}

func (f followed) Context() context.Context { return f.ctx }

// end ends the server.
func (d *draining) end(server *grpc.Server, after time.Duration) {
	timer := time.AfterFunc(after, d.cut)
	defer timer.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), after+answerLimit)
	defer cancel()
	factory.ServerGracefulStop(server, ctx)
}
