package node

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/safe"
	talosmachine "github.com/siderolabs/talos/pkg/machinery/config/machine"
	"github.com/siderolabs/talos/pkg/machinery/resources/block"
	clusterresource "github.com/siderolabs/talos/pkg/machinery/resources/cluster"
	configresource "github.com/siderolabs/talos/pkg/machinery/resources/config"
	etcdresource "github.com/siderolabs/talos/pkg/machinery/resources/etcd"
	"github.com/siderolabs/talos/pkg/machinery/resources/hardware"
	"github.com/siderolabs/talos/pkg/machinery/resources/k8s"
	"github.com/siderolabs/talos/pkg/machinery/resources/network"
	runtimeresource "github.com/siderolabs/talos/pkg/machinery/resources/runtime"
	timeresource "github.com/siderolabs/talos/pkg/machinery/resources/time"
	"github.com/siderolabs/talos/pkg/machinery/resources/v1alpha1"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/talosapi"
)

func TestResourcesOfAControlPlane(t *testing.T) {
	cfg := configOf(t, talosmachine.TypeControlPlane)
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		n := lab.cluster1("hcloud", cfg).running()
		for _, known := range []struct {
			namespace resource.Namespace
			typ       resource.Type
			ids       []string // those that must be there
		}{
			{block.NamespaceName, block.DiskType, []string{"loop0", "sda"}},
			{block.NamespaceName, block.DeviceType, []string{"loop0", "sda", "sda1", "sda6"}},
			{block.NamespaceName, block.SystemDiskType, []string{"system-disk"}},
			{block.NamespaceName, block.VolumeStatusType, []string{"EPHEMERAL", "META", "STATE"}},
			{block.NamespaceName, block.DiscoveredVolumeType, []string{"sda", "sda1", "sda6"}},
			{network.NamespaceName, network.LinkStatusType, []string{"eth0", "lo"}},
			{network.NamespaceName, network.AddressStatusType, []string{"eth0/198.51.100.1/32", "lo/127.0.0.1/8"}},
			{network.NamespaceName, network.NodeAddressType, []string{"current", "default", "routed"}},
			{network.NamespaceName, network.RouteStatusType, []string{"inet4/172.31.1.1//1024"}},
			{network.NamespaceName, network.HostnameStatusType, []string{"hostname"}},
			{network.NamespaceName, network.ResolverStatusType, []string{"resolvers"}},
			{hardware.NamespaceName, hardware.SystemInformationType, []string{"systeminformation"}},
			{hardware.NamespaceName, hardware.ProcessorType, []string{"CPU-0"}},
			{hardware.NamespaceName, hardware.MemoryModuleType, []string{"DIMM-0"}},
			{runtimeresource.NamespaceName, runtimeresource.PlatformMetadataType, []string{"platformmetadata"}},
			{runtimeresource.NamespaceName, runtimeresource.SecurityStateType, []string{"securitystate"}},
			{runtimeresource.NamespaceName, runtimeresource.KernelCmdlineType, []string{"cmdline"}},
			{runtimeresource.NamespaceName, runtimeresource.MountStatusType, []string{"EPHEMERAL", "STATE"}},
			{runtimeresource.NamespaceName, runtimeresource.MetaKeyType, []string{"0x09"}},
			{runtimeresource.NamespaceName, runtimeresource.UniqueMachineTokenType, []string{"unique-machine-token"}},
			{runtimeresource.NamespaceName, runtimeresource.KernelParamStatusType, []string{"proc.sys.net.ipv4.ip_forward"}},
			{runtimeresource.NamespaceName, runtimeresource.VersionType, []string{"version"}},
			{runtimeresource.NamespaceName, runtimeresource.MachineStatusType, []string{"machine"}},
			{v1alpha1.NamespaceName, timeresource.StatusType, []string{"node"}},
			{v1alpha1.NamespaceName, v1alpha1.ServiceType, []string{"apid", "containerd", "cri", "etcd", "ext-qemu-guest-agent", "kubelet", "machined", "trustd", "udevd"}},
			{clusterresource.NamespaceName, clusterresource.IdentityType, []string{"local"}},
			{clusterresource.NamespaceName, clusterresource.MemberType, []string{"cp-1"}},
			{etcdresource.NamespaceName, etcdresource.SpecType, []string{"etcd"}},
			{etcdresource.NamespaceName, etcdresource.MemberType, []string{"local"}},
			{configresource.NamespaceName, configresource.MachineConfigType, []string{"v1alpha1", "persistent"}},
			{k8s.NamespaceName, k8s.NodenameType, []string{"nodename"}},
			{k8s.NamespaceName, k8s.NodeIPType, []string{"kubelet"}},
			{k8s.NamespaceName, k8s.NodeStatusType, []string{"cp-1"}},
			{k8s.NamespaceName, k8s.StaticPodType, []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler"}},
			{k8s.NamespaceName, k8s.StaticPodStatusType, []string{"kube-system/kube-apiserver-cp-1"}},
		} {
			list, err := n.boot.State.List(t.Context(), resource.NewMetadata(known.namespace, known.typ, "", resource.VersionUndefined))
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, item := range list.Items {
				ids = append(ids, item.Metadata().ID())
			}
			for _, id := range known.ids {
				if !slices.Contains(ids, id) {
					t.Errorf("%s: no %q among %q", known.typ, id, ids)
				}
			}
		}
		if failed := n.grep("controller-runtime", "controller failed"); len(failed) > 0 {
			t.Errorf("controllers that failed:\n%s", strings.Join(failed, "\n"))
		}
	})
}

