package node

import (
	"fmt"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/resources/cluster"
	"github.com/siderolabs/talos/pkg/machinery/resources/hardware"
	"github.com/siderolabs/talos/pkg/machinery/resources/k8s"
	runtimeresource "github.com/siderolabs/talos/pkg/machinery/resources/runtime"
)

// kernels are those of the versions of Talos, by their beginning.
var kernels = []struct{ talos, kernel string }{
	{"1.13.", "6.18.18-talos"},
	{"1.12.", "6.18.9-talos"},
	{"", "6.12.57-talos"},
}

func (n *node) kernelVersion() string {
	for _, known := range kernels {
		if strings.HasPrefix(n.image.Talos, known.talos) {
			return known.kernel
		}
	}
	return ""
}

func (n *node) cmdline() string {
	return fmt.Sprintf("talos.platform=%s console=tty1 console=ttyS0 init_on_alloc=1 slab_nomerge pti=on consoleblank=0 "+
		"nvme_core.io_timeout=4294967295 printk.devkmsg=on selinux=1 module.sig_enforce=1 proc_mem.force_override=never", n.Platform())
}

// describe shows what the machine is, which does not change while it runs.
func (n *node) describe() error {
	for _, show := range []func() error{n.showSystem, n.showProcessors, n.showPlatform, n.showTalos, n.showExtensions, n.showMeta, n.showDisks} {
		if err := show(); err != nil {
			return err
		}
	}
	return nil
}

func (n *node) showSystem() error {
	manufacturer, product := "QEMU", "Standard PC (Q35 + ICH9, 2009)"
	if n.Platform() == "hcloud" {
		manufacturer, product = "Hetzner", "vServer"
	}
	return put(n.ctx, n.resources.State, "hardware.SystemInfoController", hardware.NewSystemInformation(hardware.SystemInformationID), func(r *hardware.SystemInformation) {
		*r.TypedSpec() = hardware.SystemInformationSpec{
			Manufacturer: manufacturer, ProductName: product, Version: "20171111", SerialNumber: n.serial(),
			UUID: n.spec.UUID, WakeUpType: "Power Switch",
		}
	})
}

// serial is the machine's own, or what a cloud writes in its place.
func (n *node) serial() string {
	if n.spec.Serial != "" {
		return n.spec.Serial
	}
	if at := strings.LastIndex(n.spec.ProviderID, "/"); at >= 0 {
		return n.spec.ProviderID[at+1:]
	}
	return ""
}

func (n *node) showProcessors() error {
	const owner = "hardware.SystemInfoController"
	err := put(n.ctx, n.resources.State, owner, hardware.NewProcessorInfo("CPU-0"), func(r *hardware.Processor) {
		*r.TypedSpec() = hardware.ProcessorSpec{
			Socket: "CPU 0", Manufacturer: "QEMU", ProductName: "NotSpecified", MaxSpeed: 2000, BootSpeed: 2000, Status: 65,
			CoreCount: uint32(n.CPUs()), CoreEnabled: uint32(n.CPUs()), ThreadCount: uint32(n.CPUs()),
		}
	})
	if err != nil {
		return err
	}
	return put(n.ctx, n.resources.State, owner, hardware.NewMemoryModuleInfo("DIMM-0"), func(r *hardware.MemoryModule) {
		*r.TypedSpec() = hardware.MemoryModuleSpec{Size: uint32(n.MemoryMiB()), DeviceLocator: "DIMM 0", Manufacturer: "QEMU"}
	})
}

func (n *node) showTalos() error {
	st := n.resources.State
	err := put(n.ctx, st, "runtime.VersionController", runtimeresource.NewVersion(), func(r *runtimeresource.Version) {
		*r.TypedSpec() = runtimeresource.VersionSpec{Name: "Talos", Version: "v" + n.image.Talos}
	})
	if err != nil {
		return err
	}
	err = put(n.ctx, st, "runtime.KernelCmdlineController", runtimeresource.NewKernelCmdline(), func(r *runtimeresource.KernelCmdline) {
		r.TypedSpec().Cmdline = n.cmdline()
	})
	if err != nil {
		return err
	}
	err = put(n.ctx, st, "runtime.SecurityStateController", runtimeresource.NewSecurityStateSpec(runtimeresource.NamespaceName), func(r *runtimeresource.SecurityState) {
		*r.TypedSpec() = runtimeresource.SecurityStateSpec{SELinuxState: runtimeresource.SELinuxStatePermissive, ModuleSignatureEnforced: true}
	})
	if err != nil {
		return err
	}
	err = put(n.ctx, st, "runtime.DevicesStatusController", runtimeresource.NewDevicesStatus(runtimeresource.NamespaceName, runtimeresource.DevicesID), func(r *runtimeresource.DevicesStatus) {
		r.TypedSpec().Ready = true
	})
	if err != nil {
		return err
	}
	err = put(n.ctx, st, "k8s.StaticPodServerController", k8s.NewStaticPodServerStatus(k8s.NamespaceName, k8s.StaticPodServerStatusResourceID), func(r *k8s.StaticPodServerStatus) {
		r.TypedSpec().URL = fmt.Sprintf("http://127.0.0.1:%d", 32768+pid(n.Host(), "static-pods"))
	})
	if err != nil {
		return err
	}
	return put(n.ctx, st, "cluster.NodeIdentityController", cluster.NewIdentity(cluster.NamespaceName, cluster.LocalIdentity), func(r *cluster.Identity) {
		r.TypedSpec().NodeID = n.nodeID()
	})
}

// showExtensions lists the schematic as Talos does, as an extension without
// content, and those that the image has.
func (n *node) showExtensions() error {
	all := n.Extensions(n.image.Schematic, n.image.Talos)
	if n.image.Schematic != "" {
		all = append(all, Extension{Name: "schematic", Version: n.image.Schematic, Author: "Image Factory", Description: "Virtual extension which specifies the schematic of the image built with Image Factory."})
	}
	for i, extension := range all {
		id := fmt.Sprint(i)
		err := put(n.ctx, n.resources.State, "runtime.ExtensionStatusController", runtimeresource.NewExtensionStatus(runtimeresource.NamespaceName, id), func(r *runtimeresource.ExtensionStatus) {
			spec := r.TypedSpec()
			spec.Image = id + ".sqsh"
			spec.Metadata.Name, spec.Metadata.Version = extension.Name, extension.Version
			spec.Metadata.Author, spec.Metadata.Description = extension.Author, extension.Description
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (n *node) showMeta() error {
	const owner = "runtime.MetaController"
	for key, value := range n.disk.metaKeys() {
		if err := n.putMeta(owner, key, value); err != nil {
			return err
		}
	}
	return put(n.ctx, n.resources.State, owner, runtimeresource.NewMetaLoaded(), func(r *runtimeresource.MetaLoaded) { r.TypedSpec().Done = true })
}

func (n *node) putMeta(owner string, key uint8, value string) error {
	return put(n.ctx, n.resources.State, owner, runtimeresource.NewMetaKey(runtimeresource.NamespaceName, runtimeresource.MetaKeyTagToID(key)), func(r *runtimeresource.MetaKey) {
		r.TypedSpec().Value = value
	})
}
