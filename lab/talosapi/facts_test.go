package talosapi

import (
	"io"
	"testing"
	"time"

	"github.com/rs/xid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/emptypb"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/siderolabs/talos/pkg/machinery/api/common"
	machineapi "github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/client"
	clientconfig "github.com/siderolabs/talos/pkg/machinery/client/config"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"
	"github.com/siderolabs/talos/pkg/machinery/role"
)

func TestFacts(t *testing.T) {
	l := newLab(t)
	f := l.configured("1.12.6", machine.TypeControlPlane)
	c := l.client(f, role.Admin)

	version, err := c.Version(within(t))
	require.NoError(t, err)
	require.Equal(t, "v1.12.6", version.GetMessages()[0].GetVersion().GetTag())
	require.Equal(t, "metal", version.GetMessages()[0].GetPlatform().GetMode())
	require.True(t, version.GetMessages()[0].GetFeatures().GetRbac())

	memory, err := c.Memory(within(t))
	require.NoError(t, err)
	require.Greater(t, memory.GetMessages()[0].GetMeminfo().GetMemtotal(), uint64(3800<<10))
	cpus, err := c.MachineClient.CPUInfo(within(t), &emptypb.Empty{})
	require.NoError(t, err)
	require.Len(t, cpus.GetMessages()[0].GetCpuInfo(), 2)
	stat, err := c.MachineClient.SystemStat(within(t), &emptypb.Empty{})
	require.NoError(t, err)
	require.EqualValues(t, f.Booted().Unix(), stat.GetMessages()[0].GetBootTime())
	disks, err := c.MachineClient.DiskStats(within(t), &emptypb.Empty{})
	require.NoError(t, err)
	require.Equal(t, "sda", disks.GetMessages()[0].GetDevices()[0].GetName())
	processes, err := c.Processes(within(t))
	require.NoError(t, err)
	require.Len(t, processes.GetMessages()[0].GetProcesses(), 4, "init and the services that run")
	containers, err := c.Containers(within(t), "k8s.io", common.ContainerDriver_CRI)
	require.NoError(t, err)
	require.Equal(t, "k8s.io/one", containers.GetMessages()[0].GetContainers()[0].GetId())
	_, err = c.Containers(within(t), "system", common.ContainerDriver_CRI)
	require.ErrorContains(t, err, "CRI inspector is supported only for K8s namespace")
	clock, err := c.Time(within(t))
	require.NoError(t, err)
	require.Equal(t, "time.cloudflare.com", clock.GetMessages()[0].GetServer())

	require.NoError(t, c.MetaWrite(within(t), 12, []byte("value")))
	require.Equal(t, "value", f.Meta()[12])
	require.NoError(t, c.MetaDelete(within(t), 12))
	require.Equal(t, codes.NotFound, status.Code(c.MetaDelete(within(t), 12)))
}

func TestClientConfigs(t *testing.T) {
	l := newLab(t)
	f := l.configured("1.13.8", machine.TypeControlPlane)
	c := l.client(f, role.Admin)
	kubeconfig, err := c.Kubeconfig(within(t))
	require.NoError(t, err)
	parsed, err := clientcmd.Load(kubeconfig)
	require.NoError(t, err)
	require.Equal(t, "https://127.0.0.1:6443", parsed.Clusters["lab"].Server)

	generated, err := c.GenerateClientConfiguration(within(t), &machineapi.GenerateClientConfigurationRequest{
		Roles: []string{string(role.Reader)}, CrtTtl: durationpb.New(time.Hour),
	})
	require.NoError(t, err)
	config, err := clientconfig.FromBytes(generated.GetMessages()[0].GetTalosconfig())
	require.NoError(t, err)
	config.Contexts[config.Context].Endpoints = []string{f.addresses[0].String()}
	reader := connect(t, config)
	_, err = reader.Version(within(t))
	require.NoError(t, err)
	require.Equal(t, codes.PermissionDenied, status.Code(reader.Reboot(within(t))))
}

func TestFiles(t *testing.T) {
	l := newLab(t)
	c := l.client(l.configured("1.13.8", machine.TypeWorker), role.Admin)
	read := func(name string) (string, error) {
		reader, err := c.Read(within(t), name)
		require.NoError(t, err)
		content, err := io.ReadAll(reader)
		return string(content), err
	}
	content, err := read("/proc/sys/kernel/random/boot_id")
	require.NoError(t, err)
	require.Equal(t, "first\n", content)
	_, err = read("/etc/shadow")
	require.Equal(t, codes.NotFound, status.Code(err))
	require.ErrorContains(t, err, "stat /etc/shadow: file does not exist")

	list, err := c.LS(within(t), &machineapi.ListRequest{Root: "/proc/sys/kernel/random/boot_id"})
	require.NoError(t, err)
	info, err := list.Recv()
	require.NoError(t, err)
	require.EqualValues(t, 6, info.GetSize())
	usage, err := c.DiskUsage(within(t), &machineapi.DiskUsageRequest{Paths: []string{"/proc/sys/kernel/random/boot_id", "/nope"}})
	require.NoError(t, err)
	used, err := usage.Recv()
	require.NoError(t, err)
	require.EqualValues(t, 6, used.GetSize())
	used, err = usage.Recv()
	require.NoError(t, err)
	require.Contains(t, used.GetError(), "file does not exist")
}

