package lab

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/daemon"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/factory"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

func parts(t *testing.T, versions ...string) daemon.Parts {
	t.Helper()
	fast, err := pace.New(pace.Fast, 1)
	require.NoError(t, err)
	return daemon.Parts{Config: daemon.Config{Versions: versions}, Pace: fast, Timeline: timeline.New(time.Now, nil)}
}

func TestImagesAreThoseOfTheFactory(t *testing.T) {
	images, err := newFactory(parts(t, "1.12.6"))
	require.NoError(t, err)
	require.NoError(t, images.Has("1.12.6", factory.DefaultSchematic, "amd64"))
	require.EqualError(t, images.Has("1.13.8", factory.DefaultSchematic, "amd64"), "there is no Talos 1.13.8")
	require.Error(t, images.Has("1.12.6", "0000", "amd64"))
	require.Empty(t, images.extensions("0000", "1.12.6"))
}

func TestTheCloudHasTheNewestTalosOfEachMinorRelease(t *testing.T) {
	images, err := newFactory(parts(t))
	require.NoError(t, err)
	var labels []map[string]string
	for _, snapshot := range images.snapshots(nil) {
		labels = append(labels, snapshot.Labels)
	}
	require.Equal(t, []map[string]string{{"os": "talos", "version": "1.12.6"}, {"os": "talos", "version": "1.13.8"}, {"os": "talos", "version": "1.14.1"}}, labels)
	require.Empty(t, images.snapshots([]daemon.Snapshot{}), "none were asked for")
}

func TestOnlyVersionsThatTheLabCanSimulate(t *testing.T) {
	_, err := newFactory(parts(t, "1.13.8", "1.9.0"))
	require.EqualError(t, err, "versions: the lab cannot simulate Talos 1.9.0; it can simulate 1.12.0 to 1.14.1")
	all, err := newFactory(parts(t))
	require.NoError(t, err)
	require.Equal(t, versions, all.versions)
}

func TestASnapshotBringsItsSchematicAlong(t *testing.T) {
	images, err := newFactory(parts(t))
	require.NoError(t, err)
	const id = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515"
	require.Error(t, images.Has("1.13.8", id, "amd64"))
	customization := "customization:\n    systemExtensions:\n        officialExtensions:\n            - siderolabs/qemu-guest-agent\n"
	require.NoError(t, images.learn(id, customization))
	require.NoError(t, images.Has("1.13.8", id, "amd64"))
	require.Equal(t, "siderolabs/qemu-guest-agent", images.extensions(id, "1.13.8")[0].Name)
	require.ErrorContains(t, images.learn("abc", customization), "its customization is that of schematic "+id+", not of abc")
	require.Error(t, images.learn(id, "customization: 1"))
	require.NoError(t, images.learn("abc", ""), "there is no customization to upload")
}

func TestAnImageHasTheMETAOfItsSchematic(t *testing.T) {
	images, err := newFactory(parts(t))
	require.NoError(t, err)
	id, err := images.Upload([]byte("customization:\n    meta:\n        - key: 10\n          value: 'addresses: []'\n"))
	require.NoError(t, err)
	meta, err := images.meta(id)
	require.NoError(t, err)
	require.Equal(t, map[uint8]string{10: "addresses: []"}, meta)
	_, err = images.meta("abc")
	require.Error(t, err)
}

func TestANetworkHasOneRouter(t *testing.T) {
	lans := newLANs(nil, nil)
	one, err := lans.server(netip.MustParsePrefix("10.0.0.11/16"), netip.MustParseAddr("10.0.0.1"))
	require.NoError(t, err)
	same, err := lans.server(netip.MustParsePrefix("10.0.0.0/16"), netip.MustParseAddr("10.0.0.1"))
	require.NoError(t, err)
	require.Same(t, one, same)
	_, err = lans.server(netip.MustParsePrefix("10.0.0.0/16"), netip.MustParseAddr("10.0.0.2"))
	require.ErrorContains(t, err, "has the gateway 10.0.0.1")
	_, err = lans.server(netip.MustParsePrefix("10.1.0.0/16"), netip.MustParseAddr("10.0.0.1"))
	require.ErrorContains(t, err, "the DHCP server of network 10.1.0.0/16")
	require.NoError(t, one.Reserve("02:00:00:00:00:01", netip.MustParseAddr("10.0.0.11")))
	require.Len(t, lans.leases(), 1)
}

func TestTheHostsKubeconfigLeadsThroughTheLabsPort(t *testing.T) {
	config, err := forHost([]byte(`{apiVersion: v1, kind: Config, clusters: [{name: c, cluster: {server: "https://10.0.1.5:6443"}}]}`), "127.0.0.1:4711")
	require.NoError(t, err)
	loaded, err := clientcmd.Load(config)
	require.NoError(t, err)
	require.Equal(t, "https://127.0.0.1:4711", loaded.Clusters["c"].Server)
	require.Equal(t, "kubernetes.default.svc", loaded.Clusters["c"].TLSServerName)
	_, err = forHost([]byte("\t"), "127.0.0.1:4711")
	require.ErrorContains(t, err, "the cluster's kubeconfig: ")
}

func TestALabHasTheProxmoxClusterThatItIsAskedFor(t *testing.T) {
	asked := parts(t)
	asked.Faults = fault.NewSet(asked.Timeline)
	asked.Config.Proxmox = &daemon.Proxmox{Address: netip.MustParseAddr("10.0.0.2"), Network: netip.MustParsePrefix("10.0.0.0/16"), Gateway: netip.MustParseAddr("10.0.0.1"), DHCP: true}
	images, err := newFactory(asked)
	require.NoError(t, err)
	networks := newLANs(nil, asked.Timeline)
	made, err := newHome(asked, nil, images, networks, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, made.Close(context.WithoutCancel(t.Context()))) })
	require.Regexp(t, `^sluice@pve!lab=[0-9a-f-]{36}$`, made.env()["PROXMOX_VE_API_TOKEN"])
	require.Equal(t, "https://10.0.0.2:8006", made.env()["PROXMOX_VE_ENDPOINT"])
	require.Equal(t, "pve", made.Status("").Hosts[0].Name)
	require.Len(t, networks.servers, 1, "the router is a DHCP server")

	kept := daemon.Reservation{MAC: "02:00:00:00:00:0b", Address: netip.MustParseAddr("10.0.0.11")}
	asked.Config.Proxmox.Reservations = []daemon.Reservation{kept}
	again, err := newHome(asked, nil, images, networks, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, again.Close(context.WithoutCancel(t.Context()))) })
	leases := networks.leases()
	require.Len(t, leases, 1)
	require.Equal(t, kept, daemon.Reservation{MAC: leases[0].MAC, Address: leases[0].Address})

	asked.Config.Proxmox.Reservations[0].Address = netip.MustParseAddr("10.9.0.11")
	_, err = newHome(asked, nil, images, networks, nil)
	require.EqualError(t, err, "proxmox: reservation for 02:00:00:00:00:0b: 10.9.0.11 is not in 10.0.0.0/16")
}
