package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/siderolabs/talos/pkg/machinery/constants"
	etcdresource "github.com/siderolabs/talos/pkg/machinery/resources/etcd"
	"github.com/siderolabs/talos/pkg/machinery/resources/secrets"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/boot"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/recovery"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/talosapi"
)

// Clusters are the etcd clusters of a lab, for which nodes wait.
type Clusters struct {
	mu      sync.Mutex
	changed chan struct{}
	applies map[cluster.ID]chan struct{}
}

// NewClusters returns a lab without clusters.
func NewClusters() *Clusters {
	return &Clusters{changed: make(chan struct{}), applies: map[cluster.ID]chan struct{}{}}
}

// news is closed when an etcd member was started anywhere.
func (c *Clusters) news() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changed
}

// announce wakes nodes that wait for an etcd to join.
func (c *Clusters) announce() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.changed)
	c.changed = make(chan struct{})
}

// lockManifests is held while Talos' manifests are applied to a cluster, like the real lock in etcd.
func (c *Clusters) lockManifests(ctx context.Context, id cluster.ID) (release func(), err error) {
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

// Namespace is containerd's namespace with the images of Kubernetes and of Talos' services for it.
const Namespace = "k8s.io"

// Images are the images of the node.
type Images interface {
	PullForService(ctx context.Context, reference string) error
}

// SharedAddresses are elections in which only nodes with a running etcd can be elected.
type SharedAddresses interface {
	Claim()
	Yield()
}

// Etcd is the etcd member of one boot.
type Etcd struct {
	boot     *boot.Boot
	configs  Configs
	services Services
	images   Images
	clusters *Clusters
	shared   SharedAddresses

	bootstrapping sync.Mutex // held during a bootstrap

	mu sync.Mutex
	// requested is the bootstrap that was requested here, until its member has started.
	requested *talosapi.BootstrapRequest
}

// NewEtcd returns a member that does not run.
func NewEtcd(of *boot.Boot, configs Configs, services Services, images Images, clusters *Clusters, shared SharedAddresses) *Etcd {
	return &Etcd{boot: of, configs: configs, services: services, images: images, clusters: clusters, shared: shared}
}

// Specified waits for the specification with which the real controllers start etcd.
func (e *Etcd) Specified(ctx context.Context) error {
	return etcdresource.NewSpecReadyCondition(e.boot.State).Wait(ctx)
}

// Prepare pulls the image, and waits until there is an etcd to start: from its own data, one to join, or one that a bootstrap requests.
func (e *Etcd) Prepare(ctx context.Context) error {
	if err := e.images.PullForService(ctx, e.configs.ServiceImage("etcd")); err != nil {
		return err
	}
	id, err := e.configs.ClusterID()
	if err != nil {
		return err
	}
	for nagged := false; ; nagged = true {
		news := e.clusters.news()
		if request := e.request(); request != nil {
			return e.recover(ctx, *request)
		}
		if e.boot.Kubernetes.HasData(e.boot.Host()) || e.boot.Kubernetes.Initialized(id) {
			return nil
		}
		if !nagged {
			e.boot.Logs.Talos("etcd is waiting to join the cluster, if this node is the first node in the cluster, " +
				"please run `talosctl bootstrap` against one of the following IPs:")
		}
		select {
		case <-news:
		case <-ctx.Done():
			return fmt.Errorf("failed to build initial etcd cluster: failed to build cluster arguments: %w", context.Cause(ctx))
		}
	}
}

// request returns the bootstrap that was requested, or nil if there was none, or if its member has started.
func (e *Etcd) request() *talosapi.BootstrapRequest {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.requested
}

func (e *Etcd) setRequest(request *talosapi.BootstrapRequest) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.requested = request
}

// recover makes the data from the uploaded snapshot, if the bootstrap requests that. Talos does not start etcd again if that fails, and a snapshot that is cut
// off crashes machined.
func (e *Etcd) recover(ctx context.Context, request talosapi.BootstrapRequest) error {
	if !request.Recover || e.boot.Kubernetes.HasData(e.boot.Host()) {
		return nil
	}
	member, err := e.member(ctx)
	if err != nil {
		return err
	}
	log := func(line string) { e.boot.Logs.Talos("%s", line) }
	err = e.boot.Kubernetes.RecoverEtcd(ctx, e.boot.Host(), member, request.SkipHashCheck, log)
	if err == nil || ctx.Err() != nil {
		return err
	}
	if errors.Is(err, recovery.ErrCrashed) {
		e.boot.Record("machined", "crashed", "why", err.Error())
		e.boot.End(boot.Ended{How: boot.Crash})
		return err
	}
	e.setRequest(nil)
	return &boot.FinalError{Err: err}
}

