package hetzner

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"
	"github.com/stretchr/testify/require"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine/machinetest"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

func TestActionsMakeProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		steps, err := pace.New(pace.Real, 1)
		require.NoError(t, err)
		facts := timeline.New(time.Now, nil)
		c := New(Options{Network: newMappedNetwork(), Machines: &machinetest.Maker{}, Pace: steps, Faults: fault.NewSet(facts), Timeline: facts})
		defer func() { require.NoError(t, c.Close(t.Context())) }()
		call := func(method, path, body string, into any) {
			request := httptest.NewRequestWithContext(t.Context(), method, "/v1"+path, strings.NewReader(body))
			request.Header.Set("Authorization", "Bearer "+token)
			recorder := httptest.NewRecorder()
			c.ServeHTTP(recorder, request)
			require.Less(t, recorder.Code, http.StatusBadRequest, recorder.Body)
			require.NoError(t, json.Unmarshal(recorder.Body.Bytes(), into))
		}
		var made schema.ServerCreateResponse
		call("POST", "/servers", `{"name":"s","server_type":"cx23","image":"debian-12"}`, &made)
		require.Equal(t, "create_server", made.Action.Command)
		require.Len(t, made.NextActions, 1)
		require.Equal(t, "start_server", made.NextActions[0].Command)
		require.Zero(t, made.Action.Progress)
		require.NotNil(t, made.RootPassword)

		// A server is created in 12 to 18 seconds, and started in 1.6 to 2.4.
		time.Sleep(6 * time.Second)
		var list schema.ActionListResponse
		call("GET", "/actions?id=1&id=2&sort=status&sort=id", "", &list)
		require.Len(t, list.Actions, 2)
		require.InDelta(t, 42, list.Actions[0].Progress, 9)
		require.Zero(t, list.Actions[1].Progress)
		require.Nil(t, list.Actions[0].Finished)

		time.Sleep(15 * time.Second)
		var one schema.ActionGetResponse
		call("GET", "/servers/actions/2", "", &one)
		require.Equal(t, string(hcloud.ActionStatusSuccess), one.Action.Status)
		require.Equal(t, 100, one.Action.Progress)
		require.NotNil(t, one.Action.Finished)
		var of schema.ActionListResponse
		call("GET", "/servers/"+api.IDText(made.Server.ID)+"/actions?status=success", "", &of)
		require.Len(t, of.Actions, 2)
		var server schema.ServerGetResponse
		call("GET", "/servers/"+api.IDText(made.Server.ID), "", &server)
		require.Equal(t, string(hcloud.ServerStatusRunning), server.Server.Status)
	})
}
