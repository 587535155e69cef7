package machine

import (
	"context"
	"sync"
)

// Silent is a box with power but without anything that answers: another system than Talos, or none.
type Silent struct {
	mu sync.Mutex
	on bool
}

var _ Box = (*Silent)(nil)

func (b *Silent) set(on bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.on = on
}

// PowerOn implements Box, like all that follow.
func (b *Silent) PowerOn()               { b.set(true) }
func (b *Silent) PowerOff()              { b.set(false) }
func (b *Silent) Shutdown()              { b.set(false) }
func (b *Silent) Reset()                 {}
func (b *Silent) Attach(NIC)             {}
func (b *Silent) Detach(string)          {}
func (b *Silent) Delete(context.Context) { b.set(false) }

// Powered implements Box.
func (b *Silent) Powered() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.on
}
