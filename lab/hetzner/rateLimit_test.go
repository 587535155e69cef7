package hetzner

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRateLimitComesBack(t *testing.T) {
	t.Parallel()
	at := time.Unix(1000, 0)
	limit := newRateLimit(2, at)
	require.True(t, limit.take(at))
	require.True(t, limit.take(at))
	require.False(t, limit.take(at))
	header := http.Header{}
	limit.tell(header)
	require.Equal(t, []string{"2", "0", "4600"}, []string{header.Get("RateLimit-Limit"), header.Get("RateLimit-Remaining"), header.Get("RateLimit-Reset")})
	require.True(t, limit.take(at.Add(30*time.Minute)))
	require.False(t, limit.take(at.Add(30*time.Minute)))
}
