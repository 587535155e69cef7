package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/dhcp"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/rack"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/scenario"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

// served is an API that is served to its owner.
type served struct {
	*Client
	url   string
	facts *timeline.Timeline
	down  chan struct{}
	// noCluster means that the lab has none.
	noCluster bool
	// hand is what was done to machines.
	hand []string
}

func (s *served) note(name, what string) error {
	if name != "cp-1" {
		return fmt.Errorf("no machine %q", name)
	}
	s.hand = append(s.hand, what)
	return nil
}

func (s *served) Add(machines []rack.Machine) ([]string, error) {
	return []string{machines[0].Name}, s.note(machines[0].Name, "add")
}

func (s *served) PowerOn(name string) error  { return s.note(name, "on") }
func (s *served) PowerOff(name string) error { return s.note(name, "off") }

func (s *served) Replace(_ context.Context, name string, by rack.Identity) (rack.Identity, error) {
	err := s.note(name, "replace "+by.MAC)
	by.UUID = "made up"
	return by, err
}

func serve(t *testing.T, handler func(*API) http.Handler) *served {
	t.Helper()
	facts := timeline.New(time.Now, nil)
	found := &served{facts: facts, down: make(chan struct{})}
	api := &API{
		Plan:     scenario.NewPlan(fault.NewSet(facts), facts),
		Timeline: facts,
		Status:   func() any { return map[string]string{"state": "fine"} },
		Down:     func() { close(found.down) },
		Kubeconfig: func() ([]byte, error) {
			if found.noCluster {
				return nil, errors.New("there is no cluster yet")
			}
			return []byte("kind: Config\n"), nil
		},
		Leases: func() []dhcp.Lease {
			return []dhcp.Lease{
				{MAC: "02:00:00:00:00:01", Address: netip.MustParseAddr("10.0.0.101")},
				{MAC: "02:00:00:00:00:02", Address: netip.MustParseAddr("10.0.0.102"), Reserved: true},
			}
		},
		Machines: found,
	}
	server := httptest.NewServer(handler(api))
	t.Cleanup(server.Close)
	found.url = server.URL
	found.Client = NewClient(func(ctx context.Context) (net.Conn, error) {
		dialer := net.Dialer{}
		return dialer.DialContext(ctx, "tcp", server.Listener.Addr().String())
	})
	return found
}

func TestStatus(t *testing.T) {
	lab := serve(t, (*API).Handler)
	status, err := lab.Status(t.Context())
	require.NoError(t, err)
	require.JSONEq(t, `{"state": "fine"}`, string(status))
}

func TestFaultsComeAndGo(t *testing.T) {
	lab := serve(t, (*API).Handler)
	ids, err := lab.AddFaults(t.Context(), "scenario.yaml", []byte("- {id: stuck, on: stage, do: hold}\n- {on: pod, do: hold, when: {what: stage}}\n"))
	require.NoError(t, err)
	require.Equal(t, []string{"stuck", "fault-1"}, ids)
	listed, err := lab.Faults(t.Context())
	require.NoError(t, err)
	require.Equal(t, []scenario.Listed{
		{Entry: scenario.Entry{Rule: fault.Rule{ID: "stuck", On: fault.Stage, Do: fault.Hold}}, State: scenario.Armed},
		{Entry: scenario.Entry{Rule: fault.Rule{ID: "fault-1", On: fault.Pod, Do: fault.Hold}, When: &scenario.Moment{What: "stage"}}, State: scenario.Waiting},
	}, listed)

	require.NoError(t, lab.RemoveFault(t.Context(), "stuck"))
	require.EqualError(t, lab.RemoveFault(t.Context(), "stuck"), `there is no fault "stuck"`)
	require.NoError(t, lab.RemoveFaults(t.Context()))
	listed, err = lab.Faults(t.Context())
	require.NoError(t, err)
	require.Empty(t, listed)
}

func TestRefusals(t *testing.T) {
	lab := serve(t, (*API).Handler)
	_, err := lab.AddFaults(t.Context(), "s.yaml", []byte("on: pod\ndo: crash\n"))
	require.EqualError(t, err, `s.yaml:2: do: "crash" is not possible on "pod"; possible is one of ["delay" "fail" "hold"]`)
	_, err = lab.AddFaults(t.Context(), "s.yaml", []byte("[{id: a, on: pod, do: hold}, {id: a, on: pod, do: hold}]"))
	require.EqualError(t, err, `entry 2: there is a fault "a" already`)
	_, err = lab.AddFaults(t.Context(), "s.yaml", []byte("# "+strings.Repeat("x", largest)))
	require.EqualError(t, err, "http: request body too large")

	for _, test := range []struct {
		method, path, kind string
		status             int
		want               string
	}{
		{"POST", "/faults", "text/plain", 415, `the Content-Type must be application/json or application/yaml, it is "text/plain"`},
		{"POST", "/faults", "", 415, `the Content-Type must be application/json or application/yaml, it is ""`},
		{"GET", "/timeline?after=x", "", 400, `after: "x" is not the number of a fact`},
		{"GET", "/timeline?after=-1", "", 400, `after: "-1" is not the number of a fact`},
		{"GET", "/timeline?follow=maybe", "", 400, `follow: "maybe" is neither true nor false`},
		{"POST", "/down", "", 404, ""},
		{"PUT", "/faults", "", 405, ""},
	} {
		request, err := http.NewRequestWithContext(t.Context(), test.method, lab.url+test.path, strings.NewReader("{}"))
		require.NoError(t, err)
		request.Header.Set("Content-Type", test.kind)
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, test.status, response.StatusCode, test.path)
		if test.want != "" {
			want, err := json.Marshal(refusal{Error: test.want})
			require.NoError(t, err)
			require.JSONEq(t, string(want), string(body))
		}
	}
	require.EqualError(t, lab.Down(t.Context()), "the lab answered POST /down with 404 Not Found")
}

