// Package discovery is Talos' discovery service, through which the nodes of a cluster find each other.
package discovery

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

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/boot"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/resources"
)

// affiliateTTL is how long the service keeps an entry that is not renewed.
const affiliateTTL = 30 * time.Minute

type affiliate struct {
	spec   clusterresource.AffiliateSpec
	member *Member
	left   time.Time // zero while its node runs
}

// Service is the discovery service of a lab: who is in which cluster.
type Service struct {
	mu       sync.Mutex
	clusters map[string]map[string]*affiliate
}

// New returns a service without entries.
func New() *Service { return &Service{clusters: map[string]map[string]*affiliate{}} }

// Member is one boot of a node, as a client of the service.
type Member struct {
	boot    *boot.Boot
	service *Service
	// resetting means that the node is being wiped.
	resetting func() bool
	// found rings when other members have changed.
	found resources.Bell
}

// NewMember returns a boot that is not in a cluster yet.
func (s *Service) NewMember(of *boot.Boot, resetting func() bool) *Member {
	return &Member{boot: of, service: s, resetting: resetting, found: resources.NewBell()}
}

// NodeID returns the identity of a node: 32 bytes in base62. A real node keeps it on its disk; here it is derived from the machine.
func NodeID(of *boot.Boot) string {
	sum := sha256.Sum256([]byte("identity/" + of.Spec.UUID))
	return base62.EncodeToString(sum[:])
}

// publish publishes the node's entry for others.
func (m *Member) publish(id string, spec clusterresource.AffiliateSpec) {
	s := m.service
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clusters[id] == nil {
		s.clusters[id] = map[string]*affiliate{}
	}
	if before := s.clusters[id][spec.NodeID]; before != nil && before.member == m && reflect.DeepEqual(before.spec, spec) {
		return
	}
	s.clusters[id][spec.NodeID] = &affiliate{spec: spec, member: m}
	s.notify(id, m)
}

// notify wakes all members of a cluster except one. It is called with the lock held.
func (s *Service) notify(id string, except *Member) {
	for _, other := range s.clusters[id] {
		if other.member != except && other.left.IsZero() {
			other.member.found.Ring()
		}
	}
}

// others returns all members of a cluster except the node.
func (m *Member) others(id string) []clusterresource.AffiliateSpec {
	s := m.service
	s.mu.Lock()
	defer s.mu.Unlock()
	var specs []clusterresource.AffiliateSpec
	for name, other := range s.clusters[id] {
		switch {
		case !other.left.IsZero() && time.Since(other.left) > affiliateTTL:
			delete(s.clusters[id], name)
		case other.member != m:
			specs = append(specs, other.spec)
		}
	}
	return specs
}

// Leave stops renewing the node's entries.
func (m *Member) Leave() {
	m.each(func(string, string) {})
}

// Remove removes the node, as the node itself does in a reset.
func (m *Member) Remove() {
	m.each(func(id, name string) {
		delete(m.service.clusters[id], name)
		m.service.notify(id, m)
	})
}

func (m *Member) each(do func(id, name string)) {
	s := m.service
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, all := range s.clusters {
		for name, own := range all {
			if own.member == m {
				own.left = time.Now()
				do(id, name)
			}
		}
	}
}

// Controller exchanges the node's entry with those of the others.
func (m *Member) Controller() controller.Controller {
	return &resources.Simulated{
		Real: "cluster.DiscoveryServiceController",
		Reads: []controller.Input{
			resources.Reads(configresource.NamespaceName, clusterresource.ConfigType),
			resources.Reads(clusterresource.NamespaceName, clusterresource.AffiliateType),
			resources.Reads(network.NamespaceName, network.StatusType),
		},
		Writes: []controller.Output{resources.Shares(clusterresource.AffiliateType)},
		Wake:   m.found,
		Reconcile: func(ctx context.Context, r controller.Runtime) error {
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
				if err := m.discover(ctx, r, config.TypedSpec().ServiceClusterID); err != nil {
					return err
				}
			}
			return r.CleanupOutputs(ctx, clusterresource.NewAffiliate(clusterresource.RawNamespaceName, "").Metadata())
		},
	}
}

func (m *Member) discover(ctx context.Context, r controller.Runtime, id string) error {
	own, err := safe.ReaderGet[*clusterresource.Affiliate](ctx, r, clusterresource.NewAffiliate(clusterresource.NamespaceName, NodeID(m.boot)).Metadata())
	if state.IsNotFoundError(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if !m.resetting() {
		m.publish(id, *own.TypedSpec())
	}
	for _, other := range m.others(id) {
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
