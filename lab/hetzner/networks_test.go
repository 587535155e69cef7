package hetzner

import (
	"net"
	"testing"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/stretchr/testify/require"
)

func TestSubnetsAndRoutes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	made := b.privateNet(t)
	add := func(ipRange *net.IPNet, zone hcloud.NetworkZone) error {
		action, _, err := b.Network.AddSubnet(t.Context(), made, hcloud.NetworkAddSubnetOpts{
			Subnet: hcloud.NetworkSubnet{Type: hcloud.NetworkSubnetTypeCloud, IPRange: ipRange, NetworkZone: zone},
		})
		if err == nil {
			b.wait(t, nil, action)
		}
		return err
	}
	refused(t, add(cidr("10.0.1.128/25"), "eu-central"), hcloud.ErrorCodeInvalidInput, "overlaps")
	refused(t, add(cidr("10.1.0.0/24"), "eu-central"), hcloud.ErrorCodeInvalidInput, "must be in the network's range")
	refused(t, add(cidr("10.0.2.0/24"), "moon"), hcloud.ErrorCodeInvalidInput, "unknown network zone")
	require.NoError(t, add(nil, "us-east"))
	found, _, err := b.Network.GetByID(t.Context(), made.ID)
	require.NoError(t, err)
	require.Equal(t, "10.0.0.0/24", found.Subnets[1].IPRange.String(), "the first free one")
	require.Equal(t, "10.0.0.1", found.Subnets[1].Gateway.String())

	route := hcloud.NetworkRoute{Destination: cidr("10.100.0.0/16"), Gateway: net.ParseIP("10.0.1.5")}
	action, _, err := b.Network.AddRoute(t.Context(), made, hcloud.NetworkAddRouteOpts{Route: route})
	b.wait(t, err, action)
	_, _, err = b.Network.AddRoute(t.Context(), made, hcloud.NetworkAddRouteOpts{Route: route})
	refused(t, err, hcloud.ErrorCodeInvalidInput, "already")
	_, _, err = b.Network.AddRoute(t.Context(), made, hcloud.NetworkAddRouteOpts{Route: hcloud.NetworkRoute{Destination: cidr("0.0.0.0/0"), Gateway: net.ParseIP("10.0.0.1")}})
	refused(t, err, hcloud.ErrorCodeInvalidInput, "gateway")
	action, _, err = b.Network.DeleteRoute(t.Context(), made, hcloud.NetworkDeleteRouteOpts{Route: route})
	b.wait(t, err, action)
}

func TestAddressesInANetwork(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	inside := b.privateNet(t)
	s := b.server(t, "s")
	attach := func(ip string) error {
		opts := hcloud.ServerAttachToNetworkOpts{Network: inside}
		if ip != "" {
			opts.IP = net.ParseIP(ip)
		}
		action, _, err := b.Server.AttachToNetwork(t.Context(), s, opts)
		if err == nil {
			b.wait(t, nil, action)
		}
		return err
	}
	for _, taken := range []string{"10.0.1.0", "10.0.1.255", "10.0.2.1"} {
		refused(t, attach(taken), hcloud.ErrorCodeIPNotAvailable, "IP not available")
	}
	require.NoError(t, attach("10.0.1.7"))
	action, _, err := b.Server.ChangeAliasIPs(t.Context(), s, hcloud.ServerChangeAliasIPsOpts{Network: inside, AliasIPs: []net.IP{net.ParseIP("10.0.1.8")}})
	b.wait(t, err, action)
	require.Equal(t, "10.0.1.8", b.find(t, "s").PrivateNet[0].Aliases[0].String())

	far := b.server(t, "far", func(opts *hcloud.ServerCreateOpts) {
		opts.ServerType, opts.Location = &hcloud.ServerType{Name: "cpx21"}, &hcloud.Location{Name: "ash"}
	})
	_, _, err = b.Server.AttachToNetwork(t.Context(), far, hcloud.ServerAttachToNetworkOpts{Network: inside})
	refused(t, err, hcloud.ErrorCodeNoSubnetAvailable, "no subnet or IP available")
	s = b.server(t, "other")
	for _, taken := range []string{"10.0.1.7", "10.0.1.8"} {
		refused(t, attach(taken), hcloud.ErrorCodeIPNotAvailable, "IP not available")
	}
	require.NoError(t, attach(""))
	require.Equal(t, "10.0.1.1", b.find(t, "other").PrivateNet[0].IP.String())

	_, _, err = b.Network.DeleteSubnet(t.Context(), inside, hcloud.NetworkDeleteSubnetOpts{Subnet: hcloud.NetworkSubnet{IPRange: cidr("10.0.1.0/24")}})
	refused(t, err, hcloud.ErrorCodeServiceError, "servers are attached")
	found, _, err := b.Network.GetByID(t.Context(), inside.ID)
	require.NoError(t, err)
	require.Len(t, found.Servers, 2)
	_, err = b.Network.Delete(t.Context(), inside)
	require.NoError(t, err)
	require.Empty(t, b.find(t, "other").PrivateNet, "servers are taken out of it")
}

func TestProtectedNetwork(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	made := b.privateNet(t)
	action, _, err := b.Network.ChangeProtection(t.Context(), made, hcloud.NetworkChangeProtectionOpts{Delete: hcloud.Ptr(true)})
	b.wait(t, err, action)
	_, err = b.Network.Delete(t.Context(), made)
	refused(t, err, hcloud.ErrorCodeProtected, "network deletion is protected")
}
