package proxmox

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
)

func TestALifeOfAMachine(t *testing.T) {
	b := newBench(t)
	image := b.image("pve", agentSchematic, "metal-amd64.qcow2")
	b.vm(300, "cp-1", image, "tags=a;b", "onboot=1")

	config := b.object("/nodes/pve/qemu/300/config")
	require.Subset(t, config, map[string]any{
		"name": "cp-1", "cores": 2.0, "memory": "4096", "agent": "enabled=1", "onboot": 1.0, "tags": "a;b", "boot": "order=scsi0",
		"efidisk0": "local-lvm:vm-300-disk-0,efitype=4m,size=4M", "scsi0": "local-lvm:vm-300-disk-1,discard=on,size=1G",
		"net0": "virtio=BC:24:11:00:00:01,bridge=vmbr0",
	})
	require.Regexp(t, "^uuid=[0-9a-f-]{36}$", config["smbios1"])
	require.Equal(t, "stopped", b.object("/nodes/pve/qemu/300/status/current")["status"])

	require.Equal(t, "OK", b.run("PUT", "/nodes/pve/qemu/300/resize", "disk=scsi0", "size=42949672960"))
	require.Equal(t, "local-lvm:vm-300-disk-1,discard=on,size=40G", b.object("/nodes/pve/qemu/300/config")["scsi0"])

	require.Equal(t, "OK", b.power(300, "start", "timeout=1800"))
	box := b.machines.Box(t, "cp-1")
	require.Equal(t, []string{"on"}, box.Happened())
	spec := box.Spec
	require.Equal(t, "metal", spec.Platform)
	require.Equal(t, machine.Image{Talos: "1.13.8", Schematic: "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515", Installed: true}, spec.Image)
	require.Equal(t, []machine.NIC{{Name: "enp6s18", MAC: "bc:24:11:00:00:01", DHCP: true}}, spec.NICs)
	require.Len(t, spec.Disks, 1)
	require.Equal(t, uint64(40<<30), spec.Disks[0].Bytes)
	require.Equal(t, "/dev/sda", spec.Disks[0].Device)
	require.Equal(t, config["smbios1"], "uuid="+spec.UUID)
	status := b.object("/nodes/pve/qemu/300/status/current")
	require.Equal(t, "running", status["status"])
	require.Equal(t, "VM 300 already running", b.power(300, "start"))

	b.refused("500 VM 300 is running - destroy failed", "DELETE", "/nodes/pve/qemu/300")
	require.Equal(t, "OK", b.power(300, "stop"))
	require.Equal(t, "OK", b.run("DELETE", "/nodes/pve/qemu/300/", "purge=1", "destroy-unreferenced-disks=1"))
	require.Equal(t, []string{"off", "delete"}, box.Happened())
	require.Empty(t, b.get("/cluster/resources", "type=vm"))
	require.Empty(t, b.get("/nodes/pve/storage/local-lvm/content"))
	b.refused("500 Configuration file 'nodes/pve/qemu-server/300.conf' does not exist", "GET", "/nodes/pve/qemu/300/status/current")
	require.Equal(t, []string{"stopped", "running", "stopped", "deleted"}, b.values("cp-1", "vm"))
}

// values returns those of one kind of fact about a subject.
func (b *bench) values(subject, what string) []string {
	facts, _ := b.timeline.After(0)
	var found []string
	for _, fact := range facts {
		if fact.Subject == subject && fact.What == what {
			found = append(found, fact.Value)
		}
	}
	return found
}

func TestAnIDIsTakenOnce(t *testing.T) {
	b := newBench(t)
	b.do("POST", "/nodes/pve/qemu", "vmid=300")
	b.refused("500 unable to create VM 300 - VM 300 already exists on node 'pve'", "POST", "/nodes/pve2/qemu", "vmid=300")
	require.Equal(t, "100", b.get("/cluster/nextid"))
	told := b.refused("400 Parameter verification failed.", "GET", "/cluster/nextid", "vmid=300")
	require.Equal(t, map[string]string{"vmid": "VM 300 already exists\n"}, told.errors)
}

func TestAMachineThatCannotBeMadeLeavesNothing(t *testing.T) {
	b := newBench(t)
	image := b.image("pve", agentSchematic, "metal-amd64.qcow2")
	b.machines.Fail(errors.New("no room"))
	require.Equal(t, "no room", b.run("POST", "/nodes/pve/qemu", "vmid=300", "scsi0=local-lvm:0,import-from="+image, "boot=order=scsi0", "start=1"))
	require.Empty(t, b.get("/cluster/resources", "type=vm"))
	require.Empty(t, b.get("/nodes/pve/storage/local-lvm/content"))
}