func TestTheOwnerMayEndTheLab(t *testing.T) {
	lab := serve(t, (*API).OwnerHandler)
	status, err := lab.Status(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, status)
	require.NoError(t, lab.Down(t.Context()))
	<-lab.down
}

func TestMachinesAreInAPersonsHand(t *testing.T) {
	lab := serve(t, (*API).Handler)
	added, err := lab.Client.AddMachines(t.Context(), []byte("- name: cp-1"))
	require.NoError(t, err)
	require.Equal(t, []string{"cp-1"}, added)
	_, err = lab.Client.AddMachines(t.Context(), []byte("- title: cp-1"))
	require.Error(t, err)
	require.NoError(t, lab.Client.PowerOff(t.Context(), "cp-1"))
	require.NoError(t, lab.Client.PowerOn(t.Context(), "cp-1"))
	by, err := lab.Client.Replace(t.Context(), "cp-1", rack.Identity{MAC: "02:00:00:00:00:09"})
	require.NoError(t, err)
	require.Equal(t, rack.Identity{MAC: "02:00:00:00:00:09", UUID: "made up"}, by)
	require.Equal(t, []string{"add", "off", "on", "replace 02:00:00:00:00:09"}, lab.hand)
	require.EqualError(t, lab.Client.PowerOn(t.Context(), "cp-2"), `no machine "cp-2"`)
	for path, body := range map[string]string{"/machines/cp-1/kick": "{}", "/machines/cp-1/replace": `{"ram": 1}`} {
		response, err := http.Post(lab.url+path, "application/json", strings.NewReader(body))
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, http.StatusUnprocessableEntity, response.StatusCode, path)
	}
	// A page in a browser may send this one to where it does not come from.
	response, err := http.Post(lab.url+"/machines/cp-1/off", "text/plain", nil)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusUnsupportedMediaType, response.StatusCode)
	require.Len(t, lab.hand, 4)
}

func TestARouterIsAskedByMAC(t *testing.T) {
	lab := serve(t, (*API).Handler)
	for query, wanted := range map[string]string{
		"":                       `[{"mac": "02:00:00:00:00:01", "address": "10.0.0.101"}, {"mac": "02:00:00:00:00:02", "address": "10.0.0.102", "reserved": true}]`,
		"?mac=02-00-00-00-00-01": `[{"mac": "02:00:00:00:00:01", "address": "10.0.0.101"}]`,
		"?mac=02:00:00:00:00:03": `[]`,
		"?mac=vm-300":            `{"error": "mac: \"vm-300\" is not a MAC address"}`,
	} {
		response, err := http.Get(lab.url + "/leases" + query)
		require.NoError(t, err)
		body, err := io.ReadAll(response.Body)
		require.NoError(t, errors.Join(err, response.Body.Close()))
		require.JSONEq(t, wanted, string(body), query)
	}
}

func TestKubeconfig(t *testing.T) {
	lab := serve(t, (*API).Handler)
	kubeconfig, err := lab.Client.Kubeconfig(t.Context())
	require.NoError(t, err)
	require.Equal(t, "kind: Config\n", string(kubeconfig))

	lab.noCluster = true
	_, err = lab.Client.Kubeconfig(t.Context())
	require.EqualError(t, err, "there is no cluster yet")
}

func TestTimeline(t *testing.T) {
	lab := serve(t, (*API).Handler)
	for i := range 3 {
		lab.facts.Record("lab", "count", fmt.Sprint(i+1))
	}
	for after, want := range map[int][]string{0: {"1", "2", "3"}, 2: {"3"}, 3: nil} {
		var seen []string
		require.NoError(t, lab.Timeline(t.Context(), after, false, func(fact timeline.Fact) error {
			seen = append(seen, fact.Value)
			return nil
		}))
		require.Equal(t, want, seen)
	}
	full := fmt.Errorf("the disk is full")
	require.ErrorIs(t, lab.Timeline(t.Context(), 0, true, func(timeline.Fact) error { return full }), full)
}

func TestFollowersGetFactsAsTheyCome(t *testing.T) {
	lab := serve(t, (*API).Handler)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	lab.facts.Record("lab", "count", "1")
	seen := make(chan string)
	ended := make(chan error, 1)
	go func() {
		ended <- lab.Timeline(ctx, 0, true, func(fact timeline.Fact) error {
			seen <- fact.Value
			return nil
		})
	}()
	require.Equal(t, "1", <-seen)
	for _, value := range []string{"2", "3"} {
		lab.facts.Record("lab", "count", value)
		require.Equal(t, value, <-seen)
	}
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
}
