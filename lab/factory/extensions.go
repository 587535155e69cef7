package factory

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/siderolabs/image-factory/pkg/client"
)

// Extension is a system extension as a node shows it.
type Extension struct {
	// Name is as in a schematic: "siderolabs/qemu-guest-agent".
	Name        string
	Version     string
	Author      string
	Description string
}

const siderolabs = "Sidero Labs"

// official are the extensions that the factory offers, for every version of Talos:
// some of the real ones.
var official = []Extension{
	{"siderolabs/amd-ucode", "20260110", siderolabs, "This system extension provides AMD microcode binaries."},
	{"siderolabs/btrfs", "1.0.0", siderolabs, "This system extension provides the btrfs driver."},
	{"siderolabs/cloudflared", "2026.1.2", siderolabs, "This system extension provides the Cloudflare tunnel client."},
	{"siderolabs/crun", "1.26", "Markus Reiter", "This system extension provides crun using containerd's runtime handler."},
	{"siderolabs/drbd", "9.2.16", "Andrei Kvapil", "This system extension provides DRBD driver module built against a specific Talos version."},
	{"siderolabs/fuse3", "3.17.4", siderolabs, "This system extension provides libfuse3."},
	{"siderolabs/gvisor", "20260112.0", siderolabs, "This system extension provides gVisor using containerd's runtime handler."},
	{"siderolabs/i915", "20260110", siderolabs, "This system extension provides Intel GPU firmware and drivers."},
	{"siderolabs/intel-ucode", "20251111", siderolabs, "This system extension provides Intel microcode binaries."},
	{"siderolabs/iscsi-tools", "v0.2.0", siderolabs, "This system extension provides iscsi-tools."},
	{"siderolabs/kata-containers", "3.24.0", "Christian Rolland", "This system extension provides Kata Containers using containerd's runtime handler."},
	{"siderolabs/netbird", "0.62.1", siderolabs, "This system extension provides the NetBird agent."},
	{"siderolabs/nfs-utils", "2.8.4", siderolabs, "This system extension provides the NFS client utilities."},
	{"siderolabs/nut-client", "2.8.4", siderolabs, "This system extension provides the Network UPS Tools client."},
	{"siderolabs/qemu-guest-agent", "10.2.0", "Markus Reiter", "This system extension provides the QEMU Guest Agent service."},
	{"siderolabs/spin", "v0.22.0", siderolabs, "This system extension provides the Spin WebAssembly shim."},
	{"siderolabs/stargz-snapshotter", "v0.18.1", siderolabs, "This system extension provides the stargz snapshotter."},
	{"siderolabs/tailscale", "1.92.5", siderolabs, "This system extension provides the Tailscale network."},
	{"siderolabs/thunderbolt", "v1.0.0", siderolabs, "This system extension provides Thunderbolt and USB4 drivers."},
	{"siderolabs/util-linux-tools", "2.41.2", siderolabs, "This system extension provides linux util tools for Talos."},
	{"siderolabs/vmtoolsd-guest-agent", "v1.4.0", "Equinix Metal", "This system extension provides the VMware guest agent."},
	{"siderolabs/wasmedge", "v0.6.0", siderolabs, "This system extension provides the WasmEdge shim."},
	{"siderolabs/xen-guest-agent", "0.4.0", "Markus Reiter", "This system extension provides the Xen guest agent."},
	{"siderolabs/zfs", "2.4.0", "Jonathan Gold", "This system extension provides the ZFS driver module."},
}

// renamed are extensions with other names in old schematics.
var renamed = map[string]string{
	"siderolabs/i915-ucode":          "siderolabs/i915",
	"siderolabs/talos-vmtoolsd":      "siderolabs/vmtoolsd-guest-agent",
	"siderolabs/xe-guest-utilities":  "siderolabs/xen-guest-agent",
	"siderolabs/thunderbolt-drivers": "siderolabs/thunderbolt",
}

// choose finds extensions by name.
func choose(names []string, version string) ([]Extension, error) {
	chosen := make([]Extension, 0, len(names))
	for _, name := range names {
		extension, found := find(name)
		if !found {
			extension, found = find(renamed[name])
		}
		if !found {
			return nil, fmt.Errorf("official extension %q is not available for Talos version %s", name, version)
		}
		chosen = append(chosen, extension)
	}
	return chosen, nil
}

func find(name string) (Extension, bool) {
	for _, extension := range official {
		if extension.Name == name {
			return extension, true
		}
	}
	return Extension{}, false
}

// info returns the extension as the factory lists it.
func (e Extension) info() client.ExtensionInfo {
	ref := "ghcr.io/" + e.Name + ":" + e.Version
	digest := sha256.Sum256([]byte(ref))
	return client.ExtensionInfo{
		Name: e.Name, Ref: ref, Digest: "sha256:" + hex.EncodeToString(digest[:]), Author: e.Author, Description: e.Description,
	}
}