func TestWhatARunningMachineCannotTakeWaits(t *testing.T) {
	b := newBench(t)
	b.vm(300, "cp-1", b.image("pve", agentSchematic, "metal-amd64.qcow2"))
	require.Equal(t, "OK", b.power(300, "start"))
	box := b.machines.Box(t, "cp-1")
	b.do("PUT", "/nodes/pve/qemu/300/config", "memory=8192", "cores=4", "tags=x", "net0=virtio=BC:24:11:00:00:02,bridge=vmbr0")
	require.Equal(t, []string{"on", "detach bc:24:11:00:00:01", "attach enp6s18 bc:24:11:00:00:02"}, box.Happened())
	require.Equal(t, "8192", b.object("/nodes/pve/qemu/300/config")["memory"])
	require.Subset(t, b.object("/nodes/pve/qemu/300/config", "current=1"), map[string]any{"memory": "4096", "cores": 2.0, "tags": "x"})
	require.Contains(t, b.get("/nodes/pve/qemu/300/pending"), map[string]any{"key": "memory", "value": "4096", "pending": "8192"})
	require.Equal(t, 2.0, b.object("/nodes/pve/qemu/300/status/current")["cpus"])

	require.Equal(t, "OK", b.power(300, "stop"))
	require.Equal(t, "OK", b.power(300, "start"))
	require.Equal(t, []string{"off", "hardware 4 8192 1", "on"}, box.Happened())
	require.Equal(t, 4.0, b.object("/nodes/pve/qemu/300/status/current")["cpus"])
}

func TestAConfigThatSomebodyChangedIsNotOverwritten(t *testing.T) {
	b := newBench(t)
	b.vm(300, "cp-1", b.image("pve", agentSchematic, "metal-amd64.qcow2"))
	digest := b.object("/nodes/pve/qemu/300/config")["digest"].(string)
	b.do("PUT", "/nodes/pve/qemu/300/config", "tags=x", "digest="+digest)
	b.refused("500 detected modified configuration - file changed by other user? Try again.", "PUT", "/nodes/pve/qemu/300/config", "tags=y", "digest="+digest)
}

func TestParametersAreVerified(t *testing.T) {
	b := newBench(t)
	for parameter, message := range map[string]string{
		"colour=red":  "property is not defined in schema and the schema does not allow additional properties\n",
		"cores=many":  "type check ('integer') failed - got 'many'\n",
		"bios=uefi":   "value 'uefi' does not have a value in the enumeration 'seabios, ovmf'\n",
		"name=cp_1":   "invalid format - value does not look like a valid DNS name\n",
		"scsi0=disk1": "invalid format - unable to parse drive options\n",
	} {
		told := b.refused("400 Parameter verification failed.", "POST", "/nodes/pve/qemu", "vmid=300", parameter)
		require.Len(t, told.errors, 1)
		for _, text := range told.errors {
			require.Equal(t, message, text)
		}
	}
	b.refused("500 invalid bootorder: device 'scsi0' does not exist'", "POST", "/nodes/pve/qemu", "vmid=300", "boot=order=scsi0")
	b.refused("500 storage 'none' does not exist", "POST", "/nodes/pve/qemu", "vmid=300", "scsi0=none:8")
	b.refused("500 volume 'local:import/x.qcow2' does not exist", "POST", "/nodes/pve/qemu", "vmid=300", "scsi0=local-lvm:0,import-from=local:import/x.qcow2")
	b.refused("501 Method 'POST /nodes/pve/qemu/300/clone' not implemented", "POST", "/nodes/pve/qemu/300/clone")
}

