package faulthttp

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

func TestRequestsGoWrongAsTheRuleSays(t *testing.T) {
	for name, test := range map[string]struct {
		rule   fault.Rule
		status int
		body   string
		broken bool
	}{
		"none":               {rule: fault.Rule{Name: "GET /other", Do: fault.Fail}, status: 200, body: "fine"},
		"refused":            {rule: fault.Rule{Do: fault.Refuse}, broken: true},
		"failed":             {rule: fault.Rule{Do: fault.Fail, Code: "429", Message: "too much"}, status: 429, body: "too much\n"},
		"failed by default":  {rule: fault.Rule{Do: fault.Fail, Code: "unavailable"}, status: 500, body: "Internal Server Error\n"},
		"delayed, then fine": {rule: fault.Rule{Do: fault.Delay, Delay: fault.Duration(time.Millisecond)}, status: 200, body: "fine"},
	} {
		t.Run(name, func(t *testing.T) {
			faults := fault.NewSet(timeline.New(time.Now, nil))
			test.rule.On = fault.Cloud
			_, err := faults.Add(test.rule)
			require.NoError(t, err)
			answer, err := http.Get(serve(t, faults).URL + "/thing")
			if test.broken {
				require.ErrorIs(t, err, io.EOF)
				return
			}
			require.NoError(t, err)
			defer answer.Body.Close()
			body, err := io.ReadAll(answer.Body)
			require.NoError(t, err)
			require.Equal(t, test.status, answer.StatusCode)
			require.Equal(t, test.body, string(body))
		})
	}
}

func TestADroppedRequestGetsNoAnswer(t *testing.T) {
	seen := timeline.New(time.Now, nil)
	faults := fault.NewSet(seen)
	_, err := faults.Add(fault.Rule{On: fault.Cloud, Do: fault.Drop})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	// The client gives up once the fault has struck, and not before.
	_, more := seen.After(1)
	go func() {
		<-more
		cancel()
	}()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, serve(t, faults).URL, nil)
	require.NoError(t, err)
	_, err = http.DefaultClient.Do(request)
	require.ErrorIs(t, err, context.Canceled)
}

func serve(t *testing.T, faults *fault.Set) *httptest.Server {
	server := httptest.NewServer(Handler(faults, "cloud", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "fine")
	})))
	t.Cleanup(server.Close)
	return server
}
