package ccm

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	corev1 "k8s.io/api/core/v1"
	cloudprovider "k8s.io/cloud-provider"
)

// provider is Hetzner as a cloud of Kubernetes' node controllers.
type provider struct {
	client *hcloud.Client
	// network is the one whose addresses are the nodes' internal addresses, or 0.
	network int64
}

var (
	_ cloudprovider.Interface   = (*provider)(nil)
	_ cloudprovider.InstancesV2 = (*provider)(nil)
)

const idPrefix = "hcloud://"

// find returns the server of a node, or nil.
func (p *provider) find(ctx context.Context, node *corev1.Node) (*hcloud.Server, error) {
	if node.Spec.ProviderID == "" {
		server, _, err := p.client.Server.GetByName(ctx, node.Name)
		return server, err
	}
	text, is := strings.CutPrefix(node.Spec.ProviderID, idPrefix)
	id, err := strconv.ParseInt(text, 10, 64)
	if !is || err != nil {
		return nil, fmt.Errorf("node %s: provider id %q is none of Hetzner's", node.Name, node.Spec.ProviderID)
	}
	server, _, err := p.client.Server.GetByID(ctx, id)
	return server, err
}

// InstanceExists reports whether the node has a server.
func (p *provider) InstanceExists(ctx context.Context, node *corev1.Node) (bool, error) {
	server, err := p.find(ctx, node)
	return server != nil, err
}

// InstanceShutdown reports whether the server is off.
func (p *provider) InstanceShutdown(ctx context.Context, node *corev1.Node) (bool, error) {
	server, err := p.find(ctx, node)
	return server != nil && server.Status == hcloud.ServerStatusOff, err
}

// InstanceMetadata returns what the Node contains about its server.
func (p *provider) InstanceMetadata(ctx context.Context, node *corev1.Node) (*cloudprovider.InstanceMetadata, error) {
	server, err := p.find(ctx, node)
	if err != nil {
		return nil, err
	}
	if server == nil {
		return nil, fmt.Errorf("failed to get instance metadata: no matching hcloud server found for node %q: %w",
			node.Name, cloudprovider.InstanceNotFound)
	}
	return &cloudprovider.InstanceMetadata{
		ProviderID:       idPrefix + strconv.FormatInt(server.ID, 10),
		InstanceType:     server.ServerType.Name,
		NodeAddresses:    p.addresses(server),
		Zone:             zone(server.Location.Name),
		Region:           server.Location.Name,
		AdditionalLabels: map[string]string{"instance.hetzner.cloud/provided-by": "cloud"},
	}, nil
}

func (p *provider) addresses(server *hcloud.Server) []corev1.NodeAddress {
	addresses := []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: server.Name}}
	if !server.PublicNet.IPv4.IsUnspecified() {
		addresses = append(addresses, corev1.NodeAddress{Type: corev1.NodeExternalIP, Address: server.PublicNet.IPv4.IP.String()})
	}
	for _, private := range server.PrivateNet {
		if p.network != 0 && private.Network.ID == p.network {
			addresses = append(addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: private.IP.String()})
		}
	}
	return addresses
}

// zone returns the name of the location's datacenter, which nodes still carry.
func zone(location string) string {
	datacenters := map[string]string{
		"ash": "ash-dc1", "fsn1": "fsn1-dc14", "hel1": "hel1-dc2", "hil": "hil-dc1", "nbg1": "nbg1-dc3", "sin": "sin-dc1",
	}
	if name, known := datacenters[location]; known {
		return name
	}
	return location
}

// InstancesV2 returns the only part of a cloud that is simulated.
func (p *provider) InstancesV2() (cloudprovider.InstancesV2, bool) { return p, true }

// ProviderName returns the value of the flag --cloud-provider.
func (p *provider) ProviderName() string { return "hcloud" }

// HasClusterID reports that resources have no cluster tag.
func (p *provider) HasClusterID() bool { return false }

// Initialize has nothing to do.
func (p *provider) Initialize(cloudprovider.ControllerClientBuilder, <-chan struct{}) {}

// LoadBalancer is not simulated.
func (p *provider) LoadBalancer() (cloudprovider.LoadBalancer, bool) { return nil, false }

// Instances returns the interface before InstancesV2.
func (p *provider) Instances() (cloudprovider.Instances, bool) { return nil, false }

// Zones is part of InstancesV2.
func (p *provider) Zones() (cloudprovider.Zones, bool) { return nil, false }

// Clusters is not simulated.
func (p *provider) Clusters() (cloudprovider.Clusters, bool) { return nil, false }

// Routes are not simulated.
func (p *provider) Routes() (cloudprovider.Routes, bool) { return nil, false }