func TestTheGuestAgentAnswersWhereOneRuns(t *testing.T) {
	b := newBench(t)
	b.vm(300, "cp-1", b.image("pve", agentSchematic, "metal-amd64.qcow2"))
	const at = "/nodes/pve/qemu/300/agent/network-get-interfaces"
	b.refused("500 VM 300 is not running", "GET", at)
	require.Equal(t, "OK", b.power(300, "start"))
	b.refused("500 QEMU guest agent is not running", "GET", at)
	b.machines.Box(t, "cp-1").Answer(machine.Guest{Links: []machine.GuestLink{
		{Name: "enp6s18", MAC: "bc:24:11:00:00:01", Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.11/16")}},
	}})
	links := b.object(at)["result"].([]any)
	require.Len(t, links, 1)
	require.Subset(t, links[0], map[string]any{"name": "enp6s18", "hardware-address": "bc:24:11:00:00:01"})
	require.Equal(t, []any{map[string]any{"ip-address": "10.0.0.11", "ip-address-type": "ipv4", "prefix": 16.0}}, links[0].(map[string]any)["ip-addresses"])
	b.do("POST", "/nodes/pve/qemu/300/agent/ping")

	b.do("PUT", "/nodes/pve/qemu/300/config", "agent=enabled=0")
	b.do("POST", "/nodes/pve/qemu/300/agent/ping")
	require.Equal(t, "OK", b.power(300, "stop"))
	require.Equal(t, "OK", b.power(300, "start"))
	b.refused("500 No QEMU guest agent configured", "GET", at)
}

func TestAShutdownGoesThroughTheAgentThatIsPromised(t *testing.T) {
	b := newBench(t)
	b.vm(300, "cp-1", b.image("pve", agentSchematic, "metal-amd64.qcow2"))
	require.Equal(t, "OK", b.power(300, "start"))
	box := b.machines.Box(t, "cp-1")
	require.Equal(t, "VM quit/powerdown failed - got timeout", b.power(300, "shutdown", "timeout=0"))
	require.Equal(t, []string{"on"}, box.Happened(), "nobody pressed the button")
	box.Answer(machine.Guest{})
	require.Equal(t, "OK", b.power(300, "reboot"))
	require.Equal(t, []string{"shutdown", "hardware 2 4096 1", "on"}, box.Happened())
	require.Equal(t, "OK", b.power(300, "shutdown"))
	require.Equal(t, "stopped", b.object("/nodes/pve/qemu/300/status/current")["status"])
	b.refused("500 VM 300 not running", "POST", "/nodes/pve/qemu/300/status/reboot")
}

func TestAddressesByMETAAndByCloudInit(t *testing.T) {
	b := newBench(t)
	meta := "customization:\n    meta:\n        - key: 10\n          value: 'addresses: []'\n"
	b.vm(300, "cp-1", b.image("pve", meta, "metal-amd64.qcow2"))
	require.Equal(t, "OK", b.power(300, "start"))
	require.Equal(t, map[uint8]string{10: "addresses: []"}, b.machines.Box(t, "cp-1").Spec.Meta)

	b.vm(301, "cp-2", b.image("pve", agentSchematic, "nocloud-amd64.qcow2"),
		"ide2=local-lvm:cloudinit", "ipconfig0=ip=10.0.0.12/16,gw=10.0.0.1", "nameserver=10.0.0.1 10.0.0.3")
	require.Equal(t, "local-lvm:vm-301-cloudinit,media=cdrom,size=4M", b.object("/nodes/pve/qemu/301/config")["ide2"])
	require.Equal(t, "OK", b.power(301, "start"))
	spec := b.machines.Box(t, "cp-2").Spec
	require.Equal(t, []machine.NIC{{
		Name: "eth0", MAC: "bc:24:11:00:00:01", Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.12/16")}, Gateway: netip.MustParseAddr("10.0.0.1"),
	}}, spec.NICs)
	require.Equal(t, []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.3")}, spec.Resolvers)
	require.Equal(t, "cp-2", spec.Hostname)
	require.Len(t, spec.Disks, 1)
}

func TestFirmwareBootsWhatItTrusts(t *testing.T) {
	b := newBench(t)
	b.vm(300, "signed-off", b.image("pve", agentSchematic, "metal-amd64.qcow2"), "efidisk0=local-lvm:1,efitype=4m,pre-enrolled-keys=1")
	require.Equal(t, "OK", b.power(300, "start"))
	require.Zero(t, b.machines.Count(), "nothing that Talos runs in")
	require.Equal(t, "running", b.object("/nodes/pve/qemu/300/status/current")["status"])
}

func TestAnotherAddressByCloudInit(t *testing.T) {
	b := newBench(t)
	b.vm(300, "cp-1", b.image("pve", agentSchematic, "nocloud-amd64.qcow2"), "ide2=local-lvm:cloudinit", "ipconfig0=ip=10.0.0.11/16,gw=10.0.0.1")
	require.Equal(t, "OK", b.power(300, "start"))
	b.do("PUT", "/nodes/pve/qemu/300/config", "ipconfig0=ip=10.0.0.12/16,gw=10.0.0.1", "cores=4")
	require.Equal(t, "ip=10.0.0.11/16,gw=10.0.0.1", b.object("/nodes/pve/qemu/300/config", "current=1")["ipconfig0"])
	b.do("PUT", "/nodes/pve/qemu/300/cloudinit")
	current := b.object("/nodes/pve/qemu/300/config", "current=1")
	require.Equal(t, "ip=10.0.0.12/16,gw=10.0.0.1", current["ipconfig0"])
	require.Equal(t, 2.0, current["cores"], "the rest waits")
	require.Equal(t, []string{"on", "detach bc:24:11:00:00:01", "attach eth0 bc:24:11:00:00:01"}, b.machines.Box(t, "cp-1").Happened())
}

func TestAMachineIsKnownByWhatIsSaidOfIt(t *testing.T) {
	b := newBench(t)
	image := b.image("pve", agentSchematic, "metal-amd64.qcow2")
	b.vm(300, "one", image, "smbios1=base64=1,serial=b25lLXNlcmlhbA==,uuid=7d7f3c3e-3b1e-4a55-9d3c-0a8a6cf4f0a1")
	b.vm(301, "two", image, "smbios1=base64=1,serial=dHdv")
	for _, id := range []int{300, 301} {
		require.Equal(t, "OK", b.power(id, "start"))
	}
	one, two := b.machines.Box(t, "one").Spec, b.machines.Box(t, "two").Spec
	require.Equal(t, "one-serial", one.Serial)
	require.Equal(t, "7d7f3c3e-3b1e-4a55-9d3c-0a8a6cf4f0a1", one.UUID)
	require.Equal(t, "two", two.Serial)
	require.Equal(t, "00000000-0000-0000-0000-000000000000", two.UUID)
}
