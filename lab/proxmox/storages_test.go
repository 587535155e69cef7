package proxmox

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/factory"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/fault"
)

const anImage = "url=https://factory.example.com/image/" + factory.DefaultSchematic + "/v1.13.8/metal-amd64.qcow2"

func TestAnImageComesFromTheFactory(t *testing.T) {
	b := newBench(t)
	told := b.object("/nodes/pve/query-url-metadata", anImage, "verify-certificates=1")
	require.Equal(t, "metal-amd64.qcow2", told["filename"])
	const at = "/nodes/pve/storage/local"
	require.Equal(t, "OK", b.run("POST", at+"/download-url", "content=import", "filename=t.qcow2", anImage))
	require.Equal(t, "refusing to override existing file '/var/lib/vz/import/t.qcow2'", b.run("POST", at+"/download-url", "content=import", "filename=t.qcow2", anImage))
	listed := b.get(at+"/content", "content=import").([]any)
	require.Len(t, listed, 1)
	require.Subset(t, listed[0], map[string]any{"volid": "local:import/t.qcow2", "content": "import", "format": "qcow2", "size": told["size"]})
	require.Equal(t, told["size"], b.object(at + "/content/local:import%2Ft.qcow2")["size"])
	require.Empty(t, b.get("/nodes/pve2/storage/local/content"), "another host has its own files")
	b.refused("500 volume 'local:import/t.qcow2' does not exist", "POST", "/nodes/pve2/qemu", "vmid=300", "scsi0=local-lvm:0,import-from=local:import/t.qcow2")
	require.Equal(t, "OK", b.run("DELETE", at+"/content/local:import%2Ft.qcow2"))
	require.Empty(t, b.get(at+"/content"))
}

func TestWhatIsSharedIsOneForAllHosts(t *testing.T) {
	b := newBench(t, withShared)
	const from, file = "/nodes/pve/storage/nas", "/content/nas:import%2Ft.qcow2"
	require.Equal(t, "OK", b.run("POST", from+"/download-url", "content=import", "filename=t.qcow2", anImage))
	require.Equal(t, "/mnt/pve/nas/import/t.qcow2", b.object("/nodes/pve2/storage/nas" + file)["path"])
	require.Equal(t, b.get(from+"/content"), b.get("/nodes/pve2/storage/nas/content"))
	require.Equal(t, "refusing to override existing file '/mnt/pve/nas/import/t.qcow2'",
		b.run("POST", "/nodes/pve2/storage/nas/download-url", "content=import", "filename=t.qcow2", anImage))
	require.Equal(t, "OK", b.run("POST", "/nodes/pve2/qemu", "vmid=300", "scsi0=ceph:0,import-from=nas:import/t.qcow2"))
	require.Equal(t, "ceph:vm-300-disk-0", b.get("/nodes/pve/storage/ceph/content").([]any)[0].(map[string]any)["volid"])
	require.Subset(t, b.object("/nodes/pve2/storage/nas/status"), map[string]any{"shared": 1.0, "type": "nfs"})
	require.Subset(t, b.object("/nodes/pve2/storage/local/status"), map[string]any{"shared": 0.0, "type": "dir"})
	require.Subset(t, b.object("/storage/ceph"), map[string]any{"shared": 1.0, "type": "rbd"})
	require.NotContains(t, b.object("/storage/local"), "shared")
	require.Contains(t, b.cluster.Status("").Storages[3].Volumes, "nas:import/t.qcow2")
	require.Equal(t, "OK", b.run("DELETE", "/nodes/pve2/storage/nas"+file))
	require.Empty(t, b.get(from+"/content"))
}

func TestWhatCannotBeDownloadedIsSaid(t *testing.T) {
	b := newBench(t)
	const unknown = "url=https://factory.example.com/image/abc/v1.13.8/metal-amd64.qcow2"
	b.refused("500 invalid server response: '404 Not Found'", "GET", "/nodes/pve/query-url-metadata", unknown)
	b.refused("500 invalid server response: '500 Can't connect to example.com (Temporary failure in name resolution)'", "GET", "/nodes/pve/query-url-metadata", "url=https://example.com/talos.qcow2")
	require.Equal(t, "download failed: 404 Not Found", b.run("POST", "/nodes/pve/storage/local/download-url", "content=import", "filename=t.qcow2", unknown))
	b.refused("500 storage 'plain' is not configured for content-type 'import'", "POST", "/nodes/pve/storage/plain/download-url", "content=import", "filename=t.qcow2", anImage)
	b.refused("500 storage 'none' does not exist", "POST", "/nodes/pve/storage/none/download-url", "content=import", "filename=t.qcow2", anImage)
	told := b.refused("400 Parameter verification failed.", "POST", "/nodes/pve/storage/local/download-url", "content=import", "filename=t.raw.xz", anImage)
	require.Equal(t, map[string]string{"filename": "wrong file extension\n"}, told.errors)
	told = b.refused("400 Parameter verification failed.", "POST", "/nodes/pve/storage/local/download-url", "content=import")
	require.Equal(t, map[string]string{"filename": "property is missing and it is not optional\n"}, told.errors)
	told = b.refused("400 Parameter verification failed.", "POST", "/nodes/pve/qemu", "vmid=300", "scsi0=plain:8")
	require.Equal(t, map[string]string{"storage": "storage 'plain' does not support vm images\n"}, told.errors)
}

