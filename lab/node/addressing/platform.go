package addressing

import (
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/meta"
	"github.com/siderolabs/talos/pkg/machinery/resources/network"
	runtimeresource "github.com/siderolabs/talos/pkg/machinery/resources/runtime"
	"go.yaml.in/yaml/v4"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/resources"
)

// ShowPlatform publishes the metadata of the platform, from which Talos' own controllers derive addresses, routes, resolvers and a hostname.
func (n *Network) ShowPlatform() error {
	const owner = "network.PlatformConfigController"
	spec := n.platformNetwork()
	if n.boot.Spec.Hostname != "" {
		host, domain, _ := strings.Cut(n.boot.Spec.Hostname, ".")
		spec.Hostnames = []network.HostnameSpecSpec{{Hostname: host, Domainname: domain, ConfigLayer: network.ConfigPlatform}}
	}
	spec.Metadata = &runtimeresource.PlatformMetadataSpec{
		Platform: n.boot.Platform(), Hostname: n.boot.Spec.Hostname, Region: n.boot.Spec.Region, Zone: n.boot.Spec.Zone,
		InstanceType: n.boot.Spec.InstanceType, InstanceID: n.boot.Serial(), ProviderID: n.boot.Spec.ProviderID,
	}
	if n.boot.Platform() == "metal" {
		spec.Metadata.InstanceID = n.boot.Spec.UUID
	}
	return resources.Put(n.boot.Ctx, n.boot.State, owner, network.NewPlatformConfig(network.NamespaceName, network.PlatformConfigActiveID), func(r *network.PlatformConfig) {
		*r.TypedSpec() = spec
	})
}

// platformNetwork returns the platform's network configuration. On metal that is the one in META.
func (n *Network) platformNetwork() network.PlatformConfigSpec {
	if n.boot.Platform() != "metal" {
		return n.metadataNetwork()
	}
	var spec network.PlatformConfigSpec
	if err := yaml.Unmarshal([]byte(n.boot.Disk.Meta()[meta.MetalNetworkPlatformConfig]), &spec); err != nil {
		n.boot.Logs.Talos("controller failed: failed to unmarshal metal network config from META: %v", err)
		return network.PlatformConfigSpec{}
	}
	return spec
}

// metadataNetwork returns the network configuration from a cloud's metadata: the addresses that do not come by DHCP, and the NICs that use DHCP.
func (n *Network) metadataNetwork() network.PlatformConfigSpec {
	spec := network.PlatformConfigSpec{}
	if len(n.boot.Spec.Resolvers) > 0 {
		spec.Resolvers = []network.ResolverSpecSpec{{DNSServers: n.boot.Spec.Resolvers, ConfigLayer: network.ConfigPlatform}}
	}
	for _, nic := range n.boot.Hardware.NICs() {
		if nic.DHCP && n.boot.Platform() == "hcloud" && nic.Public {
			spec.Operators = append(spec.Operators, network.OperatorSpecSpec{
				Operator: network.OperatorDHCP4, LinkName: nic.Name, RequireUp: true,
				DHCP4: network.DHCP4OperatorSpec{RouteMetric: network.DefaultRouteMetric}, ConfigLayer: network.ConfigPlatform,
			})
		}
		static := !nic.DHCP
		for _, address := range nic.Addresses {
			if !static && !(n.boot.Platform() == "hcloud" && nic.Public && address.Addr().Is6()) {
				continue
			}
			one := addressOn(nic.Name, address)
			one.ConfigLayer = network.ConfigPlatform
			spec.Addresses = append(spec.Addresses, one)
			for _, route := range routes(n.boot.Platform(), nic, address, network.DefaultRouteMetric) {
				route.ConfigLayer = network.ConfigPlatform
				spec.Routes = append(spec.Routes, route)
			}
		}
		if len(nic.Addresses) > 0 && (static || nic.Public && n.boot.Platform() == "hcloud") {
			spec.Links = append(spec.Links, network.LinkSpecSpec{Name: nic.Name, Up: true, ConfigLayer: network.ConfigPlatform})
		}
	}
	return spec
}
