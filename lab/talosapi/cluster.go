package talosapi

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/siderolabs/gen/xslices"
	"google.golang.org/grpc"

	"github.com/siderolabs/talos/internal/app/internal/machinehelper"
	"github.com/siderolabs/talos/pkg/cluster"
	"github.com/siderolabs/talos/pkg/cluster/check"
	"github.com/siderolabs/talos/pkg/conditions"
	"github.com/siderolabs/talos/pkg/grpc/middleware/authz"
	clusterapi "github.com/siderolabs/talos/pkg/machinery/api/cluster"
	"github.com/siderolabs/talos/pkg/machinery/client"
	clientconfig "github.com/siderolabs/talos/pkg/machinery/client/config"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"
	clusterresource "github.com/siderolabs/talos/pkg/machinery/resources/cluster"
	"github.com/siderolabs/talos/pkg/machinery/role"
)

// checkValidity is the lifetime of the certificate with which a node calls its own API: longer than a check takes.
const checkValidity = time.Hour

// clusterService is cluster.ClusterService.
type clusterService struct {
	clusterapi.UnimplementedClusterServiceServer
	node *node
}

// HealthCheck runs Talos' own checks, from this node.
func (s *clusterService) HealthCheck(in *clusterapi.HealthCheckRequest, stream clusterapi.ClusterService_HealthCheckServer) error {
	n := s.node
	if err := machinehelper.CheckControlplane(stream.Context(), n.Resources(), "cluster health check"); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(stream.Context(), in.GetWaitTimeout().AsDuration())
	defer cancel()
	own, err := n.ownClient(ctx, authz.GetRoles(ctx))
	if err != nil {
		return err
	}
	defer func() { _ = own.Close() }() // nothing is being sent any more
	clients := ownClients{own}
	kubernetes := &cluster.KubernetesClient{ClientProvider: clients, ForceEndpoint: in.GetClusterInfo().GetForceEndpoint()}
	defer func() { _ = kubernetes.K8sClose() }()
	info, err := n.clusterInfo(ctx, in.GetClusterInfo())
	if err != nil {
		return err
	}
	addresses := xslices.Map(info.Nodes(), func(node cluster.NodeInfo) string { return node.InternalIP.String() })
	if err := stream.Send(&clusterapi.HealthCheckProgress{Message: fmt.Sprintf("discovered nodes: %q", addresses)}); err != nil {
		return err
	}
	checked := struct {
		cluster.ClientProvider
		cluster.K8sProvider
		cluster.Info
	}{clients, kubernetes, info}
	return check.Wait(ctx, &checked, append(check.DefaultClusterChecks(), check.ExtraClusterChecks()...), &progress{stream: stream})
}

// ownClient returns a client of the node's own API, with the roles of a caller.
func (n *node) ownClient(ctx context.Context, roles role.Set) (*client.Client, error) {
	issuer := n.Config().Machine().Security().IssuingCA()
	certificate, err := secrets.NewAdminCertificateAndKey(time.Now(), issuer, roles, checkValidity)
	if err != nil {
		return nil, fmt.Errorf("failed to generate client certificate: %w", err)
	}
	endpoints := xslices.Map(n.Addresses(), netip.Addr.String)
	return client.New(ctx,
		client.WithConfig(clientconfig.NewConfig("local", endpoints[:1], issuer.Crt, certificate)),
		client.WithGRPCDialOptions(grpc.WithContextDialer(n.dial)),
	)
}

// ownClients provides the one client.
type ownClients struct{ own *client.Client }

// Client returns it.
func (c ownClients) Client(...string) (*client.Client, error) { return c.own, nil }

// Close does nothing: the creator closes the client.
func (c ownClients) Close() error { return nil }

// nodesByType are the nodes that a caller names.
type nodesByType map[machine.Type][]cluster.NodeInfo

// Nodes returns all of them.
func (n nodesByType) Nodes() []cluster.NodeInfo {
	return slices.Concat(n[machine.TypeControlPlane], n[machine.TypeWorker])
}

// NodesByType returns those of a type.
func (n nodesByType) NodesByType(t machine.Type) []cluster.NodeInfo { return n[t] }

// clusterInfo returns the nodes that the caller names, or those that the node knows.
func (n *node) clusterInfo(ctx context.Context, said *clusterapi.ClusterInfo) (cluster.Info, error) {
	if len(said.GetControlPlaneNodes())+len(said.GetWorkerNodes()) > 0 {
		controlPlanes, err := cluster.IPsToNodeInfos(said.GetControlPlaneNodes())
		if err != nil {
			return nil, err
		}
		workers, err := cluster.IPsToNodeInfos(said.GetWorkerNodes())
		if err != nil {
			return nil, err
		}
		return nodesByType{machine.TypeControlPlane: controlPlanes, machine.TypeWorker: workers}, nil
	}
	members, err := safe.StateListAll[*clusterresource.Member](ctx, n.Resources())
	if err != nil {
		return nil, err
	}
	return check.NewDiscoveredClusterInfo(safe.ToSlice(members, func(member *clusterresource.Member) *clusterresource.Member { return member }))
}

// progress sends the caller what the check is waiting for.
type progress struct {
	stream clusterapi.ClusterService_HealthCheckServer
	last   string
}

// Update sends a line if it is new. The check ends if the caller has disconnected.
func (p *progress) Update(condition conditions.Condition) {
	line := strings.TrimSpace(fmt.Sprintf("waiting for %s", condition))
	if line != p.last {
		_ = p.stream.Send(&clusterapi.HealthCheckProgress{Message: line})
		p.last = line
	}
}
