package kube

import (
	"context"
	"sync"
)

// gate blocks callers of wait while it is closed. Its zero value is closed.
type gate struct {
	mu      sync.Mutex
	isOpen  bool
	changed chan struct{}
}

// set opens or closes it and reports whether that changed it.
func (g *gate) set(open bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.isOpen == open {
		return false
	}
	g.isOpen = open
	if g.changed != nil {
		close(g.changed)
		g.changed = nil
	}
	return true
}

func (g *gate) open() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.isOpen
}

func (g *gate) wait(ctx context.Context) error {
	for {
		g.mu.Lock()
		if g.changed == nil {
			g.changed = make(chan struct{})
		}
		open, changed := g.isOpen, g.changed
		g.mu.Unlock()
		if open {
			return context.Cause(ctx)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
