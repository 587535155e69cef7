package proxmox

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOthersAreServedWhileAMachineEnds(t *testing.T) {
	b := newBench(t)
	image := b.image("pve", agentSchematic, "metal-amd64.qcow2")
	b.vm(300, "cp-1", image)
	require.Equal(t, "OK", b.power(300, "start"))
	require.Equal(t, "OK", b.power(300, "stop"))
	b.do("PUT", "/nodes/pve/qemu/300/config", "scsi0=local-lvm:0,import-from="+image)
	box := b.machines.Box(t, "cp-1")
	deleting, release := box.HoldDeletion()
	started := make(chan string)
	go func() { started <- b.power(300, "start") }()
	<-deleting
	b.get("/version")
	require.Equal(t, "stopped", b.object("/nodes/pve/qemu/300/status/current")["status"])
	release()
	require.Equal(t, "OK", <-started)
	require.NotSame(t, box, b.machines.Box(t, "cp-1"))
	require.Equal(t, "running", b.object("/nodes/pve/qemu/300/status/current")["status"])
}

func TestTheEndWaitsNoLongerThanItMay(t *testing.T) {
	b := newBench(t)
	b.vm(300, "cp-1", b.image("pve", agentSchematic, "metal-amd64.qcow2"))
	require.Equal(t, "OK", b.power(300, "start"))
	_, release := b.machines.Box(t, "cp-1").HoldDeletion()
	defer release()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, b.cluster.Close(ctx), context.DeadlineExceeded)
}