func TestTypesOfResources(t *testing.T) {
	differ := []string{
		"apiserviceconfigs.runtime.talos.dev", "environments.runtime.talos.dev", "imageverificationrules.security.talos.dev",
		"kubeletkubeconfigs.kubernetes.talos.dev", "maintenanceservicecertificates.secrets.talos.dev", "routingrulespecs.net.talos.dev",
		"routingrulestatuses.net.talos.dev", "servicepids.runtime.talos.dev", "tuftrustedroots.security.talos.dev",
	}
	for _, known := range []struct {
		version     string
		differences []string // those of the nine that it has
	}{
		{"1.12.6", []string{"maintenanceservicecertificates.secrets.talos.dev"}},
		{"1.13.8", slices.DeleteFunc(slices.Clone(differ), func(name string) bool { return strings.HasPrefix(name, "maintenance") })},
	} {
		t.Run(known.version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lab := newTestLab(t)
				defer lab.end()
				cp := lab.make(spec("cp-1", "hcloud", known.version, 1))
				lab.intoMaintenance(cp)
				list, err := safe.StateListAll[*meta.ResourceDefinition](t.Context(), cp.running().boot.State)
				if err != nil {
					t.Fatal(err)
				}
				var found []string
				for definition := range list.All() {
					if id := definition.Metadata().ID(); slices.Contains(differ, id) {
						found = append(found, id)
					}
				}
				slices.Sort(found)
				if !slices.Equal(found, known.differences) {
					t.Errorf("of the types that differ there are %q", found)
				}
			})
		})
	}
}

