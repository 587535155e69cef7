package lab

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/daemon"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/factory"
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
	require.Equal(t, []map[string]string{{"os": "talos", "version": "1.12.6"}, {"os": "talos", "version": "1.13.8"}}, labels)
	require.Empty(t, images.snapshots([]daemon.Snapshot{}), "none were asked for")
}

func TestOnlyVersionsThatTheLabCanPlay(t *testing.T) {
	_, err := newFactory(parts(t, "1.13.8", "1.9.0"))
	require.EqualError(t, err, "versions: the lab cannot play Talos 1.9.0; it can play 1.12.0 to 1.13.8")
	all, err := newFactory(parts(t))
	require.NoError(t, err)
	require.Equal(t, versions, all.versions)
}

func TestASnapshotBringsItsSchematicAlong(t *testing.T) {
	images, err := newFactory(parts(t))
	require.NoError(t, err)
	const id = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515"
	require.Error(t, images.Has("1.13.8", id, "amd64"))
	snapshot := daemon.Snapshot{
		Talos: "1.13.8", Schematic: id,
		Customization: "customization:\n    systemExtensions:\n        officialExtensions:\n            - siderolabs/qemu-guest-agent\n",
	}
	require.NoError(t, images.learn(snapshot))
	require.NoError(t, images.Has("1.13.8", id, "amd64"))
	require.Equal(t, "siderolabs/qemu-guest-agent", images.extensions(id, "1.13.8")[0].Name)

	snapshot.Schematic = "abc"
	require.ErrorContains(t, images.learn(snapshot), "its customization is that of schematic "+id+", not of abc")
	snapshot.Customization = "customization: 1"
	require.ErrorContains(t, images.learn(snapshot), "snapshot of Talos 1.13.8: ")
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
