package node

import (
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/meta"
	"github.com/siderolabs/talos/pkg/machinery/resources/network"
	runtimeresource "github.com/siderolabs/talos/pkg/machinery/resources/runtime"
	"go.yaml.in/yaml/v4"
)

// showPlatform publishes what the platform says, from which Talos' own
// controllers make addresses, routes, resolvers and a hostname.
func (n *node) showPlatform() error {
	const owner = "network.PlatformConfigController"
	spec := n.platformNetwork()
	if n.spec.Hostname != "" {
		host, domain, _ := strings.Cut(n.spec.Hostname, ".")
		spec.Hostnames = []network.HostnameSpecSpec{{Hostname: host, Domainname: domain, ConfigLayer: network.ConfigPlatform}}
	}
	spec.Metadata = &runtimeresource.PlatformMetadataSpec{
		Platform: n.Platform(), Hostname: n.spec.Hostname, Region: n.spec.Region, Zone: n.spec.Zone,
		InstanceType: n.spec.InstanceType, InstanceID: n.serial(), ProviderID: n.spec.ProviderID,
	}
	if n.Platform() == "metal" {
		spec.Metadata.InstanceID = n.spec.UUID
	}
	return put(n.ctx, n.resources.State, owner, network.NewPlatformConfig(network.NamespaceName, network.PlatformConfigActiveID), func(r *network.PlatformConfig) {
		*r.TypedSpec() = spec
	})
}

// platformNetwork is what the platform says of the network. On metal that is
// what META holds and nothing else.
func (n *node) platformNetwork() network.PlatformConfigSpec {
	if n.Platform() != "metal" {
		return n.metadataNetwork()
	}
	var spec network.PlatformConfigSpec
	if err := yaml.Unmarshal([]byte(n.Meta()[meta.MetalNetworkPlatformConfig]), &spec); err != nil {
		n.logs.talos("controller failed: failed to unmarshal metal network config from META: %v", err)
		return network.PlatformConfigSpec{}
	}
	return spec
}

// metadataNetwork is what the metadata of a cloud says: the addresses that do
// not come by DHCP, and where to ask by DHCP.
func (n *node) metadataNetwork() network.PlatformConfigSpec {
	spec := network.PlatformConfigSpec{}
	if len(n.spec.Resolvers) > 0 {
		spec.Resolvers = []network.ResolverSpecSpec{{DNSServers: n.spec.Resolvers, ConfigLayer: network.ConfigPlatform}}
	}
	for _, nic := range n.wiring() {
		if nic.DHCP && n.Platform() == "hcloud" && nic.Public {
			spec.Operators = append(spec.Operators, network.OperatorSpecSpec{
				Operator: network.OperatorDHCP4, LinkName: nic.Name, RequireUp: true,
				DHCP4: network.DHCP4OperatorSpec{RouteMetric: network.DefaultRouteMetric}, ConfigLayer: network.ConfigPlatform,
			})
		}
		static := !nic.DHCP
		for _, address := range nic.Addresses {
			if !static && !(n.Platform() == "hcloud" && nic.Public && address.Addr().Is6()) {
				continue
			}
			one := addressOn(nic.Name, address)
			one.ConfigLayer = network.ConfigPlatform
			spec.Addresses = append(spec.Addresses, one)
			for _, route := range n.routes(nic, address, network.DefaultRouteMetric) {
				route.ConfigLayer = network.ConfigPlatform
				spec.Routes = append(spec.Routes, route)
			}
		}
		if len(nic.Addresses) > 0 && (static || nic.Public && n.Platform() == "hcloud") {
			spec.Links = append(spec.Links, network.LinkSpecSpec{Name: nic.Name, Up: true, ConfigLayer: network.ConfigPlatform})
		}
	}
	return spec
}
