package talosapi

import (
	"encoding/base64"
	"net/netip"
	"testing"

	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/siderolabs/talos/pkg/machinery/client"
	clientconfig "github.com/siderolabs/talos/pkg/machinery/client/config"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"
	"github.com/siderolabs/talos/pkg/machinery/resources/block"
	"github.com/siderolabs/talos/pkg/machinery/resources/cluster"
	"github.com/siderolabs/talos/pkg/machinery/resources/network"
	"github.com/siderolabs/talos/pkg/machinery/role"
)

func encode(pem []byte) string { return base64.StdEncoding.EncodeToString(pem) }

func connect(t *testing.T, config *clientconfig.Config) *client.Client {
	t.Helper()
	c, err := client.New(t.Context(), client.WithConfig(config))
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestControlPlanePassesCallsOn(t *testing.T) {
	l := newLab(t)
	one, two := l.configured("1.13.8", machine.TypeControlPlane), l.configured("1.13.8", machine.TypeWorker)
	first, second := one.addresses[0].String(), two.addresses[0].String()
	c := l.client(one, role.Reader)

	response, err := c.MachineClient.Hostname(client.WithNodes(within(t), first, second), &emptypb.Empty{})
	require.NoError(t, err)
	got := map[string]string{}
	for _, message := range response.GetMessages() {
		got[message.GetMetadata().GetHostname()] = message.GetHostname()
	}
	require.Equal(t, map[string]string{first: one.host, second: two.host}, got)

	disk, err := safe.StateGetByID[*block.Disk](client.WithNode(within(t), second), c.COSI, "sda")
	require.NoError(t, err)
	require.Equal(t, "/dev/sda", disk.TypedSpec().DevPath)

	// The roles go along.
	err = c.Reboot(client.WithNode(within(t), second))
	require.Equal(t, codes.PermissionDenied, status.Code(err))

	// A node that is not there is one error among answers.
	response, err = client.FilterMessages(c.MachineClient.Hostname(client.WithNodes(within(t), first, "127.50.255.254"), &emptypb.Empty{}))
	require.ErrorContains(t, err, "127.50.255.254: rpc error: code = Unavailable")
	require.ErrorContains(t, err, "dial tcp 127.50.255.254:50000: connect: connection refused")
	require.Len(t, response.GetMessages(), 1)
}

func TestControlPlaneFindsMembersByName(t *testing.T) {
	l := newLab(t)
	one, two := l.configured("1.13.8", machine.TypeControlPlane), l.configured("1.13.8", machine.TypeControlPlane)
	member := cluster.NewMember(cluster.NamespaceName, two.host)
	member.TypedSpec().Hostname, member.TypedSpec().Addresses = two.host, two.addresses
	require.NoError(t, one.resources.Create(t.Context(), member))
	c := l.client(one, role.Reader)

	// The certificate of the test is for the address alone: the name was found.
	_, err := c.MachineClient.Hostname(client.WithNode(within(t), two.host), &emptypb.Empty{})
	require.ErrorContains(t, err, "tls: failed to verify certificate")
	_, err = c.MachineClient.Hostname(client.WithNode(within(t), "nobody"), &emptypb.Empty{})
	require.ErrorContains(t, err, "no such host")
}

func TestWorkerPassesNothingOn(t *testing.T) {
	l := newLab(t)
	f := l.configured("1.13.8", machine.TypeWorker)
	hostname := network.NewHostnameStatus(network.NamespaceName, network.HostnameID)
	hostname.TypedSpec().Hostname, hostname.TypedSpec().Domainname = "worker", "lab"
	require.NoError(t, f.resources.Create(t.Context(), hostname))
	c := l.client(f, role.Reader)
	for target, want := range map[string]codes.Code{
		f.addresses[0].String(): codes.OK,
		"worker":                codes.OK,
		"worker.lab":            codes.OK,
		"127.50.255.254":        codes.PermissionDenied,
	} {
		_, err := c.Version(client.WithNode(within(t), target))
		require.Equal(t, want, status.Code(err), "%s: %v", target, err)
		if err != nil {
			require.Equal(t, "no request forwarding", status.Convert(err).Message())
		}
	}
}

func TestResourcesOfManyNodes(t *testing.T) {
	l := newLab(t)
	for version, text := range map[string]string{
		"1.12.6": "one-2-many proxying is not supported for COSI methods",
		"1.13.8": "one-2-many proxying is not supported for method /cosi.resource.State/List",
	} {
		f := l.configured(version, machine.TypeControlPlane)
		_, err := safe.StateListAll[*block.Disk](client.WithNodes(within(t), f.addresses[0].String()), l.client(f, role.Reader).COSI)
		require.Equal(t, codes.InvalidArgument, status.Code(err), "%s: %v", version, err)
		require.ErrorContains(t, err, text)
	}
}

func TestNearest(t *testing.T) {
	private, public, six := netip.MustParseAddr("10.0.0.11"), netip.MustParseAddr("198.51.100.4"), netip.MustParseAddr("2001:db8::1")
	own := []netip.Addr{public, private, six}
	for target, want := range map[string]netip.Addr{
		"10.0.0.12":    private,
		"198.51.100.9": public,
		"2001:db8::2":  six,
	} {
		require.Equal(t, want, nearest(own, netip.MustParseAddr(target)), target)
	}
	require.False(t, nearest(own[:2], netip.MustParseAddr("::1")).IsValid())
}
