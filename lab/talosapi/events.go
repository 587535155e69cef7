package talosapi

import (
	"fmt"
	"time"

	"github.com/rs/xid"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/siderolabs/talos/internal/app/machined/pkg/runtime"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
)

// Events streams what happens on the node.
func (s *recordCalls) Events(in *machine.EventsRequest, stream machine.MachineService_EventsServer) error {
	// An empty event shows the client that the stream is open.
	hello := runtime.NewEvent(nil, in.GetWithActorId())
	first, err := hello.ToMachineEvent()
	if err != nil {
		return err
	}
	if err := stream.Send(first); err != nil {
		return err
	}
	tail, wanted, err := selection(in, time.Now())
	if err != nil {
		return err
	}
	ctx, ended, cancel := s.node.while(stream.Context())
	defer cancel()
	return ended(s.node.Machine.Events(ctx, tail, func(event Event) error {
		if !wanted(event) {
			return nil
		}
		message, err := event.message()
		if err != nil {
			return err
		}
		return stream.Send(message)
	}))
}

// selection returns how many past events a request wants, and which ones.
func selection(in *machine.EventsRequest, now time.Time) (tail int, wanted func(Event) bool, err error) {
	var options []runtime.WatchOptionFunc
	if in.GetTailEvents() != 0 {
		options = append(options, runtime.WithTailEvents(int(in.GetTailEvents())))
	}
	if in.GetTailId() != "" {
		id, err := xid.FromString(in.GetTailId())
		if err != nil {
			return 0, nil, fmt.Errorf("error parsing tail_id: %w", err)
		}
		options = append(options, runtime.WithTailID(id))
	}
	if in.GetTailSeconds() != 0 {
		options = append(options, runtime.WithTailDuration(time.Duration(in.GetTailSeconds())*time.Second))
	}
	var chosen runtime.WatchOptions
	for _, option := range options {
		if err := option(&chosen); err != nil {
			return 0, nil, err
		}
	}
	tail = chosen.TailEvents
	since := ""
	switch {
	case !chosen.TailID.IsNil():
		tail, since = -1, chosen.TailID.String()
	case chosen.TailDuration != 0:
		// Ids start with the time, so they are in its order.
		tail, since = -1, xid.NewWithTime(now.Add(-chosen.TailDuration)).String()
	}
	return tail, func(event Event) bool {
		return (since == "" || event.ID > since) && (in.GetWithActorId() == "" || in.GetWithActorId() == event.ActorID)
	}, nil
}

// message returns the event as clients get it.
func (e Event) message() (*machine.Event, error) {
	value, err := proto.Marshal(e.Payload)
	if err != nil {
		return nil, err
	}
	return &machine.Event{
		Id: e.ID, ActorId: e.ActorID,
		Data: &anypb.Any{TypeUrl: "talos/runtime/" + string(e.Payload.ProtoReflect().Descriptor().FullName()), Value: value},
	}, nil
}
