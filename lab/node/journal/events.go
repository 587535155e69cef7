package journal

import (
	"context"

	"github.com/siderolabs/talos/internal/app/machined/pkg/runtime"
	"github.com/siderolabs/talos/pkg/machinery/proto"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/ring"
)

// eventsKept is the number of events of a boot that are kept, as in Talos.
const eventsKept = 1000

// Events is the event stream of one boot. It differs from Talos' in one way: it ends with the boot, and the real one with the process.
type Events struct {
	ctx context.Context
	log *ring.Ring[runtime.Event]
}

var _ runtime.EventStream = (*Events)(nil)

// NewEvents returns an empty stream, which ends with the boot.
func NewEvents(ctx context.Context) *Events {
	return &Events{ctx: ctx, log: ring.New[runtime.Event](eventsKept)}
}

// Publish implements runtime.Publisher.
func (e *Events) Publish(ctx context.Context, msg proto.Message) {
	actor, _ := ctx.Value(runtime.ActorIDCtxKey{}).(string)
	e.log.Add(runtime.NewEvent(msg, actor))
}

// Watch implements runtime.Watcher for the controllers that read events.
func (e *Events) Watch(watch runtime.WatchFunc, opts ...runtime.WatchOptionFunc) error {
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
		_ = e.Each(ctx, options.TailEvents, func(event runtime.Event) error {
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

// Each calls the function for the last events (all for -1), and for new ones until the boot ends.
func (e *Events) Each(ctx context.Context, tail int, call func(runtime.Event) error) error {
	return e.log.Follow(ctx, e.ctx.Done(), tail, call)
}
