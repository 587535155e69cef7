package kube

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/record"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
)

// space is where one cluster runs: its processes on their own internal addresses, and the lab's own access to it.
type space struct {
	k      *Kubernetes
	id     cluster.ID
	number int
	dir    string
	etcd   *etcd
	prism  *prism

	mu         sync.Mutex
	admin      []byte
	api        *api
	service    netip.AddrPort // of the API, once it is known
	components map[string]*component
	addresses  int
	live       []*component // API servers that are ready
	changed    chan struct{}
	kubelets   map[string]*kubelet // by the name of the node
	// What was last observed of the cluster.
	pods, attachments cache.Store
	attaching         map[types.UID]bool
	skewed            map[[2]string]bool // violations of the version skew policy
	deployments       deployments
	endpoints         endpoints
	watching          sync.WaitGroup
}

// api is the lab's own access to the API of a cluster, through any ready API server.
type api struct {
	config  *rest.Config
	client  kubernetes.Interface
	dynamic dynamic.Interface
	events  record.EventBroadcaster
}

func newSpace(k *Kubernetes, id cluster.ID, number int) *space {
	s := &space{
		k: k, id: id, number: number, dir: k.clusterDir(id),
		components: map[string]*component{}, changed: make(chan struct{}), kubelets: map[string]*kubelet{},
		attaching: map[types.UID]bool{},
		endpoints: endpoints{nodes: map[string]netip.AddrPort{}, changed: make(chan struct{}, 1)},
	}
	s.etcd = &etcd{
		book:    book{cluster: id},
		process: &etcdProcess{life: k.ctx, binary: k.options.Binary, dir: filepath.Join(s.dir, "etcd"), address: s.address()},
		changed: make(chan struct{}),
	}
	s.deployments.record = func(value string, detail ...string) { k.record(string(id), "deployment", value, detail...) }
	s.prism = newPrism(s.dial)
	return s
}

// address returns a free internal address. Every process has its own, so that all can use their standard ports.
func (s *space) address() netip.Addr {
	s.addresses++
	return netip.AddrFrom4([4]byte{127, byte(64 + s.number), byte(s.addresses / 250), byte(1 + s.addresses%250)})
}

// adopt uses the administrator's kubeconfig as the lab's access.
func (s *space) adopt(kubeconfig []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.admin = kubeconfig
	if s.api != nil {
		return nil
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return fmt.Errorf("the administrator's kubeconfig: %w", err)
	}
	// Talos adds this address to the certificate of every API server.
	config.Host = "https://" + s.prism.address().String()
	config.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) { return s.dial(ctx) }
	config.QPS = -1
	// Writes look like those of a kubelet, which makes them in a real cluster.
	config.UserAgent = "kubelet"
	config.WarningHandler = rest.NoWarnings{}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	dynamic, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	s.api = &api{config: config, client: client, dynamic: dynamic, events: newBroadcaster(s)}
	s.watching.Go(func() { s.watch(s.k.ctx) })
	s.watching.Go(func() { s.keepEndpoints(s.k.ctx) })
	return nil
}

func (s *space) kubeconfig() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.admin
}

// setLive records whether an API server is ready.
func (s *space) setLive(c *component, live bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live = slices.DeleteFunc(s.live, func(other *component) bool { return other == c })
	if live {
		s.live = append(s.live, c)
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// alive reports whether an API server is ready, and returns a channel that is closed when that may have changed.
func (s *space) alive() (bool, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.live) > 0, s.changed
}

// awaitAPI waits until an API server is ready.
func (s *space) awaitAPI(ctx context.Context) (*api, error) {
	for {
		alive, changed := s.alive()
		if alive {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.api, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// dial connects to a ready API server.
func (s *space) dial(ctx context.Context) (net.Conn, error) {
	s.mu.Lock()
	var at netip.AddrPort
	if len(s.live) > 0 {
		at = s.live[0].serving()
	}
	s.mu.Unlock()
	if !at.IsValid() {
		return nil, errors.New("no API server of the cluster is up")
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", at.String())
}

// component returns the one process for all nodes whose key is equal.
func (s *space) component(kind, key string) *component {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := kind + "/" + key
	c, known := s.components[name]
	if !known {
		c = newComponent(s, kind, s.address())
		s.components[name] = c
	}
	return c
}

func (s *space) processes() []Process {
	s.mu.Lock()
	components := make([]*component, 0, len(s.components))
	for _, c := range s.components {
		components = append(components, c)
	}
	s.mu.Unlock()
	var all []Process
	for _, c := range components {
		if pid := c.pid(); pid != 0 {
			all = append(all, Process{Cluster: s.id, Name: c.kind, PID: pid})
		}
	}
	s.etcd.mu.Lock()
	defer s.etcd.mu.Unlock()
	if p := s.etcd.process.process; p != nil {
		all = append(all, Process{Cluster: s.id, Name: "etcd", PID: p.pid()})
	}
	return all
}

// close ends what remains after kubelets and static pods have ended.
func (s *space) close() error {
	s.watching.Wait()
	if s.api != nil {
		s.api.events.Shutdown()
	}
	s.etcd.mu.Lock()
	defer s.etcd.mu.Unlock()
	return errors.Join(s.prism.close(), s.etcd.process.stop())
}
