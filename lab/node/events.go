package node

import (
	"context"
	"sync"

	"github.com/siderolabs/talos/internal/app/machined/pkg/runtime"
	"github.com/siderolabs/talos/pkg/machinery/proto"
)

// eventsKept is how many events of a boot can be asked for, as in Talos.
const eventsKept = 1000

// events is the event stream of one boot. It is Talos' own in all but one: it
// ends with the boot, where the real one ends with the process.
type events struct {
	ctx context.Context

	mu    sync.Mutex
	past  []runtime.Event
	first int // the number of past[0]
	more  chan struct{}
}

var _ runtime.EventStream = (*events)(nil)

func newEvents(ctx context.Context) *events {
	return &events{ctx: ctx, more: make(chan struct{})}
}

// Publish implements runtime.Publisher.
func (e *events) Publish(ctx context.Context, msg proto.Message) {
	actor, _ := ctx.Value(runtime.ActorIDCtxKey{}).(string)
	event := runtime.NewEvent(msg, actor)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.past = append(e.past, event)
	if surplus := len(e.past) - eventsKept; surplus > eventsKept/4 {
		e.past, e.first = append([]runtime.Event(nil), e.past[surplus:]...), e.first+surplus
	}
	close(e.more)
	e.more = make(chan struct{})
}

// Watch implements runtime.Watcher for the controllers that read events.
func (e *events) Watch(watch runtime.WatchFunc, opts ...runtime.WatchOptionFunc) error {
	options := runtime.WatchOptions{}
	for _, option := range opts {
		if err := option(&options); err != nil {
			return err
		}
	}
	to := make(chan runtime.EventInfo)
	ctx, cancel := context.WithCancel(e.ctx)
	go func() {
		defer cancel()
		watch(to)
	}()
	go func() {
		defer close(to)
		_ = e.each(ctx, options.TailEvents, func(event runtime.Event) error {
			select {
			case to <- runtime.EventInfo{Event: event}:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
	}()
	return nil
}

// each calls for the last events, all for -1, and for those to come.
func (e *events) each(ctx context.Context, tail int, call func(runtime.Event) error) error {
	e.mu.Lock()
	next := e.first + len(e.past) - tail
	if tail < 0 || next < e.first {
		next = e.first
	}
	e.mu.Unlock()
	for {
		e.mu.Lock()
		fresh, more := e.past[min(max(next-e.first, 0), len(e.past)):], e.more
		next = e.first + len(e.past)
		e.mu.Unlock()
		for _, event := range fresh {
			if err := call(event); err != nil {
				return err
			}
		}
		select {
		case <-more:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-e.ctx.Done():
			return nil
		}
	}
}
