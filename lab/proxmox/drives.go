package proxmox

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/machine"
)

var (
	driveKey = regexp.MustCompile(`^(ide[0-3]|sata[0-5]|scsi([0-9]|[12][0-9]|30)|virtio([0-9]|1[0-5])|efidisk0|tpmstate0)$`)
	newDisk  = regexp.MustCompile(`^([^/:\s]+):(\d+(\.\d+)?)$`)
)

// drive is a disk or a medium of a machine.
type drive struct {
	key        string
	properties properties
}

func parseDrive(key, text string) drive { return drive{key, parseProperties(text, "file")} }

func (d drive) print() string { return d.properties.print("file") }

// isMedium says that it is a CD, the one for cloud-init among them.
func (d drive) isMedium() bool {
	return d.properties["media"] == "cdrom" || d.isCloudInit() || d.properties["file"] == "cdrom"
}

func (d drive) isCloudInit() bool {
	_, name, _ := strings.Cut(d.properties["file"], ":")
	return name == "cloudinit" || strings.HasPrefix(name[strings.LastIndex(name, "/")+1:], "vm-") && strings.Contains(name, "-cloudinit")
}

// empty says that nothing is in it.
func (d drive) empty() bool { return d.properties["file"] == "none" || d.properties["file"] == "cdrom" }

// drives are those of the machine, by key.
func (m *vm) drives() []drive { return drivesOf(m.config) }

func drivesOf(config map[string]string) []drive {
	var found []drive
	for _, key := range slices.Sorted(maps.Keys(config)) {
		if driveKey.MatchString(key) {
			found = append(found, parseDrive(key, config[key]))
		}
	}
	return found
}

// sizes of disks that are made for a purpose.
const (
	efiBytes       = 4 << 20
	tpmBytes       = 4 << 20
	cloudInitBytes = 4 << 20
)

// allocation is what is to be made for a drive of a machine.
type allocation struct {
	drive drive
	made  *volume
	// from is what a disk begins with, or nil.
	from *volume
}

// planDrive says whether who calls may give a machine this drive, and what has
// to be made for it, if anything.
func (c *Cluster) planDrive(r *call, m *vm, one drive) (*allocation, error) {
	file := one.properties["file"]
	if one.empty() {
		if file == "cdrom" {
			return nil, r.all(c, "/", "Sys.Console")
		}
		return nil, nil
	}
	at, name, hasStorage := strings.Cut(file, ":")
	if !hasStorage {
		return nil, invalid(one.key, "invalid format - unable to parse drive options")
	}
	into, err := c.storage(at)
	if err != nil {
		return nil, err
	}
	match := newDisk.FindStringSubmatch(file)
	if match == nil && name != "cloudinit" {
		held, err := c.volume(m.host, file)
		if err != nil {
			return nil, err
		}
		if held.vm != 0 && held.vm != m.id {
			return nil, r.all(c, "/storage/"+at, "Datastore.Allocate")
		}
		return nil, c.seesVolume(r, held)
	}
	if err := r.all(c, "/storage/"+at, "Datastore.AllocateSpace"); err != nil {
		return nil, err
	}
	if !into.holds("images") {
		return nil, invalid("storage", "storage '%s' does not support vm images", at)
	}
	plan := &allocation{drive: one, made: &volume{storage: at, content: "images", format: "raw", vm: m.id}}
	switch {
	case name == "cloudinit":
		plan.made.bytes = cloudInitBytes
	case one.key == "efidisk0":
		plan.made.bytes = efiBytes
	case one.key == "tpmstate0":
		plan.made.bytes = tpmBytes
	default:
		size, _ := strconv.ParseFloat(match[2], 64) // the pattern has digits only
		plan.made.bytes = int64(size * (1 << 30))
	}
	source := one.properties["import-from"]
	if source == "" {
		return plan, nil
	}
	if plan.from, err = c.volume(m.host, source); err != nil {
		return nil, err
	}
	if err := c.seesVolume(r, plan.from); err != nil {
		return nil, err
	}
	if plan.from.content != "import" && plan.from.content != "images" {
		return nil, invalid(one.key, "invalid configuration: cannot import from '%s' - content type '%s' cannot be imported", source, plan.from.content)
	}
	if plan.made.bytes != 0 {
		return nil, invalid(one.key, "import-from requires special syntax - use <storage ID>:0,import-from=<source>")
	}
	return plan, nil
}

// importedBytes is the virtual size of every image of the lab's factory.
const importedBytes = 1 << 30

