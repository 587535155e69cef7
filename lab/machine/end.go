package machine

import (
	"context"
	"sync"
)

// End waits for work on boxes, and then deletes the existing ones. An error means that the time was too short.
func End(ctx context.Context, work *sync.WaitGroup, boxes func() []Box) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		work.Wait()
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
	return DeleteAll(ctx, boxes())
}

// DeleteAll deletes boxes in parallel. An error means that the time was too short.
func DeleteAll(ctx context.Context, boxes []Box) error {
	var all sync.WaitGroup
	for _, box := range boxes {
		all.Go(func() { box.Delete(ctx) })
	}
	all.Wait()
	return context.Cause(ctx)
}