// Run starts the member.
func (e *Etcd) Run(ctx context.Context) error {
	member, err := e.member(ctx)
	if err != nil {
		return err
	}
	begins := e.request() != nil
	e.boot.Record("etcd", "starting", "bootstrap", fmt.Sprint(begins))
	if err := e.boot.Kubernetes.StartEtcd(ctx, e.boot.Host(), member, begins); err != nil {
		return err
	}
	e.boot.Record("etcd", "member")
	e.setRequest(nil)
	e.clusters.announce()
	e.shared.Claim()
	return nil
}

func (e *Etcd) member(ctx context.Context) (cluster.Member, error) {
	id, err := e.configs.ClusterID()
	if err != nil {
		return cluster.Member{}, err
	}
	spec, err := safe.StateGetByID[*etcdresource.Spec](ctx, e.boot.State, etcdresource.SpecID)
	if err != nil {
		return cluster.Member{}, fmt.Errorf("failed to get etcd spec: %w", err)
	}
	root, err := safe.StateGetByID[*secrets.EtcdRoot](ctx, e.boot.State, secrets.EtcdRootID)
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

// errData is the error of a bootstrap that has stopped an etcd with data.
var errData = errors.New("etcd data directory is not empty")

// Bootstrap implements talosapi.Machine, in Talos' order: it first stops any etcd, and only then finds out whether that etcd wrote data. If the caller
// disconnects meanwhile, the etcd stays stopped.
func (e *Etcd) Bootstrap(ctx context.Context, request talosapi.BootstrapRequest) error {
	if !e.services.IsUp("cri") {
		return status.Error(codes.FailedPrecondition, "bootstrap is not available yet")
	}
	if e.boot.Kubernetes.HasData(e.boot.Host()) {
		return status.Error(codes.AlreadyExists, errData.Error())
	}
	e.bootstrapping.Lock()
	defer e.bootstrapping.Unlock()
	if err := e.services.Stop(ctx, "etcd"); err != nil {
		return fmt.Errorf("failed to stop etcd: %w", err)
	}
	e.services.MakeOptional("etcd")
	if err := e.interrupted(); err != nil {
		return err
	}
	if e.boot.Kubernetes.HasData(e.boot.Host()) {
		return errData
	}
	e.services.Unload("etcd")
	e.setRequest(&request)
	e.boot.Record("bootstrap", "asked")
	e.services.Start("etcd")
	return nil
}

// interrupted creates the data of an etcd that was stopped while it started a cluster: in the lab it had always written something by then, if the image was
// there.
func (e *Etcd) interrupted() error {
	_, pulled := e.boot.Disk.Image(constants.SystemContainerdNamespace, e.configs.ServiceImage("etcd"))
	request := e.request()
	if request == nil || !pulled || e.boot.Kubernetes.HasData(e.boot.Host()) {
		return nil
	}
	member, err := e.member(e.boot.Ctx)
	if err != nil {
		return err
	}
	if err := e.recover(e.boot.Ctx, *request); err != nil {
		return nil // of the one that was stopped
	}
	if err := e.boot.Kubernetes.StartEtcd(e.boot.Ctx, e.boot.Host(), member, true); err != nil {
		return err
	}
	e.Stop()
	e.setRequest(nil)
	e.boot.Record("bootstrap", "interrupted")
	return nil
}

// Leave removes the member from its cluster.
func (e *Etcd) Leave(ctx context.Context) error {
	if err := e.boot.Kubernetes.Leave(ctx, e.boot.Host()); err != nil {
		e.boot.Logs.Talos("failed to leave etcd: %v", err)
	}
	e.boot.Record("etcd", "left")
	return nil
}

// MemberID returns the id of the member.
func (e *Etcd) MemberID(ctx context.Context) (uint64, error) {
	member, err := e.boot.Kubernetes.MemberStatus(ctx, e.boot.Host())
	return member.ID, err
}

// Stop stops the member.
func (e *Etcd) Stop() {
	e.shared.Yield()
	e.boot.Kubernetes.StopEtcd(e.boot.Host())
}
