package loadbalancer

import (
	"testing"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/stretchr/testify/require"
)

func TestHealthChangesAfterAsManyContraryResultsAsRetries(t *testing.T) {
	t.Parallel()
	state := &health{status: hcloud.LoadBalancerTargetHealthStatusStatusUnknown}
	for i, step := range []struct {
		passed bool
		want   hcloud.LoadBalancerTargetHealthStatusStatus
	}{
		{false, "unknown"}, {false, "unhealthy"}, {true, "unhealthy"}, {false, "unhealthy"}, {true, "unhealthy"}, {true, "healthy"},
		{false, "healthy"}, {true, "healthy"}, {false, "healthy"}, {false, "unhealthy"},
	} {
		state.add(step.passed, 2)
		require.Equal(t, step.want, state.status, i)
	}
	fresh := &health{status: hcloud.LoadBalancerTargetHealthStatusStatusUnknown}
	fresh.add(true, 3)
	require.Equal(t, hcloud.LoadBalancerTargetHealthStatusStatusHealthy, fresh.status)
}

func TestPatternsMatchHTTPStatuses(t *testing.T) {
	t.Parallel()
	for patterns, want := range map[string]bool{"2??": true, "3??,204": true, "200": false, "3??": false, "*": true} {
		require.Equal(t, want, matchesStatus(patterns, 204), patterns)
	}
}
