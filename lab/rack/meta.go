package rack

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/nethelpers"
	"github.com/siderolabs/talos/pkg/machinery/resources/network"
	"go.yaml.in/yaml/v4"
)

// networkOf returns what a user would write into META for a machine, at its console.
func networkOf(m Machine) (string, error) {
	link := "enx" + strings.ReplaceAll(strings.ToLower(m.MAC), ":", "")
	text, err := yaml.Marshal(network.PlatformConfigSpec{
		Links: []network.LinkSpecSpec{{Name: link, Up: true, ConfigLayer: network.ConfigPlatform}},
		Addresses: []network.AddressSpecSpec{{
			Address: m.Address, LinkName: link, Family: nethelpers.FamilyInet4, Scope: nethelpers.ScopeGlobal,
			Flags: nethelpers.AddressFlags(nethelpers.AddressPermanent), ConfigLayer: network.ConfigPlatform,
		}},
		Routes: []network.RouteSpecSpec{{
			Family: nethelpers.FamilyInet4, Gateway: m.Gateway, OutLinkName: link, Table: nethelpers.TableMain,
			Priority: network.DefaultRouteMetric, Scope: nethelpers.ScopeGlobal, Type: nethelpers.TypeUnicast,
			Protocol: nethelpers.ProtocolStatic, ConfigLayer: network.ConfigPlatform,
		}},
		Resolvers: []network.ResolverSpecSpec{{DNSServers: []netip.Addr{m.Gateway}, ConfigLayer: network.ConfigPlatform}},
	})
	if err != nil {
		return "", fmt.Errorf("META of machine %s: %w", m.Name, err)
	}
	return string(text), nil
}
