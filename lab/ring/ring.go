// Package ring keeps the last entries of a log that grows while others read it.
package ring

import (
	"context"
	"slices"
	"sync"
)

// Ring is a log that keeps its last entries. Its methods are safe for concurrent use.
type Ring[T any] struct {
	keep int

	mu      sync.Mutex
	entries []T
	first   int           // the number of entries[0]; numbers only grow
	added   chan struct{} // closed with the next entry
}

// New returns an empty ring that keeps at least the given number of entries.
func New[T any](keep int) *Ring[T] {
	return &Ring[T]{keep: keep, added: make(chan struct{})}
}

// Add appends an entry.
func (r *Ring[T]) Add(entry T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entries = append(r.entries, entry)
	// Dropped in batches: moving all entries for each new one would be slow.
	if surplus := len(r.entries) - r.keep; surplus > r.keep/4 {
		r.entries, r.first = slices.Clone(r.entries[surplus:]), r.first+surplus
	}
	close(r.added)
	r.added = make(chan struct{})
}

// Read calls the function for the last entries, or for all kept ones if last is negative.
func (r *Ring[T]) Read(last int, call func(T) error) error {
	entries, _, _ := r.since(r.position(last))
	return each(entries, call)
}

// Follow does the same as Read, and then for every new entry. It returns nil when end is closed, and an error when the context ends or a call fails.
func (r *Ring[T]) Follow(ctx context.Context, end <-chan struct{}, last int, call func(T) error) error {
	next := r.position(last)
	for {
		entries, after, added := r.since(next)
		next = after
		if err := each(entries, call); err != nil {
			return err
		}
		select {
		case <-added:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-end:
			return nil
		}
	}
}

// position returns the number of the first of the last entries.
func (r *Ring[T]) position(last int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if last < 0 {
		return r.first
	}
	return max(r.first, r.first+len(r.entries)-last)
}

// since returns the entries from a number on, the number after them, and a channel that is closed when there is more.
func (r *Ring[T]) since(number int) (entries []T, after int, added <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	from := min(max(number-r.first, 0), len(r.entries))
	return r.entries[from:], r.first + len(r.entries), r.added
}

func each[T any](entries []T, call func(T) error) error {
	for _, entry := range entries {
		if err := call(entry); err != nil {
			return err
		}
	}
	return nil
}
