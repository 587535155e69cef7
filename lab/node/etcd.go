package node

import (
	"context"
	"fmt"
	"sync"

	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/siderolabs/crypto/x509"
	etcdresource "github.com/siderolabs/talos/pkg/machinery/resources/etcd"
	"github.com/siderolabs/talos/pkg/machinery/resources/secrets"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
)

// clusters tells the nodes that wait to join an etcd that one began.
type clusters struct {
	mu      sync.Mutex
	changed chan struct{}
	applies map[cluster.ID]chan struct{}
}

func newClusters() *clusters {
	return &clusters{changed: make(chan struct{}), applies: map[cluster.ID]chan struct{}{}}
}

func (c *clusters) news() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changed
}

func (c *clusters) announce() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.changed)
	c.changed = make(chan struct{})
}

// applying is held while Talos' manifests of a cluster are applied, as the lock
// in etcd is.
func (c *clusters) applying(ctx context.Context, id cluster.ID) (release func(), err error) {
	c.mu.Lock()
	lock := c.applies[id]
	if lock == nil {
		lock = make(chan struct{}, 1)
		c.applies[id] = lock
	}
	c.mu.Unlock()
	select {
	case lock <- struct{}{}:
		return func() { <-lock }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (n *node) etcdSpecified(ctx context.Context) error {
	return etcdresource.NewSpecReadyCondition(n.resources.State).Wait(ctx)
}

// clusterID is the fingerprint of the Kubernetes CA that the config accepts.
func (n *node) clusterID() (cluster.ID, error) {
	cfg := n.Config()
	if cfg == nil || cfg.Cluster() == nil {
		return "", fmt.Errorf("no cluster in the config of %s", n.Host())
	}
	for _, ca := range cfg.Cluster().AcceptedCAs() {
		return fingerprint(ca.Crt)
	}
	if issuing := cfg.Cluster().IssuingCA(); issuing != nil {
		return fingerprint(issuing.Crt)
	}
	return "", fmt.Errorf("no Kubernetes CA in the config of %s", n.Host())
}

func fingerprint(crt []byte) (cluster.ID, error) {
	print, err := x509.SPKIFingerprintFromPEM(crt)
	if err != nil {
		return "", fmt.Errorf("the fingerprint of a CA: %w", err)
	}
	return cluster.ID(fmt.Sprintf("%x", []byte(print))), nil
}

// prepareEtcd pulls the image and waits until there is an etcd to be part of:
// its own data, one to join, or one that a bootstrap asks for.
func (n *node) prepareEtcd(ctx context.Context) error {
	if _, err := n.Pull(ctx, kubernetesImages, n.serviceImage("etcd")); err != nil {
		return err
	}
	id, err := n.clusterID()
	if err != nil {
		return err
	}
	for {
		news := n.clusters.news()
		if n.etcdBegins() || n.Kubernetes.HasData(n.Host()) || n.Kubernetes.Initialized(id) {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (n *node) etcdBegins() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.bootstrap
}

func (n *node) runEtcd(ctx context.Context) error {
	member, err := n.etcdMember(ctx)
	if err != nil {
		return err
	}
	begins := n.etcdBegins()
	n.Timeline.Record(n.Host(), "etcd", "starting", "bootstrap", fmt.Sprint(begins))
	if err := n.Kubernetes.StartEtcd(ctx, n.Host(), member, begins); err != nil {
		return err
	}
	n.Timeline.Record(n.Host(), "etcd", "member")
	n.mu.Lock()
	n.bootstrap = false
	n.mu.Unlock()
	n.clusters.announce()
	n.shared.claim(n)
	return nil
}

func (n *node) etcdMember(ctx context.Context) (cluster.Member, error) {
	id, err := n.clusterID()
	if err != nil {
		return cluster.Member{}, err
	}
	spec, err := safe.StateGetByID[*etcdresource.Spec](ctx, n.resources.State, etcdresource.SpecID)
	if err != nil {
		return cluster.Member{}, fmt.Errorf("failed to get etcd spec: %w", err)
	}
	root, err := safe.StateGetByID[*secrets.EtcdRoot](ctx, n.resources.State, secrets.EtcdRootID)
	if err != nil {
		return cluster.Member{}, fmt.Errorf("failed to get etcd root: %w", err)
	}
	if len(spec.TypedSpec().AdvertisedAddresses) == 0 {
		return cluster.Member{}, fmt.Errorf("no address to advertise etcd at")
	}
	return cluster.Member{
		Cluster: id,
		Name:    spec.TypedSpec().Name,
		Address: spec.TypedSpec().AdvertisedAddresses[0],
		Version: imageTag(spec.TypedSpec().Image),
		CACert:  root.TypedSpec().EtcdCA.Crt,
		CAKey:   root.TypedSpec().EtcdCA.Key,
	}, nil
}

// Bootstrap implements talosapi.Machine.
func (n *node) Bootstrap(ctx context.Context) error {
	if !n.services.isUp("cri") {
		return status.Error(codes.FailedPrecondition, "bootstrap is not available yet")
	}
	if n.Kubernetes.HasData(n.Host()) || n.etcdBegins() {
		return status.Error(codes.AlreadyExists, "etcd data directory is not empty")
	}
	if err := n.services.stop(ctx, "etcd"); err != nil {
		return fmt.Errorf("failed to stop etcd: %w", err)
	}
	n.mu.Lock()
	n.bootstrap = true
	n.mu.Unlock()
	n.Timeline.Record(n.Host(), "bootstrap", "asked")
	n.services.letPass("etcd")
	n.services.start("etcd")
	return nil
}

func (n *node) leaveEtcd(ctx context.Context) error {
	if err := n.Kubernetes.Leave(ctx, n.Host()); err != nil {
		n.logs.talos("failed to leave etcd: %v", err)
	}
	n.Timeline.Record(n.Host(), "etcd", "left")
	return nil
}

// localMember is the member's id for the resource of it.
func (n *node) localMember(ctx context.Context) (uint64, error) {
	member, err := n.Kubernetes.MemberStatus(ctx, n.Host())
	return member.ID, err
}