// The disk as Talos divides it, and the volumes on it.
func TestVolumes(t *testing.T) {
	cfg := configOf(t, talosmachine.TypeControlPlane)
	for _, version := range []string{"1.12.6", "1.13.8"} {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lab := newTestLab(t)
				defer lab.end()
				cp := lab.make(spec("cp-1", "hcloud", version, 1))
				lab.intoMaintenance(cp)
				partitions := []string{"EFI", "BIOS", "BOOT", "META"}
				if found := foundPartitions(t, cp); !slices.Equal(found, partitions) {
					t.Errorf("partitions in maintenance: %q", found)
				}
				if phases := volumePhases(t, cp); len(phases) != 2 || phases["META"] != "ready" || phases["STATE"] != "missing" {
					t.Errorf("volumes in maintenance: %v", phases)
				}
				if err := cp.running().SetConfig(cfg().provider, true, 0); err != nil {
					t.Fatal(err)
				}
				lab.settle()
				if found := foundPartitions(t, cp); !slices.Equal(found, append(partitions, "STATE", "EPHEMERAL")) {
					t.Errorf("partitions with a config: %q", found)
				}
				phases := volumePhases(t, cp)
				for id, phase := range phases {
					if phase != "ready" {
						t.Errorf("volume %s is %s", id, phase)
					}
				}
				if len(phases) != 22 {
					t.Errorf("%d volumes", len(phases))
				}
				if err := cp.running().Reset("", talosapi.ResetRequest{Reboot: true, Partitions: []string{"STATE", "EPHEMERAL"}}); err != nil {
					t.Fatal(err)
				}
				lab.until("cp-1", "stage", "maintenance")
				synctest.Wait()
				if found := foundPartitions(t, cp); !slices.Equal(found, partitions) {
					t.Errorf("partitions after a reset: %q", found)
				}
			})
		})
	}
}

// foundPartitions are the labels of the partitions on the disk. BOOT and META are as the
// installer makes them.
func foundPartitions(t *testing.T, b *box) []string {
	t.Helper()
	list, err := safe.StateListAll[*block.DiscoveredVolume](t.Context(), b.running().boot.State)
	if err != nil {
		t.Fatal(err)
	}
	var labels []string
	for volume := range list.All() {
		spec := volume.TypedSpec()
		switch {
		case spec.PartitionLabel == "":
			continue
		case spec.PartitionLabel == "BOOT" && spec.PrettySize != "2.1 GB":
			t.Errorf("BOOT has %s", spec.PrettySize)
		case spec.PartitionLabel == "META" && spec.Name != "talosmeta":
			t.Errorf("META is found as %q", spec.Name)
		}
		labels = append(labels, spec.PartitionLabel)
	}
	return labels
}

func volumePhases(t *testing.T, b *box) map[string]string {
	t.Helper()
	list, err := safe.StateListAll[*block.VolumeStatus](t.Context(), b.running().boot.State)
	if err != nil {
		t.Fatal(err)
	}
	phases := map[string]string{}
	for volume := range list.All() {
		phases[volume.Metadata().ID()] = volume.TypedSpec().Phase.String()
	}
	return phases
}

// What clients identify a machine and its image by.
func TestIdentity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		one := spec("cp-1", "hcloud", "1.13.8", 1)
		one.Meta = map[uint8]string{0x0a: "addressing"}
		cp := lab.make(one)
		lab.intoMaintenance(cp)
		st := cp.running().boot.State
		system, err := safe.StateGetByID[*hardware.SystemInformation](t.Context(), st, hardware.SystemInformationID)
		if err != nil || system.TypedSpec().UUID != one.UUID {
			t.Errorf("the UUID is %v, %v", system, err)
		}
		link, err := safe.StateGetByID[*network.LinkStatus](t.Context(), st, "eth0")
		if err != nil || link.TypedSpec().PermanentAddr.String() != one.NICs[0].MAC || !link.TypedSpec().Physical() {
			t.Errorf("the link is %v, %v", link, err)
		}
		key, err := safe.StateGetByID[*runtimeresource.MetaKey](t.Context(), st, "0x0a")
		if err != nil || key.TypedSpec().Value != "addressing" {
			t.Errorf("META is %v, %v", key, err)
		}
		extensions, err := safe.StateListAll[*runtimeresource.ExtensionStatus](t.Context(), st)
		if err != nil {
			t.Fatal(err)
		}
		versions := map[string]string{}
		for extension := range extensions.All() {
			versions[extension.TypedSpec().Metadata.Name] = extension.TypedSpec().Metadata.Version
		}
		if versions["schematic"] != schematicID || versions["qemu-guest-agent"] != "10.2.0" {
			t.Errorf("extensions: %v", versions)
		}
	})
}
