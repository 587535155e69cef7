package daemon

import (
	"context"
	"io"
	"log/slog"
	"net"
	"sync"
)

// forward connects each accepted connection to a new one from dial, until the context ends; then it closes all of them and returns.
func forward(ctx context.Context, listener net.Listener, dial func(context.Context) (net.Conn, error), log *slog.Logger) {
	var running sync.WaitGroup
	defer running.Wait()
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer stop()
	for {
		near, err := listener.Accept()
		if err != nil {
			return
		}
		running.Go(func() {
			defer near.Close()
			far, err := dial(ctx)
			if err != nil {
				log.Info("nobody to forward to", "error", err)
				return
			}
			defer far.Close()
			stop := context.AfterFunc(ctx, func() {
				_ = near.Close()
				_ = far.Close()
			})
			defer stop()
			join(near, far)
		})
	}
}

// join copies both ways until both sides are done.
func join(one, other net.Conn) {
	var copying sync.WaitGroup
	for _, way := range [][2]net.Conn{{one, other}, {other, one}} {
		copying.Go(func() {
			// Both sides notice how it ends.
			_, _ = io.Copy(way[0], way[1])
			if half, ok := way[0].(interface{ CloseWrite() error }); ok {
				_ = half.CloseWrite()
			}
		})
	}
	copying.Wait()
}
