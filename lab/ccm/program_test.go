package ccm

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

func TestANodeLearnsFromItsServerWhatItIs(t *testing.T) {
	lab := start(t, map[string]string{"HCLOUD_NETWORK": "private"}, newNode("cp-1"))
	node := lab.await(t, func(node *corev1.Node) bool { return len(node.Spec.Taints) == 0 && len(node.Status.Addresses) == 3 })
	require.Equal(t, "hcloud://7", node.Spec.ProviderID)
	require.Equal(t, map[string]string{
		"node.kubernetes.io/instance-type":         "cpx31",
		"beta.kubernetes.io/instance-type":         "cpx31",
		"topology.kubernetes.io/region":            "fsn1",
		"failure-domain.beta.kubernetes.io/region": "fsn1",
		"topology.kubernetes.io/zone":              "fsn1-dc14",
		"failure-domain.beta.kubernetes.io/zone":   "fsn1-dc14",
		"instance.hetzner.cloud/provided-by":       "cloud",
	}, node.Labels)
	require.Equal(t, []corev1.NodeAddress{
		{Type: corev1.NodeHostName, Address: "cp-1"},
		{Type: corev1.NodeExternalIP, Address: "198.51.100.7"},
		{Type: corev1.NodeInternalIP, Address: "10.0.0.11"},
	}, node.Status.Addresses)
	// Who watches the node hears of it on another way.
	facts, more := lab.timeline.After(0)
	for ; len(facts) == 0; facts, more = lab.timeline.After(0) {
		<-more
	}
	require.Equal(t, "initialized", facts[0].Value)
	require.Equal(t, map[string]string{"providerID": "hcloud://7"}, facts[0].Detail)
}

func TestWithoutANetworkThereIsNoInternalAddress(t *testing.T) {
	lab := start(t, nil, newNode("cp-1"))
	node := lab.await(t, func(node *corev1.Node) bool { return len(node.Status.Addresses) > 0 })
	require.Len(t, node.Status.Addresses, 2)
}

func TestANodeWhoseServerIsGoneGoesToo(t *testing.T) {
	gone := newNode("cp-1")
	gone.Spec.Taints, gone.Spec.ProviderID = nil, "hcloud://8"
	gone.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}
	lab := start(t, nil, gone)
	for {
		if event := lab.next(t); event.Type == watch.Deleted {
			return
		}
	}
}

func TestWhatItNeeds(t *testing.T) {
	api := httptest.NewServer(hetzner())
	defer api.Close()
	for want, env := range map[string]map[string]string{
		"environment variable HCLOUD_TOKEN is required":       {},
		"unable to access the API of Hetzner: unable to auth": {"HCLOUD_TOKEN": "wrong"},
		"network none not found":                              {"HCLOUD_TOKEN": "token", "HCLOUD_NETWORK": "none"},
	} {
		err := Program{Endpoint: api.URL}.control(t.Context(), fake.NewClientset(), env, func() { t.Error("it is not ready") })
		require.ErrorContains(t, err, want)
	}
	require.ErrorContains(t, Program{}.Run(t.Context(), cluster.Run{Kubeconfig: []byte("{")}), "cloud controller manager: ")
}

func TestProviderIDs(t *testing.T) {
	cloud := &provider{}
	for _, id := range []string{"hcloud://x", "proxmox://7", "7"} {
		_, err := cloud.InstanceExists(t.Context(), &corev1.Node{Spec: corev1.NodeSpec{ProviderID: id}})
		require.ErrorContains(t, err, "is none of Hetzner's", id)
	}
}

func TestWhichContainersItPlays(t *testing.T) {
	for image, want := range map[string]bool{
		"docker.io/hetznercloud/hcloud-cloud-controller-manager:v1.27.0": true,
		"hcloud-csi-driver:v2.19.0":                                      false,
	} {
		require.Equal(t, want, Program{}.Handles(&corev1.Pod{}, corev1.Container{Image: image}), image)
	}
}

type lab struct {
	timeline *timeline.Timeline
	nodes    watch.Interface
}

// start runs the controllers until the test ends.
func start(t *testing.T, env map[string]string, node *corev1.Node) lab {
	t.Helper()
	api := httptest.NewServer(hetzner())
	t.Cleanup(api.Close)
	client := fake.NewClientset(node)
	nodes, err := client.CoreV1().Nodes().Watch(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	all := map[string]string{"HCLOUD_TOKEN": "token", "HCLOUD_ENDPOINT": api.URL}
	for name, value := range env {
		all[name] = value
	}
	facts := timeline.New(time.Now, nil)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	ready := make(chan struct{})
	running.Go(func() {
		err := Program{Timeline: facts}.control(ctx, client, all, func() { close(ready) })
		if err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); running.Wait() })
	<-ready
	return lab{timeline: facts, nodes: nodes}
}

func (l lab) next(t *testing.T) watch.Event {
	t.Helper()
	select {
	case event := <-l.nodes.ResultChan():
		return event
	case <-t.Context().Done():
		t.Fatal("nothing happened to the node")
		return watch.Event{}
	}
}

func (l lab) await(t *testing.T, until func(*corev1.Node) bool) *corev1.Node {
	t.Helper()
	for {
		if node, is := l.next(t).Object.(*corev1.Node); is && until(node) {
			return node
		}
	}
}

func newNode(name string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.NodeSpec{Taints: []corev1.Taint{{
			Key: "node.cloudprovider.kubernetes.io/uninitialized", Value: "true", Effect: corev1.TaintEffectNoSchedule,
		}}},
	}
}

// hetzner returns a project with one server in one network.
func hetzner() http.Handler {
	server := schema.Server{
		ID: 7, Name: "cp-1", Status: "running", ServerType: schema.ServerType{Name: "cpx31"},
		Location:   schema.Location{Name: "fsn1"},
		PublicNet:  schema.ServerPublicNet{IPv4: schema.ServerPublicNetIPv4{ID: 1, IP: netip.MustParseAddr("198.51.100.7").String()}},
		PrivateNet: []schema.ServerPrivateNet{{Network: 3, IP: "10.0.0.11"}, {Network: 4, IP: "10.9.0.11"}},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /servers", func(w http.ResponseWriter, r *http.Request) {
		found := []schema.Server{}
		if name := r.URL.Query().Get("name"); name == "" || name == server.Name {
			found = append(found, server)
		}
		answer(w, http.StatusOK, schema.ServerListResponse{Servers: found})
	})
	mux.HandleFunc("GET /servers/7", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, schema.ServerGetResponse{Server: server})
	})
	mux.HandleFunc("GET /networks", func(w http.ResponseWriter, r *http.Request) {
		found := []schema.Network{}
		if r.URL.Query().Get("name") == "private" {
			found = append(found, schema.Network{ID: 3, Name: "private"})
		}
		answer(w, http.StatusOK, schema.NetworkListResponse{Networks: found})
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusNotFound, schema.ErrorResponse{Error: schema.Error{Code: "not_found", Message: "not found"}})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") != "token" {
			answer(w, http.StatusUnauthorized, schema.ErrorResponse{Error: schema.Error{Code: "unauthorized", Message: "unable to authenticate"}})
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
