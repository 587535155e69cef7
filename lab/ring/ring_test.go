package ring

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

func filled(entries ...int) *Ring[int] {
	r := New[int](8)
	for _, entry := range entries {
		r.Add(entry)
	}
	return r
}

func collect(into *[]int) func(int) error {
	return func(entry int) error {
		*into = append(*into, entry)
		return nil
	}
}

func TestReadCallsForTheLastEntries(t *testing.T) {
	for name, test := range map[string]struct {
		last   int
		wanted []int
	}{
		"all":                 {-1, []int{1, 2, 3}},
		"two":                 {2, []int{2, 3}},
		"more than there are": {9, []int{1, 2, 3}},
		"none":                {0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var read []int
			require.NoError(t, filled(1, 2, 3).Read(test.last, collect(&read)))
			require.Equal(t, test.wanted, read)
		})
	}
}

func TestOldEntriesAreDropped(t *testing.T) {
	r := New[int](8)
	for entry := range 100 {
		r.Add(entry)
	}
	var read []int
	require.NoError(t, r.Read(-1, collect(&read)))
	require.GreaterOrEqual(t, len(read), 8)
	require.LessOrEqual(t, len(read), 10)
	require.Equal(t, 99, read[len(read)-1])
}

func TestFollowCallsForNewEntriesUntilTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, end, done := filled(1, 2), make(chan struct{}), make(chan error)
		var read []int
		go func() { done <- r.Follow(t.Context(), end, 1, collect(&read)) }()
		synctest.Wait()
		r.Add(3)
		synctest.Wait()
		r.Add(4)
		synctest.Wait()
		close(end)
		require.NoError(t, <-done)
		require.Equal(t, []int{2, 3, 4}, read)
	})
}

func TestFollowEndsWithItsContextAndWithACallThatFails(t *testing.T) {
	reason := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	require.ErrorIs(t, filled(1).Follow(ctx, nil, 0, func(int) error { return nil }), reason)
	require.ErrorIs(t, filled(1).Follow(t.Context(), nil, 1, func(int) error { return reason }), reason)
}
