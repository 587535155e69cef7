package talosapi

import (
	"context"
	"path"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
)

// meetFault lets a call fail on purpose.
func (r *Running) meetFault(ctx context.Context, method string) error {
	outcome, err := r.node.Faults.Meet(ctx, fault.Point{On: fault.Talos, Name: path.Base(method), Subject: r.node.Host()})
	if err != nil || outcome == nil {
		return err
	}
	switch outcome.Do {
	case fault.Refuse:
		if client, known := peer.FromContext(ctx); known {
			r.doors.cut(client.Addr)
		}
		<-ctx.Done()
		return context.Cause(ctx)
	case fault.Drop:
		<-ctx.Done()
		return context.Cause(ctx)
	default:
		return status.Error(codeNamed(outcome.Code), outcome.Message)
	}
}

// codeNamed is the gRPC code of a name, written as in Go or as in the
// specification; Unknown when there is none.
func codeNamed(name string) codes.Code {
	plain := strings.ReplaceAll(name, "_", "")
	for code := codes.OK + 1; code <= codes.Unauthenticated; code++ {
		if strings.EqualFold(code.String(), plain) {
			return code
		}
	}
	return codes.Unknown
}
