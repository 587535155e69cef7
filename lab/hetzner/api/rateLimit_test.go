package api

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRateLimitBecomesAvailableAgain(t *testing.T) {
	t.Parallel()
	at := time.Unix(1000, 0)
	limit := NewRateLimit(2, at)
	require.True(t, limit.Take(at))
	require.True(t, limit.Take(at))
	require.False(t, limit.Take(at))
	header := http.Header{}
	limit.Report(header)
	require.Equal(t, []string{"2", "0", "4600"}, []string{header.Get("RateLimit-Limit"), header.Get("RateLimit-Remaining"), header.Get("RateLimit-Reset")})
	require.True(t, limit.Take(at.Add(30*time.Minute)))
	require.False(t, limit.Take(at.Add(30*time.Minute)))
}
