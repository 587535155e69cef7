package node

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/cosi-project/runtime/pkg/resource"
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
			{block.NamespaceName, block.DiskType, []string{"sda"}},
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
			list, err := n.resources.State.List(t.Context(), resource.NewMetadata(known.namespace, known.typ, "", resource.VersionUndefined))
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

// What clients identify a machine and its image by.
func TestIdentity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lab := newTestLab(t)
		defer lab.end()
		one := spec("cp-1", "hcloud", "1.13.8", 1)
		one.Meta = map[uint8]string{0x0a: "addressing"}
		cp := lab.make(one)
		cp.PowerOn()
		lab.until("cp-1", "stage", "maintenance")
		synctest.Wait()
		st := cp.running().resources.State
		system, err := safe.StateGetByID[*hardware.SystemInformation](t.Context(), st, hardware.SystemInformationID)
		if err != nil || system.TypedSpec().UUID != one.UUID {
			t.Errorf("the UUID is %v, %v", system, err)
		}
		link, err := safe.StateGetByID[*network.LinkStatus](t.Context(), st, "eth0")
		if err != nil || link.TypedSpec().PermanentAddr.String() != one.NICs[0].MAC || !link.TypedSpec().Physical() {
			t.Errorf("the link is %v, %v", link, err)
		}
		meta, err := safe.StateGetByID[*runtimeresource.MetaKey](t.Context(), st, "0x0a")
		if err != nil || meta.TypedSpec().Value != "addressing" {
			t.Errorf("META is %v, %v", meta, err)
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