func TestTheLogOfATaskSaysWhatWentWrong(t *testing.T) {
	b := newBench(t)
	_, err := b.faults.Add(fault.Rule{On: fault.Cloud, Name: "task download", Subject: Subject, Do: fault.Fail, Message: "no space left on device", Times: 1})
	require.NoError(t, err)
	require.Equal(t, "no space left on device", b.run("POST", "/nodes/pve/storage/local/download-url", "content=import", "filename=t.qcow2", anImage))
	last := b.get("/nodes/pve/tasks").([]any)[0].(map[string]any)
	require.Equal(t, "download", last["type"])
	log := b.get("/nodes/pve/tasks/" + last["upid"].(string) + "/log").([]any)
	require.Equal(t, map[string]any{"n": 1.0, "t": "TASK ERROR: no space left on device"}, log[len(log)-1])
}

func TestRequestsCanGoWrong(t *testing.T) {
	b := newBench(t)
	_, err := b.faults.Add(fault.Rule{On: fault.Cloud, Name: "GET /api2/json/version", Subject: Subject, Do: fault.Fail, Code: "503", Message: "try later", Times: 1})
	require.NoError(t, err)
	b.refused("503 try later", "GET", "/version")
	b.get("/version")
}

func TestDisksComeAndGoWhileAMachineRuns(t *testing.T) {
	b := newBench(t)
	b.vm(300, "w-1", b.image("pve", agentSchematic, "metal-amd64.qcow2"))
	require.Equal(t, "OK", b.power(300, "start"))
	box := b.machines.Box(t, "w-1")
	b.do("PUT", "/nodes/pve/qemu/300/config", "scsi1=local-lvm:8,serial=data")
	require.Equal(t, "local-lvm:vm-300-disk-2,serial=data,size=8G", b.object("/nodes/pve/qemu/300/config")["scsi1"])
	b.do("PUT", "/nodes/pve/qemu/300/config", "delete=scsi1")
	require.Equal(t, []string{"on", "disk /dev/sdb 8589934592", "no disk data"}, box.Happened())
	require.Equal(t, "local-lvm:vm-300-disk-2", b.object("/nodes/pve/qemu/300/config")["unused0"])
	b.do("PUT", "/nodes/pve/qemu/300/config", "delete=unused0")
	require.Len(t, b.get("/nodes/pve/storage/local-lvm/content"), 2)
	b.refused("500 cannot remove volume 'local-lvm:vm-300-disk-1' - it is in use by VM 300", "DELETE", "/nodes/pve/storage/local-lvm/content/vm-300-disk-1")
	b.refused("500 shrinking disks is not supported", "PUT", "/nodes/pve/qemu/300/resize", "disk=scsi0", "size=512M")
	b.refused("500 disk 'scsi5' does not exist", "PUT", "/nodes/pve/qemu/300/resize", "disk=scsi5", "size=+1G")
}

func TestADiskThatNoMachineHas(t *testing.T) {
	b := newBench(t)
	const at = "/nodes/pve/storage/local-lvm/content"
	require.Equal(t, "local-lvm:vm-9999-pvc-1", b.do("POST", at, "vmid=9999", "filename=vm-9999-pvc-1", "size=1048576"))
	require.Subset(t, b.get(at).([]any)[0], map[string]any{"volid": "local-lvm:vm-9999-pvc-1", "vmid": 9999.0, "size": float64(1 << 30)})
	b.refused("500 unable to create image: 'local-lvm:vm-9999-pvc-1' already exists", "POST", at, "vmid=9999", "filename=vm-9999-pvc-1", "size=1G")
	b.refused("500 illegal name 'pvc-1' - should be 'vm-9999-*'", "POST", at, "vmid=9999", "filename=pvc-1", "size=1G")
	b.refused("500 storage 'local' does not support vm images", "POST", "/nodes/pve/storage/local/content", "vmid=9999", "filename=vm-9999-pvc-1", "size=1G")
	require.Equal(t, "OK", b.run("DELETE", at+"/local-lvm:vm-9999-pvc-1"))
	require.Empty(t, b.get(at))
}
