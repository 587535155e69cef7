// Package hardware is what Talos finds on a simulated machine: system, processors, disks and partitions, and the properties of the image.
package hardware

import (
	"fmt"
	"sync"

	"github.com/siderolabs/talos/pkg/machinery/resources/hardware"
	"github.com/siderolabs/talos/pkg/machinery/resources/k8s"
	runtimeresource "github.com/siderolabs/talos/pkg/machinery/resources/runtime"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/boot"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/resources"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/service"
)

// Hardware is the hardware of one boot, as Talos finds it.
type Hardware struct {
	boot *boot.Boot
	// nodeID is the identity of the node in discovery.
	nodeID string

	// volumesChanged rings when partitions come or go.
	volumesChanged resources.Bell

	mu      sync.Mutex
	disks   []Disk
	mounted bool // EPHEMERAL, in this boot
}

// New is the hardware before the kernel has found it.
func New(of *boot.Boot, nodeID string) *Hardware {
	return &Hardware{boot: of, nodeID: nodeID, volumesChanged: resources.NewBell()}
}

// Show publishes the machine's properties, which do not change while it is on.
func (h *Hardware) Show() error {
	for _, show := range []func() error{h.showSystem, h.showProcessors, h.showTalos, h.showExtensions, h.showMeta, h.showDisks} {
		if err := show(); err != nil {
			return err
		}
	}
	return nil
}

func (h *Hardware) showSystem() error {
	manufacturer, product := "QEMU", "Standard PC (Q35 + ICH9, 2009)"
	if h.boot.Platform() == "hcloud" {
		manufacturer, product = "Hetzner", "vServer"
	}
	return resources.Put(h.boot.Ctx, h.boot.State, "hardware.SystemInfoController", hardware.NewSystemInformation(hardware.SystemInformationID), func(r *hardware.SystemInformation) {
		*r.TypedSpec() = hardware.SystemInformationSpec{
			Manufacturer: manufacturer, ProductName: product, Version: "20171111", SerialNumber: h.boot.Serial(),
			UUID: h.boot.Spec.UUID, WakeUpType: "Power Switch",
		}
	})
}

func (h *Hardware) showProcessors() error {
	const owner = "hardware.SystemInfoController"
	err := resources.Put(h.boot.Ctx, h.boot.State, owner, hardware.NewProcessorInfo("CPU-0"), func(r *hardware.Processor) {
		*r.TypedSpec() = hardware.ProcessorSpec{
			Socket: "CPU 0", Manufacturer: "QEMU", ProductName: "NotSpecified", MaxSpeed: 2000, BootSpeed: 2000, Status: 65,
			CoreCount: uint32(h.boot.Spec.CPUs), CoreEnabled: uint32(h.boot.Spec.CPUs), ThreadCount: uint32(h.boot.Spec.CPUs),
		}
	})
	if err != nil {
		return err
	}
	return resources.Put(h.boot.Ctx, h.boot.State, owner, hardware.NewMemoryModuleInfo("DIMM-0"), func(r *hardware.MemoryModule) {
		*r.TypedSpec() = hardware.MemoryModuleSpec{Size: uint32(h.boot.Spec.MemoryMiB), DeviceLocator: "DIMM 0", Manufacturer: "QEMU"}
	})
}

func (h *Hardware) showTalos() error {
	st := h.boot.State
	err := resources.Put(h.boot.Ctx, st, "runtime.VersionController", runtimeresource.NewVersion(), func(r *runtimeresource.Version) {
		*r.TypedSpec() = runtimeresource.VersionSpec{Name: "Talos", Version: "v" + h.boot.Image.Talos}
	})
	if err != nil {
		return err
	}
	err = resources.Put(h.boot.Ctx, st, "runtime.KernelCmdlineController", runtimeresource.NewKernelCmdline(), func(r *runtimeresource.KernelCmdline) {
		r.TypedSpec().Cmdline = h.boot.CommandLine()
	})
	if err != nil {
		return err
	}
	err = resources.Put(h.boot.Ctx, st, "runtime.SecurityStateController", runtimeresource.NewSecurityStateSpec(runtimeresource.NamespaceName), func(r *runtimeresource.SecurityState) {
		*r.TypedSpec() = runtimeresource.SecurityStateSpec{SELinuxState: runtimeresource.SELinuxStatePermissive, ModuleSignatureEnforced: true}
	})
	if err != nil {
		return err
	}
	err = resources.Put(h.boot.Ctx, st, "runtime.DevicesStatusController", runtimeresource.NewDevicesStatus(runtimeresource.NamespaceName, runtimeresource.DevicesID), func(r *runtimeresource.DevicesStatus) {
		r.TypedSpec().Ready = true
	})
	if err != nil {
		return err
	}
	return resources.Put(h.boot.Ctx, st, "k8s.StaticPodServerController", k8s.NewStaticPodServerStatus(k8s.NamespaceName, k8s.StaticPodServerStatusResourceID), func(r *k8s.StaticPodServerStatus) {
		r.TypedSpec().URL = fmt.Sprintf("http://127.0.0.1:%d", 32768+service.PID(h.boot.Host(), "static-pods"))
	})
}

// showExtensions lists the extensions of the image and, like Talos, the schematic as an extension without content.
func (h *Hardware) showExtensions() error {
	all := h.boot.Extensions()
	if h.boot.Image.Schematic != "" {
		all = append(all, boot.Extension{
			Name: "schematic", Version: h.boot.Image.Schematic, Author: "Image Factory",
			Description: "Virtual extension which specifies the schematic of the image built with Image Factory.",
			ExtraInfo:   h.boot.SchematicText(h.boot.Image.Schematic),
		})
	}
	for i, extension := range all {
		id := fmt.Sprint(i)
		err := resources.Put(h.boot.Ctx, h.boot.State, "runtime.ExtensionStatusController", runtimeresource.NewExtensionStatus(runtimeresource.NamespaceName, id), func(r *runtimeresource.ExtensionStatus) {
			spec := r.TypedSpec()
			spec.Image = id + ".sqsh"
			spec.Metadata.Name, spec.Metadata.Version = extension.Name, extension.Version
			spec.Metadata.Author, spec.Metadata.Description = extension.Author, extension.Description
			spec.Metadata.ExtraInfo = extension.ExtraInfo
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (h *Hardware) showMeta() error {
	const owner = "runtime.MetaController"
	for key, value := range h.boot.Disk.Meta() {
		if err := h.putMeta(owner, key, value); err != nil {
			return err
		}
	}
	return resources.Put(h.boot.Ctx, h.boot.State, owner, runtimeresource.NewMetaLoaded(), func(r *runtimeresource.MetaLoaded) { r.TypedSpec().Done = true })
}

func (h *Hardware) putMeta(owner string, key uint8, value string) error {
	return resources.Put(h.boot.Ctx, h.boot.State, owner, runtimeresource.NewMetaKey(runtimeresource.NamespaceName, runtimeresource.MetaKeyTagToID(key)), func(r *runtimeresource.MetaKey) {
		r.TypedSpec().Value = value
	})
}

// SetMeta sets a key of the META partition, or deletes it if the value is nil.
func (h *Hardware) SetMeta(key uint8, value *string) error {
	const owner = "runtime.MetaController"
	h.boot.Disk.SetMeta(key, value)
	if value == nil {
		return resources.Drop(h.boot.Ctx, h.boot.State, owner, runtimeresource.NewMetaKey(runtimeresource.NamespaceName, runtimeresource.MetaKeyTagToID(key)).Metadata())
	}
	return h.putMeta(owner, key, *value)
}
