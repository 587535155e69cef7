package faulthttp

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
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

func TestALostAnswerIsOfARequestThatTookEffect(t *testing.T) {
	faults := fault.NewSet(timeline.New(time.Now, nil))
	_, err := faults.Add(fault.Rule{On: fault.Cloud, Name: "POST /thing", Do: fault.Lose, Times: 1})
	require.NoError(t, err)
	var made atomic.Int32
	server := httptest.NewServer(Handler(faults, "cloud", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		made.Add(1)
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, "made")
		require.NoError(t, r.Context().Err())
	})))
	t.Cleanup(server.Close)
	_, err = http.Post(server.URL+"/thing", "text/plain", nil)
	require.ErrorIs(t, err, io.EOF)
	require.EqualValues(t, 1, made.Load())
	answer, err := http.Post(server.URL+"/thing", "text/plain", nil)
	require.NoError(t, err)
	defer answer.Body.Close()
	require.Equal(t, http.StatusCreated, answer.StatusCode)
	require.EqualValues(t, 2, made.Load())
}

func TestADroppedRequestGetsNoAnswer(t *testing.T) {
	require.Zero(t, unansweredEffects(t, fault.Drop))
}

func TestAMutedRequestTakesEffectAndGetsNoAnswer(t *testing.T) {
	require.EqualValues(t, 1, unansweredEffects(t, fault.Mute))
}

// unansweredEffects is how often a request took effect that was never answered.
func unansweredEffects(t *testing.T, do fault.Action) int32 {
	seen := timeline.New(time.Now, nil)
	faults := fault.NewSet(seen)
	_, err := faults.Add(fault.Rule{On: fault.Cloud, Do: do})
	require.NoError(t, err)
	var made atomic.Int32
	returned := make(chan struct{})
	handler := Handler(faults, "cloud", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { made.Add(1) }))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(returned)
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	ctx, cancel := context.WithCancel(t.Context())
	// The client gives up once the fault has struck, and not before.
	_, more := seen.After(1)
	go func() {
		<-more
		cancel()
	}()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
	require.NoError(t, err)
	_, err = http.DefaultClient.Do(request)
	require.ErrorIs(t, err, context.Canceled)
	<-returned
	return made.Load()
}

func serve(t *testing.T, faults *fault.Set) *httptest.Server {
	server := httptest.NewServer(Handler(faults, "cloud", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "fine")
	})))
	t.Cleanup(server.Close)
	return server
}
