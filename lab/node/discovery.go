package node

import (
	"context"
	"crypto/sha256"
	"reflect"
	"sync"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/jxskiss/base62"
	clusterresource "github.com/siderolabs/talos/pkg/machinery/resources/cluster"
	configresource "github.com/siderolabs/talos/pkg/machinery/resources/config"
	"github.com/siderolabs/talos/pkg/machinery/resources/network"
)

// affiliateLife is how long the discovery service knows one that is silent.
const affiliateLife = 30 * time.Minute

// nodeID is the node's identity in discovery: 32 bytes in base62, kept on disk
// in life, derived from the machine here.
func (n *node) nodeID() string {
	sum := sha256.Sum256([]byte("identity/" + n.spec.UUID))
	return base62.EncodeToString(sum[:])
}

type affiliate struct {
	spec clusterresource.AffiliateSpec
	node *node
	left time.Time // zero while its node runs
}

// discovery is the discovery service: by cluster, who is there.
type discovery struct {
	mu       sync.Mutex
	clusters map[string]map[string]*affiliate
}

func newDiscovery() *discovery {
	return &discovery{clusters: map[string]map[string]*affiliate{}}
}

// publish says of a node what the others may know.
func (d *discovery) publish(n *node, id string, spec clusterresource.AffiliateSpec) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.clusters[id] == nil {
		d.clusters[id] = map[string]*affiliate{}
	}
	if before := d.clusters[id][spec.NodeID]; before != nil && before.node == n && reflect.DeepEqual(before.spec, spec) {
		return
	}
	d.clusters[id][spec.NodeID] = &affiliate{spec: spec, node: n}
	d.tell(id, n)
}

func (d *discovery) tell(id string, but *node) {
	for _, other := range d.clusters[id] {
		if other.node != but && other.left.IsZero() {
			other.node.found.ring()
		}
	}
}

// others are all in the cluster but the node.
func (d *discovery) others(n *node, id string) []clusterresource.AffiliateSpec {
	d.mu.Lock()
	defer d.mu.Unlock()
	var specs []clusterresource.AffiliateSpec
	for name, other := range d.clusters[id] {
		switch {
		case !other.left.IsZero() && time.Since(other.left) > affiliateLife:
			delete(d.clusters[id], name)
		case other.node != n:
			specs = append(specs, other.spec)
		}
	}
	return specs
}

// leave says that the node is silent from now on.
func (d *discovery) leave(n *node) {
	d.each(n, func(string, string, *affiliate) {})
}

// remove takes the node out, as it does itself in a reset.
func (d *discovery) remove(n *node) {
	d.each(n, func(id, name string, _ *affiliate) {
		delete(d.clusters[id], name)
		d.tell(id, n)
	})
}

func (d *discovery) each(n *node, do func(id, name string, own *affiliate)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, all := range d.clusters {
		for name, own := range all {
			if own.node == n {
				own.left = time.Now()
				do(id, name, own)
			}
		}
	}
}

// discoveryController tells the service of the node and the node of the others.
func (n *node) discoveryController() controller.Controller {
	return &played{
		name: "cluster.DiscoveryServiceController",
		inputs: []controller.Input{
			reads(configresource.NamespaceName, clusterresource.ConfigType),
			reads(clusterresource.NamespaceName, clusterresource.AffiliateType),
			reads(network.NamespaceName, network.StatusType),
		},
		outputs: []controller.Output{shares(clusterresource.AffiliateType)},
		wake:    n.found,
		reconcile: func(ctx context.Context, r controller.Runtime) error {
			r.StartTrackingOutputs()
			config, err := safe.ReaderGetByID[*clusterresource.Config](ctx, r, clusterresource.ConfigID)
			if err != nil && !state.IsNotFoundError(err) {
				return err
			}
			status, err := safe.ReaderGetByID[*network.Status](ctx, r, network.StatusID)
			if err != nil && !state.IsNotFoundError(err) {
				return err
			}
			if config != nil && config.TypedSpec().RegistryServiceEnabled && status != nil && status.TypedSpec().ConnectivityReady {
				if err := n.discover(ctx, r, config.TypedSpec().ServiceClusterID); err != nil {
					return err
				}
			}
			return r.CleanupOutputs(ctx, clusterresource.NewAffiliate(clusterresource.RawNamespaceName, "").Metadata())
		},
	}
}

func (n *node) discover(ctx context.Context, r controller.Runtime, id string) error {
	own, err := safe.ReaderGet[*clusterresource.Affiliate](ctx, r, clusterresource.NewAffiliate(clusterresource.NamespaceName, n.nodeID()).Metadata())
	if state.IsNotFoundError(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if !n.isResetting() {
		n.discovery.publish(n, id, *own.TypedSpec())
	}
	for _, other := range n.discovery.others(n, id) {
		raw := clusterresource.NewAffiliate(clusterresource.RawNamespaceName, "service/"+other.NodeID)
		if err := safe.WriterModify(ctx, r, raw, func(affiliate *clusterresource.Affiliate) error {
			*affiliate.TypedSpec() = other
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}
