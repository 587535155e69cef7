package proxmox

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
)

func withShared(options *Options) {
	options.Storages = append(options.Storages, Storage{Name: "nas", Content: []string{"images", "import"}, Shared: true}, Storage{Name: "ceph", Content: []string{"images"}, Shared: true})
}

func (b *bench) migrate(parameters ...string) string {
	b.t.Helper()
	return b.run("POST", "/nodes/pve/qemu/300/migrate", append([]string{"target=pve2", "with-local-disks=1", "online=1"}, parameters...)...)
}

// logOf returns the lines of the last task of a kind.
func (b *bench) logOf(kind string) string {
	b.t.Helper()
	for _, one := range b.get("/nodes/pve/tasks").([]any) {
		if view := one.(map[string]any); view["type"] == kind {
			var lines []string
			for _, line := range b.get("/nodes/pve/tasks/" + url.PathEscape(view["upid"].(string)) + "/log").([]any) {
				lines = append(lines, line.(map[string]any)["t"].(string))
			}
			return strings.Join(lines, "\n")
		}
	}
	b.t.Fatalf("there is no task %s", kind)
	return ""
}

func TestAMachineThatRunsMovesToAnotherHost(t *testing.T) {
	b := newBench(t)
	image := b.image("pve", agentSchematic, "nocloud-amd64.qcow2")
	b.vm(300, "cp-1", image, "ide2=local-lvm:cloudinit", "ipconfig0=ip=10.0.0.11/16,gw=10.0.0.1")
	require.Equal(t, "OK", b.run("POST", "/nodes/pve2/qemu", "vmid=301", "scsi0=local-lvm:8"))
	require.Equal(t, "OK", b.power(300, "start"))
	b.do("PUT", "/nodes/pve/qemu/300/config", "cores=4", "scsi1=local-lvm:8")
	b.do("PUT", "/nodes/pve/qemu/300/config", "delete=scsi1")
	before := b.object("/nodes/pve/qemu/300/config")
	box := b.machines.Box(t, "cp-1")
	box.Happened()

	require.Equal(t, "OK", b.migrate())
	require.Empty(t, box.Happened(), "it does not hear of it")
	b.refused("500 Configuration file 'nodes/pve/qemu-server/300.conf' does not exist", "GET", "/nodes/pve/qemu/300/config")
	after := b.object("/nodes/pve2/qemu/300/config")
	for _, key := range []string{"name", "smbios1", "net0", "scsi0", "efidisk0", "ide2", "cores"} {
		require.Equal(t, before[key], after[key], key)
	}
	require.Equal(t, "local-lvm:vm-300-disk-2", after["unused0"])
	require.Equal(t, "running", b.object("/nodes/pve2/qemu/300/status/current")["status"])
	require.Subset(t, b.get("/cluster/resources", "type=vm").([]any)[0], map[string]any{"vmid": 300.0, "node": "pve2"})
	require.Empty(t, b.get("/nodes/pve/storage/local-lvm/content"))
	require.Len(t, b.get("/nodes/pve2/storage/local-lvm/content"), 5)
	require.Contains(t, b.values("cp-1", "vm"), "migrated")

	require.Equal(t, "OK", b.run("POST", "/nodes/pve2/qemu/300/status/stop"))
	require.Equal(t, "OK", b.run("POST", "/nodes/pve2/qemu/300/status/start"))
	require.Same(t, box, b.machines.Box(t, "cp-1"), "its disk came along")
}

func TestAMachineOnSharedStorageMovesWithoutItsDisks(t *testing.T) {
	b := newBench(t, withShared)
	b.vm(300, "cp-1", b.image("pve", agentSchematic, "metal-amd64.qcow2"), "efidisk0=file=ceph:1", "scsi0=file=nas:0,import-from=local:import/metal-amd64.qcow2")
	require.Equal(t, "OK", b.power(300, "start"))
	before := b.object("/nodes/pve/qemu/300/config")
	require.Equal(t, "nas:300/vm-300-disk-0.raw,size=1G", before["scsi0"])
	require.Equal(t, "OK", b.run("POST", "/nodes/pve/qemu/300/migrate", "target=pve2", "online=1"))
	after := b.object("/nodes/pve2/qemu/300/config")
	require.Equal(t, []any{before["efidisk0"], before["scsi0"]}, []any{after["efidisk0"], after["scsi0"]})
	require.Equal(t, "OK", b.run("POST", "/nodes/pve2/qemu/300/status/stop"))
	require.Equal(t, "OK", b.run("DELETE", "/nodes/pve2/qemu/300"))
	for _, storage := range []string{"nas", "ceph"} {
		require.Empty(t, b.get("/nodes/pve/storage/"+storage+"/content"))
	}
}

func TestWhatKeepsAMachineWhereItIs(t *testing.T) {
	b := newBench(t, three)
	const at = "/nodes/pve/qemu/300/migrate"
	b.vm(300, "cp-1", b.image("pve", agentSchematic, "metal-amd64.qcow2"))
	require.Equal(t, map[string]string{"target": "target is local node.\n"}, b.refused("400 Parameter verification failed.", "POST", at, "target=pve").errors)
	require.Equal(t, map[string]string{"target": "property is missing and it is not optional\n"}, b.refused("400 Parameter verification failed.", "POST", at).errors)
	b.refused("500 no such cluster node 'pve9'", "POST", at, "target=pve9")
	b.refused("500 Configuration file 'nodes/pve2/qemu-server/300.conf' does not exist", "POST", "/nodes/pve2/qemu/300/migrate", "target=pve")
	token := b.account("a@pve", "0")
	require.Equal(t, "403 Permission check failed (/vms/300, VM.Migrate)", b.ask(token, "POST", at, "target=pve2").status)

	require.Equal(t, "OK", b.power(300, "start"))
	b.refused("500 can't migrate running VM without --online", "POST", at, "target=pve2")
	require.Equal(t, "migration aborted", b.run("POST", at, "target=pve2", "online=1"))
	require.Contains(t, b.logOf("qmigrate"), "can't migrate local disk 'local-lvm:vm-300-disk-1': can't live migrate attached local disks without with-local-disks option")

	b.do("POST", "/nodes/pve/storage/local-lvm/content", "vmid=9999", "filename=vm-9999-pvc-1", "size=1G")
	b.do("PUT", "/nodes/pve/qemu/300/config", "scsi1=local-lvm:vm-9999-pvc-1")
	require.Equal(t, "migration aborted", b.migrate())
	require.Contains(t, b.logOf("qmigrate"), "can't migrate local disk 'local-lvm:vm-9999-pvc-1': owned by other VM (owner = VM 9999)")
	b.do("PUT", "/nodes/pve/qemu/300/config", "delete=scsi1")

	id, err := b.faults.Add(fault.Rule{On: fault.Host, Subject: "pve2", Do: fault.Absent})
	require.NoError(t, err)
	b.until("pve2", "host", "down")
	require.Equal(t, "migration aborted", b.migrate())
	require.Contains(t, b.logOf("qmigrate"), "Can't connect to destination address using public key")
	require.NoError(t, b.faults.Remove(id))
	b.until("pve2", "host", "up")
	require.Equal(t, "running", b.object("/nodes/pve/qemu/300/status/current")["status"], "it is where it was")
	require.NotContains(t, b.object("/nodes/pve/qemu/300/config"), "lock")
	require.Equal(t, "OK", b.migrate())
}
