package vm

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/proxmox/storage"
)

var driveKey = regexp.MustCompile(`^(ide[0-3]|sata[0-5]|scsi([0-9]|[12][0-9]|30)|virtio([0-9]|1[0-5])|efidisk0|tpmstate0)$`)

// IsDrive reports whether a key of the configuration is that of a drive.
func IsDrive(key string) bool { return driveKey.MatchString(key) }

// Drive is a disk or a medium of a virtual machine.
type Drive struct {
	Key        string
	Properties api.Properties
}

// ParseDrive reads a drive of the configuration.
func ParseDrive(key, text string) Drive { return Drive{key, api.ParseProperties(text, "file")} }

// Print writes it in the configuration's notation.
func (d Drive) Print() string { return d.Properties.Print("file") }

// File returns the volume of the drive, or the value that replaces one.
func (d Drive) File() string { return d.Properties["file"] }

// IsMedium reports whether it is a CD, or the drive for cloud-init.
func (d Drive) IsMedium() bool {
	return d.Properties["media"] == "cdrom" || d.IsCloudInit() || d.File() == "cdrom"
}

// IsCloudInit reports whether it is the drive for cloud-init.
func (d Drive) IsCloudInit() bool {
	_, name, _ := strings.Cut(d.File(), ":")
	return name == "cloudinit" || strings.HasPrefix(name[strings.LastIndex(name, "/")+1:], "vm-") && strings.Contains(name, "-cloudinit")
}

// IsEmpty reports whether there is no volume in it.
func (d Drive) IsEmpty() bool { return d.File() == "none" || d.File() == "cdrom" }

// IsDisk reports whether the operating system finds it as a disk.
func (d Drive) IsDisk() bool {
	return !d.IsMedium() && d.Key != "efidisk0" && d.Key != "tpmstate0"
}

// Drives returns the drives of a virtual machine, by key.
func (m *VM) Drives() []Drive { return DrivesOf(m.Config) }

// Drive returns the drive with a key.
func (m *VM) Drive(key string) Drive { return ParseDrive(key, m.Config[key]) }

// DrivesOf returns the drives of a configuration, by key.
func DrivesOf(config map[string]string) []Drive {
	var found []Drive
	for _, key := range slices.Sorted(maps.Keys(config)) {
		if IsDrive(key) {
			found = append(found, ParseDrive(key, config[key]))
		}
	}
	return found
}

// Volume returns the volume of a drive of a virtual machine, or nil.
func (s *VMs) Volume(m *VM, drive Drive) *storage.Volume {
	return s.storages.Volume(m.Host, drive.File())
}

// bootVolume returns the first volume in the boot order that can be booted from, or nil.
func (s *VMs) bootVolume(m *VM) *storage.Volume {
	order := api.List(api.ParseProperties(m.Config["boot"], "legacy")["order"])
	if len(order) == 0 {
		for _, one := range m.Drives() {
			order = append(order, one.Key)
		}
	}
	for _, key := range order {
		if _, has := m.Config[key]; !has || !IsDrive(key) {
			continue
		}
		one := m.Drive(key)
		if held := s.Volume(m, one); held != nil && held.Image != nil && !one.IsCloudInit() {
			return held
		}
	}
	return nil
}

// BootBytes returns the size of the disk that a virtual machine boots from.
func (s *VMs) BootBytes(m *VM) int64 {
	for _, one := range m.Drives() {
		if held := s.Volume(m, one); held != nil && one.IsDisk() {
			return held.Bytes
		}
	}
	return 0
}

// disks returns those that the operating system finds, the one that it boots from or is
// installed on first.
func (s *VMs) disks(m *VM) []machine.Disk {
	var found []machine.Disk
	letters := map[string]byte{}
	for _, one := range m.Drives() {
		held := s.Volume(m, one)
		if held == nil || !one.IsDisk() {
			continue
		}
		bus := strings.TrimRight(one.Key, "0123456789")
		disk := machine.Disk{
			Bytes: uint64(held.Bytes), Serial: one.Properties["serial"], Rotational: one.Properties["ssd"] != "1",
			Model: "QEMU HARDDISK", Transport: "virtio", BusPath: "/pci0000:00/0000:00:1e.0/0000:05:01.0/virtio3/host2/target2:0:0/2:0:0:" + strings.TrimLeft(one.Key, "abcdefghijklmnopqrstuvwxyz"),
		}
		prefix := "sd"
		if bus == "virtio" {
			prefix, disk.Model = "vd", ""
		}
		disk.Device = fmt.Sprintf("/dev/%s%c", prefix, 'a'+letters[prefix])
		letters[prefix]++
		if disk.Serial == "" {
			disk.Serial = "drive-" + one.Key
		}
		found = append(found, disk)
	}
	return found
}