func TestLogs(t *testing.T) {
	l := newLab(t)
	f := l.configured("1.13.8", machine.TypeWorker)
	c := l.client(f, role.Reader)
	for name, want := range map[string]struct {
		namespace, id string
		tail          int32
		text, failure string
	}{
		"all":               {"system", "kubelet", -1, "one\ntwo\nthree\n", ""},
		"tail":              {"system", "kubelet", 1, "three\n", ""},
		"container":         {"k8s.io", "k8s.io/one", -1, "container\n", ""},
		"no such container": {"k8s.io", "nope", -1, "", `container "nope" not found`},
		"no such service":   {"system", "nope", -1, "", `log "nope" was not registered`},
	} {
		stream, err := c.Logs(within(t), want.namespace, common.ContainerDriver_CONTAINERD, want.id, false, want.tail)
		require.NoError(t, err)
		text, err := drain(stream)
		require.Equal(t, want.text, text, name)
		if want.failure != "" {
			require.ErrorContains(t, err, want.failure, name)
		} else {
			require.NoError(t, err, name)
		}
	}
	ids, err := c.LogsContainers(within(t))
	require.NoError(t, err)
	require.Contains(t, ids.GetMessages()[0].GetIds(), "kubelet")

	stream, err := c.Dmesg(within(t), false, false)
	require.NoError(t, err)
	text, err := drain(stream)
	require.NoError(t, err)
	require.Equal(t, "kern: info: [1]: booting\nkern: info: [2]: booted\n", text)
	stream, err = c.Dmesg(within(t), false, true)
	require.NoError(t, err)
	text, err = drain(stream)
	require.NoError(t, err)
	require.Empty(t, text)
}

func drain(stream interface {
	Recv() (*common.Data, error)
}) (string, error) {
	text := ""
	for {
		data, err := stream.Recv()
		if err == io.EOF {
			return text, nil
		}
		if err != nil {
			return text, err
		}
		text += string(data.GetBytes())
	}
}

func TestEvents(t *testing.T) {
	l := newLab(t)
	f := l.configured("1.13.8", machine.TypeWorker)
	for _, actor := range []string{"a", "b", "a"} {
		f.happen(Event{ActorID: actor, Payload: &machineapi.SequenceEvent{Sequence: "boot", Action: machineapi.SequenceEvent_START}})
	}
	c := l.client(f, role.Reader)
	events := make(chan client.EventResult)
	require.NoError(t, c.EventsWatchV2(within(t), events, client.WithTailEvents(-1), client.WithActorID("a")))
	for _, id := range []string{f.events[0].ID, f.events[2].ID} {
		result := <-events
		require.NoError(t, result.Error)
		require.Equal(t, id, result.Event.ID)
		require.Equal(t, "boot", result.Event.Payload.(*machineapi.SequenceEvent).GetSequence())
	}
	f.happen(Event{ActorID: "a", Payload: &machineapi.PhaseEvent{Phase: "new"}})
	require.Equal(t, "new", (<-events).Event.Payload.(*machineapi.PhaseEvent).GetPhase())
}

func TestSelection(t *testing.T) {
	now := time.Now()
	old, recent := Event{ID: xid.NewWithTime(now.Add(-time.Hour)).String()}, Event{ID: xid.NewWithTime(now.Add(time.Second)).String(), ActorID: "a"}
	for name, c := range map[string]struct {
		request *machineapi.EventsRequest
		tail    int
		wanted  []bool
		text    string
	}{
		"new ones":       {&machineapi.EventsRequest{}, 0, []bool{true, true}, ""},
		"last ones":      {&machineapi.EventsRequest{TailEvents: 7}, 7, []bool{true, true}, ""},
		"after an event": {&machineapi.EventsRequest{TailId: old.ID}, -1, []bool{false, true}, ""},
		"of a minute":    {&machineapi.EventsRequest{TailSeconds: 60}, -1, []bool{false, true}, ""},
		"of an actor":    {&machineapi.EventsRequest{WithActorId: "a"}, 0, []bool{false, true}, ""},
		"no id":          {&machineapi.EventsRequest{TailId: "x"}, 0, nil, "error parsing tail_id"},
		"two at once":    {&machineapi.EventsRequest{TailEvents: 1, TailSeconds: 1}, 0, nil, "can't be specified at the same time"},
	} {
		tail, wanted, err := selection(c.request, now)
		if c.text != "" {
			require.ErrorContains(t, err, c.text, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, c.tail, tail, name)
		require.Equal(t, c.wanted, []bool{wanted(old), wanted(recent)}, name)
	}
}
