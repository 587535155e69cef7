package api

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLiteralsHavePrecedenceOverVariables(t *testing.T) {
	t.Parallel()
	routes := Routes{}
	for _, pattern := range []string{"GET /servers", "GET /servers/{id}", "GET /servers/actions/{id}", "GET /servers/{id}/actions", "GET /servers/{id}/actions/{action}"} {
		routes[pattern] = func(*Call) (Reply, error) { return Reply{Body: pattern}, nil }
	}
	router := NewRouter(routes)
	for path, want := range map[string]string{
		"/servers": "GET /servers", "/servers/": "GET /servers", "/servers/7": "GET /servers/{id}", "/servers/actions/7": "GET /servers/actions/{id}",
		"/servers/7/actions": "GET /servers/{id}/actions", "/servers/7/actions/8": "GET /servers/{id}/actions/{action}",
	} {
		found, variables, err := router.Find("GET", path)
		require.NoError(t, err, path)
		result, err := found(nil)
		require.NoError(t, err)
		require.Equal(t, want, result.Body, path)
		if len(variables) > 0 {
			require.Equal(t, "7", variables["id"], path)
		}
	}
	_, _, err := router.Find("GET", "/nowhere")
	require.ErrorContains(t, err, "not_found")
	_, _, err = router.Find("PATCH", "/servers")
	require.ErrorContains(t, err, "method_not_allowed")
}
