package proxmox

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
)

// until waits for a fact.
func (b *bench) until(subject, what, value string) {
	b.t.Helper()
	for {
		facts, more := b.timeline.After(0)
		for _, fact := range facts {
			if fact.Subject == subject && fact.What == what && fact.Value == value {
				return
			}
		}
		select {
		case <-more:
		case <-time.After(10 * time.Second):
			b.t.Fatalf("%s: no fact %s %q", subject, what, value)
		}
	}
}

func three(options *Options) { options.Hosts = []string{"pve", "pve2", "pve3"} }

func TestAHostThatIsDownTakesItsMachinesAlong(t *testing.T) {
	b := newBench(t, three)
	image := b.image("pve", agentSchematic, "metal-amd64.qcow2")
	b.vm(300, "cp-1", image, "onboot=1")
	b.vm(301, "cp-2", image)
	require.Equal(t, "OK", b.power(300, "start"))
	require.Equal(t, "OK", b.power(301, "start"))
	id, err := b.faults.Add(fault.Rule{On: fault.Host, Subject: "pve", Do: fault.Absent})
	require.NoError(t, err)
	b.until("pve", "host", "down")

	b.refused("595 No route to host", "GET", "/nodes/pve/qemu/300/status/current")
	b.refused("595 No route to host", "DELETE", "/nodes/pve/qemu/300")
	require.Subset(t, b.get("/cluster/resources", "type=vm").([]any)[0], map[string]any{"id": "qemu/300", "status": "unknown", "node": "pve"})
	require.Subset(t, b.get("/cluster/resources", "type=storage").([]any)[0], map[string]any{"id": "storage/pve/local", "status": "unknown"})
	require.Subset(t, b.get("/nodes").([]any)[0], map[string]any{"node": "pve", "status": "offline"})
	require.Equal(t, 3.0, b.get("/cluster/status").([]any)[0].(map[string]any)["nodes"])
	require.Equal(t, 1.0, b.get("/cluster/status").([]any)[0].(map[string]any)["quorate"])
	require.False(t, b.machines.Box(t, "cp-1").Powered())
	b.do("POST", "/nodes/pve2/qemu", "vmid=400")

	require.NoError(t, b.faults.Remove(id))
	b.until("pve", "host", "up")
	require.Equal(t, "running", b.object("/nodes/pve/qemu/300/status/current")["status"], "it starts with its host")
	require.Equal(t, "stopped", b.object("/nodes/pve/qemu/301/status/current")["status"])
}

func TestAHostThatLosesItsPowerBootsAnew(t *testing.T) {
	b := newBench(t, three)
	_, err := b.faults.Add(fault.Rule{On: fault.Host, Subject: "pve2", Do: fault.Crash, Times: 1})
	require.NoError(t, err)
	b.until("pve2", "host", "down")
	b.until("pve2", "host", "up")
	b.do("POST", "/nodes/pve2/qemu", "vmid=400")
}

func TestTheSmallerHalfOfAClusterChangesNothing(t *testing.T) {
	b := newBench(t)
	id, err := b.faults.Add(fault.Rule{On: fault.Host, Subject: "pve2", Do: fault.Absent})
	require.NoError(t, err)
	b.until("pve2", "host", "down")
	b.refused("500 cluster not ready - no quorum?", "POST", "/nodes/pve/qemu", "vmid=300")
	b.get("/nodes/pve/qemu")
	require.NoError(t, b.faults.Remove(id))
	b.until("pve2", "host", "up")
	b.do("POST", "/nodes/pve/qemu", "vmid=300")
}

func TestNobodyAnswersWhereNoHostIsUp(t *testing.T) {
	var mu sync.Mutex
	var doors []bool
	b := newBench(t, func(options *Options) {
		options.Hosts = []string{"pve"}
		options.Door = func(open bool) {
			mu.Lock()
			defer mu.Unlock()
			doors = append(doors, open)
		}
	})
	_, err := b.faults.Add(fault.Rule{On: fault.Host, Do: fault.Crash, Times: 1})
	require.NoError(t, err)
	b.until("pve", "host", "up")
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, []bool{false, true}, doors)
}

func TestAnUnknownHostHasNoAddress(t *testing.T) {
	b := newBench(t)
	b.refused("500 hostname lookup 'pve9' failed - failed to get address info for: pve9: Name or service not known", "GET", "/nodes/pve9/qemu")
}

func TestHostsAreAsTheySay(t *testing.T) {
	b := newBench(t)
	require.Equal(t, "9.1.4", b.object("/version")["version"])
	require.Equal(t, 1.0, b.object("/nodes/pve/status")["cpuinfo"].(map[string]any)["sockets"])
	require.Len(t, b.get("/nodes/pve/network"), 1)
	require.Len(t, b.get("/cluster/resources"), 2+2*3)
	require.Empty(t, b.get("/cluster/ha/resources"))
	status := b.cluster.Status("https://10.0.0.2:8006")
	require.Equal(t, []HostStatus{{Name: "pve", Up: true}, {Name: "pve2", Up: true}}, status.Hosts)
	require.Equal(t, []string{"local", "local-lvm", "plain"}, []string{status.Storages[0].Name, status.Storages[1].Name, status.Storages[2].Name})
}
