package hetzner

import (
	"context"
	"encoding/json"
	"errors"

	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"
	"github.com/stretchr/testify/require"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
)

func TestTokens(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *Options) { o.Tokens = []string{"secret"} })
	_, err := b.client("secret").Location.All(t.Context())
	require.NoError(t, err)
	_, err = b.client("other").Location.All(t.Context())
	refused(t, err, hcloud.ErrorCodeUnauthorized, "unable to authenticate")
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *Options) { o.HourlyRequests = 2 })
	_, response, err := b.Location.List(t.Context(), hcloud.LocationListOpts{})
	require.NoError(t, err)
	require.Equal(t, 2, response.Meta.Ratelimit.Limit)
	require.Equal(t, 1, response.Meta.Ratelimit.Remaining)
	_, err = b.client("wrong").Location.All(t.Context())
	refused(t, err, hcloud.ErrorCodeUnauthorized, "unable")
	_, err = b.Location.All(t.Context())
	refused(t, err, hcloud.ErrorCodeRateLimitExceeded, "limit of 2 requests per hour reached")
}

func TestLists(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, name := range []string{"b", "a", "c"} {
		_, _, err := b.PlacementGroup.Create(t.Context(), hcloud.PlacementGroupCreateOpts{Name: name, Type: hcloud.PlacementGroupTypeSpread, Labels: map[string]string{"l": name}})
		require.NoError(t, err)
	}
	names := func(opts hcloud.PlacementGroupListOpts) string {
		groups, _, err := b.PlacementGroup.List(t.Context(), opts)
		require.NoError(t, err)
		var all []string
		for _, group := range groups {
			all = append(all, group.Name)
		}
		return strings.Join(all, "")
	}
	require.Equal(t, "cba", names(hcloud.PlacementGroupListOpts{Sort: []string{"name:desc"}}))
	require.Equal(t, "c", names(hcloud.PlacementGroupListOpts{Sort: []string{"name"}, ListOpts: hcloud.ListOpts{Page: 2, PerPage: 2}}))
	require.Equal(t, "ac", names(hcloud.PlacementGroupListOpts{Sort: []string{"name"}, ListOpts: hcloud.ListOpts{LabelSelector: "l notin (b)"}}))
	require.Equal(t, "b", names(hcloud.PlacementGroupListOpts{Name: "b"}))
	_, _, err := b.PlacementGroup.List(t.Context(), hcloud.PlacementGroupListOpts{ListOpts: hcloud.ListOpts{LabelSelector: "a>b"}})
	refused(t, err, hcloud.ErrorCodeInvalidInput, "label selector")
	_, _, err = b.PlacementGroup.List(t.Context(), hcloud.PlacementGroupListOpts{Sort: []string{"size"}})
	refused(t, err, hcloud.ErrorCodeInvalidInput, "cannot sort by 'size'")
	all, err := b.PlacementGroup.All(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 3)
}

func TestBrokenRequests(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, test := range []struct {
		method, path, body string
		status             int
		code               string
	}{
		{"POST", "/networks", "{", 400, "json_error"},
		{"POST", "/networks", `{"name":"n","ip_range":"1.2.3.0/24"}`, 422, "invalid_input"},
		{"PATCH", "/networks", "", 405, "method_not_allowed"},
		{"GET", "/nothing", "", 404, "not_found"},
		{"GET", "/networks/abc", "", 422, "invalid_input"},
		{"GET", "/servers/1", "", 404, "not_found"},
		{"GET", "/actions", "", 410, "deprecated_api_endpoint"},
		{"GET", "/datacenters", "", 410, "deprecated_api_endpoint"},
		{"DELETE", "/images/114690387", "", 403, "forbidden"},
	} {
		request := httptest.NewRequestWithContext(t.Context(), test.method, "/v1"+test.path, strings.NewReader(test.body))
		request.Header.Set("Authorization", "Bearer "+token)
		recorder := httptest.NewRecorder()
		b.cloud.ServeHTTP(recorder, request)
		require.Equal(t, test.status, recorder.Code, test.path)
		var body schema.ErrorResponse
		require.NoError(t, json.Unmarshal(recorder.Body.Bytes(), &body))
		require.Equal(t, test.code, body.Error.Code, test.path)
		require.NotEmpty(t, recorder.Header().Get("X-Correlation-Id"))
		if test.code == "invalid_input" {
			require.NotEmpty(t, body.Error.Details.(schema.ErrorDetailsInvalidInput).Fields[0].Messages)
		}
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	strike := func(rule fault.Rule) {
		rule.On, rule.Subject, rule.Times = fault.Cloud, "hetzner", 1
		_, err := b.faults.Add(rule)
		require.NoError(t, err)
	}
	get := func(ctx context.Context) error {
		_, _, err := b.Location.List(ctx, hcloud.LocationListOpts{})
		return err
	}
	strike(fault.Rule{Name: "GET /v1/locations", Do: fault.Refuse})
	require.Error(t, get(t.Context()))
	require.NoError(t, get(t.Context()))
	strike(fault.Rule{Name: "GET /v1/loc*", Do: fault.Fail, Code: "resource_unavailable", Message: "error during placement"})
	refused(t, get(t.Context()), hcloud.ErrorCodeResourceUnavailable, "error during placement")
	strike(fault.Rule{Name: "GET *", Do: fault.Fail, Code: "503", Message: "soon"})
	refused(t, get(t.Context()), "unavailable", "soon")
	strike(fault.Rule{Name: "GET *", Do: fault.Fail, Code: "502"})
	require.NoError(t, get(t.Context()), "the client tries again by itself")
	strike(fault.Rule{Do: fault.Fail, Code: "418"})
	require.ErrorIs(t, get(t.Context()), hcloud.ErrStatusCode)
	strike(fault.Rule{Do: fault.Drop})
	limited, end := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer end()
	require.ErrorIs(t, get(limited), context.DeadlineExceeded)
}

func TestActionsCanFail(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, err := b.faults.Add(fault.Rule{On: fault.Cloud, Name: "action create_server", Do: fault.Fail, Times: 1, Message: "no host"})
	require.NoError(t, err)
	result, _, err := b.Server.Create(t.Context(), hcloud.ServerCreateOpts{Name: "s", ServerType: &hcloud.ServerType{Name: "cx23"}, Image: b.snapshot})
	require.NoError(t, err)
	var failed hcloud.ActionError
	require.True(t, errors.As(b.Action.WaitFor(t.Context(), result.Action), &failed))
	require.Equal(t, hcloud.ActionError{Code: "action_failed", Message: "no host"}, hcloud.ActionError{Code: failed.Code, Message: failed.Message})
	require.ErrorContains(t, b.Action.WaitFor(t.Context(), result.NextActions...), "canceled")
	require.Equal(t, hcloud.ServerStatusOff, b.find(t, "s").Status)
	require.False(t, b.find(t, "s").Locked)
	deleted, _, err := b.Server.DeleteWithResult(t.Context(), result.Server)
	require.NoError(t, err)
	b.wait(t, nil, deleted.Action)
}

func TestEveryChangeIsOnTheTimeline(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.privateNet(t)
	_, err := b.Network.All(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"POST /v1/networks"}, b.facts("hetzner", "call"))
}
