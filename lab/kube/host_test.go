package kube

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

func TestImagesArePulledOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, release, pulls := &host{}, make(chan error), 0
		results := make(chan bool, 3)
		get := func() error { pulls++; return <-release }
		for range 2 {
			go func() {
				pulled, err := h.pullOnce(t.Context(), "web:1", get)
				results <- pulled && err == nil
			}()
		}
		synctest.Wait()
		require.Equal(t, 1, pulls, "the second waits for the first")
		release <- errors.New("network")
		synctest.Wait()
		require.Equal(t, 2, pulls, "and pulls itself when that failed")
		require.False(t, <-results)
		release <- nil
		require.True(t, <-results)

		pulled, err := h.pullOnce(t.Context(), "web:1", get)
		require.NoError(t, err)
		require.False(t, pulled, "it is there")
		h.wipe()
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		pulled, err = h.pullOnce(t.Context(), "web:1", gone.Err)
		require.True(t, pulled)
		require.ErrorIs(t, err, context.Canceled)
	})
}
