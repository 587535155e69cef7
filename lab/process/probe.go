package process

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

const (
	probeEvery   = 50 * time.Millisecond
	probeTimeout = time.Second
)

// waitFor polls until the URL answers with 200 or the context ends.
func waitFor(ctx context.Context, url string) error {
	// Each request uses its own connection, and none is left open after it.
	client := &http.Client{Timeout: probeTimeout, Transport: &http.Transport{DisableKeepAlives: true}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("probing: %w", err)
	}
	ticker := time.NewTicker(probeEvery)
	defer ticker.Stop()
	for {
		if answer, err := client.Do(request); err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}