// allocate makes the volume of a drive and returns the drive as it is shown.
func (c *Cluster) allocate(m *vm, plan *allocation) string {
	made, one := plan.made, drive{plan.drive.key, maps.Clone(plan.drive.properties)}
	made.place = c.at(m.host, c.freeVolume(m.host, m.id, made.storage, one.isCloudInit()))
	made.made = time.Now()
	if plan.from != nil {
		made.bytes, made.image = importedBytes, plan.from.image
	}
	c.volumes[made.place] = made
	delete(one.properties, "import-from")
	delete(one.properties, "format")
	one.properties["file"], one.properties["size"] = made.id, printSize(made.bytes)
	if one.isCloudInit() {
		one.properties["media"] = "cdrom"
	}
	return one.print()
}

// freeVolume is the next name on a host for a volume of a machine.
func (c *Cluster) freeVolume(host string, vm int, at string, cloudInit bool) string {
	prefix, suffix := at+":", ""
	if on, err := c.storage(at); err == nil && on.files {
		prefix, suffix = fmt.Sprintf("%s:%d/", at, vm), ".raw"
	}
	if cloudInit {
		return fmt.Sprintf("%svm-%d-cloudinit%s", prefix, vm, suffix)
	}
	for number := 0; ; number++ {
		id := fmt.Sprintf("%svm-%d-disk-%d%s", prefix, vm, number, suffix)
		if c.volumes[c.at(host, id)] == nil {
			return id
		}
	}
}

// printSize writes a size as configs have it.
func printSize(bytes int64) string {
	for _, unit := range []struct {
		bytes int64
		name  string
	}{{1 << 40, "T"}, {1 << 30, "G"}, {1 << 20, "M"}, {1 << 10, "K"}} {
		if bytes >= unit.bytes && bytes%unit.bytes == 0 {
			return strconv.FormatInt(bytes/unit.bytes, 10) + unit.name
		}
	}
	return strconv.FormatInt(bytes, 10)
}

// parseSize reads one, in bytes unless there is a unit.
func parseSize(text string) (int64, bool) {
	match := regexp.MustCompile(`^(\d+(?:\.\d+)?)([KMGT]?)$`).FindStringSubmatch(text)
	if match == nil {
		return 0, false
	}
	number, _ := strconv.ParseFloat(match[1], 64) // the pattern has digits only
	return int64(number * float64(map[string]int64{"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}[match[2]])), true
}

// bootDrive is the first one in the boot order that can be booted from.
func (c *Cluster) bootDrive(m *vm) (drive, *volume) {
	order := list(parseProperties(m.config["boot"], "legacy")["order"])
	if len(order) == 0 {
		for _, one := range m.drives() {
			order = append(order, one.key)
		}
	}
	for _, key := range order {
		text, has := m.config[key]
		if !has || !driveKey.MatchString(key) {
			continue
		}
		one := parseDrive(key, text)
		if held := c.volumes[c.at(m.host, one.properties["file"])]; held != nil && held.image != nil && !one.isCloudInit() {
			return one, held
		}
	}
	return drive{}, nil
}

// bootBytes is the size of the disk that the machine boots from.
func (c *Cluster) bootBytes(m *vm) int64 {
	for _, one := range m.drives() {
		if held := c.volumes[c.at(m.host, one.properties["file"])]; held != nil && !one.isMedium() && one.key != "efidisk0" && one.key != "tpmstate0" {
			return held.bytes
		}
	}
	return 0
}

// disks are those that the operating system finds, the one that it boots from
// or is installed on first.
func (c *Cluster) disks(m *vm) []machine.Disk {
	var found []machine.Disk
	letters := map[string]byte{}
	for _, one := range m.drives() {
		held := c.volumes[c.at(m.host, one.properties["file"])]
		if held == nil || one.isMedium() || one.key == "efidisk0" || one.key == "tpmstate0" {
			continue
		}
		bus := strings.TrimRight(one.key, "0123456789")
		disk := machine.Disk{
			Bytes: uint64(held.bytes), Serial: one.properties["serial"], Rotational: one.properties["ssd"] != "1",
			Model: "QEMU HARDDISK", Transport: "virtio", BusPath: "/pci0000:00/0000:00:1e.0/0000:05:01.0/virtio3/host2/target2:0:0/2:0:0:" + strings.TrimLeft(one.key, "abcdefghijklmnopqrstuvwxyz"),
		}
		prefix := "sd"
		if bus == "virtio" {
			prefix, disk.Model = "vd", ""
		}
		disk.Device = fmt.Sprintf("/dev/%s%c", prefix, 'a'+letters[prefix])
		letters[prefix]++
		if disk.Serial == "" {
			disk.Serial = "drive-" + one.key
		}
		found = append(found, disk)
	}
	return found
}
