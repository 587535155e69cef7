package storage

import (
	"context"
	"fmt"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/cluster"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/pace"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

const region, zone = corev1.LabelTopologyRegion, corev1.LabelTopologyZone

func TestTheDriverSaysWhatItIs(t *testing.T) {
	lab := startProxmox(t)
	identity := csi.NewIdentityClient(lab.connection)
	info, err := identity.GetPluginInfo(t.Context(), &csi.GetPluginInfoRequest{})
	require.NoError(t, err)
	require.Equal(t, ProxmoxDriver, info.GetName())
	probe, err := identity.Probe(t.Context(), &csi.ProbeRequest{})
	require.NoError(t, err)
	require.True(t, probe.GetReady().GetValue())
	capabilities, err := identity.GetPluginCapabilities(t.Context(), &csi.GetPluginCapabilitiesRequest{})
	require.NoError(t, err)
	require.Len(t, capabilities.GetCapabilities(), 2)
	able, err := csi.NewControllerClient(lab.connection).ControllerGetCapabilities(t.Context(), &csi.ControllerGetCapabilitiesRequest{})
	require.NoError(t, err)
	require.Len(t, able.GetCapabilities(), 2)
	require.Equal(t, csi.ControllerServiceCapability_RPC_CREATE_DELETE_VOLUME, able.GetCapabilities()[0].GetRpc().GetType())
	require.Equal(t, csi.ControllerServiceCapability_RPC_GET_CAPACITY, able.GetCapabilities()[1].GetRpc().GetType())
}

func TestVolumesComeAndGo(t *testing.T) {
	lab := startProxmox(t)
	controller := csi.NewControllerClient(lab.connection)
	for range 2 {
		created, err := controller.CreateVolume(t.Context(), ask("pvc-1", nil))
		require.NoError(t, err)
		require.Equal(t, "r1/z1/data/vm-9999-pvc-1", created.GetVolume().GetVolumeId())
		require.EqualValues(t, 2*gib, created.GetVolume().GetCapacityBytes())
		require.Equal(t, map[string]string{region: "r1", zone: "z1"}, created.GetVolume().GetAccessibleTopology()[0].GetSegments())
		require.Equal(t, []string{"z1: data:vm-9999-pvc-1"}, lab.disks())
	}
	for range 2 {
		_, err := controller.DeleteVolume(t.Context(), &csi.DeleteVolumeRequest{VolumeId: "r1/z1/data/vm-9999-pvc-1"})
		require.NoError(t, err)
		require.Empty(t, lab.disks())
	}
	facts, _ := lab.timeline.After(0)
	var volumes []string
	for _, fact := range facts {
		if fact.What == "volume" {
			volumes = append(volumes, fact.Value)
		}
	}
	require.Equal(t, []string{"created", "created", "deleted", "deleted"}, volumes)
}

func TestVolumesTakeRoom(t *testing.T) {
	lab := startProxmox(t)
	controller := csi.NewControllerClient(lab.connection)
	_, err := controller.CreateVolume(t.Context(), ask("pvc-1", nil))
	require.NoError(t, err)
	free := map[string]int64{}
	for _, host := range []string{"z1", "z2"} {
		capacity, err := controller.GetCapacity(t.Context(), &csi.GetCapacityRequest{
			AccessibleTopology: &csi.Topology{Segments: map[string]string{region: "r1", zone: host}},
			Parameters:         map[string]string{"storage": "data"},
		})
		require.NoError(t, err)
		free[host] = capacity.GetAvailableCapacity()
	}
	require.EqualValues(t, 2*gib, free["z2"]-free["z1"])
}

func TestVolumesThatCannotBe(t *testing.T) {
	lab := startProxmox(t)
	controller := csi.NewControllerClient(lab.connection)
	_, err := controller.CreateVolume(t.Context(), ask("taken", nil))
	require.NoError(t, err)
	for name, test := range map[string]struct {
		change func(*csi.CreateVolumeRequest)
		code   codes.Code
		want   string
	}{
		"without a name":         {func(r *csi.CreateVolumeRequest) { r.Name = "" }, codes.InvalidArgument, "missing name"},
		"without a capability":   {func(r *csi.CreateVolumeRequest) { r.VolumeCapabilities = nil }, codes.InvalidArgument, "missing volume capabilities"},
		"on many nodes at once":  {func(r *csi.CreateVolumeRequest) { r.VolumeCapabilities[0].AccessMode.Mode = 5 }, codes.InvalidArgument, "access mode MULTI_NODE_MULTI_WRITER is not supported"},
		"without a storage":      {func(r *csi.CreateVolumeRequest) { r.Parameters = nil }, codes.Internal, "the StorageClass has no parameter storage"},
		"without a place":        {func(r *csi.CreateVolumeRequest) { r.AccessibilityRequirements = nil }, codes.Internal, "no node says its region and zone"},
		"too small to be":        {func(r *csi.CreateVolumeRequest) { r.CapacityRange.LimitBytes = gib }, codes.OutOfRange, "size out of range"},
		"as another that exists": {func(r *csi.CreateVolumeRequest) { r.Name, r.CapacityRange.RequiredBytes = "taken", 5*gib }, codes.AlreadyExists, "volume exists with other properties"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := controller.CreateVolume(t.Context(), ask("pvc", test.change))
			require.Equal(t, test.code, status.Code(err))
			require.ErrorContains(t, err, test.want)
		})
	}
	_, err = controller.DeleteVolume(t.Context(), &csi.DeleteVolumeRequest{})
	require.Equal(t, codes.InvalidArgument, status.Code(err))
}

