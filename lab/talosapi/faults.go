package talosapi

import (
	"context"
	"path"
	"strings"
	"sync"

	"github.com/siderolabs/grpc-proxy/proxy"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
)

// meetFault makes a call fail if a fault requires it: here, or in machined if the call takes effect first. It returns who answers the call.
func (r *Running) meetFault(ctx context.Context, method string) (proxy.Backend, error) {
	outcome, err := r.node.Faults.Meet(ctx, fault.Point{On: fault.Talos, Name: path.Base(method), Subject: r.node.Host()})
	if err != nil || outcome == nil {
		return r.local, err
	}
	switch outcome.Do {
	case fault.Lose, fault.Cut:
		if client, known := peer.FromContext(ctx); known && (!streamed.MatchString(method) || changes[method]) {
			return &unanswered{r.local, outcome.Do, client.Addr.String()}, nil
		}
		return r.local, r.refuse(ctx)
	case fault.Refuse:
		return r.local, r.refuse(ctx)
	case fault.Drop:
		<-ctx.Done()
		return r.local, context.Cause(ctx)
	default:
		return r.local, status.Error(codeNamed(outcome.Code), outcome.Message)
	}
}

// refuse closes the connection of a call.
func (r *Running) refuse(ctx context.Context) error {
	if client, known := peer.FromContext(ctx); known {
		r.doors.cut(client.Addr.String())
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

// The metadata by which machined recognizes calls that get no answer.
const (
	unansweredHow    = "sluice-lab-unanswered"
	unansweredClient = "sluice-lab-client"
)

// unanswered passes a call on to machined, and the call gets no answer.
type unanswered struct {
	*local
	do     fault.Action
	client string
}

// GetConnection marks the call.
func (u *unanswered) GetConnection(ctx context.Context, method string) (context.Context, *grpc.ClientConn, error) {
	ctx, conn, err := u.local.GetConnection(ctx, method)
	return metadata.AppendToOutgoingContext(ctx, unansweredHow, string(u.do), unansweredClient, u.client), conn, err
}

// interrupt ends the connection of a marked call: during the call, or once it has taken effect.
func (r *Running) interrupt(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	marked, cut := r.marked(ctx)
	if cut == nil {
		return handle(ctx, request)
	}
	defer cut()
	return handle(marked, request)
}

// interruptStream does the same for a call that answers with a stream.
func (r *Running) interruptStream(server any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	marked, cut := r.marked(stream.Context())
	if cut == nil {
		return handle(server, stream)
	}
	defer cut()
	if marked.Value(atWorkKey{}) == nil {
		return handle(server, unheard{followed{stream, marked}})
	}
	return handle(server, followed{stream, marked})
}

// unheard is a stream whose messages are lost.
type unheard struct{ followed }

func (unheard) SendMsg(any) error { return nil }

// marked returns the context of a marked call, and what ends its connection; nil if the call is not marked.
func (r *Running) marked(ctx context.Context) (context.Context, func()) {
	how, client := metadata.ValueFromIncomingContext(ctx, unansweredHow), metadata.ValueFromIncomingContext(ctx, unansweredClient)
	if len(how) == 0 || len(client) == 0 {
		return ctx, nil
	}
	cut := sync.OnceFunc(func() {
		r.doors.cut(client[0])
		<-ctx.Done()
	})
	if fault.Action(how[0]) == fault.Cut {
		return context.WithValue(ctx, atWorkKey{}, cut), cut
	}
	return context.WithoutCancel(ctx), cut
}

type atWorkKey struct{}

// atWork is called where Talos would cancel a call with its connection: from here on the call changes something.
func atWork(ctx context.Context) {
	if cut, some := ctx.Value(atWorkKey{}).(func()); some {
		cut()
	}
}

// codeNamed returns the gRPC code with a name, written as in Go or as in the specification; Unknown if there is none.
func codeNamed(name string) codes.Code {
	plain := strings.ReplaceAll(name, "_", "")
	for code := codes.OK + 1; code <= codes.Unauthenticated; code++ {
		if strings.EqualFold(code.String(), plain) {
			return code
		}
	}
	return codes.Unknown
}
