package storage

import (
	"context"
	"path/filepath"
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
		require.Equal(t, 1, lab.proxmox.Count())
	}
	for range 2 {
		_, err := controller.DeleteVolume(t.Context(), &csi.DeleteVolumeRequest{VolumeId: "r1/z1/data/vm-9999-pvc-1"})
		require.NoError(t, err)
		require.Zero(t, lab.proxmox.Count())
	}
	facts, _ := lab.timeline.After(0)
	require.Equal(t, "created", facts[0].Value)
	require.Equal(t, "deleted", facts[len(facts)-1].Value)
}

func TestVolumesTakeRoom(t *testing.T) {
	lab := startProxmox(t)
	controller := csi.NewControllerClient(lab.connection)
	_, err := controller.CreateVolume(t.Context(), ask("pvc-1", nil))
	require.NoError(t, err)
	for host, want := range map[string]int64{"z1": room - 2*gib, "z2": room} {
		capacity, err := controller.GetCapacity(t.Context(), &csi.GetCapacityRequest{
			AccessibleTopology: &csi.Topology{Segments: map[string]string{region: "r1", zone: host}},
			Parameters:         map[string]string{"storage": "data"},
		})
		require.NoError(t, err)
		require.Equal(t, want, capacity.GetAvailableCapacity())
	}
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
			require.Equal(t, i == test.player, program.Plays(&corev1.Pod{}, test.container), "%s, program %d", name, i)
		}
	}
	require.False(t, Programs(Options{})[0].Plays(&corev1.Pod{}, corev1.Container{Image: "csi-provisioner"}), "without its binary")
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
	proxmox    *Proxmox
	timeline   *timeline.Timeline
}

// startProxmox runs the driver's program as a container, and connects.
func startProxmox(t *testing.T) proxmoxLab {
	t.Helper()
	lab := proxmoxLab{proxmox: NewProxmox(), timeline: timeline.New(time.Now, nil)}
	dir := t.TempDir()
	program := Programs(Options{Dir: dir, Proxmox: lab.proxmox, Timeline: lab.timeline})[2]
	socket := runProgram(t, program, dir, nil)
	lab.connection = connect(t, socket)
	return lab
}

// runProgram runs a controller until the test ends, and returns its socket.
func runProgram(t *testing.T, program cluster.Program, dir string, env map[string]string) string {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "controller", UID: "uid"}}
	ready, ended := make(chan struct{}), make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		ended <- program.Run(ctx, cluster.Run{Pod: pod, Env: env, Ready: func() { close(ready) }})
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
