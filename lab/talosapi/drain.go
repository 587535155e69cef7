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

// answerLimit is longer than any answer takes, even if a hundred nodes share two cores.
const answerLimit = 5 * time.Second

// following matches the calls that continue until the caller ends them.
var following = regexp.MustCompile(`^/(machine\.MachineService/(Dmesg|Events|Logs|PacketCapture)|cosi\.resource\.State/Watch)$`)

// draining ends a server gracefully: a call that waits for an answer gets it. A call that follows something is cut off after a time, as Talos does, with the
// error of a connection that ends.
type draining struct {
	over context.Context
	cut  context.CancelFunc
}

func newDraining() *draining {
	over, cut := context.WithCancel(context.Background())
	return &draining{over, cut}
}

// intercept ends calls that follow something when they are cut off.
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