func TestTheDriverOfProxmoxIsToldItsClusters(t *testing.T) {
	good := newProxmoxLab(t).config
	for name, test := range map[string]struct {
		run  cluster.Run
		want string
	}{
		"nothing is mounted": {cluster.Run{}, "failed to read config: open /etc/proxmox/config.yaml: no such file or directory"},
		"it is elsewhere": {
			cluster.Run{Container: corev1.Container{Args: []string{"--cloud-config=/etc/other.yaml"}}},
			"failed to read config: open /etc/other.yaml: no such file or directory",
		},
		"no clusters":      {cluster.Run{Files: map[string][]byte{"/etc/proxmox/config.yaml": []byte("{}")}}, "there are no clusters in it"},
		"without a secret": {cluster.Run{Files: map[string][]byte{"/etc/proxmox/config.yaml": []byte(strings.ReplaceAll(good, "token_secret", "secret"))}}, "cluster #1: url, token_id, token_secret and region are required"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := newProxmox(test.run)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestAVolumeNeedsAnAccountThatMayMakeIt(t *testing.T) {
	lab := newProxmoxLab(t)
	volumes, err := newProxmox(cluster.Run{Files: map[string][]byte{"/etc/proxmox/config.yaml": []byte(strings.ReplaceAll(lab.config, "csi@pve!csi", "csi@pve!other"))}})
	require.NoError(t, err)
	place := []map[string]string{{region: "r1", zone: "z1"}}
	_, err = volumes.Create(t.Context(), Request{Name: "pvc-1", Parameters: map[string]string{"storage": "data"}, Topologies: place})
	require.EqualError(t, err, "GET /nodes/z1/storage/data/content: 401 no such token 'other' for user 'csi@pve'")
	place[0][region] = "r2"
	_, err = volumes.Create(t.Context(), Request{Name: "pvc-1", Parameters: map[string]string{"storage": "data"}, Topologies: place})
	require.EqualError(t, err, `region "r2" is of none of the clusters in the driver's config`)
}

func TestWhoPlaysWhichContainer(t *testing.T) {
	programs := Programs(Options{Provisioner: "/bin/csi-provisioner"})
	for name, test := range map[string]struct {
		container corev1.Container
		player    int
	}{
		"the provisioner":           {corev1.Container{Image: "registry.example/sig-storage/csi-provisioner:v6.2.0"}, 0},
		"Hetzner's controller":      {corev1.Container{Image: "hetznercloud/hcloud-csi-driver:v2.19.0", Args: []string{"-controller"}}, 1},
		"Hetzner's node plugin":     {corev1.Container{Image: "hetznercloud/hcloud-csi-driver:v2.19.0", Args: []string{"-node"}}, -1},
		"an older node plugin":      {corev1.Container{Image: "hcloud-csi-driver:v2.6.0", Command: []string{"/bin/hcloud-csi-driver-node"}}, -1},
		"the controller of Proxmox": {corev1.Container{Image: "proxmox-csi-controller:v0.18.1"}, 2},
		"the node plugin of it":     {corev1.Container{Image: "proxmox-csi-node:v0.18.1"}, -1},
		"an attacher":               {corev1.Container{Image: "csi-attacher:v4.11.0"}, -1},
	} {
		for i, program := range programs {
			require.Equal(t, i == test.player, program.Handles(&corev1.Pod{}, test.container), "%s, program %d", name, i)
		}
	}
	require.False(t, Programs(Options{})[0].Handles(&corev1.Pod{}, corev1.Container{Image: "csi-provisioner"}), "without its binary")
}

func TestASocketWhoseNameIsTooLong(t *testing.T) {
	long := sockets{dir: "/" + string(make([]byte, 100))}
	_, err := long.of(&corev1.Pod{})
	require.ErrorContains(t, err, "is too long for a socket: 118 characters of at most 107")
}

func TestFlagsThatAreGivenOnlyOnce(t *testing.T) {
	args := []string{"--a=1", "--http-endpoint=:8080", "--metrics-address=:1", "--b"}
	require.Equal(t, []string{"--a=1", "--b"}, unlike(args, "--http-endpoint", "--metrics-address"))
}

type proxmoxLab struct {
	connection *grpc.ClientConn
	proxmox    *proxmox.Cluster
	timeline   *timeline.Timeline
	// config is the driver's config file.
	config string
}

// disks returns the volumes on the hosts' storage for disks.
func (l proxmoxLab) disks() []string { return l.proxmox.Status("").Storages[0].Volumes }

// startProxmox runs the driver's program as a container, and connects.
func startProxmox(t *testing.T) proxmoxLab {
	t.Helper()
	lab := newProxmoxLab(t)
	dir := t.TempDir()
	program := Programs(Options{Dir: dir, Timeline: lab.timeline})[2]
	socket := runProgram(t, program, dir, cluster.Run{Files: map[string][]byte{"/etc/proxmox/config.yaml": []byte(lab.config)}})
	lab.connection = connect(t, socket)
	return lab
}

// newProxmoxLab returns a Proxmox cluster of two hosts that is served.
func newProxmoxLab(t *testing.T) proxmoxLab {
	t.Helper()
	steps, err := pace.New(pace.Fast, 1)
	require.NoError(t, err)
	lab := proxmoxLab{timeline: timeline.New(time.Now, nil)}
	lab.proxmox, err = proxmox.New(proxmox.Options{
		Pace: steps, Faults: fault.NewSet(lab.timeline), Timeline: lab.timeline, Seed: 1, Hosts: []string{"z1", "z2"},
		Storages: []proxmox.Storage{{Name: "data", Content: []string{"images"}}}, Address: netip.MustParseAddr("127.0.0.1"),
	})
	require.NoError(t, err)
	server := httptest.NewTLSServer(lab.proxmox)
	t.Cleanup(func() {
		require.NoError(t, lab.proxmox.Close(context.WithoutCancel(t.Context())))
		server.Close()
	})
	id, secret, _ := strings.Cut(lab.proxmox.AddToken("csi@pve", "csi"), "=")
	lab.config = fmt.Sprintf("clusters: [{url: %s/api2/json, insecure: true, token_id: %s, token_secret: %s, region: r1}]", server.URL, id, secret)
	return lab
}

// runProgram runs a controller until the test ends, and returns its socket.
func runProgram(t *testing.T, program cluster.Program, dir string, run cluster.Run) string {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "controller", UID: "uid"}}
	ready, ended := make(chan struct{}), make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		run.Pod, run.Ready = pod, func() { close(ready) }
		ended <- program.Run(ctx, run)
	}()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatal("the program ended:", err)
	}
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
		left, err := filepath.Glob(filepath.Join(dir, "*"))
		require.NoError(t, err)
		require.Empty(t, left)
	})
	socket, err := sockets{dir: dir}.of(pod)
	require.NoError(t, err)
	return socket
}

func connect(t *testing.T, socket string) *grpc.ClientConn {
	t.Helper()
	connection, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, connection.Close()) })
	return connection
}

func ask(name string, change func(*csi.CreateVolumeRequest)) *csi.CreateVolumeRequest {
	asked := &csi.CreateVolumeRequest{
		Name:          name,
		CapacityRange: &csi.CapacityRange{RequiredBytes: 2*gib - 1},
		VolumeCapabilities: []*csi.VolumeCapability{{
			AccessMode: &csi.VolumeCapability_AccessMode{Mode: csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER},
		}},
		Parameters: map[string]string{"storage": "data"},
		AccessibilityRequirements: &csi.TopologyRequirement{
			Preferred: []*csi.Topology{{Segments: map[string]string{region: "r1", zone: "z1"}}},
			Requisite: []*csi.Topology{{Segments: map[string]string{region: "r2", zone: "z2"}}},
		},
	}
	if change != nil {
		change(asked)
	}
	return asked
}
